//! A bucket over the runs: a dot a run, the level that the candidate is held against, and where the level shifts.

use nccl_report_analyze::facts::{BucketVerdict, History, Trend};

use crate::export::words;
use crate::figure::axis;
use crate::figure::drawing::{Figure, Section, slug};
use crate::figure::number;
use crate::figure::scale::Scale;
use crate::figure::sheet::{Key, LABEL, MARGIN, NOTE, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

const HEIGHT: f64 = 200.0;
/// Buckets with a drawing of their own.
const DRAWN: usize = 12;
/// Width of a label of a run.
const RUN: f64 = 28.0;

/// A drawing for the whole and for each of the buckets that moved or take the most time.
pub(super) fn figures(of: &History) -> Vec<Figure> {
    let whole = of.whole.as_ref().map(|t| Series {
        id: "trend-whole".to_owned(),
        title: "The transfers as a whole over the runs".to_owned(),
        unit: "Time, 1 = as before",
        trend: t,
        text: |v| number::significant(v),
    });
    let mut buckets: Vec<_> = of.buckets.iter().collect();
    let moved = |v| matches!(v, BucketVerdict::Regression | BucketVerdict::Improvement);
    buckets.sort_by(|a, b| {
        (moved(b.trend.verdict).cmp(&moved(a.trend.verdict)))
            .then(b.share_of_time.total_cmp(&a.share_of_time))
    });
    let series = buckets.into_iter().take(DRAWN).map(|b| {
        let bandwidth = b.metric.is_bandwidth();
        Series {
            id: format!("trend-{}", slug(&words::bucket(&b.key))),
            title: svg::clip(&format!("{} over the runs", words::bucket(&b.key)), 160),
            unit: if bandwidth {
                "Bus bandwidth (GB/s)"
            } else {
                "Time (µs)"
            },
            trend: &b.trend,
            text: if bandwidth {
                number::gb_per_s
            } else {
                |v| format!("{} µs", number::significant(v))
            },
        }
    });
    whole
        .into_iter()
        .chain(series)
        .filter_map(|s| s.figure(of))
        .collect()
}

struct Series<'a> {
    id: String,
    title: String,
    unit: &'static str,
    trend: &'a Trend,
    text: fn(f64) -> String,
}

