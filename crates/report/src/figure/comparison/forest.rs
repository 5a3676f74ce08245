//! The change of every bucket with its interval: a forest plot.

use nccl_report_analyze::facts::{BucketComparison, BucketVerdict, Change, Comparison};

use super::{ROWS, label};
use crate::export::words;
use crate::figure::axis;
use crate::figure::drawing::{Figure, Section};
use crate::figure::scale::Scale;
use crate::figure::sheet::{Key, LABEL, MARGIN, NOTE, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

const PITCH: f64 = 20.0;
const NUMBERS: f64 = 210.0;
/// Changes beyond ±this many percent are drawn at the edge.
const MOST: f64 = 100.0;

/// The figure; `None` where no bucket has a change.
pub(super) fn figure(of: &Comparison, buckets: &[&BucketComparison]) -> Option<Figure> {
    let rows: Vec<(&BucketComparison, Faster)> = buckets
        .iter()
        .filter_map(|b| Some((*b, Faster::of(&b.change?, b.metric.is_bandwidth()))))
        .take(ROWS)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let threshold = 100.0 * of.threshold;
    let reach = rows
        .iter()
        .flat_map(|(_, f)| [f.low, f.high, f.middle])
        .filter(|v| v.is_finite())
        .map(f64::abs)
        .fold(2.0 * threshold, f64::max);
    let reach = (reach * 1.05).min(MOST);
    let mut sheet = Sheet::new(
        "What changed, bucket by bucket",
        "Dot: the change of speed (of bandwidth, or of one over the time where latency rules); line: its 95 % interval; left of zero the candidate is slower. Grey band: changes too small to matter.",
    );
    sheet.legend(&[
        (
            Key::Area(colour(BucketVerdict::Regression)),
            "regression".to_owned(),
        ),
        (
            Key::Area(colour(BucketVerdict::Improvement)),
            "improvement".to_owned(),
        ),
        (
            Key::Area(colour(BucketVerdict::Unchanged)),
            "unchanged".to_owned(),
        ),
        (
            Key::Area(colour(BucketVerdict::Inconclusive)),
            "inconclusive".to_owned(),
        ),
    ]);
    let labels = rows
        .iter()
        .map(|(b, _)| svg::width(&svg::shorten(&label(b), 300.0, NOTE, false), NOTE, false))
        .fold(40.0, f64::max);
    let left = MARGIN + labels + 12.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - NUMBERS - left,
        PITCH * rows.len() as f64,
    );
    let scale = Scale::exact(-reach, reach).onto(panel.x, panel.right());
    let band = Rect::new(
        scale.at(-threshold),
        panel.y,
        scale.at(threshold) - scale.at(-threshold),
        panel.h,
    );
    sheet.canvas.rect(band, Colour::Band);
    axis::horizontal(&mut sheet.canvas, scale, panel, "Change of speed (%)");
    sheet.canvas.line(
        (scale.at(0.0), panel.y),
        (scale.at(0.0), panel.bottom()),
        1.2,
        Colour::Axis,
    );
    for (n, (b, f)) in rows.iter().enumerate() {
        let y = panel.y + PITCH * (n as f64 + 0.5);
        let colour = colour(b.verdict);
        let label = svg::shorten(&label(b), 300.0, NOTE, false);
        sheet
            .canvas
            .text((left - 12.0, y), &label, NOTE, Anchor::End, Colour::Text);
        let at = |v: f64| scale.at(if v.is_finite() { v } else { v.signum() * MOST });
        let (low, high) = (at(f.low), at(f.high));
        sheet.canvas.line((low, y), (high, y), 2.0, colour);
        for end in [low, high] {
            sheet
                .canvas
                .line((end, y - 4.0), (end, y + 4.0), 1.2, colour);
        }
        let note = format!("{}: {}", b.verdict.as_str(), f.text());
        sheet.canvas.disc((at(f.middle), y), 4.0, colour).note(note);
        let text = svg::shorten(&f.text(), NUMBERS - 12.0, LABEL, false);
        sheet.canvas.text(
            (panel.right() + 10.0, y),
            &text,
            LABEL,
            Anchor::Start,
            Colour::Muted,
        );
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let all = buckets.iter().filter(|b| b.change.is_some()).count();
    let more = if all > ROWS {
        format!(" The first {ROWS} of {all} buckets are drawn.")
    } else {
        String::new()
    };
    let description = format!(
        "The relative change of speed from the baseline to the candidate with its 95 % interval, a row for each bucket, those that moved first. Changes within ±{} don't count.{more}",
        words::share(of.threshold)
    );
    Some(sheet.finish("compare-changes", Section::Changes, &description))
}

/// A change of speed in percent: above zero is faster, whatever the metric.
struct Faster {
    middle: f64,
    low: f64,
    high: f64,
}

impl Faster {
    fn of(change: &Change, is_bandwidth: bool) -> Self {
        // One over (1 + change) for times.
        let turned = |v: f64| {
            100.0
                * if is_bandwidth {
                    v
                } else {
                    1.0 / (1.0 + v) - 1.0
                }
        };
        let (a, b) = (turned(change.ci_low), turned(change.ci_high));
        Self {
            middle: turned(change.change),
            low: a.min(b),
            high: a.max(b),
        }
    }

    fn text(&self) -> String {
        let of = |v: f64| words::change(v / 100.0);
        format!("{} ({} … {})", of(self.middle), of(self.low), of(self.high))
    }
}

const fn colour(verdict: BucketVerdict) -> Colour {
    match verdict {
        BucketVerdict::Regression => Colour::Alert,
        BucketVerdict::Improvement => Colour::Series(2),
        BucketVerdict::Unchanged => Colour::Muted,
        _ => Colour::Series(4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_is_left_whatever_the_metric() {
        let change = |change, ci_low, ci_high| Change {
            baseline: 1.0,
            candidate: 1.0,
            change,
            ci_low,
            ci_high,
            p: 0.0,
            p_adjusted: 0.0,
        };
        let bandwidth = Faster::of(&change(-0.2, -0.25, -0.1), true);
        assert_eq!(
            (bandwidth.low, bandwidth.middle, bandwidth.high),
            (-25.0, -20.0, -10.0)
        );
        let time = Faster::of(&change(0.25, 0.0, 1.0), false);
        assert!((time.middle + 20.0).abs() < 1e-9);
        assert_eq!((time.low, time.high), (-50.0, 0.0));
    }
}
