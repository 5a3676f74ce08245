//! The account of the input, where something in it was refused, repaired or passed over.

use nccl_report_ingest::{Inputs, LineCounts, SkippedFile};

use super::page::Page;
use super::text::{clipped, count, counted, visible};

/// Examples of each kind.
const SHOWN: usize = 3;
const DETAIL_WIDTH: usize = 160;

/// Nothing where every line and file gave a record.
pub fn section(page: &mut Page, inputs: &Inputs) {
    if is_clean(inputs) {
        return;
    }
    page.heading("Input");
    lines(page, &inputs.rejected, "rejected");
    lines(page, &inputs.repaired, "repaired");
    if inputs.truncated_dumps > 0 {
        page.line(&format!(
            "{} announced more records than it holds",
            counted(inputs.truncated_dumps, "dump", "dumps")
        ));
    }
    if !inputs.unknown_kinds.is_empty() {
        let kinds: Vec<String> = (inputs.unknown_kinds.iter())
            .map(|(kind, n)| format!("{} {}", count(*n), clipped(kind, DETAIL_WIDTH)))
            .collect();
        page.line(&format!("records of unknown kinds: {}", kinds.join(", ")));
    }
    files(page, &inputs.files_damaged, "read only in part");
    let (copies, others): (Vec<_>, Vec<_>) = inputs
        .files_skipped
        .iter()
        .cloned()
        .partition(SkippedFile::is_copy);
    files(page, &copies, "not used: copied from another");
    files(page, &others, "without a record");
}

fn is_clean(inputs: &Inputs) -> bool {
    inputs.rejected.lines == 0
        && inputs.repaired.lines == 0
        && inputs.truncated_dumps == 0
        && inputs.unknown_kinds.is_empty()
        && inputs.files_damaged.is_empty()
        && inputs.files_skipped.is_empty()
}

fn lines(page: &mut Page, counts: &LineCounts, what: &str) {
    if counts.lines == 0 {
        return;
    }
    let reasons: Vec<String> = (counts.by_reason.iter())
        .map(|(reason, n)| format!("{} {}", count(*n), visible(reason)))
        .collect();
    page.line(&format!(
        "{} {what}: {}",
        counted(counts.lines, "line", "lines"),
        reasons.join(", ")
    ));
    for example in counts.examples.iter().take(SHOWN) {
        page.example(&format!(
            "{}:{} {}: {}",
            visible(&example.path),
            example.line,
            visible(&example.reason),
            clipped(&example.detail, DETAIL_WIDTH),
        ));
    }
}

fn files(page: &mut Page, files: &[SkippedFile], what: &str) {
    if files.is_empty() {
        return;
    }
    let n = counted(files.len() as u64, "file", "files");
    page.line(&format!("{n} {what}"));
    for file in files.iter().take(SHOWN) {
        let reason = clipped(&file.reason, DETAIL_WIDTH);
        page.example(&format!("{}: {reason}", visible(&file.path)));
    }
    if files.len() > SHOWN {
        page.example("…");
    }
}
