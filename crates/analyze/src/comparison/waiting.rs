//! Whether ranks wait longer for each other, over the whole run.
//!
//! A bucket's verdict is about its transfers. A job may be slower although none of them is: its ranks arrive less together. What it
//! feels is the mean time over the ranks of each collective, weighed by the time that it spends in the bucket. That is noisy (pauses,
//! uneven work), so only a large change counts.

use super::estimate::Gap;
use crate::statistics::student;

/// Growth of the felt time below which nothing is said.
pub(crate) const MATTERS: f64 = 0.2;

/// A bucket's part: share of the baseline's time, and the gaps of felt and shortest time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) share: f64,
    pub(crate) felt: Gap,
    /// Of the bucket's time, the part that is transfer, and its gap.
    pub(crate) transfer: f64,
    pub(crate) link: Gap,
}

/// Growth of the felt time that isn't the transfers', as a share of the time, and the least that it is with the confidence of
/// `p`.
pub(crate) fn growth(parts: &[Part], p: f64) -> Option<(f64, f64)> {
    let total: f64 = parts.iter().map(|q| q.share).sum();
    if total <= 0.0 {
        return None;
    }
    let (mut growth, mut error, mut df) = (0.0, 0.0, f64::INFINITY);
    for q in parts {
        let weight = q.share / total;
        growth += weight * (q.felt.log.exp_m1() - q.transfer * q.link.log.exp_m1());
        // A pause delays the collectives of all buckets: errors add up as if they were one.
        error += weight * q.felt.error * q.felt.log.exp();
        df = f64::min(df, q.felt.df);
    }
    let least = growth - error * student::quantile(p, df.max(1.0));
    growth.is_finite().then_some((
        growth,
        if least.is_finite() {
            least
        } else {
            f64::NEG_INFINITY
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(share: f64, felt: f64, link: f64) -> Part {
        let gap = |x: f64| Gap {
            log: x.ln(),
            error: 0.01,
            df: 30.0,
        };
        Part {
            share,
            felt: gap(felt),
            transfer: 0.5,
            link: gap(link),
        }
    }

    #[test]
    fn waiting_is_what_transfers_do_not_explain() {
        // Half of the time is transfer. Twice the transfer is half more time; it felt like that: nobody waits longer.
        let (growth, _) = growth(&[part(1.0, 1.5, 2.0)], 0.01).expect("parts");
        assert!(growth.abs() < 1e-12);
    }

    #[test]
    fn buckets_count_by_their_time() {
        let (growth, least) =
            growth(&[part(0.6, 1.5, 1.0), part(0.2, 1.0, 1.0)], 0.01).expect("parts");
        assert!((growth - 0.375).abs() < 1e-12);
        assert!(least > 0.3 && least < growth);
        assert_eq!(super::growth(&[], 0.01), None);
    }
}
