//! What the data itself lacks.

use nccl_report_ingest::Inputs;
use serde_json::{Map, Value, json};

use super::{lost, words};
use crate::communicator::Comm;
use crate::facts::{Finding, FindingKind, Impact, Severity, Subject, TimingSource};
use crate::measured::Measured;
use crate::units::ExecTime;

/// Under this share of lines without a record, whoever reads the report needn't care.
const REJECTED: f64 = 0.01;

/// Clocks that differ by more than this confuse whoever lines up logs of two hosts, and by more than an interval the dumps.
const SKEW_MICROS: f64 = 50_000.0;

/// With fewer collectives that have all ranks, in no communicator can lateness be told from transfer.
const LEAST_COLLECTIVES: u64 = 20;

pub(super) fn finding(
    kind: FindingKind,
    severity: Severity,
    who: &str,
    summary: String,
    advice: &str,
    evidence: Vec<(&str, Value)>,
) -> Finding {
    Finding {
        id: if who.is_empty() {
            kind.as_str().to_owned()
        } else {
            format!("{}:{who}", kind.as_str())
        },
        kind,
        severity,
        confidence: 1.0,
        summary,
        advice: advice.to_owned(),
        subjects: Vec::new(),
        candidates_only: false,
        scope: None,
        communicators: Vec::new(),
        window: None,
        impact: Impact {
            time_lost: ExecTime::from_micros(0.0),
            share_of_collective_time: 0.0,
        },
        evidence: evidence
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v))
            .collect::<Map<_, _>>(),
    }
}

/// Every finding about the data.
pub(crate) fn findings(m: &Measured, inputs: &Inputs) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(mixed_runs(m));
    out.extend(missing_ranks(m));
    let sampled = crate::assemble::sampled(m);
    if sampled {
        out.push(finding(
            FindingKind::SampledDump,
            Severity::Info,
            "",
            "The dumps are a sample: this NCCL (2.28 or 2.29) keeps only the latest collective of each communicator between two dumps, so rare events can be missing.".into(),
            "Use NCCL 2.30 or later for complete records; until then NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500 (500000 up to 2.29.3, which sleep for a thousandth of it) keeps most.",
            vec![("dump_interval_us", json!(m.dump_interval))],
        ));
    } else {
        out.extend(lost::lost_records(m, inputs.rejected.lines));
    }
    out.extend(clock_skew(m));
    out.extend(timing(m));
    out.extend(unreadable(inputs));
    if m.census.mismatches > 0 {
        out.push(finding(
            FindingKind::BandwidthMismatch,
            Severity::Info,
            "",
            format!(
                "{} a bus bandwidth that their size and time don't give; statistics use what is written.",
                words::counted(m.census.mismatches, "record states", "records state")
            ),
            "Compare the plugin's version and its formulas; sizes of 8-bit types and of grouped operations are known to be wrong in some.",
            vec![("records", json!(m.census.mismatches))],
        ));
    }
    out.extend(too_little(m, inputs));
    out
}

fn mixed_runs(m: &Measured) -> Option<Finding> {
    let n = m.topology.runs.len();
    (n > 1).then(|| {
        finding(
            FindingKind::MixedJobs,
            Severity::Info,
            "",
            format!("The input holds dumps of {n} runs that share no communicator; they are analysed apart, and statistics of groups cover all of them."),
            "Give the folder of one run, or move the files of the others away, to look at one alone.",
            vec![("runs", json!(m.topology.runs.iter().map(|r| json!({"start_us": r.start, "end_us": r.end, "ranks": r.ranks, "hosts": r.hosts.len()})).collect::<Vec<_>>()))],
        )
    })
}

fn missing_ranks(m: &Measured) -> Option<Finding> {
    let mut lacking: Vec<(&Comm, Vec<u32>)> = Vec::new();
    for c in m
        .topology
        .comms
        .iter()
        .filter(|c| c.n_ranks as usize > c.members.len())
    {
        let seen: std::collections::BTreeSet<u32> = c.members.iter().map(|x| x.0).collect();
        lacking.push((
            c,
            (0..c.n_ranks)
                .filter(|r| !seen.contains(r))
                .take(64)
                .collect(),
        ));
    }
    let (widest, ranks) = lacking
        .iter()
        .max_by_key(|(c, _)| (c.n_ranks, std::cmp::Reverse(&c.id)))?;
    let missing = widest.n_ranks as usize - widest.members.len();
    let names: Vec<String> = ranks.iter().take(8).map(u32::to_string).collect();
    let mut f = finding(
        FindingKind::MissingRanks,
        Severity::Info,
        "",
        format!(
            "{missing} of {} of {} left no records ({} {}{}). Whether they were late can't be told, and links of their communicators get no verdict.",
            words::counted(u64::from(widest.n_ranks), "rank", "ranks"),
            words::name(widest.name.as_deref().unwrap_or(&widest.id)),
            if missing == 1 { "rank" } else { "ranks" },
            names.join(", "),
            if missing > names.len() { ", …" } else { "" }
        ),
        "Look for their files: a host whose dump folder isn't shared, a process that died, a full disk.",
        vec![
            ("communicator", json!(widest.id)),
            ("missing", json!(missing)),
            ("ranks", json!(ranks)),
            ("communicators_lacking_ranks", json!(lacking.len())),
        ],
    );
    f.communicators = lacking.iter().map(|(c, _)| c.id.clone()).collect();
    Some(f)
}

/// How much each host's clock is ahead of the mean of all, µs.
pub(crate) fn clock_offsets(m: &Measured) -> std::collections::BTreeMap<String, f64> {
    m.topology
        .processes
        .iter()
        .zip(&m.clock)
        .map(|(p, &o)| (p.host.clone(), o))
        .collect()
}

