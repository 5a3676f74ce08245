//! The paper of a figure: a title, a line on how to read it, legends in strips of their own, then the plot.

use super::drawing::{Figure, Section};
use super::mark;
use crate::svg::{self, Anchor, Canvas, Colour, Meta, Rect};

/// Width of every figure in pixels.
pub(crate) const WIDTH: f64 = 960.0;
/// Free space on either side.
pub(crate) const MARGIN: f64 = 16.0;
/// Size of labels.
pub(crate) const LABEL: f64 = 11.0;
/// Size of legends and notes.
pub(crate) const NOTE: f64 = 12.0;
const TITLE: f64 = 15.0;

/// A key of a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// The mark of a series, by its place.
    Mark(usize),
    /// A filled area.
    Area(Colour),
    /// A line.
    Line(Colour),
}

/// A figure being drawn.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) canvas: Canvas,
    /// Where the next thing goes.
    pub(crate) y: f64,
    title: String,
}

impl Sheet {
    /// Paper with a title and a line on how to read what follows.
    pub(crate) fn new(title: &str, reading: &str) -> Self {
        let mut canvas = Canvas::default();
        let room = WIDTH - 2.0 * MARGIN;
        let title = svg::clip(title, 200);
        let drawn = svg::shorten(&title, room, TITLE, true);
        canvas
            .text((MARGIN, 22.0), &drawn, TITLE, Anchor::Start, Colour::Text)
            .bold();
        let mut y = 36.0;
        for line in svg::wrap(reading, room, NOTE) {
            canvas.text((MARGIN, y + 7.0), &line, NOTE, Anchor::Start, Colour::Muted);
            y += 17.0;
        }
        Self {
            canvas,
            y: y + 6.0,
            title,
        }
    }

    /// Keys and their labels, as many lines as they need.
    pub(crate) fn legend(&mut self, entries: &[(Key, String)]) {
        let mut x = MARGIN;
        let middle = |y: f64| y + 8.0;
        for (key, label) in entries {
            let label = svg::shorten(label, 440.0, NOTE, false);
            let width = 20.0 + svg::width(&label, NOTE, false);
            if x > MARGIN && x + width > WIDTH - MARGIN {
                x = MARGIN;
                self.y += 18.0;
            }
            let y = middle(self.y);
            let area = Rect::new(x, y - 5.0, 14.0, 10.0);
            match *key {
                Key::Mark(n) => mark::draw(&mut self.canvas, n, (x + 7.0, y), 4.0),
                Key::Area(colour) => {
                    self.canvas.rect(area, colour);
                }
                Key::Line(colour) => {
                    self.canvas.line((x, y), (x + 14.0, y), 2.0, colour);
                }
            }
            self.canvas
                .text((x + 20.0, y), &label, NOTE, Anchor::Start, Colour::Text);
            x += width + 18.0;
        }
        if !entries.is_empty() {
            self.y += 24.0;
        }
    }

    /// The finished figure, `self.y` high.
    pub(crate) fn finish(self, id: &str, section: Section, description: &str) -> Figure {
        let description = svg::clip(description, 2_000);
        let meta = Meta {
            id,
            title: &self.title,
            description: &description,
        };
        Figure {
            id: id.to_owned(),
            section,
            svg: self.canvas.finish(WIDTH, self.y.ceil(), meta),
            title: self.title,
            description,
            findings: Vec::new(),
        }
    }
}

/// Hatches an area: here nothing is known.
pub(crate) fn hatch(canvas: &mut Canvas, area: Rect) {
    const GAP: f64 = 7.0;
    // Stripes at 45° in one line that runs up and down along the area's edges.
    let (mut points, mut up) = (Vec::new(), false);
    let mut along = GAP / 2.0;
    while along < area.w + area.h && points.len() < 4_000 {
        let on_left_or_bottom = if along <= area.h {
            (area.x, area.y + along)
        } else {
            (area.x + along - area.h, area.bottom())
        };
        let on_top_or_right = if along <= area.w {
            (area.x + along, area.y)
        } else {
            (area.right(), area.y + along - area.w)
        };
        if up {
            points.extend([on_left_or_bottom, on_top_or_right]);
        } else {
            points.extend([on_top_or_right, on_left_or_bottom]);
        }
        up = !up;
        along += GAP;
    }
    canvas.path(points, 1.0, Colour::Hatch);
}
