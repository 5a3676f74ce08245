//! Stretches of time: the axis of everything over time.

use crate::units::Timestamp;

/// Stretches that a job is ordinarily cut into, all gaps between runs left out.
pub(crate) const STRETCHES: usize = 96;

/// Segments are at most so many that each has this many stretches on average. Ranks that write now and then leave a span each, and thousands
/// of them mustn't make thousands of stretches.
const STRETCHES_A_SEGMENT: usize = 4;

/// A cut of the time in which dumps were written into stretches of nearly equal length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeGrid {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    start: i64,
    end: i64,
    first: usize,
    count: usize,
}

/// Joins spans over the shortest gaps between them, until there are at most so many.
fn bridge(spans: &mut Vec<(i64, i64)>, most: usize) {
    if spans.len() <= most {
        return;
    }
    let gap = |a: (i64, i64), b: (i64, i64)| i128::from(b.0) - i128::from(a.1);
    let mut gaps: Vec<i128> = spans.windows(2).map(|w| gap(w[0], w[1])).collect();
    gaps.sort_unstable_by_key(|&gap| std::cmp::Reverse(gap));
    // Of gaps as long as the longest that is bridged, none stays.
    let bridged = gaps[most - 1];
    spans.dedup_by(|next, last| {
        let join = gap(*last, *next) <= bridged;
        if join {
            last.1 = next.1;
        }
        join
    });
}

impl TimeGrid {
    /// A grid of `stretches` over spans of time (first and last stamp of each file). Spans that overlap or touch become one segment.
    pub(crate) fn over(mut spans: Vec<(i64, i64)>, stretches: usize) -> Self {
        spans.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        bridge(&mut merged, (stretches / STRETCHES_A_SEGMENT).max(1));
        let total: i128 = merged
            .iter()
            .map(|s| i128::from(s.1) - i128::from(s.0) + 1)
            .sum();
        let mut first = 0;
        let segments = merged
            .iter()
            .map(|&(start, end)| {
                let length = i128::from(end) - i128::from(start) + 1;
                let share = (length * stretches as i128 / total.max(1)).clamp(1, length);
                let count = usize::try_from(share).unwrap_or(1);
                let segment = Segment {
                    start,
                    end,
                    first,
                    count,
                };
                first += count;
                segment
            })
            .collect();
        Self { segments }
    }

    /// How many stretches.
    pub(crate) fn len(&self) -> usize {
        self.segments.last().map_or(0, |s| s.first + s.count)
    }

    /// The stretch that a moment lies in; a moment between segments or outside belongs to the nearest before it, or the first.
    pub(crate) fn stretch(&self, at: i64) -> usize {
        let i = self
            .segments
            .partition_point(|s| s.start <= at)
            .saturating_sub(1);
        let Some(s) = self.segments.get(i) else {
            return 0;
        };
        let length = i128::from(s.end) - i128::from(s.start) + 1;
        let offset = (i128::from(at) - i128::from(s.start)).clamp(0, length - 1);
        s.first + usize::try_from(offset * s.count as i128 / length).unwrap_or(0)
    }

    /// A way to ask for the stretches of moments that mostly follow each other.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor {
            grid: self,
            start: i64::MAX,
            end: i64::MIN,
            stretch: 0,
        }
    }

    /// Start and end of a stretch.
    pub(crate) fn bounds(&self, stretch: usize) -> (Timestamp, Timestamp) {
        let i = self
            .segments
            .partition_point(|s| s.first <= stretch)
            .saturating_sub(1);
        let Some(s) = self.segments.get(i) else {
            return (Timestamp::default(), Timestamp::default());
        };
        let length = i128::from(s.end) - i128::from(s.start) + 1;
        let edge = |k: usize| {
            // The first moment that `stretch` puts into the k-th stretch: the smallest offset with offset·count ≥ k·length.
            let offset = (k as i128 * length + s.count as i128 - 1) / s.count as i128;
            Timestamp::from_unix_micros(
                s.start
                    .saturating_add(i64::try_from(offset).unwrap_or(i64::MAX)),
            )
        };
        let k = stretch - s.first;
        (edge(k), edge(k + 1))
    }
}

/// Remembers the last stretch.
#[derive(Debug)]
pub(crate) struct Cursor<'g> {
    grid: &'g TimeGrid,
    start: i64,
    end: i64,
    stretch: usize,
}

impl Cursor<'_> {
    /// What [`TimeGrid::stretch`] says.
    pub(crate) fn stretch(&mut self, at: i64) -> usize {
        if at < self.start || at >= self.end {
            self.stretch = self.grid.stretch(at);
            let (start, end) = self.grid.bounds(self.stretch);
            (self.start, self.end) = (start.as_unix_micros(), end.as_unix_micros());
        }
        self.stretch
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stretches_cover_the_spans_and_skip_the_gap() {
        let grid = TimeGrid::over(vec![(1_000_000, 1_000_959), (0, 95), (50, 959)], STRETCHES);
        assert_eq!(grid.len(), 96);
        assert_eq!(
            (grid.stretch(-5), grid.stretch(0), grid.stretch(959)),
            (0, 0, 47)
        );
        assert_eq!((grid.stretch(1_000_000), grid.stretch(i64::MAX)), (48, 95));
        for k in 0..96 {
            let (start, end) = grid.bounds(k);
            assert_eq!(grid.stretch(start.as_unix_micros()), k);
            assert_eq!(grid.stretch(end.as_unix_micros() - 1), k);
        }
    }

    proptest! {
        /// A cursor says what the grid says, for moments inside, between and outside the spans.
        #[test]
        fn a_cursor_is_only_quicker(
            spans in prop::collection::vec((-5_000..5_000_i64, 0..3_000_i64), 0..5),
            moments in prop::collection::vec(-9_000..9_000_i64, 1..200),
        ) {
            let grid = TimeGrid::over(spans.into_iter().map(|(s, l)| (s, s + l)).collect(), STRETCHES);
            let mut cursor = grid.cursor();
            for at in moments {
                prop_assert_eq!(cursor.stretch(at), grid.stretch(at));
            }
        }
    }

    #[test]
    fn many_spans_become_few_over_the_shortest_gaps() {
        // 1000 moments 100 apart, and between the 500th and the next 50,000.
        let spans = (0..1000_i64).map(|k| {
            let at = 100 * k + if k < 500 { 0 } else { 50_000 };
            (at, at)
        });
        let grid = TimeGrid::over(spans.collect(), STRETCHES);
        assert_eq!(grid.len(), 96);
        assert_eq!((grid.stretch(49_900), grid.stretch(100_000)), (47, 48));
        let ends = (grid.bounds(47).1, grid.bounds(48).0);
        assert_eq!(
            (ends.0.as_unix_micros(), ends.1.as_unix_micros()),
            (49_901, 100_000)
        );
    }

    #[test]
    fn nothing_and_a_single_moment() {
        assert_eq!(TimeGrid::over(vec![], STRETCHES).len(), 0);
        assert_eq!(TimeGrid::over(vec![], STRETCHES).stretch(7), 0);
        assert_eq!(TimeGrid::over(vec![(5, 5)], STRETCHES).len(), 1);
    }
}
