//! A slow collective or a late arrival, and what happened on the host under it.

use nccl_report_analyze::facts::{HostTimeline, Lane};
use nccl_report_analyze::units::ExecTime;

use super::axis;
use super::drawing::{Figure, Section, slug};
use super::number;
use super::scale::Scale;
use super::sheet::{Key, LABEL, MARGIN, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

const LABELS: f64 = 190.0;
const PITCH: f64 = 24.0;
const BAR: f64 = 14.0;

/// The figure; `None` where there is nothing to draw.
pub(crate) fn figure(timeline: &HostTimeline) -> Option<Figure> {
    let length = timeline.length.as_micros();
    if length <= 0.0 || !length.is_finite() || timeline.lanes.is_empty() {
        return None;
    }
    let (divisor, unit) = if length < 5e3 {
        (1.0, "µs")
    } else if length < 5e6 {
        (1e3, "ms")
    } else {
        (1e6, "s")
    };
    let reading = if timeline.coarse {
        "The dumps tell when it ran to about an interval only, so the upper bar is where it may lie. Below: what the host's trace saw."
    } else {
        "Above: the collective on this host. Below: what the host's trace saw at the same time."
    };
    let mut sheet = Sheet::new(&timeline.title, reading);
    sheet.legend(&legend(timeline));
    let room = timeline
        .lanes
        .iter()
        .map(|lane| {
            svg::width(
                &svg::shorten(&lane.name, LABELS, LABEL, false),
                LABEL,
                false,
            )
        })
        .fold(0.0, f64::max);
    let left = MARGIN + room + 10.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - left,
        PITCH * timeline.lanes.len() as f64 + 4.0,
    );
    let scale = Scale::exact(0.0, length / divisor).onto(panel.x, panel.right());
    axis::horizontal(&mut sheet.canvas, scale, panel, &format!("Time ({unit})"));
    let mut description = format!("{}. ", timeline.title);
    for (n, lane) in timeline.lanes.iter().enumerate() {
        let y = panel.y + 4.0 + PITCH * n as f64;
        let colour = colour(lane);
        let mut sum = 0.0;
        for (start, length) in &lane.bars {
            let (from, to) = (
                scale.at(start.as_micros() / divisor),
                scale.at((start.as_micros() + length.as_micros()) / divisor),
            );
            sum += length.as_micros();
            let time = |micros: f64| number::time(ExecTime::from_micros(micros));
            let note = format!(
                "{}: {} after the left edge, for {}",
                lane.name,
                time(start.as_micros()),
                time(length.as_micros())
            );
            if length.as_micros() > 0.0 {
                // Thinner than this and nobody sees that there was anything.
                let bar = Rect::new(from, y, (to - from).max(1.0), BAR);
                sheet.canvas.rect(bar, colour).note(&note);
            } else {
                sheet
                    .canvas
                    .line((from, y), (from, y + BAR), 1.5, Colour::Alert)
                    .note(&note);
            }
        }
        let name = svg::shorten(&lane.name, LABELS, LABEL, false);
        sheet.canvas.text(
            (left - 8.0, y + BAR / 2.0),
            &name,
            LABEL,
            Anchor::End,
            Colour::Text,
        );
        let count = lane.bars.len() as u64 + lane.omitted;
        description += &if sum > 0.0 {
            format!(
                "{}: {count}, {} in all. ",
                lane.name,
                number::time(ExecTime::from_micros(sum))
            )
        } else {
            format!("{}: {count}. ", lane.name)
        };
        if lane.omitted > 0 {
            description += &format!("The {} shortest aren't drawn. ", lane.omitted);
        }
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let id = if timeline.finding.is_empty() {
        "host-timeline".to_owned()
    } else {
        format!("host-timeline-{}", slug(&timeline.finding))
    };
    let mut figure = sheet.finish(&id, Section::Findings, description.trim_end());
    figure
        .findings
        .extend((!timeline.finding.is_empty()).then(|| timeline.finding.clone()));
    Some(figure)
}

fn colour(lane: &Lane) -> Colour {
    match lane.kind.as_str() {
        "collective" => Colour::Transfer,
        "late" => Colour::Waiting,
        _ => Colour::Slow,
    }
}

/// What is drawn, and nothing else.
fn legend(timeline: &HostTimeline) -> Vec<(Key, String)> {
    let lasts = |bar: &(ExecTime, ExecTime)| bar.1.as_micros() > 0.0;
    let bars = |of: Colour| {
        let mut lanes = timeline.lanes.iter().filter(|lane| colour(lane) == of);
        lanes.any(|lane| lane.bars.iter().any(lasts))
    };
    let mut all = timeline.lanes.iter().flat_map(|lane| &lane.bars);
    let late = if timeline.coarse {
        "where it may lie"
    } else {
        "others wait"
    };
    let mut keys: Vec<(Key, String)> = Vec::new();
    for (of, meaning) in [
        (Colour::Transfer, "the operation"),
        (Colour::Waiting, late),
        (Colour::Slow, "on the host"),
    ] {
        if bars(of) {
            keys.push((Key::Area(of), meaning.to_owned()));
        }
    }
    if all.any(|bar| !lasts(bar)) {
        let meaning = "a moment on the host".to_owned();
        keys.push((Key::Line(Colour::Alert), meaning));
    }
    keys
}
