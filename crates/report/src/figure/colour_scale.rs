//! Colours for values, in few steps, and the bar that explains them.

use super::number;
use super::sheet::{self, LABEL, MARGIN, NOTE, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, DIVERGING_STEPS, MAGNITUDE_STEPS, Rect, SEVERITY_STEPS};

/// Lateness below this many microseconds is the noise of kernel timing.
const NOISE_MICROS: f64 = 20.0;
/// A ratio nearer to its neutral value than this factor is drawn as neutral: a calm job looks calm.
const CALM_RATIO: f64 = 1.3;
/// Values beyond are drawn as this one, so that quotients and differences stay finite.
const HUGE: f64 = 1e100;

/// Steps of colour between edges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColourScale {
    /// Ascending, one more than colours.
    edges: Vec<f64>,
    colours: Vec<Colour>,
}

fn between(low: f64, high: f64, steps: usize, logarithmic: bool) -> Vec<f64> {
    (0..=steps)
        .map(|i| {
            let share = i as f64 / steps as f64;
            if logarithmic {
                low * (high / low).powf(share)
            } else {
                low + (high - low) * share
            }
        })
        .collect()
}

impl ColourScale {
    /// For values that are well at `neutral`: one-sided from it when none lies below, else two-sided around it.
    /// Ratios (neutral above zero) are spaced logarithmically.
    pub(crate) fn around(neutral: f64, unit: &str, values: &[f64]) -> Self {
        let neutral = if neutral.is_finite() {
            neutral.clamp(-HUGE, HUGE)
        } else {
            0.0
        };
        let finite = || values.iter().map(|v| v.clamp(-HUGE, HUGE));
        let low = finite().fold(neutral, f64::min);
        let high = finite().fold(neutral, f64::max);
        let two_sided = (-(DIVERGING_STEPS as i32)..=DIVERGING_STEPS as i32).map(Colour::Diverging);
        if neutral > 1.0 / HUGE && low > 1.0 / HUGE {
            let factor = (high / neutral).max(neutral / low).max(CALM_RATIO);
            return Self {
                edges: between(
                    neutral / factor,
                    neutral * factor,
                    2 * DIVERGING_STEPS + 1,
                    true,
                ),
                colours: two_sided.collect(),
            };
        }
        let noise = if unit == "µs" {
            NOISE_MICROS
        } else {
            (high - low).max(1e-9) * 1e-3
        };
        if low < neutral {
            let reach = (high - neutral).max(neutral - low).max(noise);
            return Self {
                edges: between(
                    neutral - reach,
                    neutral + reach,
                    2 * DIVERGING_STEPS + 1,
                    false,
                ),
                colours: two_sided.collect(),
            };
        }
        let edges = if unit == "µs" && neutral == 0.0 && high > 4.0 * noise {
            // Lateness spans decades: noise, then equal factors.
            std::iter::once(0.0)
                .chain(between(noise, high, SEVERITY_STEPS - 1, true))
                .collect()
        } else {
            between(neutral, high.max(neutral + noise), SEVERITY_STEPS, false)
        };
        Self {
            edges,
            colours: (0..SEVERITY_STEPS).map(Colour::Severity).collect(),
        }
    }

    /// For positive values of which small ones are of interest too; spaced logarithmically.
    pub(crate) fn magnitude(values: &[f64]) -> Option<Self> {
        let positive = || {
            values
                .iter()
                .copied()
                .filter(|v| *v > 1.0 / HUGE && *v < HUGE)
        };
        let (low, high) = (positive().reduce(f64::min)?, positive().reduce(f64::max)?);
        // Never less than a factor of 1.5 from end to end, so that noise does not use all colours.
        let widen = (1.5 / (high / low)).max(1.0).sqrt();
        Some(Self {
            edges: between(low / widen, high * widen, MAGNITUDE_STEPS, true),
            colours: (0..MAGNITUDE_STEPS).map(Colour::Magnitude).collect(),
        })
    }

    /// Which step a value falls into.
    pub(crate) fn step(&self, value: f64) -> usize {
        self.edges[1..self.colours.len()].partition_point(|edge| *edge <= value)
    }