fn clock_skew(m: &Measured) -> Option<Finding> {
    let offsets = clock_offsets(m);
    let (ahead, most) = offsets.iter().max_by(|a, b| a.1.total_cmp(b.1))?;
    let (behind, least) = offsets.iter().min_by(|a, b| a.1.total_cmp(b.1))?;
    // Phases of the dump threads differ by up to an interval, so less than one can't be told from no difference.
    let (limit, about, to) = if m.clock_of_kernels {
        let from = "the difference is taken out";
        (
            SKEW_MICROS,
            "",
            format!("{from}, as their kernels stop together"),
        )
    } else {
        let limit = SKEW_MICROS.max(m.dump_interval.unwrap_or(0.0));
        let to = "the difference is taken out, to about a dump interval".to_owned();
        (limit, "about ", to)
    };
    (most - least > limit).then(|| {
        let by_host: std::collections::BTreeMap<_, _> =
            offsets.iter().map(|(h, o)| (h.clone(), o.round())).collect();
        let mut f = finding(
            FindingKind::ClockSkew,
            Severity::Info,
            "",
            format!("Clocks differ: {} is {about}{} ahead of {}. Findings don't rest on clocks; where things of several hosts are shown over time, {to}.", words::name(ahead), words::duration(most - least), words::name(behind)),
            "Let chrony or PTP discipline the clocks of all hosts.",
            vec![
                ("offset_us_by_host", json!(by_host)),
                ("offsets_from", json!(if m.clock_of_kernels { "kernels" } else { "dumps" })),
            ],
        );
        f.subjects = vec![Subject { host: ahead.clone(), pid: None, local_rank: None, global_rank: None }, Subject { host: behind.clone(), pid: None, local_rank: None, global_rank: None }];
        f
    })
}

fn timing(m: &Measured) -> Option<Finding> {
    let what = match m.timing {
        TimingSource::KernelGpu => return None,
        TimingSource::Cpu => {
            "timed by the CPU, which is tens of microseconds off and can't be compared with GPU timing"
        }
        TimingSource::Unknown => "written by a plugin that doesn't say where its times come from",
    };
    Some(finding(
        FindingKind::CpuTiming,
        Severity::Info,
        "",
        format!("All records are {what}."),
        "Use a plugin that times kernels on the GPU (NCCL 2.28.3 or later with kernel events).",
        vec![("timing", json!(m.timing))],
    ))
}

fn unreadable(inputs: &Inputs) -> Option<Finding> {
    let damaged = inputs.files_damaged.len();
    let closed = inputs
        .files_skipped
        .iter()
        .filter(|f| f.is_unreadable())
        .count();
    let share = inputs.rejected.lines as f64 / inputs.lines.max(1) as f64;
    let mut what = Vec::new();
    if inputs.rejected.lines > 0 {
        what.push(format!(
            "{} of {} gave no record",
            words::count(inputs.rejected.lines),
            words::counted(inputs.lines, "line", "lines")
        ));
    }
    let files = |n: usize, rest: &str| {
        let files = words::counted(n as u64, "file", "files");
        (n > 0).then(|| format!("{files} {rest}"))
    };
    what.extend(files(damaged, "could be read in part only"));
    what.extend(files(closed, "couldn't be opened"));
    (damaged + closed > 0 || share > REJECTED).then(|| {
        finding(
            FindingKind::UnreadableInput,
            Severity::Info,
            "",
            format!("{}.", words::list(&what)),
            "The account of the input lists the reasons, with file and line.",
            vec![
                ("rejected", json!(inputs.rejected.by_reason)),
                ("damaged_files", json!(damaged)),
                ("files_not_opened", json!(closed)),
            ],
        )
    })
}

fn too_little(m: &Measured, inputs: &Inputs) -> Option<Finding> {
    let records: u64 = m.census.timings.values().sum();
    const OF_TRACES: [&str; 4] = ["host_event", "nccl_call", "tcp_retransmit", "session"];
    let traced = |kind| inputs.records.get(kind).is_some_and(|&n| n > 0);
    if records == 0 && OF_TRACES.into_iter().any(traced) {
        // Traces alone are an input of their own, and what they tell is told.
        return Some(finding(
            FindingKind::TooLittleData,
            Severity::Info,
            "",
            "No record of an operation is among the inputs: of collectives only what eBPF traces saw can be said.".to_owned(),
            "Give the Inspector's dumps of the job too, if there are any.",
            vec![],
        ));
    }
    let most = m
        .facts
        .iter()
        .zip(&m.topology.comms)
        .filter(|(_, c)| c.n_ranks > 1)
        .map(|(f, _)| f.complete())
        .max()
        .unwrap_or(0);
    let traced = m.traces.iter().any(|t| t.sparse && !t.bins.is_empty());
    (most < LEAST_COLLECTIVES && !traced).then(|| {
        finding(
            FindingKind::TooLittleData,
            // Hardly a record: whoever waits for a verdict must not take silence for health.
            if records < LEAST_COLLECTIVES * m.topology.processes.len().max(1) as u64 { Severity::Warning } else { Severity::Info },
            "",
            format!(
                "Too little data to look for causes: the best recorded communicator has {} with a record of every rank, and {LEAST_COLLECTIVES} are needed.",
                words::counted(most, "collective", "collectives")
            ),
            "Let the job run longer with the Inspector on, and collect the files of all ranks.",
            vec![("collectives_complete", json!(most))],
        )
    })
}
