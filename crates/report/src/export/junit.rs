//! A comparison as JUnit XML, which GitLab, Jenkins and others show beside the tests: a test for each bucket, and one for the whole.
//!
//! The format has no standard; this is the part that all readers share (testsuites, testsuite, testcase, failure, skipped).

use std::fmt::Write as _;

use nccl_report_analyze::facts::{
    BucketComparison, BucketVerdict, Comparison, Finding, FindingKind, History, Severity, Verdict,
};

use super::words;

enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The XML, with a further test where there are earlier runs. A regression is a failure; what the data can't tell is skipped in a bucket, and a failure of the whole, which doesn't
/// pass then.
#[must_use]
pub fn comparison_junit(of: &Comparison) -> String {
    let mut cases: Vec<(String, Outcome)> = vec![("whole".to_owned(), whole(of))];
    cases.extend(
        of.history
            .iter()
            .map(|h| ("history".to_owned(), history(h))),
    );
    cases.extend(of.rules.iter().map(|f| (f.id.clone(), rule(f))));
    cases.extend(
        of.buckets
            .iter()
            .map(|b| (words::bucket(&b.key), bucket(b))),
    );
    let failures = cases
        .iter()
        .filter(|c| matches!(c.1, Outcome::Failed(_)))
        .count();
    let skipped = cases
        .iter()
        .filter(|c| matches!(c.1, Outcome::Skipped(_)))
        .count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\"",
        cases.len()
    );
    let suite = escaped(&format!("nccl-report compare {}", words::runs(of)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string can't fail.
    let _ = writeln!(out, "<testsuites name=\"nccl-report\" {counts}>");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{suite}\" {counts} skipped=\"{skipped}\">"
    );
    for (name, outcome) in cases {
        let head = format!(
            "    <testcase classname=\"nccl-report.compare\" name=\"{}\"",
            escaped(&name)
        );
        let _ = match outcome {
            Outcome::Passed => writeln!(out, "{head}/>"),
            Outcome::Failed(why) => writeln!(
                out,
                "{head}>\n      <failure message=\"{}\"/>\n    </testcase>",
                escaped(&why)
            ),
            Outcome::Skipped(why) => writeln!(
                out,
                "{head}>\n      <skipped message=\"{}\"/>\n    </testcase>",
                escaped(&why)
            ),
        };
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn whole(of: &Comparison) -> Outcome {
    let why = || format!("{}: {}", of.verdict.as_str(), of.reasons.join(" "));
    match of.verdict {
        Verdict::Improvement | Verdict::Unchanged => Outcome::Passed,
        Verdict::Regression | Verdict::Mixed | Verdict::Inconclusive => Outcome::Failed(why()),
    }
}

fn history(of: &History) -> Outcome {
    let why = || format!("{}: {}", of.verdict.as_str(), of.reasons.join(" "));
    match of.verdict {
        Verdict::Improvement | Verdict::Unchanged => Outcome::Passed,
        Verdict::Regression | Verdict::Mixed => Outcome::Failed(why()),
        Verdict::Inconclusive => Outcome::Skipped(why()),
    }
}

/// Of rules those that aren't as they should be: one that is kept leaves no trace.
fn rule(of: &Finding) -> Outcome {
    if of.kind == FindingKind::RuleBroken && of.severity >= Severity::Warning {
        Outcome::Failed(of.summary.clone())
    } else {
        Outcome::Skipped(of.summary.clone())
    }
}

fn bucket(b: &BucketComparison) -> Outcome {
    match b.verdict {
        BucketVerdict::Improvement | BucketVerdict::Unchanged => Outcome::Passed,
        BucketVerdict::Regression => {
            let c = b.change.map_or_else(String::new, |c| {
                format!(
                    "{} ({} … {})",
                    words::change(c.change),
                    words::change(c.ci_low),
                    words::change(c.ci_high)
                )
            });
            Outcome::Failed(format!(
                "{} {c}: {} → {}",
                b.metric.as_str(),
                words::level(b, b.baseline.as_ref()),
                words::level(b, b.candidate.as_ref())
            ))
        }
        BucketVerdict::Inconclusive => {
            Outcome::Skipped(b.note.clone().unwrap_or_else(|| "inconclusive".to_owned()))
        }
        BucketVerdict::OnlyInBaseline => Outcome::Skipped("only in the baseline".to_owned()),
        BucketVerdict::OnlyInCandidate => Outcome::Skipped("only in the candidate".to_owned()),
    }
}

/// Text as the value of an attribute; characters that XML forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
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
    fn every_bucket_is_a_test_and_regressions_fail() {
        let c = comparison();
        let xml = comparison_junit(&c);
        let document = roxmltree::Document::parse(&xml).expect("XML");
        let count = |tag: &str| {
            document
                .descendants()
                .filter(|n| n.has_tag_name(tag))
                .count()
        };
        assert_eq!(count("testcase"), c.buckets.len() + 2);
        let worse = c
            .buckets
            .iter()
            .filter(|b| b.verdict == BucketVerdict::Regression)
            .count();
        assert_eq!(count("failure"), worse + 2);
        let suite = document
            .descendants()
            .find(|n| n.has_tag_name("testsuite"))
            .expect("a suite");
        assert_eq!(
            suite.attribute("failures"),
            Some((worse + 2).to_string().as_str())
        );
    }

    #[test]
    fn names_from_the_input_stay_text() {
        let mut c = comparison();
        c.candidate.title = "<a b=\"&\u{1b}'>".into();
        c.buckets[0].key.operation = "]]>\u{0}<x/>".into();
        let xml = comparison_junit(&c);
        let document = roxmltree::Document::parse(&xml).expect("XML");
        assert!(document.descendants().all(|n| !n.has_tag_name("x")));
    }
}
