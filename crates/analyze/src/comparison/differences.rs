//! What two runs don't have in common: said before any number, since it may explain all of them.

use std::collections::BTreeSet;

use crate::facts::{
    Difference, DifferenceKind, FindingKind, Job, RunFacts, Severity, TimingSource,
};

/// Loss of records that differs by this much of all records makes the rest of the runs incomparable: what is lost isn't lost at
/// random, it is what came in bursts.
pub(crate) const LOSS: f64 = 0.05;
/// Loss that differs by this much is worth a word.
const LOSS_NOTED: f64 = 0.01;
/// Rejected lines, of all lines, from which on a run counts as partial.
const REJECTED: f64 = 0.05;
/// A run with less than this part of the other's collectives is said to be short.
const SHORT: f64 = 0.5;

/// The facts of a run that a comparison says.
pub(crate) fn run_facts(job: &Job) -> RunFacts {
    let collectives: u64 = job.communicators.iter().map(|c| c.collectives).sum();
    RunFacts {
        title: job.overview.title.clone(),
        hosts: job.overview.hosts.clone(),
        ranks: job.overview.ranks,
        ranks_expected: job.overview.ranks_expected,
        span: job.overview.span,
        dialects: job
            .overview
            .dialects
            .iter()
            .map(|d| d.version.clone())
            .collect(),
        timing: job.overview.timing,
        records: job.inputs.records.values().sum(),
        collectives,
        complete: job.overview.complete,
        loss: loss(job),
        time: job.overview.time,
        waiting: job.budget.as_ref().and_then(|b| {
            let total = b.total.as_micros();
            (total > 0.0).then(|| b.waiting.as_micros() / total)
        }),
    }
}

/// Share of the records lost: dropped by the plugin's own account, or missing where other ranks have theirs; the larger.
fn loss(job: &Job) -> Option<f64> {
    let records: u64 = job
        .groups
        .iter()
        .filter(|g| !g.p2p)
        .map(|g| g.records)
        .sum();
    let share = |lost: u64| lost as f64 / (lost.saturating_add(records)).max(1) as f64;
    let unmatched = job
        .communicators
        .iter()
        .map(|c| c.loss.records_unmatched)
        .fold(0, u64::saturating_add);
    let dropped: Vec<u64> = job
        .communicators
        .iter()
        .filter_map(|c| c.loss.dropped)
        .collect();
    let dropped = dropped.iter().copied().fold(0, u64::saturating_add);
    (records > 0).then(|| share(unmatched).max(share(dropped)))
}

/// Collectives between others of which no rank has a record. Some are missing by design (small messages), alike in alike runs.
fn unseen(job: &Job) -> f64 {
    let unseen = job
        .communicators
        .iter()
        .map(|c| c.loss.numbers_unseen)
        .fold(0, u64::saturating_add);
    let seen: u64 = job.communicators.iter().map(|c| c.collectives).sum();
    unseen as f64 / unseen.saturating_add(seen).max(1) as f64
}

/// Whether so much more was lost in one run that the rest can't be compared.
pub(crate) fn loss_differs(baseline: &Job, candidate: &Job) -> bool {
    let known = |job| loss(job).unwrap_or(0.0);
    (known(baseline) - known(candidate)).abs() > LOSS
        || (unseen(baseline) - unseen(candidate)).abs() > LOSS
        || baseline.overview.sampled != candidate.overview.sampled
}

