//! How often which bus bandwidth occurs: a row per message size on one axis.

use nccl_report_analyze::facts::{Histogram, Job};

use super::axis;
use super::drawing::{Figure, Section, slug};
use super::scale::Scale;
use super::sheet::{LABEL, MARGIN, NOTE, Sheet, WIDTH};
use super::{mark, number};
use crate::svg::{self, Anchor, Colour, Rect};

const MOST_ROWS: usize = 16;
const LABELS: f64 = 110.0;
const COUNTS: f64 = 130.0;

/// The histograms of one class and operation; `None` if they hold nothing.
pub(crate) fn figure(_: &Job, histograms: &[&Histogram]) -> Option<Figure> {
    let mut rows: Vec<&Histogram> = histograms
        .iter()
        .copied()
        .filter(|h| bins(h).next().is_some())
        .collect();
    let first = *rows.first()?;
    let all = rows.len();
    rows.sort_by_key(|h| std::cmp::Reverse(total(h)));
    rows.truncate(MOST_ROWS);
    rows.sort_by_key(|h| h.size);
    let scale = Scale::logarithmic(
        rows.iter()
            .flat_map(|h| bins(h))
            .flat_map(|(low, high, _)| [low, high]),
    )?;

    let class = first.class.as_str();
    let title = format!(
        "{} on {class} communicators: how bus bandwidth is spread",
        first.operation
    );
    let reading = "A row per message size, each as high as its fullest bin; two humps mean two kinds of records.";
    let mut sheet = Sheet::new(&title, reading);
    let height = if rows.len() <= 6 { 62.0 } else { 44.0 };
    let panel = Rect::new(
        MARGIN + LABELS,
        sheet.y,
        WIDTH - 2.0 * MARGIN - LABELS - COUNTS,
        height * rows.len() as f64,
    );
    let scale = scale.onto(panel.x, panel.right());
    axis::horizontal(
        &mut sheet.canvas,
        scale,
        panel,
        "Bus bandwidth (GB/s, logarithmic)",
    );

    let sizes = number::SizeLabels::of(rows.iter().map(|h| h.size));
    for (n, histogram) in rows.iter().enumerate() {
        let base = panel.y + height * (n + 1) as f64;
        let fullest = bins(histogram)
            .map(|(_, _, count)| count)
            .max()
            .unwrap_or(1);
        for (low, high, count) in bins(histogram) {
            let (left, right) = (scale.at(low), scale.at(high));
            let h = (height - 8.0) * count as f64 / fullest as f64;
            let rect = Rect::new(left, base - h.max(0.6), (right - left).max(0.8), h.max(0.6));
            sheet.canvas.rect(rect, mark::colour(n)).fade(0.9);
        }
        sheet
            .canvas
            .line((panel.x, base), (panel.right(), base), 1.0, Colour::Axis);
        let label = svg::shorten(&sizes.get(histogram.size), LABELS - 10.0, NOTE, false);
        let middle = base - height / 2.0;
        sheet.canvas.text(
            (panel.x - 10.0, middle),
            &label,
            NOTE,
            Anchor::End,
            Colour::Text,
        );
        for (text, y) in [
            (number::counted(total(histogram), "record"), middle - 7.0),
            (
                format!("fullest bin {}", number::count(fullest)),
                middle + 7.0,
            ),
        ] {
            let text = svg::shorten(&text, COUNTS - 10.0, LABEL, false);
            sheet.canvas.text(
                (panel.right() + 10.0, y),
                &text,
                LABEL,
                Anchor::Start,
                Colour::Muted,
            );
        }
    }

    let mut description = format!(
        "Histograms of the bus bandwidth of {} on {class} communicators over all records, a row per message size, on one logarithmic axis. \
         Look for rows with two humps or a long tail to the left.",
        first.operation
    );
    if all > rows.len() {
        description += &format!(
            " The {} sizes with the most records of {all} are drawn.",
            rows.len()
        );
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let id = format!(
        "histogram-{}-{}",
        first.class.as_str(),
        slug(&first.operation)
    );
    Some(sheet.finish(&id, Section::Distribution, &description))
}

/// Bins that hold something and can be drawn: lower edge, upper edge, count.
fn bins(histogram: &Histogram) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
    histogram
        .edges
        .windows(2)
        .zip(&histogram.counts)
        .map(|(edges, count)| (edges[0].as_gb_per_s(), edges[1].as_gb_per_s(), *count))
        .filter(|(low, high, count)| *count > 0 && *low > 0.0 && high.is_finite() && high >= low)
}

fn total(histogram: &Histogram) -> u64 {
    histogram
        .counts
        .iter()
        .fold(0, |sum, n| sum.saturating_add(*n))
}
