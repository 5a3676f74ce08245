//! What of a very large job is left out, so that the file stays one that tools can load.

use nccl_report_analyze::facts::{Job, PairSlice, Slice, SliceOf};
use serde::Serialize;

/// About 230 bytes each: 9 MB.
const SLICES: usize = 40_000;
/// About 700 bytes each: 7 MB.
const PAIRS: usize = 10_000;

/// How many rows were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Omitted {
    slices: usize,
    pairs: usize,
}

/// The slices and pairs that are written, in the order of the job.
///
/// Over time and per host a job has few slices, so those always stay; of the others, and of the pairs, the ones with the most
/// time or bytes do.
pub(super) fn bound(job: &Job) -> (Vec<&Slice>, Vec<&PairSlice>, Omitted) {
    let slices = largest(&job.slices, SLICES, |slice| match slice.of {
        SliceOf::Time { .. } | SliceOf::Host { .. } => f64::INFINITY,
        SliceOf::Communicator { .. } | SliceOf::Rank { .. } => slice.time.as_micros(),
    });
    let pairs = largest(&job.pairs, PAIRS, |pair| pair.bytes as f64);
    let omitted = Omitted {
        slices: job.slices.len() - slices.len(),
        pairs: job.pairs.len() - pairs.len(),
    };
    (slices, pairs, omitted)
}

/// The `most` items with the largest weight, in their own order; of equal weights the first.
fn largest<T>(items: &[T], most: usize, weight: impl Fn(&T) -> f64) -> Vec<&T> {
    if items.len() <= most {
        return items.iter().collect();
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| {
        weight(&items[b])
            .total_cmp(&weight(&items[a]))
            .then(a.cmp(&b))
    });
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|index| &items[index]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay_in_their_own_order() {
        let items = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        let kept: Vec<f64> = largest(&items, 4, |x| *x).into_iter().copied().collect();
        assert_eq!(kept, [4.0, 5.0, 9.0, 6.0]);
        let kept: Vec<f64> = largest(&items, 7, |x| *x).into_iter().copied().collect();
        assert_eq!(
            kept,
            [3.0, 1.0, 4.0, 5.0, 9.0, 2.0, 6.0],
            "of the two ones the first"
        );
        assert_eq!(largest(&items, 100, |x| *x).len(), 8);
    }
}
