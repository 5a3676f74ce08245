//! The traces' part of a report: what they hold, the retransmits that slow collectives down, and the causes of what the dumps accuse.

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_ingest::{Dataset, Table};
use serde_json::{Value, json};

use super::activity::{self, Activity, Cause, Wanted};
use super::causes::{self, Verdict};
use super::clocks;
use super::late_windows::{LateWindows, late_windows};
use super::over_time::over_time;
use super::pictures;
use super::retransmit::{self, HostWindows, Retransmits};
use super::slow_calls::{self, Found};
use super::store::HostTraces;
use super::stretches::Stretch;
use super::transfers;
use crate::cause::words;
use crate::facts::{Finding, HostCause, HostTimeline, KnownBy, TraceHost, Traces, WindowSource};
use crate::measured::Measured;
use crate::records::traces;
use crate::units::ExecTime;
use crate::{Error, Options};

/// Late ranks and hosts whose causes are looked for: those with the largest impact.
const MOST_SUSPECTS: usize = 16;

/// Pictures drawn.
const MOST_PICTURES: usize = 8;

/// Windows that fill more of the time than this can't tell anything from chance.
const FILLED: f64 = 0.5;

/// Hosts named in a note.
const NAMED: usize = 4;

/// Whom a finding accuses of being late.
#[derive(Debug, Clone)]
pub(crate) struct Suspect {
    /// The finding's id.
    pub(crate) finding: String,
    pub(crate) of: SuspectOf,
}

/// A rank in the communicator in which it shows most, or a host.
#[derive(Debug, Clone)]
pub(crate) enum SuspectOf {
    Rank {
        process: usize,
        comm: usize,
        member: usize,
    },
    Host {
        host: String,
        comms: BTreeSet<usize>,
    },
}

/// What the traces say before anybody is accused.
pub(crate) struct Examined {
    all: HostTraces,
    found: Found,
    windows: BTreeMap<String, HostWindows>,
    ahead: BTreeMap<String, i64>,
    /// Hosts whose retransmits slow collectives down.
    pub(crate) retransmits: Vec<Retransmits>,
}

/// Reads the traces; `None` where the dataset holds none.
pub(crate) fn examine(
    dataset: &Dataset,
    m: &Measured,
    options: &Options,
) -> Result<Option<Examined>, Error> {
    let Some(all) = HostTraces::of(dataset, m, options)? else {
        return Ok(None);
    };
    let found = slow_calls::slow_calls(&all, options.slow)?;
    let ahead = clocks::ahead(dataset, m, &all)?;
    let any_retransmits = all.hosts().any(|host| !all.retransmits(host).is_empty());
    let of_dumps = if any_retransmits {
        transfers::windows(dataset, m, options.max_rows)?
    } else {
        BTreeMap::new()
    };
    let mut windows = BTreeMap::new();
    for host in all.hosts() {
        let dumps = of_dumps
            .get(host)
            .map(|w| w.later(ahead.get(host).copied().unwrap_or(0)));
        let calls = found.windows.get(host).cloned();
        let says = |w: &HostWindows| !w.slow.is_empty();
        // Kernels are the transfer itself; a call may return before it begins; a dump says only about when.
        let chosen = match (dumps, calls) {
            (Some(d), _) if says(&d) && d.source == WindowSource::Kernels => Some(d),
            (_, Some(c)) if says(&c) => Some(c),
            (Some(d), _) => Some(d),
            (None, calls) => calls,
        };
        windows.extend(chosen.map(|w| (host.to_owned(), w)));
    }
    let retransmits = retransmit::retransmits(&all, &windows);
    Ok(Some(Examined {
        all,
        found,
        windows,
        ahead,
        retransmits,
    }))
}

impl Examined {
    /// Time in calls that the traces saw, µs: what a loss is compared with where there are no dumps.
    pub(crate) fn call_micros(&self) -> f64 {
        self.found.call_micros
    }
}

