//! Where the time goes: by cause, then by family, operation and size.

use askama::Template;
use nccl_report_analyze::facts::{Job, TimeBudget};
use nccl_report_analyze::units::ExecTime;

use super::kept::Kept;
use super::quantity::{duration, percent};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/budget.html")]
struct View {
    total: Option<String>,
    parts: Vec<Part>,
    /// The bar in words.
    spoken: String,
    shares: String,
}

/// One cause.
struct Part {
    name: &'static str,
    /// The class that colours it.
    class: &'static str,
    meaning: &'static str,
    time: String,
    share: String,
    /// Place and width in the bar, in thousandths.
    start: String,
    width: String,
}

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let parts = job.budget.as_ref().map(parts).unwrap_or_default();
    let spoken: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}", part.name, part.share))
        .collect();
    let view = View {
        total: job.budget.map(|budget| duration(budget.total)),
        spoken: format!("Communication time by cause: {}", spoken.join(", ")),
        parts,
        shares: shares(job).render()?,
    };
    Ok(Section::new(
        "time-budget",
        "Where the time goes",
        view.render()?,
    ))
}

fn parts(of: &TimeBudget) -> Vec<Part> {
    let total = of.total.as_micros();
    let mut start = 0.0;
    [
        (
            "Transfer",
            "transfer",
            "at the pace of healthy peers",
            of.transfer,
        ),
        (
            "Waiting",
            "waiting",
            "for ranks that arrive late",
            of.waiting,
        ),
        (
            "Slow links",
            "slow",
            "transfer time above that of healthy peers",
            of.slow_links,
        ),
        (
            "Unexplained",
            "unexplained",
            "records that could not be matched across ranks",
            of.unexplained,
        ),
    ]
    .map(|(name, class, meaning, time): (_, _, _, ExecTime)| {
        let share = if total > 0.0 {
            time.as_micros() / total
        } else {
            0.0
        };
        let width = if share.is_finite() {
            share.clamp(0.0, 1.0) * 1_000.0
        } else {
            0.0
        };
        let part = Part {
            name,
            class,
            meaning,
            time: duration(time),
            share: percent(share),
            start: format!("{start:.1}"),
            width: format!("{width:.1}"),
        };
        start += width;
        part
    })
    .into()
}

fn shares(job: &Job) -> Table {
    let kept = Kept::heaviest(&job.shares, "time", |share| share.time.as_micros());
    let rows = kept
        .items
        .iter()
        .map(|share| {
            let family = job.families.get(share.family as usize);
            Row::of([
                Cell::name(family.map_or("unknown", |f| f.label.as_str())),
                Cell::name(&share.operation),
                Cell::size(share.size),
                Cell::count(share.records),
                Cell::bytes(share.bytes),
                Cell::duration(share.time),
                Cell::bar(share.share_of_time),
            ])
        })
        .collect();
    let columns = [
        Column::text("Family"),
        Column::text("Operation"),
        Column::number("Message size"),
        Column::number("Records"),
        Column::number("Messages in all"),
        Column::number("Time"),
        Column::number("Share of time"),
    ];
    let caption = "Communication time by family, operation and message size, largest first";
    Table::new("shares", caption, columns, rows).noting(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_bar_is_as_long_as_the_parts_say() {
        let budget = synthetic::job().budget.expect("a budget");
        let parts = parts(&budget);
        let widths: Vec<&str> = parts.iter().map(|part| part.width.as_str()).collect();
        assert_eq!(widths, ["650.0", "225.0", "75.0", "50.0"]);
        assert_eq!(parts[3].start, "950.0");
    }

    #[test]
    fn a_budget_of_nothing_has_no_nan() {
        let zero = ExecTime::from_micros(0.0);
        let parts = parts(&TimeBudget {
            total: zero,
            transfer: zero,
            waiting: zero,
            slow_links: zero,
            unexplained: zero,
        });
        assert!(
            parts
                .iter()
                .all(|part| part.width == "0.0" && part.share.starts_with('0'))
        );
    }
}
