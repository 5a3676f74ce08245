//! Times and moments of one kind, as many of them as memory is to hold.
//!
//! A trace of a day holds tens of millions of short switches and waits. Beyond a number of them first those that touch are joined, then the
//! shortest are left out whose time together is next to none; where neither helps, every second is kept and counts twice.

use super::stretches::{Stretch, Stretches};

/// Left out at most at a time: this part of all the time.
const NEXT_TO_NONE: f64 = 0.01;

/// Makes room for at least this part, else it isn't worth it.
const WORTH_IT: f64 = 0.25;

/// Stretches in the order in which they came, or in order of time.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    list: Vec<Stretch>,
    most: usize,
    /// Shorter ones are left out, ns.
    least: i64,
    /// Every so many-th is kept.
    each: u64,
    /// Met since the first was left out for that.
    met: u64,
}

impl Kept {
    /// None yet, and never more than `most`.
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            list: Vec::new(),
            most,
            least: 0,
            each: 1,
            met: 0,
        }
    }

    /// Adds one.
    pub(crate) fn push(&mut self, one: Stretch) {
        if length(one) < self.least {
            return;
        }
        self.met += 1;
        if !self.met.is_multiple_of(self.each) {
            return;
        }
        if self.list.len() >= self.most {
            self.thin();
        }
        self.list.push(one);
    }

    /// Those that are kept.
    pub(crate) fn all(&self) -> &[Stretch] {
        &self.list
    }

    /// How many each of them stands for.
    pub(crate) const fn weight(&self) -> u64 {
        self.each
    }

    fn thin(&mut self) {
        let enough = self.list.len() - (WORTH_IT * self.list.len() as f64) as usize;
        let mut lengths: Vec<i64> = self.list.iter().map(|s| length(*s)).collect();
        let total: f64 = lengths.iter().map(|l| *l as f64).sum();
        if total > 0.0 {
            let joined = Stretches::of(self.list.clone());
            if joined.all().len() <= enough {
                self.list = joined.all().to_vec();
                return;
            }
            lengths.sort_unstable();
            let mut time = 0.0;
            let short = lengths.iter().take_while(|l| {
                time += **l as f64;
                time <= NEXT_TO_NONE * total
            });
            let short = short.count();
            let least = lengths.get(short).copied().unwrap_or(0);
            let left = lengths.len() - lengths.partition_point(|l| *l < least);
            if left <= enough {
                self.least = least;
                self.list.retain(|s| length(*s) >= least);
                return;
            }
        }
        let mut second = false;
        self.list.retain(|_| {
            second = !second;
            !second
        });
        self.each *= 2;
        self.met = 0;
    }
}

fn length(s: Stretch) -> i64 {
    s.1.saturating_sub(s.0)
}

impl From<Vec<Stretch>> for Kept {
    fn from(list: Vec<Stretch>) -> Self {
        let mut kept = Self::new(usize::MAX);
        kept.list = list;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(most: usize, all: impl Iterator<Item = Stretch>) -> Kept {
        let mut kept = Kept::new(most);
        all.for_each(|one| kept.push(one));
        kept
    }

    #[test]
    fn few_are_kept_as_they_are() {
        let kept = of(10, (0..10).map(|k| (k * 10, k * 10 + 5)));
        assert_eq!((kept.all().len(), kept.weight()), (10, 1));
    }

    #[test]
    fn what_touches_is_joined_first() {
        // Four requests at a time, without a gap.
        let kept = of(10, (0..100).map(|k| (k * 10, k * 10 + 40)));
        assert!(kept.all().len() <= 10);
        assert_eq!(kept.weight(), 1);
        assert_eq!(Stretches::of(kept.all().to_vec()).total(), 1_030);
    }

    #[test]
    fn short_ones_make_room_for_long_ones() {
        // Each tenth lasts 2000, the others 1.
        let all =
            (0..1_000).map(|k| (k * 10_000, k * 10_000 + if k % 10 == 0 { 2_000 } else { 1 }));
        let kept = of(200, all);
        assert_eq!(kept.weight(), 1);
        assert_eq!(
            kept.all().iter().filter(|s| length(**s) == 2_000).count(),
            100
        );
    }

    #[test]
    fn of_moments_each_that_is_kept_stands_for_several() {
        let kept = of(100, (0..1_000).map(|k| (k, k)));
        assert!(kept.all().len() <= 100);
        let told = kept.all().len() as u64 * kept.weight();
        assert!((950..=1_050).contains(&told), "{told}");
    }
}
