//! The page of a comparison.

use askama::Template;
use nccl_report_analyze::facts::{
    BucketComparison, Change, Comparison, Finding, Level, RunFacts, Verdict,
};
use nccl_report_analyze::units::ExecTime;

use super::page::frame;
use super::quantity::{NONE, count, duration, micros, moment, percent, significant};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};
use super::{plots, text, trend, wording};
use crate::export::words;
use crate::figure::Figure;

#[derive(Template)]
#[template(path = "comparison/header.html")]
struct Header {
    title: String,
    tone: &'static str,
    verdict: &'static str,
    meaning: &'static str,
    differences: Vec<Difference>,
    reasons: Vec<String>,
    runs: Vec<RunColumn>,
    threshold: String,
}

struct Difference {
    blocks: bool,
    summary: String,
}

struct RunColumn {
    name: &'static str,
    title: String,
    facts: Vec<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "comparison/findings.html")]
struct Findings {
    lists: Vec<FindingList>,
}

struct FindingList {
    title: &'static str,
    none: &'static str,
    findings: Vec<FindingLine>,
}

struct FindingLine {
    tone: &'static str,
    kind: String,
    summary: String,
    advice: String,
}

#[derive(Template)]
#[template(path = "comparison/method.html")]
struct Method {
    threshold: String,
    significance: String,
}

/// The whole page.
pub(crate) fn page(of: &Comparison, figures: &[Figure]) -> Result<String, askama::Error> {
    let plots = plots::prepare(figures, |_| None);
    let title = text::name(&format!(
        "{} against {}",
        of.candidate.title, of.baseline.title
    ));
    let header = Header {
        title: title.clone(),
        tone: tone(of.verdict),
        verdict: of.verdict.as_str(),
        meaning: words::meaning(of),
        differences: of
            .differences
            .iter()
            .map(|d| Difference {
                blocks: d.blocks,
                summary: text::sentence(&d.summary),
            })
            .collect(),
        reasons: of
            .reasons
            .iter()
            .take(40)
            .map(|r| text::sentence(r))
            .collect(),
        runs: vec![
            run("Baseline", &of.baseline),
            run("Candidate", &of.candidate),
        ],
        threshold: percent(of.threshold),
    };
    let mut findings = Findings {
        lists: vec![
            list("Rules", "", &of.rules),
            list(
                "New in the candidate",
                "No finding of the candidate is new.",
                &of.findings_new,
            ),
            list(
                "Gone",
                "No finding of the baseline is gone.",
                &of.findings_gone,
            ),
            list(
                "In both",
                "The runs have no finding in common.",
                &of.findings_common,
            ),
        ],
    };
    let method = Method {
        threshold: percent(of.threshold),
        significance: percent(of.significance),
    };
    if of.rules.is_empty() {
        findings.lists.remove(0);
    }
    let mut sections = vec![Section::new("findings", "Findings", findings.render()?)];
    if let Some(history) = &of.history {
        sections.push(trend::section(history)?);
    }
    sections.extend([
        buckets(of)?,
        plots::section(&plots)?,
        Section::new("method", "How this was judged", method.render()?),
    ]);
    frame(
        title,
        "NCCL communication compared",
        header.render()?,
        sections,
        &["compare.json"],
    )
}

const fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regression | Verdict::Mixed => "critical",
        Verdict::Inconclusive => "warning",
        Verdict::Improvement | Verdict::Unchanged => "good",
    }
}

