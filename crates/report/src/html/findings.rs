//! The findings: what is wrong with the job first, what is wrong with the data apart.

use askama::Template;
use nccl_report_analyze::facts::{Finding, FindingKind, Job, Severity};

use super::evidence::{self, Fact};
use super::plots::Plot;
use super::quantity::{count, duration, moment, percent, plural};
use super::section::Section;
use super::table::Link;
use super::{people, text, wording};

/// Findings on the page; the analysis promises one for each cause, so more than this is itself a finding.
const FINDINGS: usize = 100;
const SUBJECTS: usize = 16;
const COMMUNICATORS: usize = 6;

#[derive(Template)]
#[template(path = "section/findings.html")]
struct View {
    verdict: Verdict,
    performance: Vec<Card>,
    data: Vec<Card>,
    /// Cards left out.
    more: usize,
    looked_at: Vec<LookedAt>,
}

struct Card {
    anchor: String,
    severity: &'static str,
    /// `critical`, `warning`, `info`: colour and shape.
    tone: &'static str,
    kind: String,
    whom: Option<String>,
    summary: String,
    advice: String,
    facts: Vec<CardFact>,
    candidates_only: bool,
    subjects: Vec<String>,
    subjects_more: usize,
    communicators: Vec<String>,
    communicators_more: usize,
    evidence: Vec<Fact>,
    evidence_more: usize,
    plots: Vec<Link>,
    id: String,
}

/// A number of a card, in the row below its text.
struct CardFact {
    name: &'static str,
    value: String,
    /// In smaller print.
    more: &'static str,
}

/// What the analysis needs to judge something, and what of it this job has.
struct LookedAt {
    what: &'static str,
    text: String,
}

/// The answer, for the head of the page too.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) tone: &'static str,
    pub(super) word: String,
    pub(super) sentence: String,
}

/// The section.
pub(super) fn section(job: &Job, plots: &[Plot]) -> Result<Section, askama::Error> {
    let cards = |performance: bool| {
        let all = job.findings.iter().enumerate();
        all.filter(move |(_, finding)| finding.kind.is_performance() == performance)
    };
    let shown = |performance| {
        cards(performance)
            .take(FINDINGS)
            .map(|(index, finding)| Card::of(index, finding, plots))
            .collect::<Vec<_>>()
    };
    let (performance, data) = (shown(true), shown(false));
    let view = View {
        verdict: verdict(job),
        more: job.findings.len() - performance.len() - data.len(),
        performance,
        data,
        looked_at: looked_at(job),
    };
    Ok(Section::new("findings", "Findings", view.render()?))
}

/// What was found, in a sentence.
pub(super) fn verdict(job: &Job) -> Verdict {
    let number = |severity| {
        let of = |f: &&Finding| f.kind.is_performance() && f.severity == severity;
        job.findings.iter().filter(of).count() as u64
    };
    let parts: Vec<String> = [
        (Severity::Critical, "critical", "critical"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Info, "note", "notes"),
    ]
    .iter()
    .filter(|(severity, ..)| number(*severity) > 0)
    .map(|(severity, one, many)| plural(number(*severity), one, many))
    .collect();
    // The most severe leads; of equals the one that costs most, which comes first.
    let performance = job.findings.iter().filter(|f| f.kind.is_performance());
    let Some(first) = performance.rev().max_by_key(|f| f.severity) else {
        return nothing_found(job);
    };
    Verdict {
        tone: first.severity.as_str(),
        word: parts.join(", "),
        sentence: text::sentence(&first.summary),
    }
}

fn nothing_found(job: &Job) -> Verdict {
    let too_little = job
        .findings
        .iter()
        .any(|f| f.kind == FindingKind::TooLittleData)
        || job.communicators.is_empty();
    if too_little {
        return Verdict {
            tone: "info",
            word: "Can't tell".to_owned(),
            sentence: "There is too little data to say whether something is wrong with the job."
                .to_owned(),
        };
    }
    Verdict {
        tone: "good",
        word: "Nothing found".to_owned(),
        sentence: "Nothing was found that slows the job's communication down.".to_owned(),
    }
}

impl Card {
    fn of(index: usize, of: &Finding, plots: &[Plot]) -> Self {
        let (evidence, evidence_more) = evidence::facts(&of.evidence);
        Self {
            anchor: people::anchor(index),
            severity: wording::severity(of.severity),
            tone: of.severity.as_str(),
            kind: wording::kind(of.kind),
            whom: whom(of),
            summary: text::sentence(&of.summary),
            advice: text::sentence(&of.advice),
            facts: card_facts(of),
            candidates_only: of.candidates_only,
            subjects: of
                .subjects
                .iter()
                .take(SUBJECTS)
                .map(people::subject)
                .collect(),
            subjects_more: of.subjects.len().saturating_sub(SUBJECTS),
            communicators: of
                .communicators
                .iter()
                .take(COMMUNICATORS)
                .map(|id| text::name(id))
                .collect(),
            communicators_more: of.communicators.len().saturating_sub(COMMUNICATORS),
            evidence,
            evidence_more,
            plots: plots
                .iter()
                .filter(|p| p.shows(of))
                .map(Plot::link)
                .collect(),
            id: text::name(&of.id),
        }
    }
}

