//! A comparison for the step summary of a CI job: the verdict, why, and the buckets that moved. A few kilobytes at most, since
//! summaries of several steps share one page, which GitHub cuts at 1024 KiB.

use std::fmt::Write as _;

use nccl_report_analyze::facts::{BucketVerdict, Comparison, History};

use super::words;

/// Buckets in the table.
const ROWS: usize = 12;
/// Sentences of each kind.
const SENTENCES: usize = 8;
/// Characters of a sentence.
const SENTENCE: usize = 400;

/// The summary, ending with an empty line so that another may follow.
#[must_use]
pub fn comparison_markdown(of: &Comparison) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    let _ = writeln!(out, "## Communication: {}\n", of.verdict.as_str());
    let _ = writeln!(
        out,
        "{} {}\n",
        escaped(&words::runs(of)),
        words::meaning(of)
    );
    list(
        &mut out,
        "Different between the runs",
        of.differences.iter().map(|d| d.summary.as_str()),
    );
    list(&mut out, "Why", of.reasons.iter().map(String::as_str));
    list(
        &mut out,
        "Rules",
        of.rules.iter().map(|f| f.summary.as_str()),
    );
    if let Some(history) = &of.history {
        earlier_runs(&mut out, history);
    }
    let moved: Vec<_> = of
        .buckets
        .iter()
        .filter(|b| b.verdict != BucketVerdict::Unchanged)
        .collect();
    if !moved.is_empty() {
        out.push_str(
            "| bucket | verdict | baseline | candidate | change | 95 % interval | of the time |\n",
        );
        out.push_str("|---|---|--:|--:|--:|--:|--:|\n");
        for b in moved.iter().take(ROWS) {
            let (change, interval) = b.change.map_or_else(
                || ("–".to_owned(), "–".to_owned()),
                |c| {
                    (
                        words::change(c.change),
                        format!("{} … {}", words::change(c.ci_low), words::change(c.ci_high)),
                    )
                },
            );
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {change} | {interval} | {} |",
                escaped(&words::bucket(&b.key)),
                b.verdict.as_str().replace('_', " "),
                words::level(b, b.baseline.as_ref()),
                words::level(b, b.candidate.as_ref()),
                words::share(b.share_of_time),
            );
        }
        out.push('\n');
    }
    let count = |v| of.buckets.iter().filter(|b| b.verdict == v).count();
    let _ = writeln!(
        out,
        "{} buckets: {} worse, {} better, {} unchanged, {} inconclusive, {} on one side only. Changes under {} don't count.\n",
        of.buckets.len(),
        count(BucketVerdict::Regression),
        count(BucketVerdict::Improvement),
        count(BucketVerdict::Unchanged),
        count(BucketVerdict::Inconclusive),
        count(BucketVerdict::OnlyInBaseline) + count(BucketVerdict::OnlyInCandidate),
        words::share(of.threshold),
    );
    out
}

/// What the runs before say. The reasons are among those of the whole.
fn earlier_runs(out: &mut String, of: &History) {
    let shift = of.whole.as_ref().and_then(|t| t.shifts.last());
    let since = shift
        .and_then(|s| Some((s, of.runs.get(s.run as usize)?)))
        .map(|(s, run)| {
            let change = words::change(s.change);
            format!(
                " The time of the transfers shifted by {change} with {}.",
                escaped(&run.title)
            )
        });
    let _ = writeln!(
        out,
        "Against {} earlier runs: **{}**.{}\n",
        of.runs.len().saturating_sub(1),
        of.verdict.as_str(),
        since.unwrap_or_default()
    );
    let left_out: Vec<String> = (of.left_out.iter())
        .map(|l| format!("{}: {}", l.name, l.reason))
        .collect();
    list(
        out,
        "Earlier runs not used",
        left_out.iter().map(String::as_str),
    );
}

fn list<'a>(out: &mut String, title: &str, sentences: impl Iterator<Item = &'a str>) {
    let sentences: Vec<&str> = sentences.collect();
    if sentences.is_empty() {
        return;
    }
    let _ = writeln!(out, "**{title}**\n");
    for sentence in sentences.iter().take(SENTENCES) {
        let _ = writeln!(out, "- {}", escaped(sentence));
    }
    if sentences.len() > SENTENCES {
        let _ = writeln!(
            out,
            "- … and {} more in compare.json",
            sentences.len() - SENTENCES
        );
    }
    out.push('\n');
}

/// Text from the input as plain text on one line: nothing in it is markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(SENTENCE) {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '!' | '&' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                out.push('\u{fffd}')
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::comparison;

    #[test]
    fn snapshot() {
        insta::assert_snapshot!(comparison_markdown(&comparison()));
    }

    #[test]
    fn nothing_from_the_input_is_markup() {
        assert_eq!(
            escaped("a|b\n<script>`x`"),
            "a\\|b\u{fffd}\\<script\\>\\`x\\`"
        );
        assert!(escaped(&"x".repeat(10_000)).len() <= SENTENCE);
    }

    #[test]
    fn it_stays_small_however_many_buckets_moved() {
        let mut c = comparison();
        c.buckets = std::iter::repeat_n(c.buckets[0].clone(), 10_000).collect();
        c.reasons = vec!["y".repeat(100_000); 1_000];
        assert!(comparison_markdown(&c).len() < 16_000);
    }
}
