//! A run against the rules: a finding for each rule that is broken, and for each that has nothing to look at.

use serde_json::json;

use super::limit::{self, Excess, Looked};
use super::{Check, RankTails, Rule, Rules};
use crate::facts::{Finding, FindingKind, Impact, Job, Severity, Subject};
use crate::units::ExecTime;

/// Places that the evidence lists; the worst come first.
const LISTED: usize = 50;
/// Ranks that a finding names.
const NAMED: usize = 64;

/// Holds a run against the rules. `baseline` is the run that it is compared with, if it is.
pub(crate) fn check(
    rules: &Rules,
    job: &Job,
    tails: &RankTails,
    baseline: Option<&Job>,
) -> Vec<Finding> {
    rules
        .rules
        .iter()
        .flat_map(|rule| of_rule(rule, job, tails, baseline))
        .collect()
}

fn of_rule(rule: &Rule, job: &Job, tails: &RankTails, baseline: Option<&Job>) -> Vec<Finding> {
    let looked = match &rule.check {
        Check::Bandwidth(b) => limit::bandwidth(b, job),
        Check::RankP99(p) => limit::rank_p99(p, job, tails, baseline),
        Check::Waiting { max_share } => limit::waiting(*max_share, job),
        Check::Finding { kinds, min_share } => {
            return forbidden(rule, kinds, *min_share, job)
                .into_iter()
                .collect();
        }
    };
    let Looked {
        mut excesses,
        nothing,
    } = looked;
    let mut out = Vec::new();
    if let Some(why) = nothing {
        out.push(unmatched(rule, &why));
    }
    excesses.sort_by(|a, b| b.factor().total_cmp(&a.factor()));
    if let Some(worst) = excesses.first() {
        out.push(broken(rule, job, worst, &excesses));
    }
    out
}

fn broken(rule: &Rule, job: &Job, worst: &Excess, all: &[Excess]) -> Finding {
    let mut subjects: Vec<Subject> = all.iter().filter_map(|e| subject(job, e)).collect();
    subjects.sort();
    subjects.dedup();
    let who = subject(job, worst)
        .map(|s| format!("{}: ", name(&s)))
        .unwrap_or_default();
    let more = match all.len() - 1 {
        0 => String::new(),
        1 => " One more place exceeds it.".to_owned(),
        n => format!(" {n} more places exceed it."),
    };
    let summary = format!(
        "Rule \"{}\" is broken: {who}{}, {} is {}, the limit is {}.{more}",
        rule.name,
        worst.place,
        worst.what,
        number(worst.value, worst.unit),
        number(worst.limit, worst.unit)
    );
    let places: Vec<_> = all
        .iter()
        .take(LISTED)
        .map(|e| {
            let rank = subject(job, e).map(|s| name(&s));
            json!({"place": e.place, "rank": rank, "value": e.value, "limit": e.limit, "unit": e.unit})
        })
        .collect();
    let share = all.iter().map(|e| e.share_of_time).fold(0.0, f64::max);
    let mut finding = finding(rule, FindingKind::RuleBroken, rule.severity, summary);
    finding.subjects = subjects.into_iter().take(NAMED).collect();
    finding.evidence.insert("places".to_owned(), json!(places));
    finding
        .evidence
        .insert("places_in_all".to_owned(), json!(all.len()));
    finding
        .evidence
        .insert("share_of_time".to_owned(), json!(share));
    finding
}

/// A rule that forbids findings of some kinds.
fn forbidden(rule: &Rule, kinds: &[FindingKind], min_share: f64, job: &Job) -> Option<Finding> {
    let of: Vec<&Finding> = (job.findings.iter())
        .filter(|f| kinds.contains(&f.kind) && f.impact.share_of_collective_time >= min_share)
        .collect();
    let first = of.first()?;
    let more = match of.len() - 1 {
        0 => String::new(),
        n => format!(" ({n} more)"),
    };
    let summary = format!("Rule \"{}\" is broken: {}{more}", rule.name, first.summary);
    let mut out = finding(rule, FindingKind::RuleBroken, rule.severity, summary);
    out.subjects = of
        .iter()
        .flat_map(|f| f.subjects.iter().cloned())
        .take(NAMED)
        .collect();
    out.subjects.sort();
    out.subjects.dedup();
    let ids: Vec<&str> = of.iter().take(LISTED).map(|f| f.id.as_str()).collect();
    out.evidence.insert("findings".to_owned(), json!(ids));
    Some(out)
}

fn unmatched(rule: &Rule, why: &str) -> Finding {
    let summary = format!("Rule \"{}\" looked at nothing: {why}.", rule.name);
    let mut out = finding(rule, FindingKind::RuleUnmatched, Severity::Info, summary);
    out.advice = format!(
        "See line {} of the rules file: as it is, this rule can't be broken.",
        rule.line
    );
    out
}

fn finding(rule: &Rule, kind: FindingKind, severity: Severity, summary: String) -> Finding {
    let mut evidence = serde_json::Map::new();
    evidence.insert("rule".to_owned(), json!(rule.name));
    evidence.insert("line".to_owned(), json!(rule.line));
    Finding {
        id: format!("{}:{}", kind.as_str(), rule.name),
        kind,
        severity,
        confidence: 1.0,
        summary,
        advice: format!("The limit is of your own rules, line {}.", rule.line),
        subjects: Vec::new(),
        candidates_only: false,
        scope: None,
        communicators: Vec::new(),
        window: None,
        // A limit says nothing of what exceeding it costs.
        impact: Impact {
            time_lost: ExecTime::from_micros(0.0),
            share_of_collective_time: 0.0,
        },
        evidence,
    }
}

fn subject(job: &Job, excess: &Excess) -> Option<Subject> {
    let process = job.processes.get(excess.process?.0 as usize)?;
    Some(Subject {
        host: process.host.clone(),
        pid: Some(process.pid),
        local_rank: Some(process.local_rank),
        global_rank: process.global_rank,
    })
}

fn name(of: &Subject) -> String {
    let place = of
        .local_rank
        .map(|l| format!("{}/{l}", of.host))
        .unwrap_or_else(|| of.host.clone());
    match of.global_rank {
        Some(rank) => format!("rank {rank} ({place})"),
        None => place,
    }
}

/// A value with three digits or so and its unit; a share in percent.
fn number(value: f64, unit: &str) -> String {
    match (unit, value.abs()) {
        ("", _) => format!("{:.1} %", 100.0 * value),
        (unit, x) if x >= 99.95 => format!("{value:.0} {unit}"),
        (unit, x) if x >= 9.995 => format!("{value:.1} {unit}"),
        (unit, _) => format!("{value:.2} {unit}"),
    }
}
