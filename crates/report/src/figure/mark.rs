//! Marks that tell series apart by shape and by colour.

use crate::svg::{Canvas, Colour, Rect, SERIES};

const SHAPES: usize = 7;

/// The colour of the series at a place. Shapes and colours have no common divisor, so 56 series differ.
pub(crate) fn colour(series: usize) -> Colour {
    Colour::Series(series % SERIES)
}

/// Draws the mark of the series at a place; `r` is about its radius.
pub(crate) fn draw(canvas: &mut Canvas, series: usize, (x, y): (f64, f64), r: f64) {
    put(canvas, series, (x, y), r, None);
}

/// Draws a translucent mark with a note.
pub(crate) fn put(
    canvas: &mut Canvas,
    series: usize,
    (x, y): (f64, f64),
    r: f64,
    note: Option<String>,
) {
    let colour = colour(series);
    let shape = match series % SHAPES {
        0 => canvas.disc((x, y), r, colour),
        1 => canvas.rect(
            Rect::new(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r),
            colour,
        ),
        2 => canvas.polygon(
            vec![
                (x, y - 1.2 * r),
                (x + 1.1 * r, y + 0.8 * r),
                (x - 1.1 * r, y + 0.8 * r),
            ],
            colour,
        ),
        3 => canvas.polygon(
            vec![
                (x, y - 1.3 * r),
                (x + 1.3 * r, y),
                (x, y + 1.3 * r),
                (x - 1.3 * r, y),
            ],
            colour,
        ),
        4 => canvas.polygon(
            vec![
                (x, y + 1.2 * r),
                (x + 1.1 * r, y - 0.8 * r),
                (x - 1.1 * r, y - 0.8 * r),
            ],
            colour,
        ),
        5 => canvas.ring((x, y), 0.9 * r, 0.5 * r, colour),
        _ => canvas.rect(
            Rect::new(x - 0.4 * r, y - 1.2 * r, 0.8 * r, 2.4 * r),
            colour,
        ),
    };
    shape.fade(0.85);
    if let Some(note) = note {
        shape.note(note);
    }
}