/// All differences but those of algorithms and waiting, the gravest first.
pub(crate) fn differences(baseline: &Job, candidate: &Job) -> Vec<Difference> {
    let mut out = Vec::new();
    let mut say = |kind, blocks, summary: String| {
        out.push(Difference {
            kind,
            summary,
            blocks,
        })
    };
    let (b, c) = (&baseline.overview, &candidate.overview);

    if same_run(baseline, candidate) {
        let text =
            "Baseline and candidate are the same run: of the same processes, at the same time.";
        say(DifferenceKind::SameRun, true, text.to_owned());
    }
    for (which, job) in [("baseline", baseline), ("candidate", candidate)] {
        partial(which, job, &mut say);
    }
    let promised = |job: &Job| {
        job.overview
            .ranks_expected
            .unwrap_or(0)
            .max(job.overview.ranks)
    };
    if promised(baseline) != promised(candidate) {
        let text = format!(
            "The candidate has {} ranks, the baseline {}: most of the two can't be compared.",
            promised(candidate),
            promised(baseline)
        );
        say(DifferenceKind::Ranks, true, text);
    }
    if b.timing != c.timing {
        let text = format!(
            "The candidate is timed by {}, the baseline by {}: their times don't compare.",
            timing(c.timing),
            timing(b.timing)
        );
        say(DifferenceKind::Timing, true, text);
    }
    loss_difference(baseline, candidate, &mut say);
    let versions = |job: &Job| {
        job.overview
            .dialects
            .iter()
            .map(|d| d.version.clone())
            .collect::<BTreeSet<_>>()
    };
    let (vb, vc) = (versions(baseline), versions(candidate));
    if vb != vc {
        let join = |v: BTreeSet<String>| v.into_iter().collect::<Vec<_>>().join(", ");
        let text = format!(
            "The candidate's dumps are of format {}, the baseline's of {}: another version of NCCL.",
            join(vc),
            join(vb)
        );
        say(DifferenceKind::Dialect, false, text);
    }
    if b.hosts.len() != c.hosts.len() {
        let text = format!(
            "The candidate ran on {} hosts, the baseline on {}.",
            c.hosts.len(),
            b.hosts.len()
        );
        say(DifferenceKind::Hosts, false, text);
    } else if b.hosts != c.hosts {
        let before: BTreeSet<&String> = b.hosts.iter().collect();
        let others = c.hosts.iter().filter(|h| !before.contains(h)).count();
        let text = format!(
            "{others} of the candidate's {} hosts aren't the baseline's.",
            c.hosts.len()
        );
        say(DifferenceKind::HostNames, false, text);
    }
    let collectives = |job: &Job| job.communicators.iter().map(|x| x.collectives).sum::<u64>();
    let (nb, nc) = (collectives(baseline), collectives(candidate));
    for (which, few, many) in [("candidate", nc, nb), ("baseline", nb, nc)] {
        if (few as f64) < SHORT * many as f64 {
            let text = format!("The {which} is short: {few} collectives against {many}.");
            say(DifferenceKind::Partial, false, text);
        }
    }
    out.sort_by_key(|d| !d.blocks);
    out
}

/// Whether two are one run, read twice: copied, or a slip in a script. Processes of two runs have different ids or times.
pub(crate) fn same_run(a: &Job, b: &Job) -> bool {
    let processes = |job: &Job| {
        let named = job.processes.iter().map(|p| (p.host.clone(), p.pid));
        named.collect::<BTreeSet<_>>()
    };
    a.overview.span.is_some()
        && a.overview.span == b.overview.span
        && a.inputs.records == b.inputs.records
        && processes(a) == processes(b)
}

fn partial(which: &str, job: &Job, say: &mut impl FnMut(DifferenceKind, bool, String)) {
    let missing = job
        .overview
        .ranks_expected
        .unwrap_or(0)
        .saturating_sub(job.overview.ranks);
    if missing > 0 {
        let all = job.overview.ranks + missing;
        say(
            DifferenceKind::Partial,
            true,
            format!("{missing} of the {which}'s {all} ranks left no records."),
        );
    }
    if job
        .findings
        .iter()
        .any(|f| f.kind == FindingKind::TooLittleData && f.severity >= Severity::Warning)
    {
        say(
            DifferenceKind::Partial,
            true,
            format!("The {which} holds too little data to say anything."),
        );
    }
    let rejected = job.inputs.rejected.lines as f64 / job.inputs.lines.max(1) as f64;
    if rejected > REJECTED {
        say(
            DifferenceKind::Partial,
            true,
            format!(
                "{:.0} % of the {which}'s lines couldn't be read.",
                100.0 * rejected
            ),
        );
    }
    let damaged = job.inputs.files_damaged.len();
    if damaged > 0 {
        let text = format!(
            "{damaged} of the {which}'s {} files could be read only in part.",
            job.inputs.files
        );
        say(DifferenceKind::Partial, true, text);
    }
}

fn loss_difference(
    baseline: &Job,
    candidate: &Job,
    say: &mut impl FnMut(DifferenceKind, bool, String),
) {
    let (b, c) = (
        loss(baseline).unwrap_or(0.0),
        loss(candidate).unwrap_or(0.0),
    );
    let (ub, uc) = (unseen(baseline), unseen(candidate));
    let differs = loss_differs(baseline, candidate);
    if baseline.overview.sampled != candidate.overview.sampled {
        let which = if candidate.overview.sampled {
            "candidate"
        } else {
            "baseline"
        };
        say(
            DifferenceKind::Loss,
            true,
            format!(
                "The {which}'s dumps are a sample (the latest collective of each dump), the other's are whole."
            ),
        );
    } else if (b - c).abs() > LOSS_NOTED {
        let text = format!(
            "The candidate lost {:.1} % of its records, the baseline {:.1} %.",
            100.0 * c,
            100.0 * b
        );
        say(DifferenceKind::Loss, differs, text);
    } else if (ub - uc).abs() > LOSS_NOTED {
        let text = format!(
            "Of {:.1} % of the candidate's collectives no rank has a record, of the baseline's {:.1} %.",
            100.0 * uc,
            100.0 * ub
        );
        say(DifferenceKind::Loss, differs, text);
    }
}

const fn timing(source: TimingSource) -> &'static str {
    match source {
        TimingSource::KernelGpu => "the GPU",
        TimingSource::Cpu => "the CPU",
        TimingSource::Unknown => "an unknown clock",
    }
}
