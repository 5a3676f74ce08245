//! Numbers that look measured and are the same on every machine.

use nccl_report_analyze::facts::Distribution;
use nccl_report_analyze::units::{BusBandwidth, ExecTime};

/// A generator (Knuth's MMIX constants); good enough to look at, for nothing else.
pub struct Sample(u64);

impl Sample {
    pub fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_654_435_761).wrapping_add(1))
    }

    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// `n` values near `centre`, with a relative width of `width`, skewed upwards; no logarithm, so that every libm agrees.
    pub fn around(&mut self, centre: f64, width: f64, n: usize) -> Vec<f64> {
        (0..n)
            .map(|_| {
                let (a, b) = (self.unit(), self.unit());
                centre * (1.0 + width * (a + b * b * b - 0.75))
            })
            .collect()
    }
}

pub fn times(values: &[f64]) -> Distribution<ExecTime> {
    distribution(values, ExecTime::from_micros)
}

pub fn bandwidths(values: &[f64]) -> Distribution<BusBandwidth> {
    distribution(values, BusBandwidth::from_gb_per_s)
}

fn distribution<T>(values: &[f64], unit: fn(f64) -> T) -> Distribution<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |p: f64| {
        let at = p * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        low + (high - low) * at.fract()
    };
    let (q1, q3) = (quantile(0.25), quantile(0.75));
    let fence = 1.5 * (q3 - q1);
    let inside: Vec<f64> = sorted
        .iter()
        .copied()
        .filter(|v| (q1 - fence..=q3 + fence).contains(v))
        .collect();
    Distribution {
        count: sorted.len() as u64,
        min: unit(sorted[0]),
        p5: unit(quantile(0.05)),
        p25: unit(q1),
        p50: unit(quantile(0.5)),
        mean: unit(sorted.iter().sum::<f64>() / sorted.len() as f64),
        p75: unit(q3),
        p95: unit(quantile(0.95)),
        p99: unit(quantile(0.99)),
        max: unit(sorted[sorted.len() - 1]),
        whisker_low: unit(inside[0]),
        whisker_high: unit(inside[inside.len() - 1]),
        outliers: (sorted.len() - inside.len()) as u64,
        exact: true,
    }
}
