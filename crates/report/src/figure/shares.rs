//! Where the time goes: a bar per family and operation, cut by message size.

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_analyze::facts::{Job, Share};
use nccl_report_analyze::units::{ExecTime, MessageSize};

use super::axis;
use super::drawing::{Figure, Section};
use super::scale::Scale;
use super::sheet::{Key, LABEL, MARGIN, NOTE, Sheet, WIDTH};
use super::{mark, number};
use crate::svg::{self, Anchor, Colour, Rect, SERIES};

const MOST_ROWS: usize = 20;
const PITCH: f64 = 24.0;
const VALUES: f64 = 130.0;

/// A bar: what it is and its shares by size.
struct Bar<'a> {
    label: String,
    parts: Vec<&'a Share>,
    total: f64,
    time: f64,
}

fn usable(share: &&Share) -> bool {
    share.share_of_time.is_finite() && share.share_of_time > 0.0
}

/// The figure; `None` without shares.
pub(crate) fn figure(job: &Job) -> Option<Figure> {
    let mut bars = bars(job);
    let all = bars.len();
    if all == 0 {
        return None;
    }
    let rest = bars.split_off(all.min(MOST_ROWS));

    // The sizes with the most time have a colour of their own, in order of size.
    let mut by_size: BTreeMap<MessageSize, f64> = BTreeMap::new();
    for share in job.shares.iter().filter(usable) {
        *by_size.entry(share.size).or_default() += share.share_of_time;
    }
    let mut ranked: Vec<_> = by_size
        .iter()
        .map(|(size, share)| (*size, *share))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let others = ranked.len() > SERIES;
    ranked.truncate(if others { SERIES - 1 } else { SERIES });
    let sizes: Vec<MessageSize> = ranked
        .iter()
        .map(|(size, _)| *size)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let colour = |size: MessageSize| {
        sizes
            .binary_search(&size)
            .map_or(Colour::Idle, mark::colour)
    };

    let mut sheet = Sheet::new(
        "Where the communication time goes",
        "Kernel time summed over all ranks, waiting included; a bar per family and operation, cut by message size.",
    );
    let size_labels = number::SizeLabels::of(sizes.iter().copied());
    let mut legend: Vec<_> = sizes
        .iter()
        .map(|size| (Key::Area(colour(*size)), size_labels.get(*size)))
        .collect();
    if others {
        legend.push((Key::Area(Colour::Idle), "other sizes".to_owned()));
    }
    sheet.legend(&legend);

    let labels = bars
        .iter()
        .map(|b| svg::width(&svg::shorten(&b.label, 300.0, NOTE, false), NOTE, false))
        .fold(60.0, f64::max);
    let left = MARGIN + labels + 12.0;
    let rows = bars.len() + usize::from(!rest.is_empty());
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - VALUES - left,
        PITCH * rows as f64 + 4.0,
    );
    let rest_total: f64 = rest.iter().map(|b| b.total).sum();
    let percent = Scale::from_zero(
        bars.iter()
            .map(|b| b.total * 100.0)
            .chain([rest_total * 100.0]),
    )?
    .onto(panel.x, panel.right());
    axis::horizontal(
        &mut sheet.canvas,
        percent,
        panel,
        "Share of communication time (%)",
    );

    for (n, bar) in bars.iter().enumerate() {
        let y = panel.y + PITCH * n as f64 + 4.0;
        let mut from = 0.0;
        for part in &bar.parts {
            let to = from + part.share_of_time;
            let (x0, x1) = (percent.at(from * 100.0), percent.at(to * 100.0));
            let note = format!(
                "{}, {}: {}, {}, {}",
                bar.label,
                number::size(part.size),
                number::percent(part.share_of_time),
                number::time(part.time),
                number::counted(part.records, "record")
            );
            // A hair's breadth of ground between parts, where there is room for it.
            let w = if x1 - x0 > 3.0 {
                x1 - x0 - 0.8
            } else {
                x1 - x0
            };
            sheet
                .canvas
                .rect(Rect::new(x0, y, w, PITCH - 7.0), colour(part.size))
                .note(note);
            from = to;
        }
        let time = number::time(ExecTime::from_micros(bar.time));
        row_text(
            &mut sheet,
            panel,
            y,
            &bar.label,
            &format!("{}, {time}", number::percent(bar.total)),
        );
    }
    if !rest.is_empty() {
        let y = panel.y + PITCH * bars.len() as f64 + 4.0;
        let x1 = percent.at(rest_total * 100.0);
        sheet.canvas.rect(
            Rect::new(panel.x, y, x1 - panel.x, PITCH - 7.0),
            Colour::Idle,
        );
        let label = format!("{} others", rest.len());
        let time = number::time(ExecTime::from_micros(rest.iter().map(|b| b.time).sum()));
        row_text(
            &mut sheet,
            panel,
            y,
            &label,
            &format!("{}, {time}", number::percent(rest_total)),
        );
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let description = format!(
        "Bars of the share of all communication time, largest first, by family and operation, cut by message size{}. \
         Time is kernel time summed over ranks and contains waiting. Speeding up what is at the top pays most.",
        if rest.is_empty() {
            String::new()
        } else {
            format!("; the {} smallest are one bar", rest.len())
        }
    );
    Some(sheet.finish("time-shares", Section::Time, &description))
}

fn row_text(sheet: &mut Sheet, panel: Rect, y: f64, label: &str, value: &str) {
    let middle = y + (PITCH - 7.0) / 2.0;
    let label = svg::shorten(label, 300.0, NOTE, false);
    sheet.canvas.text(
        (panel.x - 12.0, middle),
        &label,
        NOTE,
        Anchor::End,
        Colour::Text,
    );
    let value = svg::shorten(value, VALUES - 10.0, LABEL, false);
    sheet.canvas.text(
        (panel.right() + 10.0, middle),
        &value,
        LABEL,
        Anchor::Start,
        Colour::Muted,
    );
}

fn bars(job: &Job) -> Vec<Bar<'_>> {
    let mut grouped: BTreeMap<(u32, &str), Vec<&Share>> = BTreeMap::new();
    for share in job.shares.iter().filter(usable) {
        grouped
            .entry((share.family, &share.operation))
            .or_default()
            .push(share);
    }
    let mut bars: Vec<Bar<'_>> = grouped
        .into_iter()
        .map(|((family, operation), mut parts)| {
            parts.sort_by_key(|p| p.size);
            let family = job
                .families
                .get(family as usize)
                .map_or("?", |f| f.label.as_str());
            Bar {
                label: format!("{}, {}", svg::clip(family, 60), svg::clip(operation, 40)),
                total: parts.iter().map(|p| p.share_of_time).sum(),
                time: parts
                    .iter()
                    .map(|p| p.time.as_micros())
                    .filter(|t| t.is_finite())
                    .sum(),
                parts,
            }
        })
        .collect();
    bars.sort_by(|a, b| {
        b.total
            .total_cmp(&a.total)
            .then_with(|| a.label.cmp(&b.label))
    });
    bars
}
