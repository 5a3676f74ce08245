//! TCP retransmits over time, a row per host.

use nccl_report_analyze::facts::{Job, RetransmitsOverTime};

use super::axis;
use super::drawing::{Figure, Section};
use super::number;
use super::sheet::{Key, LABEL, MARGIN, Sheet, WIDTH};
use super::time_axis::TimeAxis;
use crate::svg::{self, Anchor, Colour, Rect};

const LABELS: f64 = 170.0;
const PITCH: f64 = 30.0;
const BAR: f64 = 22.0;
/// Hosts drawn: those with most.
const MOST_HOSTS: usize = 32;

/// The figure; `None` without retransmits.
pub(crate) fn figure(job: &Job) -> Option<Figure> {
    let of = job.traces.as_ref()?.over_time.as_ref()?;
    let stretches = of.slow.len();
    if stretches == 0
        || of.edges.len() != stretches + 1
        || of.counts.len() != of.hosts.len() * stretches
    {
        return None;
    }
    let mut rows: Vec<(usize, u64)> = (0..of.hosts.len())
        .map(|row| (row, counts(of, row).iter().sum()))
        .collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let left_out = rows.len().saturating_sub(MOST_HOSTS);
    rows.truncate(MOST_HOSTS);
    let total: u64 = of.counts.iter().sum();
    let most = of.counts.iter().copied().max().filter(|&n| n > 0)?;

    let mut sheet = Sheet::new(
        "TCP retransmits by host over time",
        "A bar is the number of retransmits in a stretch of time, on one scale for all hosts. The line below marks stretches in which a slow collective began.",
    );
    sheet.legend(&[
        (
            Key::Area(Colour::Series(0)),
            format!("retransmits; the highest bar is {most}"),
        ),
        (
            Key::Line(Colour::Alert),
            "a slow collective begins".to_owned(),
        ),
    ]);
    let room = rows
        .iter()
        .map(|(row, _)| {
            svg::width(
                &svg::shorten(&of.hosts[*row], LABELS, LABEL, false),
                LABEL,
                false,
            )
        })
        .fold(0.0, f64::max);
    let left = MARGIN + room + 10.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - left - 60.0,
        PITCH * rows.len() as f64 + 14.0,
    );
    let time = TimeAxis::of(job, of.edges.iter().copied(), panel.x, panel.right())?;
    axis::horizontal(&mut sheet.canvas, time.scale(), panel, &time.title());
    for (n, (row, sum)) in rows.iter().enumerate() {
        let bottom = panel.y + PITCH * n as f64 + BAR + 4.0;
        for (k, count) in counts(of, *row)
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let (from, to) = (time.at(of.edges[k]), time.at(of.edges[k + 1]));
            let height = BAR * *count as f64 / most as f64;
            let bar = Rect::new(from, bottom - height, (to - from - 0.5).max(0.7), height);
            sheet.canvas.rect(bar, Colour::Series(0)).note(format!(
                "{}: {count} from {} to {}",
                of.hosts[*row],
                time.text(of.edges[k]),
                time.text(of.edges[k + 1])
            ));
        }
        sheet.canvas.line(
            (panel.x, bottom),
            (panel.right(), bottom),
            0.5,
            Colour::Grid,
        );
        let name = svg::shorten(&of.hosts[*row], LABELS, LABEL, false);
        sheet.canvas.text(
            (left - 8.0, bottom - BAR / 2.0),
            &name,
            LABEL,
            Anchor::End,
            Colour::Text,
        );
        sheet.canvas.text(
            (panel.right() + 8.0, bottom - BAR / 2.0),
            &number::count(*sum),
            LABEL,
            Anchor::Start,
            Colour::Muted,
        );
    }
    let y = panel.bottom() - 5.0;
    for (k, _) in of.slow.iter().enumerate().filter(|(_, slow)| **slow > 0) {
        let x = time.at(of.edges[k]);
        sheet
            .canvas
            .line((x, y - 4.0), (x, y + 4.0), 1.5, Colour::Alert);
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let mut description = format!(
        "{total} retransmits of {} hosts. {}",
        of.hosts.len(),
        rows.first().map_or_else(String::new, |(row, sum)| format!(
            "Most are of {}: {sum}.",
            of.hosts[*row]
        ))
    );
    if left_out > 0 {
        description += &format!(" Not drawn: {left_out} hosts with fewer.");
    }
    Some(sheet.finish("retransmits-over-time", Section::Ranks, &description))
}

fn counts(of: &RetransmitsOverTime, row: usize) -> &[u64] {
    &of.counts[row * of.slow.len()..(row + 1) * of.slow.len()]
}