/// What it costs, how sure it is, where and when. Of a finding about the data only what isn't a matter of course.
fn card_facts(of: &Finding) -> Vec<CardFact> {
    let performance = of.kind.is_performance();
    let mut facts = Vec::new();
    let mut fact = |name, value, more| facts.push(CardFact { name, value, more });
    if performance || of.impact.time_lost.as_micros() > 0.0 {
        fact(
            "Time lost",
            duration(of.impact.time_lost),
            "summed over ranks",
        );
        fact(
            "Share of communication time",
            percent(of.impact.share_of_collective_time),
            "",
        );
    }
    if performance || of.confidence < 1.0 {
        let sure = format!(
            "{} ({})",
            wording::confidence(of.confidence),
            percent(of.confidence)
        );
        fact("Confidence", sure, "");
    }
    if let Some(scope) = of.scope {
        fact("Scope", wording::scope(scope).to_owned(), "");
    }
    match of.window {
        Some(window) => fact(
            "When",
            format!("{} to {}", moment(window.start), moment(window.end)),
            "",
        ),
        None if performance => fact("When", "the whole run".to_owned(), ""),
        None => {}
    }
    facts
}

/// Who it is, for the heading, when few enough.
fn whom(of: &Finding) -> Option<String> {
    match of.subjects.as_slice() {
        [] => None,
        [one] => Some(people::subject(one)),
        many => {
            let hosts = many.iter().all(|subject| subject.pid.is_none());
            let (one, several) = if hosts {
                ("host", "hosts")
            } else {
                ("rank", "ranks")
            };
            let number = plural(many.len() as u64, one, several);
            Some(if of.candidates_only {
                format!("one of {number}")
            } else {
                number
            })
        }
    }
}

/// What could be looked at: the basis of each kind of finding in this job.
fn looked_at(job: &Job) -> Vec<LookedAt> {
    let sum = |value: fn(&nccl_report_analyze::facts::Communicator) -> u64| {
        job.communicators
            .iter()
            .map(value)
            .fold(0_u64, u64::saturating_add)
    };
    let complete = sum(|c| c.collectives_complete);
    let late = if complete == 0 {
        "could not be judged: no collective has a record of every rank".to_owned()
    } else {
        format!(
            "who arrives last, in the {} that {} a record of every rank, of {} seen",
            plural(complete, "collective", "collectives"),
            if complete == 1 { "has" } else { "have" },
            count(sum(|c| c.collectives))
        )
    };
    let comparable = job
        .families
        .iter()
        .filter(|family| family.communicators.len() > 1)
        .count() as u64;
    let links = match comparable {
        0 => "no two communicators are of one shape, so none could be compared with its peers; only with itself at other times".to_owned(),
        n => format!(
            "the shortest time of each collective, between the communicators of {} with more than one, and over time",
            plural(n, "family", "families")
        ),
    };
    let pairs = match job.pairs.len() as u64 {
        0 => "no Send or Recv was recorded".to_owned(),
        n => format!(
            "the bandwidth of {}, each against the others",
            plural(n, "pair and size", "pairs and sizes")
        ),
    };
    [("Late ranks and hosts", late), ("Slow links", links), ("Point to point", pairs)]
        .into_iter()
        .map(|(what, text)| LookedAt { what, text })
        .chain([
            LookedAt {
                what: "The data itself",
                text: "lost records, missing ranks, unreadable lines, clocks, several runs in one folder, sampled dumps".to_owned(),
            },
            LookedAt {
                what: "Not looked at",
                text: "anything that leaves no trace in the records: small messages, copy-engine and symmetric-memory collectives, \
                       and computation between the collectives"
                    .to_owned(),
            },
        ])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn the_worst_severity_colours_the_verdict() {
        let verdict = verdict(&synthetic::job());
        assert_eq!(verdict.tone, "critical");
        assert_eq!(
            verdict.word.replace('\u{a0}', " "),
            "1 critical, 2 warnings"
        );
        assert!(verdict.sentence.contains("gpu-002"));
    }

    #[test]
    fn nothing_is_said_plainly() {
        let html = section(&synthetic::healthy(), &[]).expect("renders").html;
        assert!(html.contains("Nothing was found"), "{html}");
        assert!(html.contains("who arrives last"), "{html}");
    }

    #[test]
    fn silence_without_data_is_not_health() {
        assert_eq!(verdict(&synthetic::empty()).word, "Can't tell");
    }

    #[test]
    fn performance_and_data_are_apart() {
        let html = section(&synthetic::job(), &[]).expect("renders").html;
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("no {text}"));
        assert!(at("Late rank") < at("About the data"));
        assert!(at("About the data") < at("Lost records"));
    }
}
