//! The stretch of a series that stands out most.
//!
//! A scan statistic: over all windows the largest z = mean · √length / noise (Kulldorff, 1997, for a normal series of known
//! noise). Series have gaps, and neighbours resemble each other since they were smoothed together: the noise of a window is
//! taken from the spread of means over blocks, not from single points.

use super::robust;

/// Points in a block: about what one smoothing chunk spans, so that blocks are nearly independent. No window is shorter; but where dumps
/// are so rare that only a few stretches hold a value, these are far apart, and two of them are a window.
const BLOCK: usize = 6;

/// A value and how many independent measurements are behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// The value.
    pub(crate) value: f64,
    /// Independent measurements behind it; less than one where several points share one.
    pub(crate) weight: f64,
}

/// Fewer independent measurements than this are no evidence, whatever they say.
const LEAST_WEIGHT: f64 = 2.0;

/// A window of a series that stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standout {
    /// First point.
    pub(crate) start: usize,
    /// Behind the last point.
    pub(crate) end: usize,
    /// Weighted mean of the series in it.
    pub(crate) mean: f64,
    /// How many times the noise the mean is.
    pub(crate) z: f64,
    /// Whether it is the whole series, but for a few points at either end.
    pub(crate) whole: bool,
}

/// Noise of series that should be alike: standard deviation of a single point, and of the mean of a block × √[`BLOCK`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    /// Of a point, neighbours taken as independent; at least the block's.
    pub(crate) point: f64,
}

/// Noise over many series, each around its own median. `floor` is the least that is believed.
pub(crate) fn noise(series: &[Vec<Option<f64>>], floor: f64) -> Noise {
    let (mut points, mut blocks) = (Vec::new(), Vec::new());
    for s in series {
        let mut present: Vec<f64> = s.iter().flatten().copied().collect();
        let centred: Vec<f64> = match robust::median(&mut present) {
            Some(m) => s.iter().flatten().map(|v| v - m).collect(),
            None => continue,
        };
        blocks.extend(
            centred
                .chunks_exact(BLOCK)
                .map(|b| b.iter().sum::<f64>() / BLOCK as f64),
        );
        points.extend(centred);
    }
    let point = robust::scale(&points).unwrap_or(0.0);
    let block = robust::scale(&blocks).unwrap_or(0.0) * (BLOCK as f64).sqrt();
    Noise {
        point: point.max(block).max(floor),
    }
}

/// The window of `series` that stands out most above zero; `None` where none of at least [`LEAST_WEIGHT`] measurements is above.
pub(crate) fn standout(series: &[Option<Point>], noise: Noise) -> Option<Standout> {
    let n = series.len();
    let present = series.iter().flatten().count();
    let mut sum = vec![0.0; n + 1];
    let mut weight = vec![0.0; n + 1];
    let mut count = vec![0_usize; n + 1];
    for (i, v) in series.iter().enumerate() {
        let p = v.unwrap_or(Point {
            value: 0.0,
            weight: 0.0,
        });
        sum[i + 1] = sum[i] + p.value * p.weight;
        weight[i + 1] = weight[i] + p.weight;
        count[i + 1] = count[i] + usize::from(v.is_some());
    }
    let least = BLOCK.min((present / BLOCK).max(2));
    let mut best: Option<Standout> = None;
    for start in 0..n {
        if series[start].is_none() {
            continue;
        }
        for end in start + 1..=n {
            let length = count[end] - count[start];
            let behind = weight[end] - weight[start];
            if series[end - 1].is_none()
                || behind < LEAST_WEIGHT
                || (length < least && length < present)
            {
                continue;
            }
            let mean = (sum[end] - sum[start]) / behind;
            // A point that shares its measurement with neighbours counts for its part; one that averages several, for one.
            let z = mean * behind.min(length as f64).sqrt() / noise.point;
            if mean > 0.0 && best.is_none_or(|b| z > b.z) {
                best = Some(Standout {
                    start,
                    end,
                    mean,
                    z,
                    whole: 10 * length >= 9 * present,
                });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(value: f64) -> Option<Point> {
        Some(Point { value, weight: 1.0 })
    }

    #[test]
    fn a_plateau_is_found_with_its_ends() {
        let mut series: Vec<Option<Point>> = (0..60)
            .map(|i| one(if i % 2 == 0 { 1.0 } else { -1.0 }))
            .collect();
        for p in series[20..40].iter_mut().flatten() {
            p.value += 10.0;
        }
        series[30] = None;
        let w = standout(&series, Noise { point: 1.0 }).expect("a window");
        assert_eq!((w.start, w.end, w.whole), (20, 40, false));
        assert!((w.mean - 10.0).abs() < 0.2);
    }

    #[test]
    fn a_constant_offset_is_the_whole_series() {
        let series = vec![one(3.0); 10];
        let w = standout(&series, Noise { point: 1.0 }).expect("a window");
        assert!(w.whole);
        assert!((w.z - 3.0 * 10.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(standout(&[one(-1.0), None], Noise { point: 1.0 }), None);
    }

    #[test]
    fn points_that_share_a_measurement_are_no_evidence_together() {
        let shared = vec![
            Some(Point {
                value: 3.0,
                weight: 0.1
            });
            10
        ];
        assert_eq!(standout(&shared, Noise { point: 1.0 }), None);
        let more = standout(
            &vec![
                Some(Point {
                    value: 3.0,
                    weight: 0.4
                });
                10
            ],
            Noise { point: 1.0 },
        )
        .expect("a window");
        assert!((more.z - 6.0).abs() < 1e-12);
    }

    #[test]
    fn neighbours_that_move_together_are_noisier_than_their_points() {
        // Blocks of six equal values: the mean of a block spreads as much as a point does.
        let s: Vec<Option<f64>> = (0..120)
            .map(|i| Some(if (i / 6) % 2 == 0 { 1.0 } else { -1.0 }))
            .collect();
        assert!((noise(&[s], 0.0).point - 1.4826 * 6.0_f64.sqrt()).abs() < 1e-9);
    }
}
