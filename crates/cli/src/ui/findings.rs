//! Findings: how bad, what, and what to do.

use nccl_report_analyze::facts::{FindingKind, Job};

use super::page::Page;
use super::style;
use super::text::{counted, visible};

const SHOWN: usize = 10;
/// The longest word, "critical", and two spaces.
const LABEL: usize = 10;

/// The answer first: the findings in their order, or that nothing is wrong, or that nobody can tell.
pub fn section(page: &mut Page, job: &Job) {
    let findings = &job.findings;
    page.heading("Findings");
    let can_tell = !findings
        .iter()
        .any(|f| f.kind == FindingKind::TooLittleData);
    if can_tell && !findings.iter().any(|f| f.kind.is_performance()) {
        page.line("nothing was found that slows the communication down");
        let mut several = job.families.iter().filter(|f| f.n_ranks > 1).peekable();
        if several.peek().is_some() && several.all(|f| f.communicators.len() < 2) {
            page.line(
                "no two communicators are alike: a link that is slow from the first step to the last can't be told",
            );
        }
    }
    for finding in findings.iter().take(SHOWN) {
        let word = finding.severity.as_str();
        let gap = " ".repeat(LABEL - word.len().min(LABEL));
        let label = format!("{}{gap}", style::paint(style::of(finding.severity), word));
        page.labelled(&label, LABEL, &visible(&finding.summary));
        if !finding.advice.is_empty() {
            let indent = " ".repeat(LABEL);
            page.labelled(&format!("{indent}→ "), LABEL + 2, &visible(&finding.advice));
        }
    }
    if let Some(more @ 1..) = findings.len().checked_sub(SHOWN) {
        let more = counted(more as u64, "finding", "findings");
        page.aside(&format!("{more} more in the report"));
    }
}
