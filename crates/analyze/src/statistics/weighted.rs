//! Medians of weighted values, and of whole numbers that stand for an interval.

/// The median of weighted values in ascending order: half of the weight lies below. Where exactly half lies on either side,
/// it is the middle of the two values. `None` without weight.
pub(crate) fn median(sorted: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let total: f64 = sorted.clone().map(|v| v.1).sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let half = total / 2.0;
    let slack = total * 1e-12;
    let mut below = 0.0;
    let mut at_half: Option<f64> = None;
    for (value, weight) in sorted {
        if weight <= 0.0 {
            continue;
        }
        if let Some(lower) = at_half {
            return Some(f64::midpoint(lower, value));
        }
        below += weight;
        if below > half + slack {
            return Some(value);
        }
        if below >= half - slack {
            at_half = Some(value);
        }
    }
    at_half
}

/// The quantile `q` of weighted times in ascending order, each truncated to a multiple of `width`: a time written as 18 µs lies
/// anywhere in 18..19, so the quantile is sought inside the interval (the median of grouped data). Without it the median of short
/// times would jump by whole microseconds, and 18 → 19 is 5 %. With `width` 0 values are what they are.
pub(crate) fn quantile_of_truncated(sorted: &[(f64, f64)], q: f64, width: f64) -> Option<f64> {
    let total: f64 = sorted.iter().map(|v| v.1).sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    if width <= 0.0 && (q - 0.5).abs() < f64::EPSILON {
        return median(sorted.iter().copied());
    }
    let wanted = q * total;
    let mut below = 0.0;
    for same in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let weight: f64 = same.iter().map(|v| v.1).sum();
        if below + weight >= wanted && weight > 0.0 {
            return Some(same[0].0 + width * ((wanted - below) / weight).clamp(0.0, 1.0));
        }
        below += weight;
    }
    sorted.last().map(|v| v.0 + width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        let of = |v: &[(f64, f64)]| median(v.iter().copied());
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0), (9.0, 1.0)]), Some(2.0));
        assert_eq!(of(&[(1.0, 1.0), (2.0, 1.0)]), Some(1.5));
        assert_eq!(of(&[(1.0, 1.0), (2.0, 5.0)]), Some(2.0));
        assert_eq!(
            of(&[(1.0, 2.0), (2.0, 1.0), (5.0, 0.0), (7.0, 1.0)]),
            Some(1.5)
        );
        assert_eq!(of(&[(1.0, 0.0)]), None);
        assert_eq!(of(&[]), None);
    }

    /// A textbook's grouped data: of 4 values in 18..19, 10 in 19..20 and 6 in 20..21, the median is 19 + (10 − 4) / 10.
    #[test]
    fn truncated_times_are_intervals() {
        let v = [(18.0, 4.0), (19.0, 10.0), (20.0, 6.0)];
        let m = quantile_of_truncated(&v, 0.5, 1.0).expect("values");
        assert!((m - 19.6).abs() < 1e-12);
        assert_eq!(quantile_of_truncated(&v, 0.5, 0.0), Some(19.5_f64.floor()));
        assert!((quantile_of_truncated(&v, 0.1, 1.0).expect("values") - 18.5).abs() < 1e-12);
        assert_eq!(quantile_of_truncated(&[], 0.5, 1.0), None);
    }
}
