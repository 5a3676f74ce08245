//! Whether a rank is late throughout a window, rather than by a pause or two that fill their chunks.

use std::ops::Range;

use crate::collective::trace::Bin;

/// A rank must be late in so many stretches of time: one pause, the chunk that it fills and the smoothing cover fewer.
const LEAST_STRETCHES: usize = 6;

/// Whether a rank is late in most of a window's stretches, and in so many that it wasn't one pause: where communication
/// overlaps with computing, a pause delays all operations of a step, which can be most of a chunk.
pub(super) fn persists(bins: &[Bin], window: &Range<usize>, level: f64) -> bool {
    let seen = |bins: &[Bin]| bins.iter().filter(|b| b.operations > 0.0).count();
    let late = bins[window.clone()]
        .iter()
        .filter(|b| b.operations > 0.0 && b.lateness / b.operations >= 0.5 * level)
        .count();
    let in_most = late >= LEAST_STRETCHES.min(2 * seen(bins) / 5)
        && 5 * late >= 3 * seen(&bins[window.clone()]);
    in_most || in_each_part(&bins[window.clone()], level)
}

/// Whether a rank is late in each of several parts of a window but one: in a part that holds whole steps, operations that meet the delay
/// and operations that don't come in the same proportion.
fn in_each_part(bins: &[Bin], level: f64) -> bool {
    let length = bins.len();
    let late = (0..LEAST_STRETCHES)
        .filter(|k| {
            let part = k * length / LEAST_STRETCHES..(k + 1) * length / LEAST_STRETCHES;
            let (late, n) = bins[part]
                .iter()
                .fold((0.0, 0.0), |a, b| (a.0 + b.lateness, a.1 + b.operations));
            n > 0.0 && late / n >= 0.5 * level
        })
        .count();
    length >= 2 * LEAST_STRETCHES && late + 1 >= LEAST_STRETCHES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pause_doesnt_persist() {
        let bin = |lateness| Bin {
            lateness,
            operations: 1.0,
            ..Bin::default()
        };
        let mut bins = vec![bin(0.0); 40];
        bins[10..13].fill(bin(100.0));
        assert!(!persists(&bins, &(8..16), 40.0));
        bins[10..16].fill(bin(100.0));
        assert!(persists(&bins, &(10..16), 100.0));
        // Late in half of the window's stretches only, all in its first half.
        assert!(!persists(&bins, &(10..22), 100.0));
        // Late in every other stretch: in each part of the window.
        bins.iter_mut().step_by(2).for_each(|b| b.lateness = 100.0);
        bins.iter_mut()
            .skip(1)
            .step_by(2)
            .for_each(|b| b.lateness = 0.0);
        assert!(persists(&bins, &(8..32), 50.0));
    }
}
