//! Many questions at once: the more are asked, the more answers are surprising by chance.

/// Holm's (1979) adjustment: the probability that any bucket at all would look this surprising although none changed.
/// Values that aren't numbers stay out and come back as 1.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| p[i].is_finite()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(a.cmp(&b)));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (k, &i) in order.iter().enumerate() {
        largest = largest.max((p[i] * (order.len() - k) as f64).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` gives 0.03 0.06 0.06 0.02.
    #[test]
    fn as_r_adjusts() {
        let got = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (g, e) in got.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((g - e).abs() < 1e-12, "{got:?}");
        }
        assert_eq!(holm(&[0.9, f64::NAN]), [0.9, 1.0]);
    }
}
