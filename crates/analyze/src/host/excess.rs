//! Whether things happen more often while something runs than else, and how much more.
//!
//! What happens anyway has a rate, be it a thousand a second or one an hour; what comes with the operations adds to it. So the number
//! that fell into them is held against what the rest of the time lets expect, given how many there were in all: under coincidence each
//! falls anywhere, and the sum of the probabilities that an operation was running then has a known distribution, whose tail is the
//! chance (the saddlepoint approximation of Robinson, 1982: good for three events as for a million, where a normal law isn't).
//!
//! Things come in bursts. How much more the counts of short times vary than independent ones would is measured on the same job
//! (Pearson's dispersion, as in quasi-Poisson regression), and so many make one independent event.

use super::running::Running;

/// What happened on one host, and when its operations ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) running: &'a Running,
    /// How many operations ran, where only wider times are known than they ran: in a run full of such times this tells more.
    pub(crate) how_many: Option<&'a Running>,
    /// Moments within the span, in order.
    pub(crate) at: &'a [i64],
    /// How long an operation is, ns: what comes with one is a burst.
    pub(crate) length: f64,
}

/// More of it than chance explains, or less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Excess {
    /// How many more than the rest of the time lets expect.
    pub(crate) beyond: f64,
    /// A second while an operation ran, and else.
    pub(crate) rates: (f64, f64),
    /// Expected time in which operations ran, ns.
    pub(crate) ran: f64,
    /// Probability of so many under coincidence.
    pub(crate) chance: f64,
}

/// The number of a host, and what is needed to fit two rates to it.
struct Fitted {
    n: f64,
    /// Sum of the probabilities at the events.
    sum: f64,
    /// A ns while an operation ran, on top of the other; and the other.
    added: f64,
    base: f64,
    ran: f64,
    /// Levels of the probability, and how much of the time each takes up.
    levels: Vec<(f64, f64)>,
}

impl Fitted {
    fn of(part: &Part<'_>, running: &Running) -> Option<Self> {
        let length = running.length();
        let mut levels = running.levels().to_vec();
        let ran: f64 = levels.iter().map(|l| l.0 * l.1).sum();
        let squares: f64 = levels.iter().map(|l| l.0 * l.0 * l.1).sum();
        let spread = squares - ran * ran / length;
        // Operations that run always, or never, can't be told from the rest of the time.
        if length <= 0.0 || spread <= 1e-6 * length {
            return None;
        }
        levels.iter_mut().for_each(|l| l.1 /= length);
        let n = part.at.len() as f64;
        let sum: f64 = part.at.iter().map(|&at| running.at(at)).sum();
        let added = (sum - n * ran / length) / spread;
        let base = (n - added * ran) / length;
        let (added, base) = if base < 0.0 {
            (n / ran, 0.0)
        } else {
            (added, base)
        };
        Some(Self {
            n,
            sum,
            added,
            base,
            ran,
            levels,
        })
    }

    /// Pearson's sum over times as long as an operation, and their number.
    fn pearson(&self, part: &Part<'_>, running: &Running) -> (f64, f64) {
        let length = running.length();
        let wide = part.length.max(1.0).min(length);
        // A rate of zero is only one that wasn't met: half an event.
        let least = 0.5 * wide / length;
        let start = running.start();
        let bin = |at: i64| (at.saturating_sub(start) as f64 / wide).floor();
        let sum: f64 = part
            .at
            .chunk_by(|a, b| bin(*a) == bin(*b))
            .map(|same| {
                let from = start.saturating_add((bin(same[0]) * wide) as i64);
                let to = from.saturating_add(wide as i64);
                let ran = running.up_to(to) - running.up_to(from);
                let expected = (self.base * wide + self.added * ran).max(least);
                (same.len() as f64).powi(2) / expected
            })
            .sum();
        (sum - self.n, length / wide)
    }
}

