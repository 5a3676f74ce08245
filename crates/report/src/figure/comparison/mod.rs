//! Figures of a comparison: both runs in one drawing.

mod boxes;
mod cumulative;
mod forest;
mod trend;

use nccl_report_analyze::facts::{BucketComparison, Comparison};

use super::drawing::{Figure, number_repeats};
use crate::svg::Colour;

/// The colour of the baseline.
const BASELINE: Colour = Colour::Series(0);
/// The colour of the candidate.
const CANDIDATE: Colour = Colour::Series(1);
/// Rows of a drawing.
const ROWS: usize = 30;
/// Buckets with a drawing of their own.
const DISTRIBUTIONS: usize = 8;

/// All figures of a comparison, the telling ones first. The same in every run on the same data.
pub(crate) fn all(of: &Comparison) -> Vec<Figure> {
    let both: Vec<&BucketComparison> = of
        .buckets
        .iter()
        .filter(|b| b.baseline.is_some() && b.candidate.is_some())
        .collect();
    let mut figures = Vec::new();
    figures.extend(forest::figure(of, &both));
    for bandwidth in [true, false] {
        let some: Vec<&BucketComparison> = both
            .iter()
            .copied()
            .filter(|b| b.metric.is_bandwidth() == bandwidth)
            .collect();
        figures.extend(boxes::figure(&some, bandwidth));
    }
    let mut by_time = both;
    by_time.sort_by(|a, b| {
        b.impact
            .abs()
            .total_cmp(&a.impact.abs())
            .then(b.share_of_time.total_cmp(&a.share_of_time))
    });
    figures.extend(
        by_time
            .into_iter()
            .take(DISTRIBUTIONS)
            .filter_map(cumulative::figure),
    );
    figures.extend(of.history.iter().flat_map(trend::figures));
    number_repeats(&mut figures);
    figures
}

/// A label for a bucket, bounded.
fn label(of: &BucketComparison) -> String {
    crate::svg::clip(&crate::export::words::bucket(&of.key), 80)
}
