//! Time since the start of the run.

use nccl_report_analyze::facts::Job;
use nccl_report_analyze::units::Timestamp;

use super::scale::Scale;

/// Runs longer than this many seconds are read in hours.
const LONG_RUN: f64 = 7_200.0;

/// Turns time stamps into places: time zero is the first dump of the job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeAxis {
    origin: Timestamp,
    seconds_per_unit: f64,
    unit: &'static str,
    scale: Scale,
}

fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    (i128::from(to.as_unix_micros()) - i128::from(from.as_unix_micros())) as f64 / 1e6
}

impl TimeAxis {
    /// The axis of moments between two pixels; `None` without moments.
    pub(crate) fn of(
        job: &Job,
        moments: impl IntoIterator<Item = Timestamp>,
        from: f64,
        to: f64,
    ) -> Option<Self> {
        let (first, last) = moments.into_iter().fold(None, |range, t| match range {
            None => Some((t, t)),
            Some((first, last)) => Some((t.min(first), t.max(last))),
        })?;
        let origin = job.overview.span.map_or(first, |(start, _)| start);
        let (low, high) = (
            seconds_between(origin, first),
            seconds_between(origin, last),
        );
        // The whole run where the moments are most of it, so that figures can be laid side by side.
        let end = job
            .overview
            .span
            .map_or(high, |(_, end)| seconds_between(origin, end));
        let (low, high) = if high - low > 0.3 * end {
            (low.min(0.0), high.max(end))
        } else {
            (low, high)
        };
        let (seconds_per_unit, unit) = if high.abs().max(low.abs()) > LONG_RUN {
            (3_600.0, "h")
        } else {
            (1.0, "s")
        };
        let scale = Scale::exact(low / seconds_per_unit, high / seconds_per_unit).onto(from, to);
        Some(Self {
            origin,
            seconds_per_unit,
            unit,
            scale,
        })
    }

    pub(crate) fn at(&self, moment: Timestamp) -> f64 {
        self.scale.at(self.value(moment))
    }

    /// The moment in the axis' unit.
    fn value(&self, moment: Timestamp) -> f64 {
        seconds_between(self.origin, moment) / self.seconds_per_unit
    }

    /// The moment as text, e.g. "12.3 s".
    pub(crate) fn text(&self, moment: Timestamp) -> String {
        format!(
            "{} {}",
            super::number::significant(self.value(moment)),
            self.unit
        )
    }

    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    pub(crate) fn title(&self) -> String {
        format!("Time since the start of the run ({})", self.unit)
    }
}