/// Looks for the causes of what is accused, puts them into the findings, and says what the traces hold.
pub(crate) fn explain(
    dataset: &Dataset,
    m: &Measured,
    options: &Options,
    examined: Examined,
    findings: &mut [Finding],
    suspects: Vec<Suspect>,
) -> Result<Traces, Error> {
    let Examined {
        all,
        mut found,
        windows,
        ahead,
        retransmits,
    } = examined;
    let mut out = Traces::default();
    let looked = look(dataset, m, options, &all, &ahead, suspects)?;
    let names = process_names(&all)?;
    for one in &looked {
        let finding = findings.iter_mut().find(|f| f.id == one.finding);
        if let Some(finding) = finding {
            name_cause(finding, one, &names);
        }
        out.causes.extend(one.verdicts.iter().map(|v| one.facts(v)));
        if out.timelines.len() < MOST_PICTURES {
            let ahead = one.ahead;
            out.timelines.extend(pictures::of_suspect(
                m,
                &all,
                &one.finding,
                &one.host,
                &one.late,
                &one.activity,
                ahead,
            ));
        }
    }
    out.timelines
        .extend(pictures_of_retransmits(&all, &retransmits, &windows));
    out.timelines.truncate(MOST_PICTURES);

    if found.slow.calls == 0 {
        for (host, of_host) in &windows {
            found.slow.windows = found.slow.windows.max(of_host.source);
            let list = found.asked.entry(host.clone()).or_default();
            list.extend(of_host.slow.iter().map(|s| s.window));
        }
    }
    slow_calls::coincidences(&all, &found.asked, &mut found.slow);
    out.slow = found.slow;
    out.over_time = over_time(&all, &windows);
    out.files = all.files.iter().map(|file| file.whose.facts()).collect();
    out.hosts = hosts(&all, &ahead);
    out.notes = notes(m, &all, &windows, &ahead, &out);
    Ok(out)
}

/// A suspect, and what was found of it.
struct Looked {
    finding: String,
    host: String,
    /// `None` for the host as a whole.
    pid: Option<i64>,
    late: LateWindows,
    activity: Activity,
    verdicts: Vec<Verdict>,
    peers: usize,
    /// The host's traces' clock against the mean of the hosts', ns.
    ahead: i64,
}

impl Looked {
    fn facts(&self, v: &Verdict) -> HostCause {
        let time = |ns: f64| ExecTime::from_micros(ns / 1e3);
        HostCause {
            finding: self.finding.clone(),
            cause: v.cause.as_str().to_owned(),
            host: self.host.clone(),
            pid: self.pid.filter(|_| v.cause.of_process()),
            windows: time(self.late.windows.total() as f64),
            coarse: self.late.coarse,
            inside: v.cause.takes_time().then(|| time(v.time as f64)),
            events_inside: v.events_inside,
            events: v.events,
            share_inside: v.inside,
            share_outside: v.outside,
            share_of_peers: v.of_peers,
            explains: v.explains,
            chance: v.chance,
            named: v.named,
        }
    }
}

fn look(
    dataset: &Dataset,
    m: &Measured,
    options: &Options,
    all: &HostTraces,
    ahead: &BTreeMap<String, i64>,
    suspects: Vec<Suspect>,
) -> Result<Vec<Looked>, Error> {
    let has_events = |host: &str| all.counts.get(host).is_some_and(|c| c.events > 0);
    let mut looked = Vec::new();
    let mut wanted = Vec::new();
    for suspect in suspects {
        let (host, comm, members, processes, pid) = match suspect.of {
            SuspectOf::Rank {
                process,
                comm,
                member,
            } => {
                let p = &m.topology.processes[process];
                let members: BTreeSet<u32> = u32::try_from(member).into_iter().collect();
                (p.host.clone(), comm, members, vec![process], Some(p.pid))
            }
            SuspectOf::Host { host, comms } => {
                let Some((comm, members)) = most_shared(m, &host, &comms) else {
                    continue;
                };
                let processes = (0..m.topology.processes.len())
                    .filter(|&p| m.topology.processes[p].host == host)
                    .collect();
                (host, comm, members, processes, None)
            }
        };
        if looked.len() == MOST_SUSPECTS || !has_events(&host) {
            continue;
        }
        let Some(late) = late_windows(dataset, m, comm, &members, options.max_rows)? else {
            continue;
        };
        let clock = processes.first().map_or(0.0, |&p| m.clock[p]);
        wanted.push(Wanted {
            host: host.clone(),
            processes: processes.into_iter().map(|p| first_of_pid(m, p)).collect(),
            windows: late.windows.clone(),
        });
        looked.push(Looked {
            finding: suspect.finding,
            ahead: ahead.get(&host).copied().unwrap_or(0) + clock as i64 * 1000,
            host,
            pid,
            late,
            activity: Activity::default(),
            verdicts: Vec::new(),
            peers: 0,
        });
    }
    let spans = spans(all)?;
    for ((one, activity), w) in looked
        .iter_mut()
        .zip(activity::activities(m, all, ahead, &wanted)?)
        .zip(&wanted)
    {
        let span = common(m, spans.get(&one.host).copied(), one.ahead);
        one.peers = activity.peers.get(&Cause::OffCpu).map_or(0, BTreeMap::len);
        one.verdicts = causes::judge(&one.late, &activity, span, w.processes.len());
        one.activity = activity;
    }
    Ok(looked)
}