    pub(crate) fn colour(&self, step: usize) -> Colour {
        self.colours[step.min(self.colours.len() - 1)]
    }

    /// Draws the bar in a strip of its own: title, steps with the values at their edges, and what a hatched cell means.
    pub(crate) fn legend(&self, sheet: &mut Sheet, title: &str, empty: Option<&str>) {
        const STEP: f64 = 36.0;
        let y = sheet.y;
        let title = svg::shorten(title, 300.0, NOTE, false);
        sheet
            .canvas
            .text((MARGIN, y + 7.0), &title, NOTE, Anchor::Start, Colour::Text);
        let left = MARGIN + svg::width(&title, NOTE, false) + 26.0;
        for (n, colour) in self.colours.iter().enumerate() {
            sheet
                .canvas
                .rect(Rect::new(left + STEP * n as f64, y, STEP, 13.0), *colour);
        }
        let right = left + STEP * self.colours.len() as f64;
        let frame = vec![
            (left, y),
            (right, y),
            (right, y + 13.0),
            (left, y + 13.0),
            (left, y),
        ];
        sheet.canvas.path(frame, 0.8, Colour::Axis);
        let mut free_from = f64::NEG_INFINITY;
        for (n, edge) in self.edges.iter().enumerate() {
            let label = number::significant(*edge);
            let half = svg::width(&label, LABEL, false) / 2.0;
            let x = left + STEP * n as f64;
            if x - half >= free_from {
                sheet
                    .canvas
                    .text((x, y + 22.0), &label, LABEL, Anchor::Middle, Colour::Muted);
                free_from = x + half + 6.0;
            }
        }
        if let Some(text) = empty {
            let x = right + 34.0;
            let area = Rect::new(x, y, 22.0, 13.0);
            sheet::hatch(&mut sheet.canvas, area);
            let text = svg::shorten(text, WIDTH - MARGIN - x - 28.0, NOTE, false);
            sheet.canvas.text(
                (x + 28.0, y + 7.0),
                &text,
                NOTE,
                Anchor::Start,
                Colour::Muted,
            );
        }
        sheet.y += 38.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neutral_is_in_the_middle_or_at_the_start() {
        let ratio = ColourScale::around(1.0, "×", &[0.5, 1.0, 1.02]);
        assert_eq!(ratio.colour(ratio.step(1.0)), Colour::Diverging(0));
        assert_eq!(ratio.colour(ratio.step(0.5)), Colour::Diverging(-5));
        assert_eq!(ratio.colour(ratio.step(2.0)), Colour::Diverging(5));
        let late = ColourScale::around(0.0, "µs", &[0.0, 3.0, 900.0]);
        assert_eq!(late.colour(late.step(0.0)), Colour::Severity(0));
        assert_eq!(late.colour(late.step(19.0)), Colour::Severity(0));
        assert_eq!(late.colour(late.step(900.0)), Colour::Severity(8));
    }

    #[test]
    fn noise_stays_pale() {
        let late = ColourScale::around(0.0, "µs", &[0.0, 3.0, 1.0]);
        assert!(late.step(3.0) <= 1);
        let ratio = ColourScale::around(1.0, "×", &[0.99, 1.01]);
        assert_eq!(ratio.colour(ratio.step(1.01)), Colour::Diverging(0));
    }

    #[test]
    fn edges_ascend_whatever_the_values() {
        for values in [
            vec![],
            vec![0.0],
            vec![-5.0],
            vec![1e300, -1e300],
            vec![5.0; 3],
            vec![1e-300],
        ] {
            for neutral in [0.0, 1.0, -3.0, f64::NAN] {
                let scale = ColourScale::around(neutral, "µs", &values);
                assert_eq!(scale.edges.len(), scale.colours.len() + 1);
                assert!(
                    scale.edges.windows(2).all(|w| w[0] < w[1]),
                    "{neutral} {values:?} {:?}",
                    scale.edges
                );
            }
        }
        assert_eq!(ColourScale::magnitude(&[0.0, f64::NAN]), None);
        let flat = ColourScale::magnitude(&[40.0, 40.0]).expect("positive");
        assert!(flat.edges[0] < 40.0 && flat.edges[MAGNITUDE_STEPS] > 40.0);
    }
}
