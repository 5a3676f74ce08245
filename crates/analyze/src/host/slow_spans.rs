//! The slow operations of a host, and when each ran.

use super::stretches::Stretches;
use crate::facts::WindowSource;

/// A call is slow at so many times the median of its kind: waiting for a late peer seldom makes it five times as long, a
/// retransmission time-out of 40 ms and more does.
const SLOW: f64 = 5.0;

/// Shorter calls aren't slowed by retransmits, whose time-outs are 5 ms at the least.
const LEAST_NANOS: f64 = 5e6;

/// Whether an operation of this length (ns) is slow, where `median` is usual for its kind.
pub(crate) fn is_slow(length: f64, median: f64) -> bool {
    length >= LEAST_NANOS && length >= SLOW * median
}

/// A slow operation, and when it ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowSpan {
    /// When it ran, or may have run, ns by the host's clock.
    pub(crate) window: (i64, i64),
    /// How long, µs.
    pub(crate) micros: f64,
    /// How long its kind usually takes, µs.
    pub(crate) usual: f64,
    /// Ranks that lost the time.
    pub(crate) ranks: f64,
    /// Whether it is a Send or a Recv, between two alone.
    pub(crate) pair: bool,
}

/// The slow operations of a host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HostWindows {
    /// The time that was looked at, ns by the host's clock.
    pub(crate) span: (i64, i64),
    pub(crate) slow: Vec<SlowSpan>,
    /// When any operation ran, slow or not; empty where that isn't known.
    pub(crate) operating: Stretches,
    pub(crate) source: WindowSource,
}

impl HostWindows {
    /// None yet.
    pub(crate) fn of(source: WindowSource) -> Self {
        Self {
            span: (i64::MAX, i64::MIN),
            slow: Vec::new(),
            operating: Stretches::default(),
            source,
        }
    }

    /// Adds what one trace says.
    pub(crate) fn add(&mut self, span: (i64, i64), slow: Vec<SlowSpan>, operating: Stretches) {
        self.span = (self.span.0.min(span.0), self.span.1.max(span.1));
        self.slow.extend(slow);
        if self.operating.all().is_empty() {
            self.operating = operating;
        } else {
            let both = [self.operating.all(), operating.all()].concat();
            self.operating = Stretches::of(both);
        }
    }

    /// The same by a clock that is ahead by so many ns.
    pub(crate) fn later(&self, by: i64) -> Self {
        let moved = |s: (i64, i64)| (s.0.saturating_add(by), s.1.saturating_add(by));
        Self {
            span: moved(self.span),
            slow: self
                .slow
                .iter()
                .map(|s| SlowSpan {
                    window: moved(s.window),
                    ..*s
                })
                .collect(),
            operating: Stretches::of(self.operating.all().iter().map(|s| moved(*s)).collect()),
            source: self.source,
        }
    }

    /// The times that slow operations fill.
    pub(crate) fn stretches(&self) -> Stretches {
        Stretches::of(self.slow.iter().map(|s| s.window).collect())
    }
}
