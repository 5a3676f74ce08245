//! Cells in rows and columns, coloured by value, hatched where there is none.

use super::colour_scale::ColourScale;
use super::sheet::{self, Sheet};
use crate::svg::Rect;

/// Draws the cells of a panel. `columns` are the edges of the columns in pixels, `rows` the height of a row; `value` gives what a cell
/// holds. Neighbours of one step in a row are one rectangle, and rectangles of one step follow each other: both keep the file small.
pub(crate) fn draw(
    sheet: &mut Sheet,
    panel: Rect,
    columns: &[(f64, f64)],
    rows: usize,
    scale: &ColourScale,
    value: impl Fn(usize, usize) -> Option<f64>,
) {
    sheet::hatch(&mut sheet.canvas, panel);
    let height = panel.h / rows.max(1) as f64;
    let mut cells: Vec<(usize, Rect)> = Vec::new();
    for row in 0..rows {
        let y = panel.y + height * row as f64;
        let mut open: Option<(usize, f64, f64)> = None;
        for (column, (left, right)) in columns.iter().copied().enumerate() {
            let step = value(row, column)
                .filter(|v| v.is_finite())
                .map(|v| scale.step(v));
            match (&mut open, step) {
                (Some((same, _, end)), Some(step))
                    if *same == step && (left - *end).abs() < 0.05 =>
                {
                    *end = right;
                }
                (_, step) => {
                    close(&mut cells, open.take(), y, height);
                    open = step.map(|step| (step, left, right));
                }
            }
        }
        close(&mut cells, open, y, height);
    }
    cells.sort_by_key(|(step, _)| *step);
    for (step, rect) in cells {
        sheet.canvas.rect(rect, scale.colour(step));
    }
}

fn close(cells: &mut Vec<(usize, Rect)>, open: Option<(usize, f64, f64)>, y: f64, height: f64) {
    if let Some((step, left, right)) = open {
        cells.push((step, Rect::new(left, y, right - left, height)));
    }
}
