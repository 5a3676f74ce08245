//! Times that don't overlap, and how much of something else lies in them.

/// A stretch of time: start and end, ns.
pub(crate) type Stretch = (i64, i64);

/// Stretches in order that don't overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stretches {
    stretches: Vec<Stretch>,
    /// Length of all before each.
    before: Vec<i64>,
    total: i64,
}

impl Stretches {
    /// Any stretches, merged where they overlap; those that end before they begin are none.
    pub(crate) fn of(mut any: Vec<Stretch>) -> Self {
        any.retain(|s| s.0 <= s.1);
        any.sort_unstable();
        let mut out: Vec<Stretch> = Vec::new();
        for s in any {
            match out.last_mut() {
                Some(last) if s.0 <= last.1 => last.1 = last.1.max(s.1),
                _ => out.push(s),
            }
        }
        let mut total = 0_i64;
        let before = out
            .iter()
            .map(|s| {
                let so_far = total;
                total = total.saturating_add(s.1.saturating_sub(s.0));
                so_far
            })
            .collect();
        Self {
            stretches: out,
            before,
            total,
        }
    }

    /// In order.
    pub(crate) fn all(&self) -> &[Stretch] {
        &self.stretches
    }

    /// Their length, ns.
    pub(crate) fn total(&self) -> i64 {
        self.total
    }

    /// Whether a moment lies in one, its ends included.
    pub(crate) fn holds(&self, at: i64) -> bool {
        let i = self.stretches.partition_point(|s| s.0 <= at);
        i > 0 && at <= self.stretches[i - 1].1
    }

    /// How much of `s` lies in them, ns.
    pub(crate) fn overlap(&self, s: Stretch) -> i64 {
        (self.up_to(s.1) - self.up_to(s.0)).max(0)
    }

    /// How much of them lies before a moment.
    fn up_to(&self, at: i64) -> i64 {
        let i = self.stretches.partition_point(|s| s.0 <= at);
        let Some(last) = i.checked_sub(1) else {
            return 0;
        };
        let s = self.stretches[last];
        self.before[last] + at.min(s.1) - s.0
    }

    /// What of `s` lies outside of them.
    pub(crate) fn without(&self, s: Stretch) -> Vec<Stretch> {
        let mut out = Vec::new();
        let mut from = s.0;
        let first = self.stretches.partition_point(|x| x.1 < s.0);
        for x in self.stretches[first..].iter().take_while(|x| x.0 < s.1) {
            if from < x.0 {
                out.push((from, x.0));
            }
            from = from.max(x.1);
        }
        if from < s.1 {
            out.push((from, s.1));
        }
        out
    }

    /// The part of them that lies in `span`.
    pub(crate) fn within(&self, span: Stretch) -> Self {
        let clipped = self
            .stretches
            .iter()
            .map(|s| (s.0.max(span.0), s.1.min(span.1)))
            .filter(|s| s.0 < s.1)
            .collect();
        Self::of(clipped)
    }
}

/// Stretches that come one by one, many of them upon each other: memory holds what they cover and not how many they were.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    list: Vec<Stretch>,
    /// Joined already.
    joined: usize,
    /// Those that are no further apart are joined, too, ns.
    gap: i64,
}

/// Fewer aren't worth joining.
const BATCH: usize = 1 << 16;

/// Beyond so many those that are nearly upon each other are joined, a microsecond at first: nothing that is looked for is as short as the gaps
/// that this closes in the busiest run.
const MOST: usize = 1 << 19;
const FIRST_GAP: i64 = 1_000;

impl Gathering {
    /// Adds one.
    pub(crate) fn push(&mut self, one: Stretch) {
        self.list.push(one);
        if self.list.len() >= 2 * self.joined + BATCH {
            self.join();
        }
    }

    fn join(&mut self) {
        self.list = Stretches::of(std::mem::take(&mut self.list)).stretches;
        self.close_gaps();
        while self.list.len() > MOST {
            self.gap = (2 * self.gap).max(FIRST_GAP);
            self.close_gaps();
        }
        self.joined = self.list.len();
    }

    fn close_gaps(&mut self) {
        let gap = self.gap;
        self.list.dedup_by(|next, before| {
            let near = next.0.saturating_sub(before.1) <= gap;
            if near {
                before.1 = before.1.max(next.1);
            }
            near
        });
    }

    /// All of them.
    pub(crate) fn finish(mut self) -> Stretches {
        self.join();
        Stretches::of(self.list)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        let s = Stretches::of(vec![(10, 20), (15, 30), (40, 50), (9, 3)]);
        assert_eq!((s.all(), s.total()), (&[(10, 30), (40, 50)][..], 30));
        assert_eq!(s.overlap((0, 100)), 30);
        assert_eq!(s.overlap((25, 45)), 10);
        assert_eq!(s.overlap((31, 39)), 0);
        assert_eq!((s.holds(30), s.holds(31), s.holds(9)), (true, false, false));
        assert_eq!(s.without((0, 45)), [(0, 10), (30, 40)]);
        assert_eq!(s.within((20, 42)).all(), [(20, 30), (40, 42)]);
    }

    #[test]
    fn those_that_come_one_by_one_are_the_same() {
        let all: Vec<Stretch> = (0..200_000_i64)
            .map(|k| (k * 7 % 1_000, k * 7 % 1_000 + 2 + k % 2))
            .collect();
        let mut gathering = Gathering::default();
        all.iter().for_each(|one| gathering.push(*one));
        assert_eq!(gathering.finish(), Stretches::of(all));
    }

    #[test]
    fn of_many_those_that_are_near_are_one() {
        // Pairs with a gap of 500 ns between the two, and a millisecond from pair to pair.
        let mut gathering = Gathering::default();
        for k in 0..400_000_i64 {
            gathering.push((k * 1_000_000, k * 1_000_000 + 100));
            gathering.push((k * 1_000_000 + 600, k * 1_000_000 + 700));
        }
        let all = gathering.finish();
        assert_eq!((all.all().len(), all.total()), (400_000, 400_000 * 700));
    }

    proptest! {
        #[test]
        fn what_lies_in_and_what_lies_outside_make_the_whole(any in prop::collection::vec((0_i64..100, 0_i64..20), 0..12), a in 0_i64..120, len in 0_i64..60) {
            let s = Stretches::of(any.into_iter().map(|(x, l)| (x, x + l)).collect());
            let probe = (a, a + len);
            let outside: i64 = s.without(probe).iter().map(|p| p.1 - p.0).sum();
            prop_assert_eq!(s.overlap(probe) + outside, len);
            prop_assert!(s.all().windows(2).all(|w| w[0].1 < w[1].0));
        }
    }
}
