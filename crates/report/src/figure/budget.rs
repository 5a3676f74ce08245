//! The communication time by cause: one bar whose parts add up.

use nccl_report_analyze::facts::Job;
use nccl_report_analyze::units::ExecTime;

use super::axis;
use super::drawing::{Figure, Section};
use super::number;
use super::scale::Scale;
use super::sheet::{Key, MARGIN, Sheet, WIDTH};
use crate::budget::{self, Tone};
use crate::svg::{self, Colour, Rect};

const BAR: f64 = 38.0;

/// The figure; `None` while nothing could be matched.
pub(crate) fn figure(job: &Job) -> Option<Figure> {
    let parts = budget::parts(job)?;
    let total: f64 = parts.iter().map(|p| p.micros).sum();
    let mut sheet = Sheet::new(
        &format!(
            "Communication time by cause: {} in all",
            number::time(ExecTime::from_micros(total))
        ),
        "Kernel time summed over all ranks.",
    );
    let legend: Vec<_> = parts
        .iter()
        .map(|part| {
            let time = number::time(ExecTime::from_micros(part.micros));
            let label = svg::clip(&part.label, 60);
            let share = number::percent(part.micros / total);
            (
                Key::Area(colour(part.tone)),
                format!("{label}: {share}, {time}"),
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
    for (part, (_, note)) in parts.iter().zip(&legend) {
        let to = from + part.micros / total * 100.0;
        let (x0, x1) = (percent.at(from), percent.at(to));
        if x1 > x0 {
            sheet
                .canvas
                .rect(
                    Rect::new(x0, panel.y + 4.0, x1 - x0, BAR),
                    colour(part.tone),
                )
                .note(note);
        }
        // Two findings of one colour are two parts.
        if from > 0.0 {
            let ends = ((x0, panel.y + 4.0), (x0, panel.y + 4.0 + BAR));
            sheet.canvas.line(ends.0, ends.1, 0.8, Colour::Surface);
        }
        from = to;
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let description = format!(
        "One bar of the {} of kernel time of all ranks, by cause: {}. What belongs to a finding is what a repair can win back.",
        number::time(ExecTime::from_micros(total)),
        legend
            .iter()
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    );
    Some(sheet.finish("time-budget", Section::Time, &description))
}

const fn colour(of: Tone) -> Colour {
    match of {
        Tone::Transfer => Colour::Transfer,
        Tone::Waiting => Colour::Waiting,
        Tone::Slow => Colour::Slow,
        Tone::Order => Colour::Order,
        Tone::Spread => Colour::Spread,
        Tone::Unexplained => Colour::Idle,
    }
}