/// Of several GPUs that one process drives, the entry that stands for it.
fn first_of_pid(m: &Measured, process: usize) -> usize {
    let of = |p: usize| (&m.topology.processes[p].host, m.topology.processes[p].pid);
    (0..process)
        .find(|&p| of(p) == of(process))
        .unwrap_or(process)
}

/// The communicator in which a host meets most ranks of others, and the host's members of it.
fn most_shared(
    m: &Measured,
    host: &str,
    comms: &BTreeSet<usize>,
) -> Option<(usize, BTreeSet<u32>)> {
    let members = |c: usize| -> BTreeSet<u32> {
        (0_u32..)
            .zip(&m.topology.comms[c].members)
            .filter(|(_, x)| m.topology.processes[x.1.0 as usize].host == host)
            .map(|(i, _)| i)
            .collect()
    };
    comms
        .iter()
        .map(|&c| (c, members(c)))
        .filter(|(c, of)| !of.is_empty() && of.len() < m.topology.comms[*c].members.len())
        .max_by_key(|(c, of)| {
            (
                m.topology.comms[*c].members.len() - of.len(),
                std::cmp::Reverse(*c),
            )
        })
}

/// When the traces of each host were taken, ns by its clock: from the first to the last session and stamp.
fn spans(all: &HostTraces) -> Result<BTreeMap<String, Stretch>, Error> {
    let mut spans: BTreeMap<String, Stretch> = BTreeMap::new();
    let mut add = |host: &str, from: i64, to: i64| {
        let span = spans.entry(host.to_owned()).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
    };
    for trace in &all.files {
        if let Some((first, last)) = trace.whose.span_ns() {
            for host in trace.whose.facts().hosts {
                add(&host, first, last);
            }
        }
        if let Some(path) = trace.table(Table::Sessions) {
            traces::sessions(path, |host, started, stopped| {
                if let Some(host) = trace.whose.host(host) {
                    add(host, started, stopped.unwrap_or(started));
                }
            })?;
        }
    }
    Ok(spans)
}

/// The time that dumps and traces have in common, ns by the mean of the hosts' clocks.
fn common(m: &Measured, traced: Option<Stretch>, ahead: i64) -> Stretch {
    let interval = m.dump_interval.unwrap_or(0.0) as i64;
    let Some((first, last)) = m.topology.span() else {
        return (0, 0);
    };
    let dumps = (
        (first.as_unix_micros() - interval).saturating_mul(1000),
        last.as_unix_micros().saturating_mul(1000),
    );
    match traced {
        None => dumps,
        Some((from, to)) => (dumps.0.max(from - ahead), dumps.1.min(to - ahead)),
    }
}

fn process_names(all: &HostTraces) -> Result<BTreeMap<(String, i64), String>, Error> {
    let mut names = BTreeMap::new();
    for trace in &all.files {
        if let Some(path) = trace.table(Table::ProcessNames) {
            traces::process_names(path, |host, pid, name| {
                if let (Some(host), Some(name)) = (trace.whose.host(host), name) {
                    names.insert((host.to_owned(), pid), name.to_owned());
                }
            })?;
        }
    }
    Ok(names)
}

