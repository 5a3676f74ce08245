//! Axes: grid lines, tick labels that do not touch, a title with the unit.

use super::scale::Scale;
use super::sheet::{LABEL, NOTE, WIDTH};
use crate::svg::{self, Anchor, Canvas, Colour, Rect};

/// What [`horizontal`] needs below the panel.
pub(crate) const BELOW: f64 = 44.0;
/// What [`vertical`] needs left of the panel.
pub(crate) const LEFT: f64 = 88.0;

/// Grid, labels and title of an axis along the bottom of a panel.
pub(crate) fn horizontal(canvas: &mut Canvas, scale: Scale, panel: Rect, title: &str) {
    let fits = |ticks: &[(f64, String)]| {
        let spans: Vec<(f64, f64)> = ticks
            .iter()
            .map(|(value, label)| {
                let half = svg::width(label, LABEL, false) / 2.0;
                (scale.at(*value) - half, scale.at(*value) + half)
            })
            .collect();
        spans.windows(2).all(|w| w[0].1 + 10.0 <= w[1].0)
            && spans
                .iter()
                .all(|(from, to)| *from >= 2.0 && *to <= WIDTH - 2.0)
    };
    let ticks = [12, 10, 8, 6, 5, 4, 3, 2, 1]
        .into_iter()
        .map(|most| scale.ticks(most))
        .find(|ticks| fits(ticks))
        .unwrap_or_default();
    for (value, label) in &ticks {
        let x = scale.at(*value);
        canvas.line((x, panel.y), (x, panel.bottom()), 1.0, Colour::Grid);
        canvas.text(
            (x, panel.bottom() + 11.0),
            label,
            LABEL,
            Anchor::Middle,
            Colour::Muted,
        );
    }
    canvas.line(
        (panel.x, panel.bottom()),
        (panel.right(), panel.bottom()),
        1.0,
        Colour::Axis,
    );
    let title = svg::shorten(title, panel.w, NOTE, false);
    canvas.text(
        (panel.x + panel.w / 2.0, panel.bottom() + 30.0),
        &title,
        NOTE,
        Anchor::Middle,
        Colour::Text,
    );
}

/// Grid, labels and title of an axis along the left of a panel.
pub(crate) fn vertical(canvas: &mut Canvas, scale: Scale, panel: Rect, title: &str) {
    let most = ((panel.h / 32.0) as usize).clamp(2, 10);
    let apart = |ticks: &[(f64, String)]| {
        ticks
            .windows(2)
            .all(|w| (scale.at(w[0].0) - scale.at(w[1].0)).abs() >= LABEL * 1.5)
    };
    let ticks = (1..=most)
        .rev()
        .map(|most| scale.ticks(most))
        .find(|ticks| apart(ticks))
        .unwrap_or_default();
    for (value, label) in &ticks {
        let y = scale.at(*value);
        canvas.line((panel.x, y), (panel.right(), y), 1.0, Colour::Grid);
        let label = svg::shorten(label, LEFT - 40.0, LABEL, false);
        canvas.text(
            (panel.x - 7.0, y),
            &label,
            LABEL,
            Anchor::End,
            Colour::Muted,
        );
    }
    canvas.line(
        (panel.x, panel.y),
        (panel.x, panel.bottom()),
        1.0,
        Colour::Axis,
    );
    let title = svg::shorten(title, panel.h, NOTE, false);
    canvas
        .text(
            (panel.x - LEFT + 24.0, panel.y + panel.h / 2.0),
            &title,
            NOTE,
            Anchor::Middle,
            Colour::Text,
        )
        .upward();
}
