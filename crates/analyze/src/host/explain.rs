//! The traces' part of a report: what they hold, the retransmits that slow collectives down, and the causes of what the dumps accuse.

use std::collections::{BTreeMap, BTreeSet};

use nccl_report_ingest::{Dataset, Table};

use super::activity::{self, Activity, Wanted};
use super::causes::{self, Verdict};
use super::clocks;
use super::late_windows::{LateWindows, late_windows};
use super::naming;
use super::notes;
use super::over_time::over_time;
use super::pictures;
use super::retransmit::{self, Retransmits};
use super::slow_calls::{self, Found};
use super::slow_spans::HostWindows;
use super::store::HostTraces;
use super::stretches::Stretch;
use super::transfers::{self, Transfers};
use crate::facts::{Finding, HostCause, HostTimeline, TraceHost, Traces, WindowSource};
use crate::measured::Measured;
use crate::records::traces;
use crate::units::ExecTime;
use crate::{Error, Options};

/// Late ranks and hosts whose causes are looked for: those with the largest impact.
const MOST_SUSPECTS: usize = 16;

/// Pictures drawn.
const MOST_PICTURES: usize = 8;

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
    let transfers = if any_retransmits {
        transfers::transfers(dataset, m, options.max_rows)?.later(&ahead)
    } else {
        Transfers::default()
    };
    let of_dumps = &transfers.windows;
    let mut windows = BTreeMap::new();
    for host in all.hosts() {
        let dumps = of_dumps.get(host).cloned();
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
    let retransmits = retransmit::retransmits(&all, &windows, &transfers);
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
            naming::name_cause(finding, one, &names);
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
    out.notes = notes::notes(m, &all, &windows, &ahead, &out);
    Ok(out)
}

/// A suspect, and what was found of it.
pub(super) struct Looked {
    pub(super) finding: String,
    pub(super) host: String,
    /// `None` for the host as a whole.
    pub(super) pid: Option<i64>,
    pub(super) late: LateWindows,
    pub(super) activity: Activity,
    pub(super) verdicts: Vec<Verdict>,
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
        });
    }
    let spans = spans(all)?;
    for ((one, activity), w) in looked
        .iter_mut()
        .zip(activity::activities(m, all, ahead, &wanted)?)
        .zip(&wanted)
    {
        let span = common(m, spans.get(&one.host).copied(), one.ahead);
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

fn pictures_of_retransmits(
    all: &HostTraces,
    found: &[Retransmits],
    windows: &BTreeMap<String, HostWindows>,
) -> Vec<HostTimeline> {
    let mut out = Vec::new();
    for one in found {
        let id = crate::cause::retransmit_words::id(one);
        let windows = windows.get(one.a_sender());
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
