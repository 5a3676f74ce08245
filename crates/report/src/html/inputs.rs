//! The account of the input: every line is a record or has a reason.

use std::collections::BTreeMap;

use askama::Template;
use nccl_report_analyze::facts::Job;
use nccl_report_ingest::{LineCounts, SkippedFile};

use super::kept::Kept;
use super::quantity::{count, plural, size};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/inputs.html")]
struct View {
    sum: String,
    /// The sum doesn't come out: a defect of this program, which is said and not hidden.
    off: bool,
    kinds: String,
    reasons: Option<String>,
    examples: Option<String>,
    files: Option<String>,
}

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let inputs = &job.inputs;
    let records = inputs
        .records
        .values()
        .fold(0_u64, |sum, n| sum.saturating_add(*n));
    let view = View {
        sum: format!(
            "{} ({}), {}: {} and {} rejected.",
            plural(inputs.files, "file", "files"),
            size(inputs.bytes),
            plural(
                inputs.lines,
                "line that isn't blank",
                "lines that aren't blank"
            ),
            plural(records, "record", "records"),
            count(inputs.rejected.lines)
        ),
        off: records.saturating_add(inputs.rejected.lines) != inputs.lines,
        kinds: kinds(&inputs.records, &inputs.unknown_kinds).render()?,
        reasons: reasons(&inputs.rejected, &inputs.repaired)
            .map(|table| table.render())
            .transpose()?,
        examples: examples(&inputs.rejected, &inputs.repaired)
            .map(|table| table.render())
            .transpose()?,
        files: files(&inputs.files_skipped, &inputs.files_damaged)
            .map(|table| table.render())
            .transpose()?,
    };
    Ok(Section::new(
        "inputs",
        "Account of the input",
        view.render()?,
    ))
}

fn kinds(records: &BTreeMap<String, u64>, unknown: &BTreeMap<String, u64>) -> Table {
    let known = records.iter().map(|(kind, n)| (kind.as_str(), "", n));
    let others = unknown
        .iter()
        .map(|(kind, n)| (kind.as_str(), "a kind of its own, among “other”", n));
    let kept = Kept::heaviest(known.chain(others), "lines", |(.., n)| **n as f64);
    let rows = kept
        .items
        .iter()
        .map(|(kind, note, n)| Row::of([Cell::name(kind), Cell::count(**n), Cell::sentence(note)]))
        .collect();
    let columns = [
        Column::text("Kind"),
        Column::number("Lines"),
        Column::text("Note"),
    ];
    Table::new("input-kinds", "Records by kind", columns, rows).noting(&kept)
}

/// Rejected and repaired lines, with the word for which.
fn both<'a, T: 'a>(
    rejected: impl IntoIterator<Item = T>,
    repaired: impl IntoIterator<Item = T>,
) -> Vec<(&'static str, T)> {
    let rejected = rejected.into_iter().map(|of| ("rejected", of));
    rejected
        .chain(repaired.into_iter().map(|of| ("repaired", of)))
        .collect()
}

fn reasons(rejected: &LineCounts, repaired: &LineCounts) -> Option<Table> {
    let kept = Kept::heaviest(
        both(&rejected.by_reason, &repaired.by_reason),
        "lines",
        |(_, (_, n))| **n as f64,
    );
    let rows: Vec<Row> = kept
        .items
        .iter()
        .map(|(what, (reason, n))| {
            Row::of([
                Cell::name(&reason.replace('_', " ")),
                Cell::name(what),
                Cell::count(**n),
            ])
        })
        .collect();
    let columns = [
        Column::text("Reason"),
        Column::text("Line was"),
        Column::number("Lines"),
    ];
    (!rows.is_empty()).then(|| {
        Table::new(
            "input-reasons",
            "Lines rejected and repaired, by reason",
            columns,
            rows,
        )
        .noting(&kept)
    })
}

fn examples(rejected: &LineCounts, repaired: &LineCounts) -> Option<Table> {
    let kept = Kept::first(both(&rejected.examples, &repaired.examples));
    let rows: Vec<Row> = kept
        .items
        .iter()
        .map(|(what, of)| {
            Row::of([
                Cell::sentence(&format!("{}:{}", of.path, of.line)),
                Cell::name(what),
                Cell::name(&of.reason.replace('_', " ")),
                Cell::sentence(&of.detail),
            ])
        })
        .collect();
    let columns = [
        Column::text("Where"),
        Column::text("Line was"),
        Column::text("Reason"),
        Column::text("Detail"),
    ];
    (!rows.is_empty()).then(|| {
        Table::new(
            "input-examples",
            "The first lines of each reason",
            columns,
            rows,
        )
    })
}

fn files(skipped: &[SkippedFile], damaged: &[SkippedFile]) -> Option<Table> {
    let damaged = damaged
        .iter()
        .map(|file| ("damaged: read up to there", file));
    let all = damaged.chain(skipped.iter().map(|file| ("passed over", file)));
    let kept = Kept::first(all);
    let rows: Vec<Row> = kept
        .items
        .iter()
        .map(|(what, file)| {
            Row::of([
                Cell::sentence(&file.path),
                Cell::name(what),
                Cell::sentence(&file.reason),
            ])
        })
        .collect();
    let columns = [
        Column::text("File"),
        Column::text("File was"),
        Column::text("Why"),
    ];
    (!rows.is_empty()).then(|| {
        Table::new(
            "input-files",
            "Files damaged and passed over",
            columns,
            rows,
        )
        .noting(&kept)
    })
}