fn run(name: &'static str, of: &RunFacts) -> RunColumn {
    let expected = of
        .ranks_expected
        .filter(|n| *n != of.ranks)
        .map(|n| format!(" of {}", count(n)))
        .unwrap_or_default();
    let span = of.span.map_or_else(
        || NONE.to_owned(),
        |(first, last)| {
            let long = last.as_unix_micros().saturating_sub(first.as_unix_micros());
            format!("{}, {}", moment(first), micros(long as f64))
        },
    );
    let share = |s: Option<f64>| s.map_or_else(|| NONE.to_owned(), percent);
    RunColumn {
        name,
        title: text::name(&of.title),
        facts: vec![
            ("Ranks", format!("{}{expected}", count(of.ranks))),
            ("Hosts", hosts(&of.hosts)),
            ("From, duration", span),
            ("Dialect", text::name(&of.dialects.join(", "))),
            ("Timed by", wording::timing(of.timing).to_owned()),
            ("Records", count(of.records)),
            ("Collectives", count(of.collectives)),
            ("Complete", share(of.complete)),
            ("Records lost", share(of.loss)),
            ("Communication time", duration(of.time)),
            ("Of it waiting", share(of.waiting)),
        ],
    }
}

fn hosts(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(4).map(|n| text::name(n)).collect();
    let more = if names.len() > 4 { ", …" } else { "" };
    format!("{}: {}{more}", count(names.len() as u64), shown.join(", "))
}

fn list(title: &'static str, none: &'static str, findings: &[Finding]) -> FindingList {
    let findings = findings
        .iter()
        .take(100)
        .map(|f| FindingLine {
            tone: f.severity.as_str(),
            kind: f.kind.as_str().replace('_', " "),
            summary: text::sentence(&f.summary),
            advice: text::sentence(&f.advice),
        })
        .collect();
    FindingList {
        title,
        none,
        findings,
    }
}

fn buckets(of: &Comparison) -> Result<Section, askama::Error> {
    let columns = vec![
        Column::text("Operation"),
        Column::number("Size"),
        Column::text("Class"),
        Column::text("Ranks × nodes"),
        Column::text("Family"),
        Column::text("Verdict"),
        Column::number("Baseline"),
        Column::number("Candidate"),
        Column::number("Change"),
        Column::number("95 % interval"),
        Column::number("p, corrected"),
        Column::number("Felt time"),
        Column::number("Share of time"),
        Column::number("Operations"),
        Column::text("Note"),
    ];
    let rows = of.buckets.iter().map(row).collect();
    let table = Table::new(
        "buckets-table",
        "Buckets of like operations, those that moved first".to_owned(),
        columns,
        rows,
    );
    Ok(Section::new("buckets", "Buckets", table.render()?))
}

fn row(b: &BucketComparison) -> Row {
    let side = |level: Option<&Level>| {
        Cell::maybe(level.filter(|l| l.median.is_finite()), |l| level_cell(b, l))
    };
    let operations = |level: &Option<Level>| {
        level
            .as_ref()
            .map_or_else(|| NONE.to_owned(), |l| count(l.operations))
    };
    Row::of([
        Cell::name(&words::operation(&b.key)),
        Cell::size(b.key.size),
        Cell::name(b.key.class.as_str()),
        Cell::name(&format!("{}×{}", b.key.n_ranks, b.key.nnodes)),
        Cell::maybe(b.key.family.as_deref(), Cell::name),
        Cell::name(&b.verdict.as_str().replace('_', " ")),
        side(b.baseline.as_ref()),
        side(b.candidate.as_ref()),
        Cell::maybe(b.change, |c| change_cell(c.change)),
        Cell::maybe(b.change, |c| {
            Cell::label(format!(
                "{} … {}",
                words::change(c.ci_low),
                words::change(c.ci_high)
            ))
        }),
        Cell::maybe(b.change, |c| Cell::label(significant(c.p_adjusted))),
        Cell::maybe(b.felt_time, |c: Change| change_cell(c.change)),
        Cell::bar(b.share_of_time),
        Cell::label(format!(
            "{} / {}",
            operations(&b.baseline),
            operations(&b.candidate)
        )),
        Cell::maybe(b.note.as_deref(), Cell::sentence),
    ])
}

fn level_cell(b: &BucketComparison, level: &Level) -> Cell {
    if b.metric.is_bandwidth() {
        Cell::label(format!("{} GB/s", significant(level.median)))
    } else {
        Cell::duration(ExecTime::from_micros(level.median))
    }
}

fn change_cell(change: f64) -> Cell {
    Cell::label(words::change(change))
}