/// The excess over all hosts together, each against its own rate; `None` where nothing can be compared. Where it is looked at in two ways,
/// by whether an operation ran and by how many, the clearer counts, with the harmonic mean of the chances (Wilson, 2019), which holds for looks that
/// depend on each other: of two that say the same it is the chance, of one that says nothing it is twice that of the other.
pub(crate) fn excess(parts: &[Part<'_>]) -> Option<Excess> {
    let whether = by(parts, |part| part.running);
    if parts.iter().all(|part| part.how_many.is_none()) {
        return whether;
    }
    let many = by(parts, |part| part.how_many.unwrap_or(part.running));
    let (Some(a), Some(b)) = (whether, many) else {
        return whether.or(many);
    };
    let least = f64::MIN_POSITIVE;
    let chance = 2.0 / (1.0 / a.chance.max(least) + 1.0 / b.chance.max(least));
    let clearer = if b.chance < a.chance { b } else { a };
    Some(Excess { chance, ..clearer })
}

fn by<'a>(parts: &[Part<'a>], running: impl Fn(&Part<'a>) -> &'a Running) -> Option<Excess> {
    let fitted: Vec<(Fitted, &Part<'_>)> = parts
        .iter()
        .filter_map(|part| Some((Fitted::of(part, running(part))?, part)))
        .filter(|(f, _)| f.n > 0.0)
        .collect();
    let ran: f64 = fitted.iter().map(|(f, _)| f.ran).sum();
    if fitted.is_empty() || ran <= 0.0 {
        return None;
    }
    let beyond: f64 = fitted.iter().map(|(f, _)| f.added * f.ran).sum();
    let anyway: f64 = fitted.iter().map(|(f, _)| f.base * f.ran).sum();
    let (pearson, bins) = fitted
        .iter()
        .map(|(f, part)| f.pearson(part, running(part)))
        .fold((0.0, 0.0), |s, x| (s.0 + x.0, s.1 + x.1));
    // Two rates were fitted to each host.
    let freedom = (bins - 2.0 * fitted.len() as f64).max(1.0);
    let burst = (pearson / freedom).max(1.0);
    let numbers: Vec<(f64, &[(f64, f64)])> = fitted
        .iter()
        .map(|(f, _)| (f.n / burst, f.levels.as_slice()))
        .collect();
    let sum: f64 = fitted.iter().map(|(f, _)| f.sum).sum();
    let second = 1e9 / ran;
    Some(Excess {
        beyond,
        rates: ((beyond + anyway) * second, anyway * second),
        ran,
        chance: tail(&numbers, sum / burst),
    })
}

/// Probability that the sum over independent draws is at least `sum`. Each entry: how many are drawn, and values in ascending order with
/// their probabilities.
fn tail(numbers: &[(f64, &[(f64, f64)])], sum: f64) -> f64 {
    let of_all = |theta: f64| -> (f64, f64, f64) {
        let mut out = (0.0, 0.0, 0.0);
        for (n, levels) in numbers {
            let top = levels.last().map_or(0.0, |l| l.0);
            let mut moments = (0.0, 0.0, 0.0);
            for &(value, part) in *levels {
                let weight = part * f64::exp(theta * (value - top));
                moments.0 += weight;
                moments.1 += weight * value;
                moments.2 += weight * value * value;
            }
            let mean = moments.1 / moments.0;
            out.0 += n * (moments.0.ln() + theta * top);
            out.1 += n * mean;
            out.2 += n * (moments.2 / moments.0 - mean * mean).max(0.0);
        }
        out
    };
    if sum <= of_all(0.0).1 {
        return 1.0;
    }
    let most: f64 = numbers
        .iter()
        .map(|(n, levels)| n * levels.last().map_or(0.0, |l| l.0))
        .sum();
    if sum >= most * (1.0 - 1e-9) {
        // All at the top.
        let log: f64 = numbers
            .iter()
            .map(|(n, levels)| n * levels.last().map_or(0.0, |l| l.1.ln()))
            .sum();
        return log.exp();
    }
    let (mut low, mut high) = (0.0, 1.0);
    while of_all(high).1 < sum && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if of_all(middle).1 < sum {
            low = middle;
        } else {
            high = middle;
        }
    }
    let theta = f64::midpoint(low, high);
    let (cumulant, _, variance) = of_all(theta);
    // Sums of whole numbers come in steps, and reach each step before it is passed; of others this asks a little too much, and of how many
    // there were no more than of whether there was one.
    let step = theta
        * numbers
            .iter()
            .filter_map(|(_, levels)| levels.last().map(|l| l.0.min(1.0)))
            .fold(0.0, f64::max);
    let stepped = step / (1.0 - f64::exp(-step)).max(1e-12);
    let scale = theta * variance.sqrt();
    let normal = 0.5 * scaled_erfc(scale / std::f64::consts::SQRT_2);
    (f64::exp(cumulant - theta * sum) * normal * stepped).clamp(0.0, 1.0)
}

