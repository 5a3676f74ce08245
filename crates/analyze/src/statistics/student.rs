//! Student's t: how surprising a difference is when its error was estimated from few values.

/// The two-sided probability of a |t| at least this large with `df` degrees of freedom (any positive number).
///
/// It is the regularised incomplete beta function I(df/2, 1/2) at df/(df + t²).
pub(crate) fn two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(df / 2.0, 0.5, df / (df + t * t))
}

/// The probability of an F at least this large with `d1` and `d2` degrees of freedom.
///
/// It is the regularised incomplete beta function I(d2/2, d1/2) at d2/(d2 + d1·F).
pub(crate) fn f_upper(f: f64, d1: f64, d2: f64) -> f64 {
    if f.is_nan() || d1 <= 0.0 || d2 <= 0.0 || f <= 0.0 {
        return 1.0;
    }
    if f.is_infinite() {
        return 0.0;
    }
    incomplete_beta(d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * f))
}

/// The t that is exceeded on either side with probability `p` in all, 0 < p < 1.
pub(crate) fn quantile(p: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, df) > p && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, df) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method; Abramowitz and Stegun, 26.5.8).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean; above it the complement does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = 1e-300;
    let keep = |v: f64| if v.abs() < tiny { tiny } else { v };
    let (mut c, mut d) = (1.0, 1.0 / keep(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / keep(1.0 + numerator * d);
            c = keep(1.0 + numerator / c);
            fraction *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

/// The logarithm of the gamma function for positive numbers (Lanczos' approximation with g = 7 and nine terms, 1e-15).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Γ(x) Γ(1 − x) = π / sin πx
        return (std::f64::consts::PI / (std::f64::consts::PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = TERMS
        .iter()
        .enumerate()
        .skip(1)
        .fold(TERMS[0], |s, (i, c)| s + c / (x + i as f64));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any printed table of Student's t (two-sided 5 %, 1 %), e.g. NIST/SEMATECH e-Handbook 1.3.6.7.2.
    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (p, df, expected) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 5.0, 2.571),
            (0.05, 10.0, 2.228),
            (0.05, 30.0, 2.042),
            (0.01, 1.0, 63.657),
            (0.01, 4.0, 4.604),
            (0.01, 20.0, 2.845),
            (0.05, 1e9, 1.960),
        ] {
            let got = quantile(p, df);
            assert!((got - expected).abs() < 6e-4, "{p} {df}: {got}");
        }
    }

    /// Any printed table of F (NIST/SEMATECH e-Handbook 1.3.6.7.3): the upper 5 % and 1 % points.
    #[test]
    fn f_is_that_of_the_printed_tables() {
        for (f, d1, d2, p) in [
            (4.965, 1.0, 10.0, 0.05),
            (4.103, 2.0, 10.0, 0.05),
            (10.044, 1.0, 10.0, 0.01),
            (5.849, 2.0, 20.0, 0.01),
        ] {
            assert!((f_upper(f, d1, d2) - p).abs() < 1e-4, "{f} {d1} {d2}");
        }
        assert_eq!(f_upper(0.0, 1.0, 5.0), 1.0);
        assert_eq!(f_upper(f64::INFINITY, 1.0, 5.0), 0.0);
    }

    #[test]
    fn one_degree_of_freedom_is_cauchy() {
        // P(|t| > 1) = 1/2 and P(|t| > √3) = 1/3 for the Cauchy distribution.
        assert!((two_sided(1.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((two_sided(3.0_f64.sqrt(), 1.0) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_said_is_no_surprise() {
        assert_eq!(two_sided(f64::NAN, 3.0), 1.0);
        assert_eq!(two_sided(5.0, 0.0), 1.0);
        assert_eq!(two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(two_sided(0.0, 3.0), 1.0);
    }
}
