//! What is drawn, in pixels and with real coordinates.

use super::Colour;
use super::text;

/// A rectangle: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) h: f64,
}

impl Rect {
    pub(crate) const fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    pub(crate) fn right(self) -> f64 {
        self.x + self.w
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.h
    }
}

/// Which part of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The geometry of a [`Shape`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Rect(Rect),
    /// Many of one look.
    Rects(Vec<Rect>),
    Line {
        from: (f64, f64),
        to: (f64, f64),
        width: f64,
    },
    Path {
        points: Vec<(f64, f64)>,
        width: f64,
    },
    Polygon(Vec<(f64, f64)>),
    Disc {
        centre: (f64, f64),
        radius: f64,
    },
    Ring {
        centre: (f64, f64),
        radius: f64,
        width: f64,
    },
    Text {
        at: (f64, f64),
        text: String,
        size: f64,
        anchor: Anchor,
        bold: bool,
        upward: bool,
    },
}

/// Something drawn. The methods change how, after the [`Canvas`] made it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(super) form: Form,
    pub(super) colour: Colour,
    pub(super) opacity: f64,
    pub(super) note: Option<String>,
}

impl Shape {
    /// Lets what lies beneath shine through; 1 is solid.
    pub(crate) fn fade(&mut self, opacity: f64) -> &mut Self {
        self.opacity = opacity.clamp(0.01, 1.0);
        self
    }

    /// Text shown when the reader points at it.
    pub(crate) fn note(&mut self, note: impl AsRef<str>) -> &mut Self {
        self.note = Some(text::clip(note.as_ref(), 200));
        self
    }

    /// Sets text in the bold face.
    pub(crate) fn bold(&mut self) -> &mut Self {
        if let Form::Text { bold, .. } = &mut self.form {
            *bold = true;
        }
        self
    }

    /// Turns text to run upward.
    pub(crate) fn upward(&mut self) -> &mut Self {
        if let Form::Text { upward, .. } = &mut self.form {
            *upward = true;
        }
        self
    }
}

/// Collects shapes; later ones lie on top.
#[derive(Debug, Clone, Default)]
pub(crate) struct Canvas {
    pub(super) shapes: Vec<Shape>,
}

impl Canvas {
    fn push(&mut self, form: Form, colour: Colour) -> &mut Shape {
        let at = self.shapes.len();
        self.shapes.push(Shape {
            form,
            colour,
            opacity: 1.0,
            note: None,
        });
        &mut self.shapes[at]
    }

    /// A filled rectangle.
    pub(crate) fn rect(&mut self, rect: Rect, colour: Colour) -> &mut Shape {
        self.push(Form::Rect(rect), colour)
    }

    /// Filled rectangles of one look, as one shape: thousands cost little more than one.
    pub(crate) fn rects(&mut self, rects: Vec<Rect>, colour: Colour) -> &mut Shape {
        self.push(Form::Rects(rects), colour)
    }

    /// A straight line.
    pub(crate) fn line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        width: f64,
        colour: Colour,
    ) -> &mut Shape {
        self.push(Form::Line { from, to, width }, colour)
    }

    /// Straight lines from point to point.
    pub(crate) fn path(
        &mut self,
        points: Vec<(f64, f64)>,
        width: f64,
        colour: Colour,
    ) -> &mut Shape {
        self.push(Form::Path { points, width }, colour)
    }

    /// A filled polygon.
    pub(crate) fn polygon(&mut self, points: Vec<(f64, f64)>, colour: Colour) -> &mut Shape {
        self.push(Form::Polygon(points), colour)
    }

    /// A filled circle.
    pub(crate) fn disc(&mut self, centre: (f64, f64), radius: f64, colour: Colour) -> &mut Shape {
        self.push(Form::Disc { centre, radius }, colour)
    }

    /// The line of a circle.
    pub(crate) fn ring(
        &mut self,
        centre: (f64, f64),
        radius: f64,
        width: f64,
        colour: Colour,
    ) -> &mut Shape {
        self.push(
            Form::Ring {
                centre,
                radius,
                width,
            },
            colour,
        )
    }

    /// A line of text, its middle at the height of `at`. Where it may be too long, [`super::shorten`] it first.
    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        size: f64,
        anchor: Anchor,
        colour: Colour,
    ) -> &mut Shape {
        let text = text::clean(text);
        self.push(
            Form::Text {
                at,
                text,
                size,
                anchor,
                bold: false,
                upward: false,
            },
            colour,
        )
    }
}
