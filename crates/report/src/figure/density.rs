//! Where records are too many to mark each: cells that count them, shaded, in so few rectangles that a page stays small.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::DensityCell;

use super::scale::Scale;
use super::time_axis::TimeAxis;
use crate::svg::{Canvas, Colour, Rect};

/// Shades of the cells.
const SHADES: f64 = 6.0;

/// Cells of a series: more than this many can't be told apart in a drawing that several series share.
const MOST_CELLS: usize = 2_000;

/// Draws the cells of a series: darker is more.
pub(super) fn draw(
    canvas: &mut Canvas,
    cells: &[DensityCell],
    y: Scale,
    time: &TimeAxis,
    colour: Colour,
) {
    let cells = coarse(cells);
    let most = cells.iter().map(|c| c.count).max().unwrap_or(0) as f64;
    let shade = |count: u64| {
        ((count as f64 / most).sqrt() * SHADES)
            .ceil()
            .clamp(1.0, SHADES)
    };
    for step in 1..=SHADES as u32 {
        let step = f64::from(step);
        let rects = cells
            .iter()
            .filter(|c| c.count > 0 && shade(c.count) == step)
            .map(|cell| {
                let (left, right) = (time.at(cell.start), time.at(cell.end));
                let (top, bottom) = (y.at(cell.high.as_gb_per_s()), y.at(cell.low.as_gb_per_s()));
                Rect::new(left, top, (right - left).max(0.8), (bottom - top).max(0.8))
            });
        let rects = joined(rects.collect());
        if !rects.is_empty() {
            canvas.rects(rects, colour).fade(0.1 + 0.6 * step / SHADES);
        }
    }
}

/// Neighbouring cells together, by turns in bandwidth and in time, until few enough are left. Each keeps to the edges of those that it is made of.
fn coarse(cells: &[DensityCell]) -> Vec<DensityCell> {
    let mut cells: Vec<DensityCell> = cells.iter().filter(|c| c.count > 0).copied().collect();
    let Some(first) = cells.first().copied() else {
        return cells;
    };
    let begin = cells.iter().map(|c| c.start).min().unwrap_or(first.start);
    let width = first
        .end
        .as_unix_micros()
        .abs_diff(first.start.as_unix_micros())
        .max(1);
    let height = (first.high.as_gb_per_s() / first.low.as_gb_per_s()).ln();
    if !(height.is_finite() && height > 0.0) {
        return cells;
    }
    // Rows and stretches of time in a cell.
    let mut together = (1_i64, 1_u64);
    while cells.len() > MOST_CELLS && together.1 < 64 {
        match together.0 as u64 > together.1 {
            true => together.1 *= 2,
            false => together.0 *= 2,
        }
        let mut merged: BTreeMap<(u64, i64), DensityCell> = BTreeMap::new();
        for cell in cells {
            let since = cell.start.as_unix_micros().abs_diff(begin.as_unix_micros());
            let row = (cell.low.as_gb_per_s().ln() / height).round();
            // `as` saturates, and makes 0 of what no logarithm has.
            let key = (
                since / width / together.1,
                (row as i64).div_euclid(together.0),
            );
            merged
                .entry(key)
                .and_modify(|into| {
                    into.start = into.start.min(cell.start);
                    into.end = into.end.max(cell.end);
                    into.count = into.count.saturating_add(cell.count);
                    if cell.low.as_gb_per_s() < into.low.as_gb_per_s() {
                        into.low = cell.low;
                    }
                    if cell.high.as_gb_per_s() > into.high.as_gb_per_s() {
                        into.high = cell.high;
                    }
                })
                .or_insert(cell);
        }
        cells = merged.into_values().collect();
    }
    cells
}

/// Neighbours in a row as one: what looks like one rectangle is drawn as one.
fn joined(mut rects: Vec<Rect>) -> Vec<Rect> {
    rects.sort_by(|a, b| {
        (a.y.total_cmp(&b.y))
            .then(a.h.total_cmp(&b.h))
            .then(a.x.total_cmp(&b.x))
    });
    let mut out: Vec<Rect> = Vec::with_capacity(rects.len());
    for rect in rects {
        match out.last_mut() {
            // A tenth of a pixel is what drawings resolve.
            Some(last) if last.y == rect.y && last.h == rect.h && rect.x <= last.right() + 0.1 => {
                last.w = last.w.max(rect.right() - last.x);
            }
            _ => out.push(rect),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use nccl_report_analyze::units::{BusBandwidth, Timestamp};

    use super::*;

    fn cell(stretch: i64, row: i32, count: u64) -> DensityCell {
        DensityCell {
            start: Timestamp::from_unix_micros(1_000_000 + 500 * stretch),
            end: Timestamp::from_unix_micros(1_000_000 + 500 * (stretch + 1)),
            low: BusBandwidth::from_gb_per_s(1.02_f64.powi(row)),
            high: BusBandwidth::from_gb_per_s(1.02_f64.powi(row + 1)),
            count,
        }
    }

    #[test]
    fn few_cells_stay_as_they_are() {
        let cells = [cell(0, 5, 3), cell(1, 5, 4), cell(9, -7, 1)];
        assert_eq!(coarse(&cells), cells);
    }

    #[test]
    fn many_cells_become_few_and_count_the_same() {
        let cells: Vec<_> = (0..120)
            .flat_map(|t| (-30..30).map(move |row| cell(t, row, 1 + (t as u64 + 7) % 5)))
            .collect();
        let coarse = coarse(&cells);
        // By hand: 7,200 cells in fours are 1,800, and these in fours 450 or a few more at the edges of the rows.
        assert!(
            (450..=MOST_CELLS).contains(&coarse.len()),
            "{}",
            coarse.len()
        );
        let sum = |cells: &[DensityCell]| cells.iter().map(|c| c.count).sum::<u64>();
        assert_eq!(sum(&coarse), sum(&cells));
        let (low, high) = (1.02_f64.powi(-30), 1.02_f64.powi(30));
        for c in &coarse {
            assert!(c.low.as_gb_per_s() >= low * 0.999 && c.high.as_gb_per_s() <= high * 1.001);
            assert!(c.start < c.end && c.end <= cells[cells.len() - 1].end);
        }
    }

    #[test]
    fn neighbours_in_a_row_are_one_rectangle() {
        let rects = vec![
            Rect::new(4.0, 1.0, 2.0, 1.0),
            Rect::new(2.0, 1.0, 2.0, 1.0),
            Rect::new(8.0, 1.0, 2.0, 1.0),
            Rect::new(6.0, 2.0, 2.0, 1.0),
        ];
        assert_eq!(
            joined(rects),
            [
                Rect::new(2.0, 1.0, 4.0, 1.0),
                Rect::new(8.0, 1.0, 2.0, 1.0),
                Rect::new(6.0, 2.0, 2.0, 1.0),
            ]
        );
    }
}
