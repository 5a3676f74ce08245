//! The parts of the communication time in words: what each is called, what it means, how it is coloured.

use nccl_report_analyze::facts::{BudgetPart, Finding, FindingKind, Job, Scope, TimeCause};

/// Findings with a part of their own; what those cost that cost less is one part.
const FINDINGS: usize = 6;

/// A part of the communication time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// "waiting for rank 13".
    pub(crate) label: String,
    /// What that is, in a few words.
    pub(crate) meaning: &'static str,
    /// How it is coloured.
    pub(crate) tone: Tone,
    /// Kernel time, summed over ranks, µs.
    pub(crate) micros: f64,
    /// The finding that it is of ([`Finding::id`]).
    pub(crate) finding: Option<String>,
}

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Transfer,
    Waiting,
    Slow,
    Order,
    Spread,
    Unexplained,
}

/// The parts, in the order of the budget; `None` while nothing could be matched, or where the numbers are none.
pub(crate) fn parts(job: &Job) -> Option<Vec<Part>> {
    let budget = job.budget.as_ref()?;
    let of_findings = || {
        let all = budget.parts.iter();
        all.filter(|p| p.cause == TimeCause::Finding)
    };
    let many = of_findings().count() > FINDINGS;
    let named = if many { FINDINGS - 1 } else { FINDINGS };
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = Vec::new();
    for part in &budget.parts {
        let before = parts.iter().filter(|p| p.finding.is_some()).count();
        if part.cause == TimeCause::Finding && before >= named {
            rest.push(part);
            continue;
        }
        if part.cause > TimeCause::Finding {
            parts.extend(others(&mut rest));
        }
        parts.push(worded(job, part));
    }
    parts.extend(others(&mut rest));
    let total: f64 = parts.iter().map(|p| p.micros).sum();
    (total > 0.0 && total.is_finite()).then_some(parts)
}

/// The parts as label and share, for a line of text.
#[must_use]
pub fn budget_shares(job: &Job) -> Vec<(String, f64)> {
    let parts = parts(job).unwrap_or_default();
    let total: f64 = parts.iter().map(|p| p.micros).sum();
    parts
        .into_iter()
        .map(|p| (p.label, p.micros / total))
        .collect()
}

fn micros(part: &BudgetPart) -> f64 {
    let micros = part.time.as_micros();
    if micros.is_finite() {
        micros.max(0.0)
    } else {
        0.0
    }
}

fn others(rest: &mut Vec<&BudgetPart>) -> Option<Part> {
    let of: Vec<_> = std::mem::take(rest);
    (!of.is_empty()).then(|| Part {
        label: format!("{} other findings", of.len()),
        meaning: "each of them less than those before",
        tone: Tone::Waiting,
        micros: of.into_iter().map(micros).sum(),
        finding: None,
    })
}

fn worded(job: &Job, part: &BudgetPart) -> Part {
    let finding = part
        .finding
        .as_ref()
        .and_then(|id| job.findings.iter().find(|f| f.id == *id));
    let (label, meaning, tone) = match part.cause {
        TimeCause::Transfer => (
            "transfer".to_owned(),
            "moving the data, at the pace of healthy peers",
            Tone::Transfer,
        ),
        TimeCause::Finding => match finding {
            Some(finding) => of_finding(finding),
            None => (
                "a finding".to_owned(),
                "what it says is lost",
                Tone::Waiting,
            ),
        },
        TimeCause::PipelineOrder => (
            "pipeline order".to_owned(),
            "stages wait for each other's data, by design",
            Tone::Order,
        ),
        TimeCause::OrdinarySpread => (
            "ordinary spread".to_owned(),
            "ranks reach an operation a little apart; nobody stands out",
            Tone::Spread,
        ),
        TimeCause::Unexplained => (
            "unexplained".to_owned(),
            "records whose partners are missing: waiting can't be told from transfer",
            Tone::Unexplained,
        ),
    };
    Part {
        label,
        meaning,
        tone,
        micros: micros(part),
        finding: part.finding.clone(),
    }
}

fn of_finding(of: &Finding) -> (String, &'static str, Tone) {
    let who = who(of);
    match of.kind {
        FindingKind::LateRank => (
            format!("waiting for {who}"),
            "it arrives late",
            Tone::Waiting,
        ),
        FindingKind::IntermittentLateRank => (
            format!("waiting for {who}"),
            "it pauses now and then",
            Tone::Waiting,
        ),
        FindingKind::LateHost => (
            format!("waiting for {who}"),
            "all its ranks arrive late",
            Tone::Waiting,
        ),
        FindingKind::SlowLink => {
            let what = match of.scope {
                Some(Scope::Nvlink) => "slow NVLink",
                Some(Scope::Nic) => "slow network card",
                Some(Scope::Fabric) => "slow network for a time",
                Some(Scope::Host) | None => "slow network",
            };
            let label = if of.scope == Some(Scope::Fabric) {
                what.to_owned()
            } else {
                format!("{what}, {who}")
            };
            (
                label,
                "transfer above the pace of healthy peers, and waiting for those whom it delays",
                Tone::Slow,
            )
        }
        FindingKind::StageImbalance => (
            "an uneven pipeline stage".to_owned(),
            "Sends to it wait until it is ready",
            Tone::Order,
        ),
        FindingKind::TcpRetransmits => (
            format!("TCP retransmits, {who}"),
            "operations that took longer than usual",
            Tone::Slow,
        ),
        other => (
            other.as_str().replace('_', " "),
            "what the finding says is lost",
            Tone::Waiting,
        ),
    }
}

/// "rank 13", "host gpu-002", "one of 4 ranks".
fn who(of: &Finding) -> String {
    match of.subjects.as_slice() {
        [one] => match (one.global_rank, one.pid) {
            (Some(rank), _) => format!("rank {rank}"),
            (None, Some(_)) => {
                format!("local rank {} of {}", one.local_rank.unwrap_or(0), one.host)
            }
            (None, None) => format!("host {}", one.host),
        },
        many => {
            let hosts = many.iter().all(|s| s.pid.is_none());
            let things = if hosts { "hosts" } else { "ranks" };
            if of.candidates_only {
                format!("one of {} {things}", many.len())
            } else {
                format!("{} {things}", many.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn findings_are_named_and_the_rest_is_told_apart() {
        let labels: Vec<String> = budget_shares(&synthetic::job())
            .into_iter()
            .map(|p| p.0)
            .collect();
        let expected = [
            "transfer",
            "waiting for rank 13",
            "slow network for a time",
            "slow network card, one of 2 ranks",
            "pipeline order",
            "ordinary spread",
            "unexplained",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn many_findings_are_one_part() {
        let mut job = synthetic::job();
        let budget = job.budget.as_mut().expect("a budget");
        let one = budget.parts[1].clone();
        budget.parts.splice(1..1, vec![one; 9]);
        let parts = parts(&job).expect("parts");
        // Twelve findings: five by name; five late ranks of 640 s, 200 s and 100 s remain.
        assert_eq!(parts.iter().filter(|p| p.finding.is_some()).count(), 5);
        let others = parts.iter().find(|p| p.label == "7 other findings");
        assert_eq!(others.expect("them").micros, 5.0 * 6.4e8 + 2e8 + 1e8);
        assert_eq!(parts.last().expect("one").label, "unexplained");
    }
}
