//! Labels beside or below rows that are grouped by host, as many as find room.

use super::sheet::LABEL;
use crate::svg::{self, Anchor, Canvas, Colour};

/// Something with a label that reaches from a place to a place along an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) label: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

/// Width of the widest label, at most `most`.
pub(crate) fn room(spans: &[Span], most: f64) -> f64 {
    spans
        .iter()
        .map(|s| svg::width(&svg::shorten(&s.label, most, LABEL, false), LABEL, false))
        .fold(0.0, f64::max)
}

/// Labels left of `x`, each in the middle of its span; those that would touch the last one drawn are left out.
pub(crate) fn beside(canvas: &mut Canvas, spans: &[Span], x: f64, most: f64) {
    let mut free_from = f64::NEG_INFINITY;
    for span in spans {
        let middle = (span.from + span.to) / 2.0;
        if middle - LABEL * 0.65 >= free_from {
            let label = svg::shorten(&span.label, most, LABEL, false);
            canvas.text((x, middle), &label, LABEL, Anchor::End, Colour::Text);
            free_from = middle + LABEL * 0.65;
        }
    }
}

/// Height that [`below`] needs.
pub(crate) fn height_below(spans: &[Span], most: f64) -> f64 {
    if lie_flat(spans) {
        18.0
    } else {
        room(spans, most) + 10.0
    }
}

fn lie_flat(spans: &[Span]) -> bool {
    spans
        .iter()
        .all(|s| svg::width(&s.label, LABEL, false) + 6.0 <= s.to - s.from)
}

/// Labels below `y`: flat if all fit into their spans, else upward, as many as find room.
pub(crate) fn below(canvas: &mut Canvas, spans: &[Span], y: f64, most: f64) {
    if lie_flat(spans) {
        for span in spans {
            let middle = (span.from + span.to) / 2.0;
            canvas.text(
                (middle, y + 10.0),
                &span.label,
                LABEL,
                Anchor::Middle,
                Colour::Text,
            );
        }
        return;
    }
    let mut free_from = f64::NEG_INFINITY;
    for span in spans {
        let middle = (span.from + span.to) / 2.0;
        if middle - LABEL * 0.65 >= free_from {
            let label = svg::shorten(&span.label, most, LABEL, false);
            canvas
                .text((middle, y + 6.0), &label, LABEL, Anchor::End, Colour::Text)
                .upward();
            free_from = middle + LABEL * 0.65;
        }
    }
}
