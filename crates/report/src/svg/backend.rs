//! Shapes → plotters' SVG backend.
//!
//! The backend knows whole numbers only, so a pixel is [`UNITS`] of its units and the `viewBox` scales it back.

use plotters::prelude::{DrawingBackend, SVGBackend};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendStyle, BackendTextStyle, FontFamily, FontStyle, FontTransform,
};

use super::Colour;
use super::canvas::{Anchor, Form, Rect, Shape};

/// Units of the backend in a pixel.
pub(super) const UNITS: f64 = 10.0;

/// Capital letters are about 0.72 em high: half of it below the middle lies the baseline.
const MIDDLE_TO_BASELINE: f64 = 0.36;

/// Draws the shapes, one element each, in order.
pub(super) fn draw<'s>(shapes: impl Iterator<Item = &'s Shape>, width: f64, height: f64) -> String {
    let mut out = String::new();
    {
        let mut backend =
            SVGBackend::with_string(&mut out, (units(width) as u32, units(height) as u32));
        for shape in shapes {
            // Writing into a string does not fail.
            let _ = draw_shape(&mut backend, shape);
        }
        let _ = backend.present();
    }
    out
}

pub(super) fn units(pixels: f64) -> i32 {
    // `as` saturates and turns NaN into 0; the bound keeps differences of two coordinates within i32.
    ((pixels * UNITS).round() as i32).clamp(-1_000_000, 1_000_000)
}

fn point((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

type Drawn = Result<(), plotters_backend::DrawingErrorKind<std::io::Error>>;

fn draw_shape(backend: &mut SVGBackend<'_>, shape: &Shape) -> Drawn {
    let pen = |width: f64| Pen {
        colour: backend_colour(shape.colour, shape.opacity),
        width: units(width).max(1) as u32,
    };
    match &shape.form {
        Form::Rect(r) => draw_rect(backend, *r, &pen(0.0)),
        // The first stands for all: the backend has no shape of many parts, and an element for each would be most of a page.
        Form::Rects(rects) => {
            let r = rects
                .first()
                .copied()
                .unwrap_or(Rect::new(0.0, 0.0, 0.0, 0.0));
            draw_rect(backend, r, &pen(0.0))
        }
        Form::Line { from, to, width } => backend.draw_line(point(*from), point(*to), &pen(*width)),
        Form::Path { points, width } => {
            backend.draw_path(points.iter().copied().map(point), &pen(*width))
        }
        Form::Polygon(points) => backend.fill_polygon(points.iter().copied().map(point), &pen(0.0)),
        Form::Disc { centre, radius } => backend.draw_circle(
            point(*centre),
            units(*radius).max(1) as u32,
            &pen(0.0),
            true,
        ),
        Form::Ring {
            centre,
            radius,
            width,
        } => backend.draw_circle(
            point(*centre),
            units(*radius).max(1) as u32,
            &pen(*width),
            false,
        ),
        Form::Text {
            at,
            text,
            size,
            anchor,
            bold,
            upward,
        } => {
            let down = size * MIDDLE_TO_BASELINE;
            let at = if *upward {
                (at.0 + down, at.1)
            } else {
                (at.0, at.1 + down)
            };
            let style = TextPen {
                colour: backend_colour(shape.colour, shape.opacity),
                size: *size,
                anchor: *anchor,
                bold: *bold,
                upward: *upward,
            };
            backend.draw_text(text, &style, point(at))
        }
    }
}

fn draw_rect(backend: &mut SVGBackend<'_>, r: Rect, pen: &Pen) -> Drawn {
    backend.draw_rect(
        point((r.x.min(r.right()), r.y.min(r.bottom()))),
        point((r.x.max(r.right()), r.y.max(r.bottom()))),
        pen,
        true,
    )
}

fn backend_colour(colour: Colour, opacity: f64) -> BackendColor {
    let [_, r, g, b] = colour.shades().light.to_be_bytes();
    BackendColor {
        alpha: (opacity * 100.0).round() / 100.0,
        rgb: (r, g, b),
    }
}

struct Pen {
    colour: BackendColor,
    width: u32,
}

impl BackendStyle for Pen {
    fn color(&self) -> BackendColor {
        self.colour
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

struct TextPen {
    colour: BackendColor,
    size: f64,
    anchor: Anchor,
    bold: bool,
    upward: bool,
}

impl BackendTextStyle for TextPen {
    type FontError = std::convert::Infallible;

    fn color(&self) -> BackendColor {
        self.colour
    }

    fn size(&self) -> f64 {
        // The backend divides by 1.24, the line height it assumes.
        self.size * UNITS * 1.24
    }

    fn transform(&self) -> FontTransform {
        if self.upward {
            FontTransform::Rotate270
        } else {
            FontTransform::None
        }
    }

    fn style(&self) -> FontStyle {
        if self.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        }
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Bottom)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::SansSerif
    }

    fn layout_box(&self, _: &str) -> Result<((i32, i32), (i32, i32)), Self::FontError> {
        Ok(((0, 0), (0, 0)))
    }

    fn draw<E, F: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _: &str,
        _: (i32, i32),
        _: F,
    ) -> Result<Result<(), E>, Self::FontError> {
        Ok(Ok(()))
    }
}
