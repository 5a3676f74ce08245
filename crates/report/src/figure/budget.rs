//! The communication time by cause: one bar whose parts add up.

use nccl_report_analyze::facts::Job;
use nccl_report_analyze::units::ExecTime;

use super::axis;
use super::drawing::{Figure, Section};
use super::number;
use super::scale::Scale;
use super::sheet::{Key, MARGIN, Sheet, WIDTH};
use crate::svg::{Colour, Rect};

const BAR: f64 = 38.0;

/// The figure; `None` while nothing could be matched.
pub(crate) fn figure(job: &Job) -> Option<Figure> {
    let budget = job.budget.as_ref()?;
    let parts: Vec<(&str, Colour, f64)> = [
        (
            "transfer at healthy pace",
            Colour::Transfer,
            budget.transfer,
        ),
        ("waiting for late ranks", Colour::Waiting, budget.waiting),
        ("slow links", Colour::Slow, budget.slow_links),
        ("not matched over ranks", Colour::Idle, budget.unexplained),
    ]
    .into_iter()
    .map(|(label, colour, time)| {
        let micros = time.as_micros();
        (
            label,
            colour,
            if micros.is_finite() {
                micros.max(0.0)
            } else {
                0.0
            },
        )
    })
    .collect();
    let total: f64 = parts.iter().map(|(.., micros)| micros).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }

    let mut sheet = Sheet::new(
        &format!(
            "Communication time by cause: {} in all",
            number::time(ExecTime::from_micros(total))
        ),
        "Kernel time summed over all ranks.",
    );
    let legend: Vec<_> = parts
        .iter()
        .map(|(label, colour, micros)| {
            let time = number::time(ExecTime::from_micros(*micros));
            (
                Key::Area(*colour),
                format!("{label}: {}, {time}", number::percent(micros / total)),
            )
        })
        .collect();
    sheet.legend(&legend);
    let panel = Rect::new(
        MARGIN + 14.0,
        sheet.y,
        WIDTH - 2.0 * MARGIN - 28.0,
        BAR + 8.0,
    );
    let percent = Scale::exact(0.0, 100.0).onto(panel.x, panel.right());
    axis::horizontal(
        &mut sheet.canvas,
        percent,
        panel,
        "Share of communication time (%)",
    );
    let mut from = 0.0;
    for ((_, colour, micros), (_, note)) in parts.iter().zip(&legend) {
        let to = from + micros / total * 100.0;
        let (x0, x1) = (percent.at(from), percent.at(to));
        if x1 > x0 {
            sheet
                .canvas
                .rect(Rect::new(x0, panel.y + 4.0, x1 - x0, BAR), *colour)
                .note(note);
        }
        from = to;
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let description = format!(
        "One bar of the {} of kernel time of all ranks, by cause: {}. Waiting and slow links are what a repair can win back.",
        number::time(ExecTime::from_micros(total)),
        legend
            .iter()
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    );
    Some(sheet.finish("time-budget", Section::Time, &description))
}
