//! How far a median would move had other stretches of the run been seen: the bootstrap over blocks.
//!
//! Single operations of a run resemble their neighbours, so millions of them make any difference look certain. What is drawn anew
//! is therefore whole clusters (stretches of the run, with all communicators in them), as for any dependent data
//! (Davison and Hinkley, 1997, chapters 3.8 and 8).

use super::random::Random;
use super::{robust, weighted};

/// Draws. The relative error of a standard error is 1/√(2 · draws): 2.5 %.
const DRAWS: usize = 800;

/// A value of one cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Value {
    /// The value.
    pub(crate) value: f64,
    /// How much it counts.
    pub(crate) weight: f64,
    /// The cluster it belongs to.
    pub(crate) cluster: usize,
}

/// The weighted median of values in ascending order.
pub(crate) fn median(sorted: &[Value]) -> Option<f64> {
    weighted::median(sorted.iter().map(|v| (v.value, v.weight)))
}

/// The median over groups of each group's weighted median, of values in ascending order. Groups (communicators) may lie far apart:
/// the median of all their values together would lie in a gap, and be as unsteady as the values at its edges.
pub(crate) fn median_of_medians(groups: &[Vec<Value>]) -> Option<f64> {
    let mut medians: Vec<f64> = groups.iter().filter_map(|g| median(g)).collect();
    robust::median(&mut medians)
}

/// Variance of [`median_of_medians`] over draws of `clusters` clusters with replacement, as a bootstrap gives it, without
/// correction for few clusters. Values must be in ascending order. `None` when nothing can be drawn.
pub(crate) fn variance_of_median(groups: &[Vec<Value>], clusters: usize, seed: u64) -> Option<f64> {
    if clusters == 0 || groups.iter().all(Vec::is_empty) {
        return None;
    }
    let mut random = Random::seeded(seed);
    let mut times = vec![0.0; clusters];
    let mut medians = Vec::with_capacity(DRAWS);
    let mut of_groups = Vec::with_capacity(groups.len());
    for _ in 0..DRAWS {
        times.fill(0.0);
        for _ in 0..clusters {
            times[random.below(clusters)] += 1.0;
        }
        of_groups.clear();
        of_groups.extend(groups.iter().filter_map(|g| {
            weighted::median(g.iter().map(|v| (v.value, v.weight * times[v.cluster])))
        }));
        medians.extend(robust::median(&mut of_groups));
    }
    let n = medians.len() as f64;
    let mean = medians.iter().sum::<f64>() / n;
    Some(medians.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(values: &[f64]) -> Vec<Value> {
        let mut v: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(cluster, &value)| Value {
                value,
                weight: 1.0,
                cluster,
            })
            .collect();
        v.sort_by(|a, b| a.value.total_cmp(&b.value));
        v
    }

    /// Efron and Tibshirani (1993), An Introduction to the Bootstrap, table 2.2: survival of the seven treated mice; the standard
    /// error of the median over infinitely many draws is 37.83. (An enumeration of all 7⁷ draws gives 37.83 too.)
    #[test]
    fn the_mice_of_efron_and_tibshirani() {
        let treated = alone(&[94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0]);
        assert_eq!(median(&treated), Some(94.0));
        for seed in [1, 2, 3] {
            let se = variance_of_median(std::slice::from_ref(&treated), 7, seed)
                .expect("seven")
                .sqrt();
            assert!((se - 37.83).abs() < 37.83 * 0.06, "{se}");
        }
    }

    /// All values of a cluster move together: a hundred copies of seven values say no more than the seven.
    #[test]
    fn copies_are_no_evidence() {
        let mice = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];
        let mut many: Vec<Value> = (0..100).flat_map(|_| alone(&mice)).collect();
        many.sort_by(|a, b| a.value.total_cmp(&b.value));
        let (few, many) = (
            variance_of_median(&[alone(&mice)], 7, 5),
            variance_of_median(&[many], 7, 5),
        );
        assert_eq!(few, many);
    }

    #[test]
    fn the_same_seed_gives_the_same_number() {
        let v = [alone(&[1.0, 2.0, 4.0, 8.0])];
        assert_eq!(variance_of_median(&v, 4, 9), variance_of_median(&v, 4, 9));
        assert_eq!(variance_of_median(&[], 4, 9), None);
        assert_eq!(
            variance_of_median(&[alone(&[3.0])], 1, 9).map(|v| v.abs() < 1e-12),
            Some(true)
        );
    }

    /// Two groups far apart are as steady as their members, not as the gap between them.
    #[test]
    fn groups_far_apart_are_no_noise() {
        let near = vec![
            alone(&[1.0, 2.0, 4.0, 8.0, 9.0]),
            alone(&[1.0, 2.0, 4.0, 8.0, 9.0]),
        ];
        let far = vec![
            alone(&[1.0, 2.0, 4.0, 8.0, 9.0]),
            alone(&[1_001.0, 1_002.0, 1_004.0, 1_008.0, 1_009.0]),
        ];
        assert_eq!(median_of_medians(&far), Some(504.0));
        let (near, far) = (
            variance_of_median(&near, 5, 3).expect("drawn"),
            variance_of_median(&far, 5, 3).expect("drawn"),
        );
        assert!((near - far).abs() < 1e-6, "{near} {far}");
    }
}
