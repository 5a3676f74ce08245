//! From a quantity to a place on paper, and the ticks between.

/// How a [`Scale`] spaces its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Logarithmic,
}

/// Maps values to pixels; values outside the range land on its nearer end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    spacing: Spacing,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// Values beyond are drawn at it: differences and logarithms stay finite.
const HUGE: f64 = 1e200;
const TINY: f64 = 1e-200;
/// A tick list is never longer, whatever the input.
const MOST_TICKS: usize = 64;

fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|v| v.is_finite())
        .map(|v| v.clamp(-HUGE, HUGE))
        .fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
        })
}

/// The step of 1, 2 or 5 times a power of ten that cuts a length into at most `parts`.
fn nice_step(length: f64, parts: usize) -> f64 {
    let raw = (length / parts.max(1) as f64).max(TINY);
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= raw * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    if step.is_finite() && step > 0.0 {
        step
    } else {
        1.0
    }
}

/// The next 1, 2 or 5 times a power of ten at or below a positive value.
fn one_two_five_below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0, 0.5]
        .into_iter()
        .map(|m| m * power)
        .find(|v| *v <= value * (1.0 + 1e-9))
        .unwrap_or(power)
}

impl Scale {
    /// A linear scale from zero (or the smallest value, if negative) to a round number at or above the largest.
    /// `None` without finite values.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = extent(values)?;
        let (low, mut high) = (low.min(0.0), high.max(0.0));
        if low == high {
            high = 1.0;
        }
        let step = nice_step(high - low, 5);
        Some(Self::new(
            Spacing::Linear,
            (low / step).floor() * step,
            // A little headroom, so that no mark sits on the edge.
            (high * 1.02 / step).ceil() * step,
        ))
    }

    /// A linear scale over exactly a range, e.g. of time; an empty one is widened.
    pub(crate) fn exact(low: f64, high: f64) -> Self {
        let (low, high) = extent([low, high]).unwrap_or((0.0, 1.0));
        let pad = if high > low {
            0.0
        } else {
            0.5 * low.abs().max(1.0)
        };
        Self::new(Spacing::Linear, low - pad, high + pad)
    }

    /// For positive quantities: logarithmic over all of them that are positive; `None` if none is.
    /// Under a factor of five the range is only padded, above it ends at 1, 2 or 5 times a power of ten.
    pub(crate) fn logarithmic(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let positive = values.into_iter().filter(|v| *v > TINY);
        let (low, high) = extent(positive)?;
        let (low, high) = if high / low < 5.0 {
            let pad = (high / low).powf(0.06).max(1.02);
            (low / pad, high * pad)
        } else {
            let above = one_two_five_below(high);
            let above = if above >= high * (1.0 - 1e-9) {
                above
            } else {
                // The next of the series: 1 → 2, 2 → 5, 5 → 10.
                [2.0, 2.5]
                    .into_iter()
                    .map(|m| above * m)
                    .find(|v| *v >= high && is_one_two_five(*v))
                    .unwrap_or(above * 2.5)
            };
            (one_two_five_below(low), above)
        };
        Some(Self::new(Spacing::Logarithmic, low, high))
    }

    /// For positive quantities whose zero matters while it is near: linear, but logarithmic over more than a decade.
    pub(crate) fn positive(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let (low, high) = extent(values.iter().copied().filter(|v| *v > TINY))?;
        if high / low > 10.0 {
            return Self::logarithmic(values);
        }
        if low / high < 0.5 {
            return Self::from_zero(values);
        }
        let pad = (high - low).max(high * 0.02) * 0.06;
        let step = nice_step(high - low + 2.0 * pad, 5);
        Some(Self::new(
            Spacing::Linear,
            ((low - pad) / step).floor() * step,
            ((high + pad) / step).ceil() * step,
        ))
    }

    fn new(spacing: Spacing, low: f64, high: f64) -> Self {
        Self {
            spacing,
            low,
            high,
            from: 0.0,
            to: 1.0,
        }
    }

    /// Sets where the two ends lie.
    pub(crate) fn onto(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (from, to);
        self
    }

    pub(crate) fn is_logarithmic(self) -> bool {
        self.spacing == Spacing::Logarithmic
    }

    /// The place of a value.
    pub(crate) fn at(self, value: f64) -> f64 {
        let share = match self.spacing {
            _ if value.is_nan() => 0.0,
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic if value <= 0.0 => 0.0,
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values inside the range, at most about `most`, with their labels.
    pub(crate) fn ticks(self, most: usize) -> Vec<(f64, String)> {
        let most = most.clamp(1, MOST_TICKS);
        if self.spacing == Spacing::Logarithmic && self.high / self.low >= 5.0 {
            return self.logarithmic_ticks(most);
        }
        let step = nice_step(self.high - self.low, most);
        let first = (self.low / step - 1e-6).ceil();
        (0..=most)
            .map(|i| (first + i as f64) * step)
            .take_while(|v| *v <= self.high + step * 1e-6)
            .map(|v| (v, tick_label(v, step)))
            .collect()
    }

    fn logarithmic_ticks(self, most: usize) -> Vec<(f64, String)> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let inside = |v: &f64| *v >= self.low * (1.0 - 1e-9) && *v <= self.high * (1.0 + 1e-9);
        let of = |mantissas: &[f64], stride: usize| -> Vec<f64> {
            (first..=last)
                .step_by(stride)
                .flat_map(|e| mantissas.iter().map(move |m| m * 10f64.powi(e)))
                .filter(inside)
                .collect()
        };
        let mut candidates = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1), of(&[1.0], 1)]
            .into_iter()
            .chain([2, 5, 10, 20, 50, 100, 200].map(|stride| of(&[1.0], stride)));
        candidates
            .find(|ticks| ticks.len() <= most)
            .unwrap_or_default()
            .into_iter()
            .map(|v| (v, tick_label(v, 10f64.powf(v.log10().floor()))))
            .collect()
    }
}

