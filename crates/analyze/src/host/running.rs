//! How likely a slow operation was running at each moment, or how many were.
//!
//! Where it is known when an operation ran, it is 1 then and 0 else. Where only a wider time is known, the operation filled a part of
//! that time, and the part is the probability for each moment in it. Several operations are taken not to know of each other. Where such times
//! cover nearly all of a run, a slow operation may have been running at any moment, and only how many tells one moment from another.

use super::stretches::Stretch;

/// Of a number, the levels end here.
const MOST_LEVELS: f64 = u16::MAX as f64;

/// Levels that probabilities are kept to: what is less makes no difference to any sum.
const LEVELS: f64 = 1000.0;

/// An operation that surely ran counts as this, so that logarithms stay finite.
const SURE: f64 = 1.0 - 1e-9;

/// The probability, or the expected number, over a span of time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    /// Where it changes, the ends of the span included; ns.
    edges: Vec<i64>,
    /// From each edge to the next, in levels.
    levels: Vec<u16>,
    /// Its integral up to each edge, ns.
    before: Vec<f64>,
    /// How long it is at each level: probability and ns, in order.
    distribution: Vec<(f64, f64)>,
}

impl Running {
    /// Of windows and how long within each the operation ran, ns.
    pub(crate) fn of(windows: impl Iterator<Item = (Stretch, f64)>, span: Stretch) -> Self {
        Self::by(
            windows,
            span,
            |part| (1.0 - part).ln(),
            |log| 1.0 - f64::exp(log),
        )
    }

    /// How many were running, of the same.
    pub(crate) fn how_many(windows: impl Iterator<Item = (Stretch, f64)>, span: Stretch) -> Self {
        Self::by(windows, span, |part| part, |sum| sum)
    }

    /// `adds` is what a part is as a term of a sum, `level_of` what the sum comes to.
    fn by(
        windows: impl Iterator<Item = (Stretch, f64)>,
        span: Stretch,
        adds: impl Fn(f64) -> f64,
        level_of: impl Fn(f64) -> f64,
    ) -> Self {
        let mut changes: Vec<(i64, f64)> = Vec::new();
        for ((from, to), length) in windows {
            let (start, end) = (from.max(span.0), to.min(span.1));
            if start >= end {
                continue;
            }
            let part = (length / (to.saturating_sub(from)) as f64).clamp(0.0, SURE);
            let term = adds(part);
            changes.extend([(start, term), (end, -term)]);
        }
        changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut out = Self {
            edges: vec![span.0],
            levels: Vec::new(),
            before: vec![0.0],
            distribution: Vec::new(),
        };
        let mut sum = 0.0;
        let mut level = 0;
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            out.until(same[0].0, level);
            sum += same.iter().map(|c| c.1).sum::<f64>();
            level = (level_of(sum) * LEVELS).round().clamp(0.0, MOST_LEVELS) as u16;
        }
        out.until(span.1, level);
        out.distribution = out.lengths();
        out
    }

    fn until(&mut self, at: i64, level: u16) {
        let last = self.edges[self.edges.len() - 1];
        if at <= last {
            return;
        }
        let sum = self.before[self.before.len() - 1];
        self.before
            .push(sum + f64::from(level) / LEVELS * (at - last) as f64);
        self.edges.push(at);
        self.levels.push(level);
    }

    /// When the span begins, ns.
    pub(crate) fn start(&self) -> i64 {
        self.edges[0]
    }

    /// Its length, ns.
    pub(crate) fn length(&self) -> f64 {
        (self.edges[self.edges.len() - 1].saturating_sub(self.edges[0])) as f64
    }

    /// At a moment within.
    pub(crate) fn at(&self, at: i64) -> f64 {
        let i = self.edges.partition_point(|&e| e <= at);
        let level = self.levels.get(i.saturating_sub(1));
        f64::from(level.or(self.levels.last()).copied().unwrap_or(0)) / LEVELS
    }

    /// Expected time up to a moment in which a slow operation ran, ns.
    pub(crate) fn up_to(&self, at: i64) -> f64 {
        let i = self.edges.partition_point(|&e| e <= at).max(1) - 1;
        let level = self.levels.get(i).copied().unwrap_or(0);
        let since = at.saturating_sub(self.edges[i]).max(0);
        self.before[i] + f64::from(level) / LEVELS * since as f64
    }

    /// Expected time in all in which a slow operation ran, ns.
    pub(crate) fn total(&self) -> f64 {
        self.before[self.before.len() - 1]
    }

    /// How long it is at each level: probability and ns, in order.
    pub(crate) fn levels(&self) -> &[(f64, f64)] {
        &self.distribution
    }

    fn lengths(&self) -> Vec<(f64, f64)> {
        let most = self.levels.iter().copied().max().unwrap_or(0);
        let mut lengths = vec![0.0; usize::from(most) + 1];
        for (level, ends) in self.levels.iter().zip(self.edges.windows(2)) {
            lengths[usize::from(*level)] += (ends[1] - ends[0]) as f64;
        }
        (0_u32..)
            .zip(lengths)
            .filter(|(_, length)| *length > 0.0)
            .map(|(level, length)| (f64::from(level) / LEVELS, length))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // One that fills its window; one that ran for half of it; they overlap from 20 to 30.
        let windows = [((10, 30), 20.0), ((20, 60), 20.0), ((90, 80), 1.0)];
        let running = Running::of(windows.into_iter(), (0, 100));
        assert_eq!(
            [5, 15, 25, 40, 70].map(|at| running.at(at)),
            [0.0, 1.0, 1.0, 0.5, 0.0]
        );
        assert!((running.total() - 35.0).abs() < 1e-9);
        assert!((running.up_to(40) - 25.0).abs() < 1e-9);
        assert_eq!(running.levels(), [(0.0, 50.0), (0.5, 30.0), (1.0, 20.0)]);
        assert!((running.length() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn two_halves_are_three_quarters_and_no_window_is_never() {
        let both = [((0, 10), 5.0), ((0, 10), 5.0)];
        assert!((Running::of(both.into_iter(), (0, 20)).at(3) - 0.75).abs() < 1e-9);
        let many = Running::how_many(both.into_iter(), (0, 20));
        assert_eq!(many.levels(), [(0.0, 10.0), (1.0, 10.0)]);
        let none = Running::of(std::iter::empty(), (0, 20));
        assert_eq!(none.levels(), [(0.0, 20.0)]);
    }
}
