//! A comparison on the terminal.

use std::path::Path;

use comfy_table::{Cell, CellAlignment, Table, presets};
use nccl_report_analyze::facts::{
    BucketComparison, BucketVerdict, Change, Comparison, History, Level, Verdict,
};
use nccl_report_render::WrittenComparison;

use super::page::Page;
use super::style::{self, paint};
use super::text::{bandwidth, bytes, clipped, counted, percent, visible};

/// Buckets in the table.
const SHOWN: usize = 14;
/// Sentences of each kind.
const SENTENCES: usize = 8;

/// What a person needs to know first, in `width` columns, with styles in it.
pub fn comparison(of: &Comparison, written: &WrittenComparison, width: usize) -> String {
    let mut page = Page::new(width);
    page.heading(&format!(
        "{} against {}",
        of.candidate.title, of.baseline.title
    ));
    for d in of.differences.iter().take(SENTENCES) {
        page.labelled("! ", 2, &visible(&d.summary));
    }
    more(&mut page, of.differences.len(), "difference", "differences");

    page.heading("Verdict");
    page.raw(&paint(tone(of.verdict), of.verdict.as_str()));
    for reason in of.reasons.iter().take(SENTENCES) {
        page.labelled("- ", 2, &visible(reason));
    }
    more(&mut page, of.reasons.len(), "reason", "reasons");
    if !of.rules.is_empty() {
        page.heading("Rules");
    }
    for rule in of.rules.iter().take(SENTENCES) {
        let line = format!("{}: {}", rule.severity.as_str(), rule.summary);
        page.labelled("- ", 2, &visible(&line));
    }
    more(&mut page, of.rules.len(), "rule", "rules");
    if let Some(history) = &of.history {
        earlier_runs(&mut page, history);
    }
    buckets(&mut page, &of.buckets);

    page.heading("Comparison");
    for path in [&written.html, &written.json] {
        page.raw(&shown(path));
    }
    page.finish()
}

/// What the runs before say. The reasons are among those of the verdict.
fn earlier_runs(page: &mut Page, of: &History) {
    let runs = of.runs.len().saturating_sub(1) as u64;
    page.heading(&format!(
        "Against {}",
        counted(runs, "earlier run", "earlier runs")
    ));
    page.raw(&paint(tone(of.verdict), of.verdict.as_str()));
    for t in of
        .buckets
        .iter()
        .filter(|t| !t.trend.shifts.is_empty())
        .take(SENTENCES)
    {
        let shifts: Vec<String> = (t.trend.shifts.iter())
            .filter_map(|s| {
                Some(format!(
                    "{} with {}",
                    signed(s.change),
                    of.runs.get(s.run as usize)?.title
                ))
            })
            .collect();
        let key = &t.key;
        let what = format!(
            "{} {}, {}×{}: the level shifts {}",
            key.operation,
            bytes(key.size.as_bytes()),
            key.n_ranks,
            key.nnodes,
            shifts.join(", then ")
        );
        page.labelled("- ", 2, &visible(&what));
    }
    for l in of.left_out.iter().take(SENTENCES) {
        page.labelled(
            "! ",
            2,
            &visible(&format!("{} isn't used: {}", l.name, l.reason)),
        );
    }
    more(
        page,
        of.left_out.len(),
        "run that isn't used",
        "runs that aren't used",
    );
}

fn more(page: &mut Page, all: usize, one: &str, many: &str) {
    if let Some(left @ 1..) = all.checked_sub(SENTENCES) {
        let left = counted(left as u64, one, many);
        page.aside(&format!("{left} more in compare.json"));
    }
}

const fn tone(verdict: Verdict) -> anstyle::Style {
    match verdict {
        Verdict::Regression | Verdict::Mixed => style::ERROR,
        Verdict::Inconclusive => style::HINT,
        Verdict::Improvement | Verdict::Unchanged => style::HEADING,
    }
}

/// Those that moved, then those where most of the time goes.
fn buckets(page: &mut Page, all: &[BucketComparison]) {
    if all.is_empty() {
        return;
    }
    page.heading("Buckets of like operations");
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = CellAlignment::Right;
    let headings = [
        "operation",
        "size",
        "ranks×nodes",
        "before",
        "now",
        "change",
        "± 95 %",
        "time",
        "",
    ];
    table.set_header(headings.iter().enumerate().map(|(i, h)| {
        let cell = Cell::new(h);
        if (1..8).contains(&i) {
            cell.set_alignment(right)
        } else {
            cell
        }
    }));
    for b in all.iter().take(SHOWN) {
        let cells = [
            clipped(&b.key.operation, 16),
            bytes(b.key.size.as_bytes()),
            format!("{}×{}", b.key.n_ranks, b.key.nnodes),
            level(b, b.baseline.as_ref()),
            level(b, b.candidate.as_ref()),
            b.change
                .map_or_else(|| "–".to_owned(), |c| signed(c.change)),
            b.change.map_or_else(|| "–".to_owned(), half_width),
            percent(b.share_of_time),
            word(b.verdict).to_owned(),
        ];
        table.add_row(cells.into_iter().enumerate().map(|(i, text)| {
            let cell = Cell::new(text);
            if (1..8).contains(&i) {
                cell.set_alignment(right)
            } else {
                cell
            }
        }));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for line in table.lines() {
        page.raw(&line);
    }
    if let Some(left @ 1..) = all.len().checked_sub(SHOWN) {
        page.aside(&format!(
            "{} more in the comparison",
            counted(left as u64, "bucket", "buckets")
        ));
    }
    page.aside("before, now: link bandwidth in GB/s; µs where latency rules. time: share of the kernel time, waiting included.");
}

fn level(b: &BucketComparison, side: Option<&Level>) -> String {
    match side {
        None => "–".to_owned(),
        Some(l) if !l.median.is_finite() => "–".to_owned(),
        Some(l) if b.metric.is_bandwidth() => bandwidth(l.median),
        Some(l) => format!("{} µs", bandwidth(l.median)),
    }
}

fn signed(change: f64) -> String {
    if !change.is_finite() {
        return "?".to_owned();
    }
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.1} %", 100.0 * change.abs())
}

fn half_width(c: Change) -> String {
    let half = (c.ci_high - c.ci_low) / 2.0;
    if half.is_finite() {
        format!("{:.1}", 100.0 * half)
    } else {
        "?".to_owned()
    }
}

const fn word(verdict: BucketVerdict) -> &'static str {
    match verdict {
        BucketVerdict::Regression => "worse",
        BucketVerdict::Improvement => "better",
        BucketVerdict::Unchanged => "unchanged",
        BucketVerdict::Inconclusive => "can't tell",
        BucketVerdict::OnlyInBaseline => "only before",
        BucketVerdict::OnlyInCandidate => "only now",
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
