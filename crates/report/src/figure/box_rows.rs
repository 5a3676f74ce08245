//! Box plots in rows: label, boxes on a shared axis, how many values.

use nccl_report_analyze::facts::Distribution;

use super::axis;
use super::number;
use super::scale::Scale;
use super::sheet::{LABEL, MARGIN, NOTE, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

const BOX: f64 = 11.0;
const PITCH: f64 = 17.0;
const GAP: f64 = 7.0;
const COUNTS: f64 = 206.0;

/// What a box plot shows. The whiskers end at values that occur.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Five {
    pub(crate) min: f64,
    pub(crate) low: f64,
    pub(crate) q1: f64,
    pub(crate) median: f64,
    pub(crate) q3: f64,
    pub(crate) high: f64,
    pub(crate) max: f64,
    pub(crate) count: u64,
    pub(crate) outliers: u64,
}

impl Five {
    /// The numbers of a distribution; `None` if one of them is none or there are no values.
    pub(crate) fn of<T: Copy>(d: &Distribution<T>, number: impl Fn(T) -> f64) -> Option<Self> {
        let five = Self {
            min: number(d.min),
            low: number(d.whisker_low),
            q1: number(d.p25),
            median: number(d.p50),
            q3: number(d.p75),
            high: number(d.whisker_high),
            max: number(d.max),
            count: d.count,
            outliers: d.outliers,
        };
        (d.count > 0 && five.values().iter().all(|v| v.is_finite())).then_some(five)
    }

    /// The numbers of a sample: quantiles of type 7, whiskers after Tukey, as in [`Distribution`].
    pub(crate) fn of_sample(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let quantile = |p: f64| {
            let place = p * (values.len() - 1) as f64;
            let below = values[place.floor() as usize];
            let above = values[place.ceil() as usize];
            below + (above - below) * place.fract()
        };
        let (q1, median, q3) = (quantile(0.25), quantile(0.5), quantile(0.75));
        let reach = 1.5 * (q3 - q1);
        let inside = |v: &f64| *v >= q1 - reach && *v <= q3 + reach;
        Some(Self {
            min,
            low: values.iter().copied().find(inside).unwrap_or(q1),
            q1,
            median,
            q3,
            high: values.iter().rev().copied().find(inside).unwrap_or(q3),
            max,
            count: values.len() as u64,
            outliers: values.iter().filter(|v| !inside(v)).count() as u64,
        })
    }

    fn values(&self) -> [f64; 7] {
        [
            self.min,
            self.low,
            self.q1,
            self.median,
            self.q3,
            self.high,
            self.max,
        ]
    }
}

/// A label and the boxes beside it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) boxes: Vec<(Colour, Five)>,
}

/// How values of an axis are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) title: &'static str,
    /// From zero, as shares are; else as bandwidths are.
    pub(crate) from_zero: bool,
    /// A value with its unit.
    pub(crate) text: fn(f64) -> String,
}

