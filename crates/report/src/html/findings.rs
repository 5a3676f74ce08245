//! The findings: what is wrong with the job first, what is wrong with the data apart.

use askama::Template;
use nccl_report_analyze::facts::{Finding, FindingKind, Job, Severity};

use super::evidence::{self, Fact};
use super::looked_at::{self, LookedAt};
use super::plots::Plot;
use super::quantity::{duration, percent, plural, stretch};
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
    advice: Vec<Piece>,
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

/// A piece of an advice: words, or a command, which stands between backticks.
#[derive(Debug, PartialEq)]
struct Piece {
    text: String,
    command: bool,
}

/// A number of a card, in the row below its text.
struct CardFact {
    name: &'static str,
    value: String,
    /// In smaller print.
    more: &'static str,
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
        looked_at: looked_at::points(job),
    };
    Ok(Section::new("findings", "Findings", view.render()?))
}

/// The way to a finding, with its kind and whom it names.
pub(super) fn link(job: &Job, id: &str) -> Option<Link> {
    let index = job.findings.iter().position(|f| f.id == id)?;
    let finding = job.findings.get(index)?;
    let kind = wording::kind(finding.kind);
    Some(Link {
        anchor: people::anchor(index),
        text: whom(finding).map_or_else(|| kind.clone(), |whom| format!("{kind}: {whom}")),
    })
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
    let blind = if looked_at::links_without_peers(job) {
        " No two communicators are alike, so a link that is slow from the first step to the last couldn't be told."
    } else {
        ""
    };
    Verdict {
        tone: "good",
        word: "Nothing found".to_owned(),
        sentence: format!("Nothing was found that slows the job's communication down.{blind}"),
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
            advice: pieces(&text::sentence(&of.advice)),
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

fn pieces(advice: &str) -> Vec<Piece> {
    let parts = advice.split('`').enumerate();
    parts
        .map(|(n, text)| Piece {
            text: text.to_owned(),
            command: n % 2 == 1,
        })
        .filter(|p| !p.text.is_empty())
        .collect()
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
        Some(window) => fact("When", stretch(window.start, window.end), ""),
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
    fn commands_in_advice_are_told_from_words() {
        let piece = |text: &str, command| Piece {
            text: text.to_owned(),
            command,
        };
        assert_eq!(
            pieces("Run `a -b`. Then look."),
            [
                piece("Run ", false),
                piece("a -b", true),
                piece(". Then look.", false)
            ]
        );
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn links_that_could_not_be_judged_are_not_called_healthy() {
        let mut job = synthetic::healthy();
        assert!(!verdict(&job).sentence.contains("couldn't be told"));
        job.families
            .iter_mut()
            .for_each(|f| f.communicators.truncate(1));
        assert!(verdict(&job).sentence.contains("couldn't be told"));
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