/// exp(x²) · erfc(x) for x ≥ 0, to seven digits (Press et al., Numerical Recipes, 1992: a Chebyshev fit).
fn scaled_erfc(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    t * FIT.iter().fold(0.0, |sum, c| sum * t + c).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn choose(n: i32, k: i32) -> f64 {
        (1..=k)
            .map(|i| f64::from(n - k + i) / f64::from(i))
            .product()
    }

    /// Against the binomial law summed term by term: within a third, and never far below.
    #[test]
    fn tails_of_whole_numbers() {
        for (n, k, p) in [
            (10, 10, 0.1),
            (20, 9, 0.1),
            (40, 30, 0.5),
            (100, 20, 0.08),
            (8, 5, 0.2),
        ] {
            let exact: f64 = (k..=n)
                .map(|i| choose(n, i) * f64::powi(p, i) * f64::powi(1.0 - p, n - i))
                .sum();
            let got = tail(&[(f64::from(n), &[(0.0, 1.0 - p), (1.0, p)])], f64::from(k));
            let ratio = got / exact;
            assert!(
                (0.9..1.4).contains(&ratio),
                "{n} {k} {p}: {got} for {exact}"
            );
        }
        assert!(tail(&[(5.0, &[(0.0, 0.7), (1.0, 0.3)])], 1.0) >= 1.0);
    }

    #[test]
    fn tails_of_the_normal_law() {
        // erfc(1) = 0.157299, erfc(3) = 2.20905e-5.
        assert!((scaled_erfc(1.0) / f64::exp(1.0) - 0.157_299).abs() < 1e-6);
        assert!((scaled_erfc(3.0) * f64::exp(-9.0) / 2.209_05e-5 - 1.0).abs() < 1e-5);
    }

    /// A second in every ten an operation runs for 40 ms, 100 times.
    fn running() -> Running {
        Running::of(
            (0..100_i64).map(|k| ((k * 100 * MS, k * 100 * MS + 40 * MS), 40e6)),
            (0, 10_000 * MS),
        )
    }

    /// Moments that neither follow the operations nor come evenly: `rate` a second.
    fn anywhere(rate: f64, seed: u64) -> Vec<i64> {
        let mut state = seed;
        let mut at = 0.0;
        let mut out = Vec::new();
        loop {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 33) as f64 + 0.5) / (1_u64 << 31) as f64;
            at -= uniform.ln() / rate * 1e9;
            if at >= 1e10 {
                return out;
            }
            out.push(at as i64);
        }
    }

    fn judged(at: &[i64]) -> Excess {
        excess(&[Part {
            running: &running(),
            how_many: None,
            at,
            length: 40e6,
        }])
        .expect("compared")
    }

    #[test]
    fn what_comes_with_operations_shows_above_any_rate() {
        for rate in [0.3, 5.0, 30.0] {
            let mut at = anywhere(rate, 7);
            // One more in every operation.
            at.extend((0..100_i64).map(|k| k * 100 * MS + 11 * MS));
            at.sort_unstable();
            let found = judged(&at);
            assert!(found.chance < 1e-3, "{rate}: {found:?}");
            assert!((found.beyond - 100.0).abs() < 35.0, "{rate}: {found:?}");
            let expected = 100.0 / 4.0;
            assert!(
                (found.rates.0 - found.rates.1 - expected).abs() < 9.0,
                "{found:?}"
            );
        }
    }

    #[test]
    fn coincidence_is_as_rare_as_its_chance_says() {
        for bursts in [1, 6] {
            let below = (1..=400)
                .filter(|&seed| {
                    let mut at: Vec<i64> = anywhere(5.0, seed)
                        .into_iter()
                        .flat_map(|t| (0..bursts).map(move |k| t + k * MS / 2))
                        .filter(|&t| t < 10_000 * MS)
                        .collect();
                    at.sort_unstable();
                    judged(&at).chance < 0.02
                })
                .count();
            // 8 of 400 are expected; twice as many and some would be a test that accuses too easily.
            assert!(below <= 20, "{bursts}: {below}");
        }
    }

    #[test]
    fn one_burst_is_one_event_however_many_there_are_in_it() {
        let at: Vec<i64> = (0..500).map(|k| 5 * MS + k * 50_000).collect();
        assert!(judged(&at).chance > 0.05, "{:?}", judged(&at));
    }

    #[test]
    fn operations_that_fill_the_time_say_nothing() {
        let always = Running::of(std::iter::once(((0, 100), 100.0)), (0, 100));
        let part = Part {
            running: &always,
            how_many: None,
            at: &[1, 2, 3],
            length: 10.0,
        };
        assert!(excess(&[part]).is_none());
    }
}
