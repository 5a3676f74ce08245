//! What processes and hosts did: the events of the traces, sorted into what may hold a rank up.
//!
//! What each stamp means is the agent's doing: a switch back to a process and the completion of a block request are stamped at their
//! end, a call into CUDA at its start.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nccl_report_ingest::Table;

use super::kept::Kept;
use super::store::HostTraces;
use super::stretches::{Stretch, Stretches};
use crate::Error;
use crate::measured::Measured;
use crate::records::traces::{self, EventRow};

/// Times of one kind kept one by one, over all suspects, and of waits over all processes: 8 MiB. A process is switched out and in a few
/// hundred times a second, so of one suspect this is half an hour in full.
const MOST: usize = 1 << 19;

/// What may hold a rank up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cause {
    /// The process's main thread was off the CPU, and not because it waited for the GPU.
    OffCpu,
    /// The process waited for its GPU.
    CudaSync,
    /// The host's disks were busy.
    BlockIo,
    /// The process was given memory, page by page.
    PageAlloc,
    /// The kernel killed a process of the host for want of memory.
    OomKill,
    /// A process of the host ended.
    ProcessExit,
}

impl Cause {
    /// All of them; of what is as likely the first is named.
    pub(crate) const ALL: [Self; 6] = [
        Self::OffCpu,
        Self::CudaSync,
        Self::BlockIo,
        Self::PageAlloc,
        Self::OomKill,
        Self::ProcessExit,
    ];

    /// The name that the outputs use.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::OffCpu => "off_cpu",
            Self::CudaSync => "cuda_sync",
            Self::BlockIo => "block_io",
            Self::PageAlloc => "page_alloc",
            Self::OomKill => "oom_kill",
            Self::ProcessExit => "process_exit",
        }
    }

    /// Whether its events take time, rather than being moments.
    pub(crate) const fn takes_time(self) -> bool {
        matches!(self, Self::OffCpu | Self::CudaSync | Self::BlockIo)
    }

    /// Whether it is a process's own, rather than the host's.
    pub(crate) const fn of_process(self) -> bool {
        matches!(self, Self::OffCpu | Self::CudaSync | Self::PageAlloc)
    }

    fn of(event: &EventRow<'_>) -> Option<Self> {
        let op = event.op?;
        match op {
            "sched_switch" => Some(Self::OffCpu),
            "mm_page_alloc" => Some(Self::PageAlloc),
            "oom_kill" | "pod_oom_kill" => Some(Self::OomKill),
            "process_exit" => Some(Self::ProcessExit),
            _ if op.starts_with("block_") => Some(Self::BlockIo),
            _ if op.starts_with("cu") && op.contains("Sync") => Some(Self::CudaSync),
            _ => None,
        }
    }

    /// When it happened, by the stamp.
    fn when(self, event: &EventRow<'_>) -> Stretch {
        match self {
            Self::OffCpu | Self::BlockIo => (event.at.saturating_sub(event.length), event.at),
            Self::CudaSync => (event.at, event.at.saturating_add(event.length)),
            Self::PageAlloc | Self::OomKill | Self::ProcessExit => (event.at, event.at),
        }
    }
}

/// Whose activity is wanted in full, and in which times that of all others.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) host: String,
    /// Processes, by index.
    pub(crate) processes: BTreeSet<usize>,
    /// By the mean of the hosts' clocks, ns.
    pub(crate) windows: Stretches,
}

/// Of someone else, in the windows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct InWindows {
    /// Time, ns.
    pub(crate) time: i64,
    pub(crate) events: u64,
}

/// What someone did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity {
    /// When, by the mean of the hosts' clocks, ns; of moments both ends are the same.
    pub(crate) own: BTreeMap<Cause, Kept>,
    /// Bytes of pages given in the windows.
    pub(crate) bytes: u64,
    /// In the same windows, by process index: those on hosts with traces.
    pub(crate) peers: BTreeMap<Cause, BTreeMap<usize, InWindows>>,
    /// In the same windows, other hosts with traces.
    pub(crate) other_hosts: BTreeMap<Cause, BTreeMap<String, InWindows>>,
    /// Who had the CPU when the process came back to it, with the time that it had been off, ns.
    pub(crate) ran_before: BTreeMap<i64, i64>,
}

