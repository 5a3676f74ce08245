use super::*;
use crate::comparison::block::Block;
use crate::comparison::bucket::CommSeries;

/// A bucket with one communicator per place; `time` gives the time of the k-th collective of a stretch.
fn bucket(
    places: &[u64],
    stretches: usize,
    each: usize,
    time: impl Fn(usize, usize, usize) -> f32,
) -> Bucket {
    let comms = places
        .iter()
        .enumerate()
        .map(|(c, &place)| CommSeries {
            place,
            blocks: (0..stretches)
                .map(|s| {
                    let mut block = Block::default();
                    (0..each).for_each(|k| block.whole.push((time(c, s, k), 2.0 * time(c, s, k))));
                    (s, block)
                })
                .collect(),
        })
        .collect();
    let n = (places.len() * stretches * each) as u64;
    Bucket {
        comms,
        operations: n,
        complete: n,
        ..Bucket::default()
    }
}

fn of(b: &Bucket) -> Estimate {
    estimate(b, Basis::Whole, Which::Shortest, 1).expect("times")
}

/// Neither whole microseconds nor alike: a fixed pattern with mean 0.
fn wobble(s: usize) -> f32 {
    [0.013, -0.021, 0.008, 0.017, -0.011, -0.006, 0.022, -0.022][s % 8]
}

#[test]
fn the_level_is_the_median_of_the_blocks() {
    let b = bucket(&[1], 5, 8, |_, s, _| {
        [100.25, 120.25, 110.25, 90.25, 300.25][s]
    });
    let e = of(&b);
    assert!((e.log.exp() - 110.25).abs() < 1e-3, "{}", e.log.exp());
    assert_eq!((e.stretches, e.blocks), (5, 5));
    let felt = estimate(&b, Basis::Whole, Which::Mean, 1).expect("times");
    assert!((felt.log.exp() - 220.5).abs() < 1e-3);
}

#[test]
fn truncated_times_are_taken_as_intervals() {
    // In each stretch 3 of 18 µs and 5 of 19 µs: the median of the grouped data is 19 + (4 − 3) / 5.
    let b = bucket(&[1], 4, 8, |_, _, k| if k < 3 { 18.0 } else { 19.0 });
    assert!((of(&b).log.exp() - 19.2).abs() < 1e-4);
}

#[test]
fn a_run_too_short_has_one_stretch_and_says_nothing() {
    let e = of(&bucket(&[1], 1, 5, |_, _, k| 100.5 + k as f32));
    assert_eq!(e.stretches, 1);
    let g = gap(&e, &e);
    assert!(g.p() >= 1.0 || g.df == 0.0, "{g:?}");
    let width = g.half_width(0.05);
    assert!(width.is_nan() || width >= 1.0, "{g:?}");
}

#[test]
fn a_change_of_all_blocks_is_found_with_its_size() {
    let at = |factor: f32| move |_, s, k| factor * (500.3 + 500.0 * wobble(s + k));
    let g = gap(
        &of(&bucket(&[1, 2], 24, 8, at(1.0))),
        &of(&bucket(&[1, 2], 24, 8, at(1.05))),
    );
    assert!((g.log.exp() - 1.05).abs() < 1e-4, "{g:?}");
    assert!(g.p() < 1e-6 && g.half_width(0.05) < 0.02, "{g:?}");
}

/// Communicators that change by very different amounts leave the mean change unsure; those that always differed don't.
#[test]
fn what_communicators_differ_by_counts_only_where_it_changed() {
    let places = [0, 1, 2, 3];
    let level = [1.0, 1.1, 0.9, 1.2];
    let base = bucket(&places, 24, 8, |c, s, k| {
        level[c] * (500.3 + 500.0 * wobble(s + k))
    });
    let all_alike = bucket(&places, 24, 8, |c, s, k| {
        1.04 * level[c] * (500.3 + 500.0 * wobble(s + k))
    });
    let each_its_own = bucket(&places, 24, 8, |c, s, k| {
        [1.0, 1.08, 0.95, 1.13][c] * level[c] * (500.3 + 500.0 * wobble(s + k))
    });
    let steady = gap(&of(&base), &of(&all_alike));
    assert!(steady.p() < 1e-3, "{steady:?}");
    let unsure = gap(&of(&base), &of(&each_its_own));
    assert!(unsure.error > 0.03 && unsure.p() > 0.05, "{unsure:?}");
}

/// Communicators of other places can't be paired, and what they differ by counts.
#[test]
fn other_places_cannot_be_paired() {
    let at = |c: usize, s, k| [1.0, 1.1][c] * (500.3 + 500.0 * wobble(s + k));
    let (a, b) = (bucket(&[1, 2], 24, 8, at), bucket(&[3, 4], 24, 8, at));
    assert!(gap(&of(&a), &of(&b)).error > gap(&of(&a), &of(&a)).error * 3.0);
}

#[test]
fn neighbours_that_resemble_each_other_widen_the_error() {
    let alternating = bucket(
        &[1],
        24,
        4,
        |_, s, _| if s % 2 == 0 { 100.5 } else { 102.5 },
    );
    let drifting = bucket(&[1], 24, 4, |_, s, _| if s < 12 { 100.5 } else { 102.5 });
    assert!(of(&drifting).variance > 4.0 * of(&alternating).variance);
}

/// By hand: effects 0 and 0.2 with variance 0.01 each. Q = 2 · 0.1² / 0.01 = 2, τ² = (2 − 1) / (200 − 20000 / 200) = 0.01,
/// and a mean of two has τ² / 2.
#[test]
fn differences_beyond_their_error_by_hand() {
    let (variance, df) = between(&[(0.0, 0.01), (0.2, 0.01)]);
    assert!((variance - 0.005).abs() < 1e-12);
    assert_eq!(df, 1.0);
    assert_eq!(between(&[(0.0, 0.01), (0.05, 0.01)]).0, 0.0);
    assert_eq!(between(&[(0.3, 0.01)]).0, 0.0);
}

#[test]
fn quantiles_reach_from_end_to_end() {
    let q = quantiles(
        &bucket(&[1], 10, 10, |_, s, k| (10 * s + k) as f32),
        Basis::Whole,
        Which::Shortest,
    );
    assert_eq!((q.len(), q[0], q[QUANTILES - 1]), (QUANTILES, 0.0, 99.0));
    assert!(q.windows(2).all(|w| w[0] <= w[1]));
}
