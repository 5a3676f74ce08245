//! Where the time goes: by cause, then by family, operation and size.

use askama::Template;
use nccl_report_analyze::facts::Job;

use super::kept::Kept;
use super::quantity::{duration, micros, percent};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};
use super::{people, text};
use crate::budget::{self, Tone};

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
    name: String,
    /// The class that colours it.
    class: &'static str,
    meaning: &'static str,
    time: String,
    share: String,
    /// Place and width in the bar, in thousandths.
    start: String,
    width: String,
    /// To the finding that it belongs to.
    finding: Option<String>,
}

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let parts = parts(job);
    let spoken: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}", part.name, part.share))
        .collect();
    let view = View {
        total: job
            .budget
            .as_ref()
            .filter(|_| !parts.is_empty())
            .map(|budget| duration(budget.total)),
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

fn parts(job: &Job) -> Vec<Part> {
    let parts = budget::parts(job).unwrap_or_default();
    let total: f64 = parts.iter().map(|p| p.micros).sum();
    let mut start = 0.0;
    let parts = parts.into_iter().map(|of| {
        let share = of.micros / total;
        let width = share.clamp(0.0, 1.0) * 1_000.0;
        let part = Part {
            name: capital(&text::name(&of.label)),
            class: class(of.tone),
            meaning: of.meaning,
            time: micros(of.micros),
            share: percent(share),
            start: format!("{start:.1}"),
            width: format!("{width:.1}"),
            finding: of
                .finding
                .and_then(|id| job.findings.iter().position(|f| f.id == id))
                .map(people::anchor),
        };
        start += width;
        part
    });
    parts.collect()
}

const fn class(of: Tone) -> &'static str {
    match of {
        Tone::Transfer => "transfer",
        Tone::Waiting => "waiting",
        Tone::Slow => "slow",
        Tone::Order => "order",
        Tone::Spread => "spread",
        Tone::Unexplained => "unexplained",
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
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
    use nccl_report_analyze::units::ExecTime;

    use super::*;
    use crate::synthetic;

    #[test]
    fn the_bar_is_as_long_as_the_parts_say() {
        let parts = parts(&synthetic::job());
        let widths: Vec<&str> = parts.iter().map(|part| part.width.as_str()).collect();
        assert_eq!(
            widths,
            ["650.0", "160.0", "50.0", "25.0", "25.0", "40.0", "50.0"]
        );
        assert_eq!(parts[6].start, "950.0");
        assert_eq!(parts[1].name, "Waiting for rank 13");
        assert_eq!(parts[1].finding.as_deref(), Some("finding-1"));
    }

    #[test]
    fn a_budget_of_nothing_has_no_bar() {
        let mut job = synthetic::job();
        for part in job.budget.iter_mut().flat_map(|b| &mut b.parts) {
            part.time = ExecTime::from_micros(0.0);
        }
        let html = section(&job).expect("renders").html;
        assert!(!html.contains("svg"), "{html}");
        assert!(html.contains("can't be told apart"), "{html}");
    }
}