/// Puts the strongest cause into the finding: a sentence, and the numbers behind it.
fn name_cause(finding: &mut Finding, one: &Looked, names: &BTreeMap<(String, i64), String>) {
    let named = one.verdicts.iter().filter(|v| v.named);
    let Some(v) = named.max_by(|a, b| {
        let explains = |v: &Verdict| v.explains.unwrap_or(0.0);
        // What is as likely: the first of the list.
        explains(a)
            .total_cmp(&explains(b))
            .then(b.cause.cmp(&a.cause))
    }) else {
        return;
    };
    let (sentence, advice) = words_of(one, v, names);
    finding.summary.push_str(&sentence);
    finding.advice = format!("{advice} {}", finding.advice);
    let number = |x: f64| json!((x * 1e3).round() / 1e3);
    let optional = |x: Option<f64>| x.map_or(Value::Null, number);
    let seconds = one.late.windows.total() as f64 / 1e9;
    let mut add = |key: &str, value: Value| finding.evidence.insert(key.to_owned(), value);
    add("host_cause", json!(v.cause.as_str()));
    if v.cause.takes_time() {
        add("host_cause_us", number(v.time as f64 / 1e3));
        add(
            "host_cause_us_of_the_median_peer",
            optional(v.of_peers.map(|p| p * seconds * 1e6)),
        );
        add("host_cause_part_of_the_lateness", optional(v.explains));
        add("host_cause_share_of_late_times", number(v.inside));
        add("host_cause_share_of_other_times", optional(v.outside));
    } else {
        add("host_cause_events", json!(v.events_inside));
        add("host_cause_events_in_all", json!(v.events));
    }
    add(
        "host_cause_chance_of_coincidence",
        v.chance.map_or(Value::Null, |p| json!(p)),
    );
    add(
        "late_times_us",
        number(one.late.windows.total() as f64 / 1e3),
    );
    add(
        "late_times",
        json!(if one.late.coarse {
            "to a dump interval"
        } else {
            "exact"
        }),
    );
}

fn words_of(
    one: &Looked,
    v: &Verdict,
    names: &BTreeMap<(String, i64), String>,
) -> (String, String) {
    let micros = |ns: f64| words::duration(ns / 1e3);
    let total = one.late.windows.total() as f64;
    let coarse = if one.late.coarse {
        " (which the dumps tell to an interval only)"
    } else {
        ""
    };
    let whose = if one.pid.is_some() {
        "Its process was"
    } else {
        "Its processes were"
    };
    let peers = |unit: &dyn Fn(f64) -> String| match v.of_peers {
        Some(p) => format!(", its peers {} (median)", unit(p)),
        None => String::new(),
    };
    let time = |p: f64| micros(p * total);
    let each = v.inside * total;
    match v.cause {
        Cause::OffCpu => {
            let before = one.activity.ran_before.iter().max_by_key(|(pid, ns)| (**ns, std::cmp::Reverse(**pid)));
            let before = before.map(|(pid, _)| match names.get(&(one.host.clone(), *pid)) {
                Some(name) => format!("{name} (pid {pid})"),
                None => format!("pid {pid}"),
            });
            let ran = before.as_ref().map_or_else(String::new, |b| format!("; {b} had it before most often"));
            (
                format!(" {whose} off the CPU for {} in the times in which it was late{coarse}{}{ran}.", micros(each), peers(&time)),
                match before {
                    Some(b) => format!("See what {b} does on {}, and pin the rank to cores of its own.", one.host),
                    None => format!("See what else runs on the cores of this process on {}, and pin the rank to cores of its own.", one.host),
                },
            )
        }
        Cause::CudaSync => (
            format!(" {whose} waiting for the GPU for {} of the times in which it was late{coarse}{}.", micros(each), peers(&time)),
            "The host kept up: it is the GPU that takes longer.".to_owned(),
        ),
        Cause::BlockIo => (
            format!(" Disk requests of {} took {} in the times in which it was late{coarse}{}.", one.host, micros(each), peers(&time).replace("its peers", "other hosts")),
            format!("See what reads and writes on {} then: checkpoints, the input, logs, swap.", one.host),
        ),
        Cause::PageAlloc => (
            format!(" {whose} given memory {} times ({}) in the times in which it was late{coarse}{}.", v.events_inside, bytes(one.activity.bytes), peers(&|p| format!("{} times", words::three(p * total / 1e9)))),
            "Allocations in the middle of a step: keep buffers, pin memory once, look at the data loader.".to_owned(),
        ),
        Cause::OomKill => (
            format!(" The kernel killed a process on {} for want of memory {} times in the times in which it was late{coarse}, {} times in all.", one.host, v.events_inside, v.events),
            format!("{} runs out of memory: see dmesg for who was killed and who used it.", one.host),
        ),
        Cause::ProcessExit => (
            format!(" Processes ended on {} {} times in the times in which it was late{coarse}, {} times in all.", one.host, v.events_inside, v.events),
            format!("See which processes come and go on {}: data loader workers that restart, cron jobs.", one.host),
        ),
    }
}

