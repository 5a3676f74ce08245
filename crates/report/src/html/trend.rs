//! The runs before, and what they say of the candidate.

use askama::Template;
use nccl_report_analyze::facts::{BucketTrend, History, Reference, Verdict};
use nccl_report_analyze::units::ExecTime;

use super::quantity::{count, significant};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};
use super::text;
use crate::export::words;

#[derive(Template)]
#[template(path = "comparison/trend.html")]
struct View {
    tone: &'static str,
    verdict: &'static str,
    left_out: Vec<(String, String)>,
    runs: String,
    buckets: String,
}

/// The section.
pub(super) fn section(of: &History) -> Result<Section, askama::Error> {
    let view = View {
        tone: match of.verdict {
            Verdict::Regression | Verdict::Mixed => "critical",
            Verdict::Inconclusive => "warning",
            Verdict::Improvement | Verdict::Unchanged => "good",
        },
        verdict: of.verdict.as_str(),
        left_out: (of.left_out.iter().take(100))
            .map(|l| (text::name(&l.name), text::sentence(&l.reason)))
            .collect(),
        runs: runs(of).render()?,
        buckets: buckets(of).render()?,
    };
    Ok(Section::new("trend", "Trend over the runs", view.render()?))
}

fn runs(of: &History) -> Table {
    let columns = [
        Column::text("Run"),
        Column::number("No."),
        Column::number("Start"),
        Column::number("Records"),
        Column::number("Warnings"),
        Column::number("Transfers, 1 = as before"),
    ];
    let last = of.runs.len().saturating_sub(1);
    let rows = of.runs.iter().enumerate().map(|(i, run)| {
        let title = if i == last {
            format!("{} (candidate)", run.title)
        } else {
            run.title.clone()
        };
        let whole = of.whole.as_ref().and_then(|t| *t.values.get(i)?);
        Row::of([
            Cell::name(&title),
            Cell::count(i as u64 + 1),
            Cell::maybe(run.start, Cell::moment),
            Cell::count(run.records),
            Cell::count(run.warnings),
            Cell::maybe(whole, |v| Cell::label(significant(v))),
        ])
    });
    let rows = rows.collect();
    Table::new("runs-table", "The runs, the oldest first", columns, rows)
}

fn buckets(of: &History) -> Table {
    let columns = [
        Column::text("Bucket"),
        Column::text("Verdict"),
        Column::number("Candidate"),
        Column::number("Level before"),
        Column::number("95 % of runs"),
        Column::number("Change"),
        Column::number("p, corrected"),
        Column::number("Runs"),
        Column::text("Level shifts"),
        Column::number("Share of time"),
        Column::text("Note"),
    ];
    let rows = of.buckets.iter().map(|b| row(of, b)).collect();
    Table::new(
        "trend-table",
        "Buckets against the runs before, those that moved first",
        columns,
        rows,
    )
}

fn row(of: &History, b: &BucketTrend) -> Row {
    let t = &b.trend;
    let value = |v: f64| {
        if b.metric.is_bandwidth() {
            Cell::label(format!("{} GB/s", significant(v)))
        } else {
            Cell::duration(ExecTime::from_micros(v))
        }
    };
    let reference = t.reference.as_ref();
    let change = |r: &Reference| {
        let (low, high) = (words::change(r.ci_low), words::change(r.ci_high));
        Cell::label(words::change(r.change)).with_title(format!("95 % interval: {low} … {high}"))
    };
    let shifts: Vec<String> = (t.shifts.iter())
        .map(|s| {
            let title = of.runs.get(s.run as usize).map_or("", |r| r.title.as_str());
            format!("{} with {title}", words::change(s.change))
        })
        .collect();
    Row::of([
        Cell::name(&words::bucket(&b.key)),
        Cell::name(&t.verdict.as_str().replace('_', " ")),
        Cell::maybe(t.values.last().copied().flatten(), value),
        Cell::maybe(reference, |r| value(r.level)),
        Cell::maybe(reference, |r| {
            Cell::label(format!("{} … {}", significant(r.low), significant(r.high)))
        }),
        Cell::maybe(reference, change),
        Cell::maybe(reference, |r| Cell::label(significant(r.p_adjusted))),
        Cell::maybe(reference, |r| Cell::label(count(r.runs.len() as u64))),
        Cell::sentence(&shifts.join(", ")),
        Cell::bar(b.share_of_time),
        Cell::maybe(t.note.as_deref(), Cell::sentence),
    ])
}
