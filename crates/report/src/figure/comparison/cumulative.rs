//! The cumulative distributions of both runs in one bucket.

use nccl_report_analyze::facts::{BucketComparison, Level};

use super::{BASELINE, CANDIDATE, label};
use crate::figure::axis;
use crate::figure::drawing::{Figure, Section, slug};
use crate::figure::scale::Scale;
use crate::figure::sheet::{Key, MARGIN, Sheet, WIDTH};
use crate::svg::Rect;

const HEIGHT: f64 = 240.0;

/// The figure; `None` where a side has no values.
pub(super) fn figure(of: &BucketComparison) -> Option<Figure> {
    let (baseline, candidate) = (of.baseline.as_ref()?, of.candidate.as_ref()?);
    let sides = [(BASELINE, baseline), (CANDIDATE, candidate)];
    if sides.iter().any(|(_, level)| level.quantiles.len() < 2) {
        return None;
    }
    let bandwidth = of.metric.is_bandwidth();
    let label = label(of);
    let mut sheet = Sheet::new(
        &format!("{label}: how its operations are spread"),
        "Read across: the share of the operations with at most this value. Where one line lies left of the other all the way, that run is lower throughout.",
    );
    sheet.legend(&[
        (Key::Line(BASELINE), "baseline".to_owned()),
        (Key::Line(CANDIDATE), "candidate".to_owned()),
    ]);
    let x = Scale::positive(
        sides
            .iter()
            .flat_map(|(_, level)| level.quantiles.iter().copied()),
    )?;
    let panel = Rect::new(
        MARGIN + axis::LEFT,
        sheet.y,
        WIDTH - 2.0 * MARGIN - axis::LEFT - 20.0,
        HEIGHT,
    );
    let x = x.onto(panel.x, panel.right());
    let y = Scale::exact(0.0, 100.0).onto(panel.bottom(), panel.y);
    let unit = if bandwidth {
        "Bus bandwidth (GB/s)"
    } else {
        "Time (µs)"
    };
    let unit = if x.is_logarithmic() {
        format!("{unit}, logarithmic")
    } else {
        unit.to_owned()
    };
    axis::horizontal(&mut sheet.canvas, x, panel, &unit);
    axis::vertical(&mut sheet.canvas, y, panel, "Operations (%)");
    for (colour, level) in sides {
        let points = points(level)
            .map(|(value, percent)| (x.at(value), y.at(percent)))
            .collect();
        sheet.canvas.path(points, 2.0, colour);
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let description = format!(
        "Cumulative distributions of {} in {label}, of the baseline ({} operations) and of the candidate ({} operations).",
        if bandwidth {
            "the link bandwidth"
        } else {
            "the shortest time"
        },
        crate::figure::number::count(baseline.operations),
        crate::figure::number::count(candidate.operations),
    );
    Some(sheet.finish(
        &format!("compare-spread-{}", slug(&label)),
        Section::Distribution,
        &description,
    ))
}

fn points(level: &Level) -> impl Iterator<Item = (f64, f64)> {
    let last = (level.quantiles.len() - 1) as f64;
    level
        .quantiles
        .iter()
        .enumerate()
        .map(move |(k, &value)| (value, 100.0 * k as f64 / last))
}