fn is_one_two_five(value: f64) -> bool {
    let mantissa = value / 10f64.powf((value.log10() + 1e-9).floor());
    [1.0, 2.0, 5.0].iter().any(|m| (mantissa - m).abs() < 1e-6)
}

/// The label of a tick: as many decimals as the step needs.
fn tick_label(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    let decimals = -(step.log10() + 1e-9).floor();
    if value.abs() >= 1e6 || decimals > 4.0 {
        let text = format!("{value:.3e}");
        return match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
                format!("{mantissa}e{exponent}")
            }
            None => text,
        };
    }
    let text = format!("{value:.*}", decimals.max(0.0) as usize);
    match text.split_once('.') {
        None if value >= 10_000.0 => super::number::count(value.round() as u64),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(scale: Scale, most: usize) -> Vec<f64> {
        scale.ticks(most).into_iter().map(|(v, _)| v).collect()
    }

    fn labels(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().map(|(_, l)| l).collect()
    }

    #[test]
    fn round_ticks() {
        let scale = Scale::from_zero([3.0, 37.0]).expect("finite");
        assert_eq!(labels(scale, 5), ["0", "10", "20", "30", "40"]);
        let scale = Scale::exact(0.0, 0.35);
        assert_eq!(labels(scale, 4), ["0", "0.1", "0.2", "0.3"]);
        let scale = Scale::exact(0.0, 43_000.0);
        assert_eq!(
            labels(scale, 5),
            ["0", "10,000", "20,000", "30,000", "40,000"]
        );
    }

    #[test]
    fn decades() {
        let scale = Scale::logarithmic([0.3, 420.0]).expect("positive");
        assert_eq!(values(scale, 6), [1.0, 10.0, 100.0]);
        assert_eq!(
            labels(scale, 12),
            [
                "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100", "200", "500"
            ]
        );
        let scale = Scale::logarithmic([340.0, 380.0]).expect("positive");
        assert_eq!(labels(scale, 5), ["340", "360", "380"]);
    }

    #[test]
    fn places_are_proportional() {
        let scale = Scale::exact(10.0, 20.0).onto(100.0, 300.0);
        assert_eq!(scale.at(15.0), 200.0);
        assert_eq!(scale.at(-1e308), 100.0);
        assert_eq!(scale.at(f64::INFINITY), 300.0);
        let scale = Scale::logarithmic([1.0, 100.0])
            .expect("positive")
            .onto(0.0, 200.0);
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9);
        assert_eq!(scale.at(0.0), 0.0);
    }

    #[test]
    fn a_decade_makes_it_logarithmic() {
        assert!(
            !Scale::positive([10.0, 99.0])
                .expect("positive")
                .is_logarithmic()
        );
        assert!(
            Scale::positive([10.0, 101.0])
                .expect("positive")
                .is_logarithmic()
        );
        assert_eq!(Scale::positive([0.0, -1.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn any_numbers_give_few_ticks_inside(mut v in proptest::collection::vec(prop_oneof![any::<f64>(), 0.0..500.0], 1..6), most in 1usize..100) {
            v.push(1.0);
            for scale in [Scale::from_zero(v.clone()), Scale::logarithmic(v.clone()), Scale::positive(v.clone()), Some(Scale::exact(v[0], v[1]))].into_iter().flatten() {
                let scale = scale.onto(0.0, 100.0);
                let ticks = scale.ticks(most);
                prop_assert!(ticks.len() <= MOST_TICKS + 1);
                prop_assert!(ticks.iter().all(|(t, l)| t.is_finite() && l.len() < 16));
                let places: Vec<f64> = ticks.iter().map(|(t, _)| scale.at(*t)).collect();
                prop_assert!(places.windows(2).all(|w| w[0] <= w[1]), "{:?}", ticks);
                for x in &v {
                    prop_assert!((0.0..=100.0).contains(&scale.at(*x)));
                }
            }
        }
    }
}