/// Reads the events of every trace twice: first the waiting for GPUs, which explains being off the CPU, then the rest.
pub(crate) fn activities(
    m: &Measured,
    all: &HostTraces,
    ahead: &BTreeMap<String, i64>,
    wanted: &[Wanted],
) -> Result<Vec<Activity>, Error> {
    let mut out = vec![Activity::default(); wanted.len()];
    if wanted.is_empty() {
        return Ok(out);
    }
    let reader = Reader::of(m, all, ahead);
    // Everybody on a host with traces is a peer, also one to whom nothing happened.
    for (activity, w) in out.iter_mut().zip(wanted) {
        for cause in Cause::ALL {
            let peers = activity.peers.entry(cause).or_default();
            for &p in reader.processes.difference(&w.processes) {
                peers.insert(p, InWindows::default());
            }
            let hosts = activity.other_hosts.entry(cause).or_default();
            for host in reader.shift.keys().filter(|h| **h != w.host) {
                hosts.insert(host.clone(), InWindows::default());
            }
        }
    }
    // Waiting for the GPU: of suspects all of it, of others what lies in some window.
    let mut waits: BTreeMap<usize, Kept> = BTreeMap::new();
    let most_waits = MOST / reader.processes.len().max(1);
    let suspects: BTreeSet<usize> = wanted.iter().flat_map(|w| w.processes.clone()).collect();
    reader.each(all, |event, host, process| {
        if Cause::of(event) != Some(Cause::CudaSync) {
            return;
        }
        let (Some(process), Some(shift)) = (process, reader.shift.get(host)) else {
            return;
        };
        let when = moved(Cause::CudaSync.when(event), *shift);
        let matters =
            suspects.contains(&process) || wanted.iter().any(|w| w.windows.overlap(when) > 0);
        if matters {
            let of_process = waits.entry(process);
            of_process
                .or_insert_with(|| Kept::new(most_waits))
                .push(when);
        }
    })?;
    let waits: BTreeMap<usize, Stretches> = waits
        .into_iter()
        .map(|(p, kept)| (p, Stretches::of(kept.all().to_vec())))
        .collect();
    reader.each(all, |event, host, process| {
        let Some(cause) = Cause::of(event) else {
            return;
        };
        let Some(shift) = reader.shift.get(host) else {
            return;
        };
        let when = moved(cause.when(event), *shift);
        // A thread that isn't the main one sleeps for its own reasons.
        let other_thread =
            cause == Cause::OffCpu && event.tid.is_some_and(|tid| event.pid != Some(tid));
        if other_thread {
            return;
        }
        let parts = match (cause, process.and_then(|p| waits.get(&p))) {
            (Cause::OffCpu, Some(waits)) => waits.without(when),
            _ => vec![when],
        };
        for (activity, w) in out.iter_mut().zip(wanted) {
            let own = if cause.of_process() {
                match process {
                    Some(p) => w.processes.contains(&p),
                    None => continue,
                }
            } else {
                w.host == host
            };
            if own {
                activity.add_own(cause, event, &parts, w, MOST / wanted.len());
            } else {
                activity.add_other(cause, host, process, &parts, w);
            }
        }
    })?;
    Ok(out)
}

impl Activity {
    fn add_own(
        &mut self,
        cause: Cause,
        event: &EventRow<'_>,
        parts: &[Stretch],
        w: &Wanted,
        most: usize,
    ) {
        let own = self.own.entry(cause).or_insert_with(|| Kept::new(most));
        parts.iter().for_each(|part| own.push(*part));
        let inside: i64 = parts.iter().map(|p| w.windows.overlap(*p)).sum();
        if cause == Cause::OffCpu
            && inside > 0
            && let Some(before) = event.arg1.filter(|&pid| pid > 0 && Some(pid) != event.pid)
        {
            *self.ran_before.entry(before).or_default() += inside;
        }
        if cause == Cause::PageAlloc && w.windows.holds(parts.first().map_or(0, |p| p.0)) {
            let bytes = u64::try_from(event.arg0.unwrap_or(0)).unwrap_or(0);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    fn add_other(
        &mut self,
        cause: Cause,
        host: &str,
        process: Option<usize>,
        parts: &[Stretch],
        w: &Wanted,
    ) {
        let sum = if cause.of_process() {
            process.and_then(|p| self.peers.get_mut(&cause)?.get_mut(&p))
        } else {
            self.other_hosts
                .get_mut(&cause)
                .and_then(|of| of.get_mut(host))
        };
        let Some(sum) = sum else {
            return;
        };
        for part in parts {
            sum.time = sum.time.saturating_add(w.windows.overlap(*part));
            sum.events += u64::from(w.windows.holds(part.1));
        }
    }
}

/// Finds out whose an event is, and puts its time on the common clock.
struct Reader {
    process_of: HashMap<(String, i64), usize>,
    processes: BTreeSet<usize>,
    /// To be added to a stamp of a host's trace.
    shift: BTreeMap<String, i64>,
}

impl Reader {
    fn of(m: &Measured, all: &HostTraces, ahead: &BTreeMap<String, i64>) -> Self {
        let traced: BTreeSet<&str> = all
            .counts
            .iter()
            .filter(|(_, counts)| counts.events > 0)
            .map(|(host, _)| host.as_str())
            .collect();
        let mut reader = Self {
            process_of: HashMap::new(),
            processes: BTreeSet::new(),
            shift: BTreeMap::new(),
        };
        for (p, process) in m.topology.processes.iter().enumerate() {
            if !traced.contains(process.host.as_str()) {
                continue;
            }
            // Of several GPUs of one process the first stands for it.
            let first = *reader
                .process_of
                .entry((process.host.clone(), process.pid))
                .or_insert(p);
            reader.processes.insert(first);
            let of_trace = ahead.get(&process.host).copied().unwrap_or(0);
            let of_host = m.clock[p] as i64 * 1000;
            reader
                .shift
                .insert(process.host.clone(), -of_trace - of_host);
        }
        reader
    }

    fn each(
        &self,
        all: &HostTraces,
        mut visit: impl FnMut(&EventRow<'_>, &str, Option<usize>),
    ) -> Result<(), Error> {
        for trace in &all.files {
            let Some(path) = trace.table(Table::HostEvents) else {
                continue;
            };
            // Neighbours mostly share host and process.
            let mut last: Option<(String, Option<i64>, Option<usize>)> = None;
            traces::events(path, |event| {
                let Some(host) = trace.whose.host(event.host) else {
                    return;
                };
                let process = match &last {
                    Some((h, pid, process)) if h == host && *pid == event.pid => *process,
                    _ => {
                        let process = event
                            .pid
                            .and_then(|pid| self.process_of.get(&(host.to_owned(), pid)).copied());
                        last = Some((host.to_owned(), event.pid, process));
                        process
                    }
                };
                visit(&event, host, process);
            })?;
        }
        Ok(())
    }
}

fn moved(s: Stretch, by: i64) -> Stretch {
    (s.0.saturating_add(by), s.1.saturating_add(by))
}
