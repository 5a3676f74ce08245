//! The communicators of a family side by side: which of them has the slow link?

use nccl_report_analyze::facts::{Family, FamilyOperation, Job};

use super::axis;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::number;
use super::scale::Scale;
use super::sheet::{Key, LABEL, MARGIN, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

/// Communicators drawn one by one; of more, the slowest and the fastest.
const MOST_ROWS: usize = 40;
const SLOWEST: usize = 28;
const PITCH: f64 = 17.0;
const LABELS: f64 = 200.0;
const VALUES: f64 = 150.0;

/// The figure; `None` unless at least two communicators have a bandwidth.
pub(crate) fn figure(job: &Job, family: &Family, operation: &FamilyOperation) -> Option<Figure> {
    let names = Names::of(job);
    let mut rows: Vec<(String, f64)> = family
        .communicators
        .iter()
        .zip(&operation.link_busbw_by_communicator)
        .filter_map(|(index, bandwidth)| {
            let value = bandwidth
                .map(|b| b.as_gb_per_s())
                .filter(|v| v.is_finite() && *v > 0.0)?;
            let label = job.communicators.get(*index as usize).map_or_else(
                || format!("communicator {index}"),
                |c| names.communicator(c),
            );
            Some((label, value))
        })
        .collect();
    let all = rows.len();
    if all < 2 {
        return None;
    }
    rows.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let median = (rows[(all - 1) / 2].1 + rows[all / 2].1) / 2.0;
    let cut = all > MOST_ROWS;
    if cut {
        rows.drain(SLOWEST..all - (MOST_ROWS - SLOWEST));
    }

    let size = number::size(operation.size);
    let label = svg::clip(&family.label, 80);
    let what = format!("{} {size}", svg::clip(&operation.operation, 40));
    let mut sheet = Sheet::new(
        &format!("{label}: {what}, communicator by communicator"),
        "Median bus bandwidth that the link gives, from the shortest time of each collective; slowest first.",
    );
    sheet.legend(&[
        (Key::Mark(0), "a communicator".to_owned()),
        (
            Key::Line(Colour::Series(1)),
            format!("median of the family: {}", number::gb_per_s(median)),
        ),
    ]);
    let gap = if cut { PITCH } else { 0.0 };
    let room = rows
        .iter()
        .map(|(label, _)| svg::width(&svg::shorten(label, LABELS, LABEL, false), LABEL, false))
        .fold(0.0, f64::max);
    let left = MARGIN + room + 12.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - VALUES - left,
        PITCH * rows.len() as f64 + gap,
    );
    let scale = Scale::positive(rows.iter().map(|(_, v)| *v))?.onto(panel.x, panel.right());
    axis::horizontal(&mut sheet.canvas, scale, panel, "Bus bandwidth (GB/s)");
    let x = scale.at(median);
    sheet
        .canvas
        .line((x, panel.y), (x, panel.bottom()), 1.6, Colour::Series(1));
    for (n, (label, value)) in rows.iter().enumerate() {
        let shift = if cut && n >= SLOWEST { gap } else { 0.0 };
        let y = panel.y + PITCH * (n as f64 + 0.5) + shift;
        let at = scale.at(*value);
        sheet.canvas.line((x, y), (at, y), 1.2, Colour::Axis);
        let text = format!(
            "{}, {} of the median",
            number::gb_per_s(*value),
            ratio(value / median)
        );
        sheet
            .canvas
            .disc((at, y), 4.0, Colour::Series(0))
            .note(format!("{}: {text}", svg::clip(label, 80)));
        let label = svg::shorten(label, LABELS, LABEL, false);
        sheet
            .canvas
            .text((left - 10.0, y), &label, LABEL, Anchor::End, Colour::Text);
        let short = format!("{}, {}", number::gb_per_s(*value), ratio(value / median));
        let short = svg::shorten(&short, VALUES - 12.0, LABEL, false);
        sheet.canvas.text(
            (panel.right() + 12.0, y),
            &short,
            LABEL,
            Anchor::Start,
            Colour::Muted,
        );
    }
    if cut {
        let y = panel.y + PITCH * (SLOWEST as f64 + 0.5);
        let text = format!("{} communicators between are not drawn", all - rows.len());
        let text = svg::shorten(&text, panel.w - 40.0, LABEL, false);
        sheet.canvas.text(
            (panel.x + 8.0, y),
            &text,
            LABEL,
            Anchor::Start,
            Colour::Muted,
        );
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let mut description = format!(
        "Median link bandwidth of {what} in each of {all} communicators of {label}, slowest first, with the median of the family. \
         Communicators of one family should agree; one far to the left has a slow link."
    );
    if cut {
        description += &format!(
            " The {SLOWEST} slowest and the {} fastest are drawn.",
            MOST_ROWS - SLOWEST
        );
    }
    let id = format!(
        "communicators-{}-{}-{}",
        slug(&family.label),
        slug(&operation.operation),
        slug(&size)
    );
    Some(sheet.finish(&id, Section::Families, &description))
}

fn ratio(of_median: f64) -> String {
    format!("{}×", number::significant(of_median))
}
