//! Medians and scales that a few wild values can't move.

/// The median; reorders the slice. `None` when empty.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile `q` by linear interpolation (type 7); reorders the slice. `None` when empty.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let position = q * (values.len() - 1) as f64;
    let low = position.floor() as usize;
    let (_, &mut a, rest) = values.select_nth_unstable_by(low, f64::total_cmp);
    let fraction = position - low as f64;
    if fraction == 0.0 {
        return Some(a);
    }
    let b = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(a);
    Some(a + (b - a) * fraction)
}

/// Scale of the noise: 1.4826 × the median distance from the median, which is the standard deviation of a normal sample
/// (Rousseeuw and Croux, 1993). `None` when empty.
pub(crate) fn scale(values: &[f64]) -> Option<f64> {
    let mut v = values.to_vec();
    let m = median(&mut v)?;
    v.iter_mut().for_each(|x| *x = (*x - m).abs());
    median(&mut v).map(|d| 1.4826 * d)
}

/// For each value of an ascending slice, the median of all the others. One value has no others: `None`.
pub(crate) fn medians_of_others(sorted: &[f64]) -> Option<Vec<f64>> {
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let others = n - 1;
    let at = |skip: usize, i: usize| sorted[if i < skip { i } else { i + 1 }];
    Some(
        (0..n)
            .map(|skip| {
                if others % 2 == 1 {
                    at(skip, others / 2)
                } else {
                    f64::midpoint(at(skip, others / 2 - 1), at(skip, others / 2))
                }
            })
            .collect(),
    )
}

/// The medians of all values but one, for each one of them, without sorting: removing a value moves the median to one side or the
/// other, and only the middle values matter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others {
    /// The middle value of an odd number; the upper one of the two of an even number.
    middle: f64,
    /// The median where a smaller value, the middle one itself, or a larger one is left out.
    without: [f64; 3],
}

impl Others {
    /// Of at least two values, else `None`; reorders the slice.
    pub(crate) fn of(values: &mut [f64]) -> Option<Self> {
        let n = values.len();
        if n < 2 {
            return None;
        }
        let (below, &mut middle, above) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
        let low = below.iter().copied().max_by(f64::total_cmp)?;
        if n.is_multiple_of(2) {
            // One less than an even number has one in the middle.
            return Some(Self {
                middle,
                without: [middle, low, low],
            });
        }
        let high = above.iter().copied().min_by(f64::total_cmp)?;
        Some(Self {
            middle,
            without: [
                f64::midpoint(middle, high),
                f64::midpoint(low, high),
                f64::midpoint(low, middle),
            ],
        })
    }

    /// The median of all but this one, which is one of them.
    pub(crate) fn median(&self, value: f64) -> f64 {
        match value.total_cmp(&self.middle) {
            std::cmp::Ordering::Less => self.without[0],
            std::cmp::Ordering::Equal => self.without[1],
            std::cmp::Ordering::Greater => self.without[2],
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What sorting and leaving out says.
        #[test]
        fn others_are_those_of_sorting(v in prop::collection::vec((0_u32..12).prop_map(f64::from), 0..12)) {
            let mut sorted = v.clone();
            sorted.sort_by(f64::total_cmp);
            let others = Others::of(&mut v.clone());
            prop_assert_eq!(others.is_some(), v.len() > 1);
            if let (Some(others), Some(expected)) = (others, medians_of_others(&sorted)) {
                for (value, expected) in sorted.into_iter().zip(expected) {
                    prop_assert_eq!(others.median(value), expected);
                }
            }
        }
    }

    #[test]
    fn by_hand() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&mut [10.0, 20.0, 30.0], 0.25), Some(15.0));
        assert_eq!(median(&mut []), None);
        // median 3, distances 2 1 0 1 97 → 1
        assert_eq!(scale(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.4826));
        assert_eq!(
            medians_of_others(&[1.0, 2.0, 10.0]),
            Some(vec![6.0, 5.5, 1.5])
        );
        assert_eq!(medians_of_others(&[1.0, 5.0]), Some(vec![5.0, 1.0]));
        assert_eq!(medians_of_others(&[1.0]), None);
    }
}
