//! A multiset kept in order, with what comes in sorted in now and then: adding and merging cost the same few nanoseconds a
//! value, however many parts there are.

/// What isn't sorted in yet may be this much, or as much as is in order: a multiset in many parts is then merged a logarithm of
/// times rather than once a part.
const LOOSE: usize = 1 << 11;

/// A value with a total order, that of a number which stands for it: numbers sort twice as fast.
pub(crate) trait Ordered: Copy {
    /// The number.
    type Key: Copy + Ord;
    /// The number that stands for the value.
    fn key(self) -> Self::Key;
    /// The value that a number stands for.
    fn of(key: Self::Key) -> Self;
}

impl Ordered for f64 {
    type Key = i64;

    /// The order of [`f64::total_cmp`]: for negative numbers all bits but the sign are turned.
    fn key(self) -> i64 {
        let bits = self.to_bits() as i64;
        bits ^ (((bits >> 63) as u64) >> 1) as i64
    }

    fn of(key: i64) -> Self {
        Self::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
    }
}

/// Values and how often each was added.
#[derive(Debug, Clone)]
pub(crate) struct Runs<T: Ordered> {
    /// In order, each value once.
    runs: Vec<(T, u64)>,
    /// Values not sorted in yet.
    loose: Vec<T::Key>,
    /// Runs of other multisets, not sorted in yet.
    others: Vec<(T, u64)>,
}

impl<T: Ordered> Default for Runs<T> {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            loose: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl<T: Ordered> Runs<T> {
    /// Values in ascending order with their counts.
    pub(crate) fn of(runs: Vec<(T, u64)>) -> Self {
        let mut out: Vec<(T, u64)> = Vec::with_capacity(runs.len());
        for (value, n) in runs {
            add(&mut out, value, n);
        }
        Self {
            runs: out,
            ..Self::default()
        }
    }

    /// Adds a value; whether [`Runs::sorted`] is due.
    pub(crate) fn push(&mut self, value: T) -> bool {
        self.loose.push(value.key());
        self.is_due()
    }

    /// Adds values; whether [`Runs::sorted`] is due.
    pub(crate) fn extend(&mut self, values: impl Iterator<Item = T>) -> bool {
        self.loose.extend(values.map(T::key));
        self.is_due()
    }

    fn is_due(&self) -> bool {
        self.loose.len() + self.others.len() >= LOOSE.max(self.runs.len())
    }

    /// Adds all of another multiset; whether [`Runs::sorted`] is due.
    pub(crate) fn merge(&mut self, other: Self) -> bool {
        if self.runs.is_empty() {
            self.runs = other.runs;
        } else {
            self.others.extend(other.runs);
        }
        self.loose.extend(other.loose);
        self.others.extend(other.others);
        self.is_due()
    }

    /// How many values.
    pub(crate) fn count(&self) -> u64 {
        let known = self.runs.iter().chain(&self.others).map(|r| r.1);
        known.sum::<u64>() + self.loose.len() as u64
    }

    /// The values in ascending order with their counts.
    pub(crate) fn sorted(&mut self) -> &mut Vec<(T, u64)> {
        if !self.loose.is_empty() {
            let mut loose = std::mem::take(&mut self.loose);
            loose.sort_unstable();
            let fresh = loose.chunk_by(|a, b| a == b);
            self.take_in(
                fresh
                    .map(|same| (T::of(same[0]), same.len() as u64))
                    .collect(),
            );
        }
        if !self.others.is_empty() {
            let mut others = std::mem::take(&mut self.others);
            // Stable, because that sort finds the stretches that are in order already: each part's runs are.
            others.sort_by_key(|r| r.0.key());
            self.take_in(others);
        }
        &mut self.runs
    }

    /// Takes in what is sorted.
    fn take_in(&mut self, others: Vec<(T, u64)>) {
        let mine = std::mem::take(&mut self.runs);
        if mine.is_empty() && others.is_sorted_by(|a, b| a.0.key() < b.0.key()) {
            self.runs = others;
            return;
        }
        let mut out: Vec<(T, u64)> = Vec::with_capacity(mine.len() + others.len());
        let (mut i, mut j) = (0, 0);
        while i < mine.len() && j < others.len() {
            if mine[i].0.key() <= others[j].0.key() {
                add(&mut out, mine[i].0, mine[i].1);
                i += 1;
            } else {
                add(&mut out, others[j].0, others[j].1);
                j += 1;
            }
        }
        for &(value, n) in mine[i..].iter().chain(&others[j..]) {
            add(&mut out, value, n);
        }
        out.shrink_to_fit();
        self.runs = out;
    }
}

/// Adds a value that isn't smaller than the last.
fn add<T: Ordered>(runs: &mut Vec<(T, u64)>, value: T, n: u64) {
    match runs.last_mut() {
        Some(last) if last.0.key() == value.key() => last.1 += n,
        _ => runs.push((value, n)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_have_the_order_of_floats(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(a.key().cmp(&b.key()), a.total_cmp(&b));
            prop_assert_eq!(f64::of(a.key()).to_bits(), a.to_bits());
        }

        /// However values come in, a multiset holds each once, in order, with its count: what a `BTreeMap` says.
        #[test]
        fn parts_come_together(parts in prop::collection::vec(prop::collection::vec((0_u32..30).prop_map(f64::from), 0..40), 0..6), early in any::<u8>()) {
            let mut whole = Runs::default();
            let mut expected = std::collections::BTreeMap::<u32, u64>::new();
            for (k, part) in parts.iter().enumerate() {
                let mut one = Runs::default();
                for &v in part {
                    one.push(v);
                    *expected.entry(v as u32).or_default() += 1;
                }
                if early >> k & 1 == 1 {
                    one.sorted();
                }
                whole.merge(one);
                if early >> (7 - k) & 1 == 1 {
                    whole.sorted();
                }
            }
            let expected: Vec<_> = expected.into_iter().map(|(v, n)| (f64::from(v), n)).collect();
            prop_assert_eq!(whole.count(), expected.iter().map(|r| r.1).sum::<u64>());
            prop_assert_eq!(whole.sorted(), &expected);
        }
    }
}
