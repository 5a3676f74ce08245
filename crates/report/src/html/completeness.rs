//! Whether the data is complete: a sentence, then what it rests on.

use askama::Template;
use nccl_report_analyze::facts::Job;

use super::checks::{Mark, Point, points};
use super::missing::{Account, ratio};
use super::quantity::{count, percent, plural};
use super::section::Section;

#[derive(Template)]
#[template(path = "section/completeness.html")]
struct View {
    verdict: Verdict,
    points: Vec<Point>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// `good`, `warning` or `critical`: the colour.
    pub(super) tone: &'static str,
    /// A word or two that can stand alone.
    pub(super) word: &'static str,
    /// The sentence.
    pub(super) sentence: String,
}

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let account = Account::of(job);
    let view = View {
        verdict: verdict(job),
        points: points(job, &account),
    };
    Ok(Section::new(
        "data",
        "Is the data complete?",
        view.render()?,
    ))
}

/// The answer, for the head of the page too.
pub(super) fn verdict(job: &Job) -> Verdict {
    let account = Account::of(job);
    if account.records == 0 {
        return Verdict {
            tone: "critical",
            word: "No data",
            sentence: "There are no records, so nothing can be said about the job.".to_owned(),
        };
    }
    let lacks = lacks(job, &account);
    if job.overview.sampled {
        let more = if lacks.is_empty() {
            String::new()
        } else {
            format!(" Besides, {}.", lacks.join("; "))
        };
        return Verdict {
            tone: "warning",
            word: "Data is a sample",
            sentence: format!(
                "The records are a sample: this plugin wrote only the latest finished collective of each communicator at each \
                 dump. Counts and shares of time are those of the sample.{more}"
            ),
        };
    }
    if lacks.is_empty() {
        let unknown = if account.silent > 0 {
            " The dumps don't say whether the plugin dropped records."
        } else {
            ""
        };
        return Verdict {
            tone: "good",
            word: "Data complete",
            sentence: format!(
                "Nothing is known to be missing: {} left records, every collective seen has a record of each of its ranks, and \
                 every line was read.{unknown}",
                plural(job.overview.ranks, "rank", "ranks"),
            ),
        };
    }
    let nearly = account.ranks_missing == 0
        && account.communicators_partial == 0
        && ratio(account.collectives_complete, account.collectives) >= 0.99
        && ratio(account.dropped, account.records) < 0.01
        && ratio(job.inputs.rejected.lines, job.inputs.lines) < 0.01
        && job.inputs.files_damaged.is_empty();
    let (tone, word, how) = if nearly {
        ("good", "Data nearly complete", "nearly complete")
    } else {
        ("warning", "Data incomplete", "incomplete")
    };
    Verdict {
        tone,
        word,
        sentence: format!("The data is {how}: {}.", lacks.join("; ")),
    }
}

/// What is missing, a phrase each.
fn lacks(job: &Job, account: &Account) -> Vec<String> {
    let mut lacks = Vec::new();
    if account.ranks_missing > 0 {
        let expected = job.overview.ranks_expected.unwrap_or(0);
        lacks.push(format!(
            "{} of {} left no records",
            count(account.ranks_missing),
            plural(expected, "rank", "ranks")
        ));
    }
    if account.ranks_missing == 0 && account.communicators_partial > 0 {
        let communicators = plural(
            account.communicators_partial,
            "communicator",
            "communicators",
        );
        lacks.push(format!("of {communicators} some ranks left no record"));
    }
    let partial = account
        .collectives
        .saturating_sub(account.collectives_complete);
    if partial > 0 {
        let share = ratio(partial, account.collectives);
        lacks.push(format!(
            "{} of the collectives seen lack the record of at least one rank",
            percent(share)
        ));
    }
    if account.dropped > 0 {
        lacks.push(format!(
            "the plugin says that it dropped {}",
            plural(account.dropped, "record", "records")
        ));
    }
    let inputs = &job.inputs;
    if inputs.rejected.lines > 0 {
        lacks.push(format!(
            "{} of {} could not be read",
            count(inputs.rejected.lines),
            plural(inputs.lines, "line", "lines")
        ));
    }
    if !inputs.files_damaged.is_empty() {
        let files = plural(
            inputs.files_damaged.len() as u64,
            "file breaks",
            "files break",
        );
        lacks.push(format!("{files} off in the middle"));
    }
    if inputs.truncated_dumps > 0 {
        let dumps = plural(inputs.truncated_dumps, "dump holds", "dumps hold");
        lacks.push(format!("{dumps} fewer records than promised"));
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::super::missing::ranges;
    use super::*;
    use crate::synthetic;

    #[test]
    fn a_whole_job_is_called_complete() {
        let verdict = verdict(&synthetic::healthy());
        assert_eq!((verdict.tone, verdict.word), ("good", "Data complete"));
        assert!(!verdict.sentence.contains("don't say"));
    }

    #[test]
    fn what_is_not_known_is_not_called_complete() {
        let mut job = synthetic::healthy();
        job.communicators[0].loss.dropped = None;
        assert!(verdict(&job).sentence.contains("don't say whether"));
    }

    #[test]
    fn a_missing_rank_is_named() {
        let mut job = synthetic::healthy();
        job.overview.ranks = 29;
        job.communicators[12]
            .members
            .retain(|m| ![4, 5, 12].contains(&m.rank));
        let verdict = verdict(&job);
        assert_eq!(verdict.word, "Data incomplete");
        assert!(
            verdict
                .sentence
                .contains("3 of 32\u{a0}ranks left no records"),
            "{}",
            verdict.sentence
        );
        assert!(ranges(&job.communicators[12]) == "ranks 4–5, 12");
        let html = section(&job).expect("renders").html;
        assert!(html.contains("ranks 4–5, 12"), "{html}");
    }

    #[test]
    fn a_sample_is_called_one() {
        let mut job = synthetic::healthy();
        job.overview.sampled = true;
        assert_eq!(verdict(&job).word, "Data is a sample");
    }

    #[test]
    fn nothing_is_no_data() {
        assert_eq!(verdict(&synthetic::empty()).word, "No data");
    }
}