/// Draws the rows and an axis below; `None` if nothing is positive.
pub(crate) fn draw(sheet: &mut Sheet, rows: &[Row], axis: Axis) -> Option<()> {
    let values = rows
        .iter()
        .flat_map(|r| &r.boxes)
        .flat_map(|(_, five)| five.values());
    let scale = if axis.from_zero {
        Scale::from_zero(values)
    } else {
        Scale::positive(values)
    }?;
    let labels = rows
        .iter()
        .map(|r| svg::width(&svg::shorten(&r.label, 230.0, NOTE, false), NOTE, false))
        .fold(40.0, f64::max);
    let left = MARGIN + labels + 12.0;
    let height: f64 = rows
        .iter()
        .map(|r| PITCH * r.boxes.len() as f64 + GAP)
        .sum();
    let panel = Rect::new(left, sheet.y, WIDTH - MARGIN - COUNTS - left, height);
    let scale = scale.onto(panel.x, panel.right());
    let title = if scale.is_logarithmic() {
        format!("{}, logarithmic", axis.title)
    } else {
        axis.title.to_owned()
    };
    let mut y = panel.y;
    for (n, row) in rows.iter().enumerate() {
        let h = PITCH * row.boxes.len() as f64 + GAP;
        if n % 2 == 1 {
            let band = Rect::new(MARGIN, y, WIDTH - 2.0 * MARGIN, h);
            sheet.canvas.rect(band, Colour::Band);
        }
        y += h;
    }
    axis::horizontal(&mut sheet.canvas, scale, panel, &title);

    let mut y = panel.y;
    for row in rows {
        let h = PITCH * row.boxes.len() as f64 + GAP;
        let label = svg::shorten(&row.label, 230.0, NOTE, false);
        sheet.canvas.text(
            (left - 12.0, y + h / 2.0),
            &label,
            NOTE,
            Anchor::End,
            Colour::Text,
        );
        for (n, (colour, five)) in row.boxes.iter().enumerate() {
            let middle = y + GAP / 2.0 + PITCH * (n as f64 + 0.5);
            draw_box(sheet, scale, middle, *colour, five, axis.text);
            let mut text = format!(
                "{}, n {}",
                (axis.text)(five.median),
                number::count(five.count)
            );
            if five.outliers > 0 {
                text += &format!(", {} outside", number::count(five.outliers));
            }
            let text = svg::shorten(&text, COUNTS - 10.0, LABEL, false);
            sheet.canvas.text(
                (panel.right() + 10.0, middle),
                &text,
                LABEL,
                Anchor::Start,
                Colour::Muted,
            );
        }
        y += h;
    }
    sheet.y = panel.bottom() + axis::BELOW;
    Some(())
}

fn draw_box(
    sheet: &mut Sheet,
    scale: Scale,
    y: f64,
    colour: Colour,
    five: &Five,
    text: fn(f64) -> String,
) {
    let canvas = &mut sheet.canvas;
    let [min, low, q1, median, q3, high, max] = five.values().map(|v| scale.at(v));
    for (from, to) in [(low, q1), (q3, high)] {
        if (to - from).abs() > 0.05 {
            canvas.line((from, y), (to, y), 1.2, colour);
        }
    }
    for end in [low, high] {
        canvas.line((end, y - 3.5), (end, y + 3.5), 1.2, colour);
    }
    for (value, outside) in [(min, five.min < five.low), (max, five.max > five.high)] {
        if outside {
            canvas.ring((value, y), 2.2, 1.0, colour);
        }
    }
    let body = Rect::new(q1, y - BOX / 2.0, (q3 - q1).max(1.2), BOX);
    let note = format!(
        "median {}, middle half {} to {}, whiskers {} to {}, all {} to {}",
        text(five.median),
        text(five.q1),
        text(five.q3),
        text(five.low),
        text(five.high),
        text(five.min),
        text(five.max)
    );
    canvas.rect(body, colour).fade(0.55).note(note);
    canvas.line(
        (median, y - BOX / 2.0 - 1.0),
        (median, y + BOX / 2.0 + 1.0),
        2.4,
        Colour::Text,
    );
}

/// How to read the rows.
pub(crate) const READING: &str = "Box: the middle half of the values; line, and number beside: the median; whiskers: the last values within 1.5 box lengths; rings: the extremes beyond.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_numbers_by_hand() {
        // Type 7 of 1, 2, 3, 4, 100: places 1, 2 and 3, so 2, 3, 4; fences -1 and 7.
        let five = Five::of_sample([100.0, 1.0, 3.0, 2.0, 4.0]).expect("values");
        assert_eq!(five.values(), [1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 100.0]);
        assert_eq!((five.count, five.outliers), (5, 1));
        // A quarter, a half, three quarters of the way from 10 to 20.
        let five = Five::of_sample([20.0, 10.0, f64::NAN]).expect("values");
        assert_eq!(five.values(), [10.0, 10.0, 12.5, 15.0, 17.5, 20.0, 20.0]);
        assert_eq!(Five::of_sample([f64::NAN]), None);
    }
}