fn bytes(n: u64) -> String {
    match n as f64 {
        b if b < 1e6 => format!("{} kB", words::three(b / 1e3)),
        b if b < 1e9 => format!("{} MB", words::three(b / 1e6)),
        b => format!("{} GB", words::three(b / 1e9)),
    }
}

fn pictures_of_retransmits(
    all: &HostTraces,
    found: &[Retransmits],
    windows: &BTreeMap<String, HostWindows>,
) -> Vec<HostTimeline> {
    let mut out = Vec::new();
    for one in found {
        let id = format!("tcp_retransmits:{}", one.host);
        let windows = windows.get(&one.host);
        out.extend(windows.and_then(|w| pictures::of_retransmits(all, &id, one, w)));
    }
    out
}

fn hosts(all: &HostTraces, ahead: &BTreeMap<String, i64>) -> Vec<TraceHost> {
    all.counts
        .iter()
        .map(|(host, counts)| TraceHost {
            host: host.clone(),
            in_dumps: all.dump_hosts.contains(host),
            events: counts.events,
            events_counted: counts.counted,
            calls: counts.calls,
            retransmits: all.retransmits(host).len() as u64,
            clock_ahead: ahead
                .get(host)
                .map(|&ns| ExecTime::from_micros(ns as f64 / 1e3)),
        })
        .collect()
}

/// What can't be said, and why.
fn notes(
    m: &Measured,
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
    ahead: &BTreeMap<String, i64>,
    out: &Traces,
) -> Vec<String> {
    let mut notes = all.notes.clone();
    if all.dump_hosts.is_empty() {
        notes.push("There is no Inspector dump beside the traces: who was late, and how fast transfers were, can't be said.".to_owned());
    }
    let list = |hosts: Vec<&str>| {
        let named: Vec<String> = hosts.iter().take(NAMED).map(|h| (*h).to_owned()).collect();
        let more = hosts.len().saturating_sub(NAMED);
        if more > 0 {
            format!("{} and {more} more", named.join(", "))
        } else {
            named.join(", ")
        }
    };
    let untraced: Vec<&str> = all
        .dump_hosts
        .iter()
        .map(String::as_str)
        .filter(|h| !all.counts.contains_key(*h))
        .collect();
    if !untraced.is_empty() && untraced.len() < all.dump_hosts.len() {
        notes.push(format!(
            "No trace is of {}: nothing can be said of what happened there.",
            list(untraced)
        ));
    }
    let foreign: Vec<&str> = all
        .hosts()
        .filter(|h| !all.dump_hosts.contains(*h))
        .collect();
    if !foreign.is_empty() && !all.dump_hosts.is_empty() {
        notes.push(format!("Traces of {} are of no host of the dumps. --trace HOST=FILE says which host a trace is of.", list(foreign)));
    }
    let unknown: Vec<&str> = all
        .hosts()
        .filter(|h| all.dump_hosts.contains(*h) && !ahead.contains_key(*h))
        .collect();
    if !unknown.is_empty() {
        notes.push(format!("Nothing tells how the clock of the traces of {} stands to that of its dumps; they are taken to be the same.", list(unknown)));
    }
    let apart: Vec<&str> = out
        .files
        .iter()
        .filter(|f| f.known_by != KnownBy::Unknown)
        .filter(|f| {
            let job = m.topology.span();
            f.span
                .zip(job)
                .is_some_and(|(trace, job)| trace.1 < job.0 || trace.0 > job.1)
        })
        .map(|f| f.path.as_str())
        .collect();
    if !apart.is_empty() {
        notes.push(format!(
            "{} lie at another time than the dumps: nothing in them can be joined.",
            list(apart)
        ));
    }
    let filled: Vec<&str> = windows
        .iter()
        .filter(|(host, w)| {
            let length = (w.span.1.saturating_sub(w.span.0)).max(1) as f64;
            w.source == WindowSource::Dumps
                && w.stretches().within(w.span).total() as f64 > FILLED * length
                && !all.retransmits(host).is_empty()
        })
        .map(|(host, _)| host.as_str())
        .collect();
    if !filled.is_empty() {
        notes.push(format!("On {} slow transfers may have run in most of the time, as far as the dumps tell: retransmits can't be told from chance there. Verbose dumps (NCCL_INSPECTOR_DUMP_VERBOSE=1) or a shorter interval would.", list(filled)));
    }
    notes
}