impl Series<'_> {
    fn figure(&self, of: &History) -> Option<Figure> {
        let t = self.trend;
        let present: Vec<(usize, f64)> = (t.values.iter().enumerate())
            .filter_map(|(i, v)| Some((i, (*v)?)))
            .filter(|(_, v)| v.is_finite())
            .collect();
        if present.len() < 2 {
            return None;
        }
        let mut sheet = Sheet::new(
            &self.title,
            "A dot is a run, the oldest left, the candidate last. Line and band: the level of the runs that it is held against, and where 95 % of such runs lie.",
        );
        let candidate = verdict_colour(t.verdict);
        sheet.legend(&[
            (Key::Area(Colour::Series(0)), "held against".to_owned()),
            (Key::Area(Colour::Muted), "other earlier runs".to_owned()),
            (
                Key::Area(candidate),
                format!("candidate: {}", t.verdict.as_str()),
            ),
        ]);
        let panel = Rect::new(
            axis::LEFT,
            sheet.y,
            WIDTH - axis::LEFT - MARGIN - 14.0,
            HEIGHT,
        );
        let ends = t.reference.iter().flat_map(|r| [r.low, r.high]);
        let y = near(
            present
                .iter()
                .map(|p| p.1)
                .chain(ends.filter(|v| v.is_finite())),
        )?
        .onto(panel.bottom(), panel.y);
        let n = t.values.len() as f64;
        let x = |run: f64| panel.x + panel.w * (run + 0.5) / n;
        axis::vertical(&mut sheet.canvas, y, panel, self.unit);
        self.runs(&mut sheet, panel, &x);
        if let Some(r) = &t.reference {
            let inside = |v: f64| y.at(v).clamp(panel.y, panel.bottom());
            let (top, bottom) = (inside(r.high), inside(r.low));
            let (top, bottom) = (top.min(bottom), top.max(bottom));
            let band = Rect::new(panel.x, top, panel.w, bottom - top);
            sheet.canvas.rect(band, Colour::Band);
            let level = y.at(r.level);
            sheet.canvas.line(
                (panel.x, level),
                (panel.right(), level),
                1.2,
                Colour::Series(0),
            );
        }
        for s in &t.shifts {
            let at = x(f64::from(s.run) - 0.5);
            sheet
                .canvas
                .line((at, panel.y), (at, panel.bottom()), 1.2, Colour::Alert);
            let end = at > panel.x + panel.w / 2.0;
            let (anchor, gap) = if end {
                (Anchor::End, -5.0)
            } else {
                (Anchor::Start, 5.0)
            };
            let text = words::change(s.change);
            sheet.canvas.text(
                (at + gap, panel.y + 9.0),
                &text,
                LABEL,
                anchor,
                Colour::Text,
            );
        }
        let last = t.values.len() - 1;
        for (run, value) in &present {
            let held = t
                .reference
                .as_ref()
                .is_some_and(|r| r.runs.iter().any(|x| *x as usize == *run));
            let colour = match (*run == last, held) {
                (true, _) => candidate,
                (false, true) => Colour::Series(0),
                (false, false) => Colour::Muted,
            };
            let title = of.runs.get(*run).map_or("", |r| r.title.as_str());
            let note = format!("{}: {}", svg::clip(title, 80), (self.text)(*value));
            let radius = if *run == last { 5.0 } else { 3.6 };
            sheet
                .canvas
                .disc((x(*run as f64), y.at(*value)), radius, colour)
                .note(note);
        }
        sheet.y = panel.bottom() + axis::BELOW;
        let description = self.description(of);
        Some(sheet.finish(&self.id, Section::Trend, &description))
    }

    /// Numbers of the runs along the bottom.
    fn runs(&self, sheet: &mut Sheet, panel: Rect, x: &dyn Fn(f64) -> f64) {
        let n = self.trend.values.len();
        let every = ((n as f64 * RUN / panel.w).ceil() as usize).max(1);
        for run in (0..n).filter(|r| (n - 1 - r).is_multiple_of(every)) {
            let at = x(run as f64);
            let text = (run + 1).to_string();
            sheet.canvas.text(
                (at, panel.bottom() + 11.0),
                &text,
                LABEL,
                Anchor::Middle,
                Colour::Muted,
            );
        }
        sheet.canvas.line(
            (panel.x, panel.bottom()),
            (panel.right(), panel.bottom()),
            1.0,
            Colour::Axis,
        );
        let middle = panel.x + panel.w / 2.0;
        let title = "Run, as numbered in the table of runs";
        sheet.canvas.text(
            (middle, panel.bottom() + 30.0),
            title,
            NOTE,
            Anchor::Middle,
            Colour::Text,
        );
    }

    fn description(&self, of: &History) -> String {
        let t = self.trend;
        let held = t.reference.as_ref().map_or_else(
            || "Too few earlier runs compare.".to_owned(),
            |r| {
                format!(
                    "The candidate is {} off the level of {} earlier runs ({}); 95 % of such runs lie between {} and {}.",
                    words::change(r.change),
                    r.runs.len(),
                    (self.text)(r.level),
                    (self.text)(r.low),
                    (self.text)(r.high)
                )
            },
        );
        let shifts: Vec<String> = (t.shifts.iter())
            .map(|s| {
                let title = of.runs.get(s.run as usize).map_or("", |r| r.title.as_str());
                format!(
                    "by {} with run {} ({})",
                    words::change(s.change),
                    s.run + 1,
                    svg::clip(title, 80)
                )
            })
            .collect();
        if shifts.is_empty() {
            format!("{held} The level doesn't shift.")
        } else {
            format!("{held} The level shifts {}.", shifts.join(", then "))
        }
    }
}

/// A scale around the values, so that a few percent show.
fn near(values: impl Iterator<Item = f64>) -> Option<Scale> {
    let values: Vec<f64> = values.collect();
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let pad = (0.08 * (high - low)).max(0.01 * high.abs());
    Some(Scale::exact(low - pad, high + pad))
}

const fn verdict_colour(verdict: BucketVerdict) -> Colour {
    match verdict {
        BucketVerdict::Regression => Colour::Alert,
        BucketVerdict::Improvement | BucketVerdict::Unchanged => Colour::Series(2),
        _ => Colour::Series(4),
    }
}
