//! Slow transfers between hosts, from the dumps: which, and when they ran on each host.
//!
//! The shortest time of a matched collective is the transfer without the waiting, and so it is of a Send and its Recv (`pairs`). A verbose
//! dump says when it stopped; of others `ended` tells about when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nccl_report_ingest::{Dataset, Table};

use super::ended::Ends;
use super::pairs;
use super::slow_spans::{HostWindows, SlowSpan, is_slow};
use super::stretches::{Gathering, Stretches};
use super::ways::{Way, Ways};
use crate::Error;
use crate::collective::gather::{self, Portion};
use crate::collective::matching::Matched;
use crate::collective::order;
use crate::facts::{TimingSource, WindowSource};
use crate::measured::Measured;
use crate::records::operation::semantics;
use crate::records::traces;
use crate::statistics::robust;

/// The first operations of a communicator of one function and size may take long for reasons of their own: connections are set up, and ranks
/// come from different work. They don't tell one host from another.
pub(super) const WARM_UP: usize = 3;

/// What finds a record among those of a communicator.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordKey {
    pub(super) function: u32,
    /// The rank, of those that number their operations by themselves.
    pub(super) rank: Option<i64>,
    pub(super) sequence_number: i64,
}

/// A slow transfer.
#[derive(Debug, Clone)]
pub(super) struct Slow {
    pub(super) comm: usize,
    /// Who sends to whom; `None` for what is slow for a reason of its own.
    pub(super) way: Option<Arc<Way>>,
    pub(super) records: Vec<RecordKey>,
    /// How long it took and usually takes, µs.
    pub(super) micros: f64,
    pub(super) usual: f64,
    /// Ranks that lost the time.
    pub(super) ranks: f64,
    /// It ended between these on each host, µs by that host's clock.
    pub(super) ended: BTreeMap<String, (i64, i64)>,
    /// When it stopped on each host, µs by that host's clock.
    pub(super) stopped: BTreeMap<String, i64>,
}

/// The transfers between hosts.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    /// The slow ones of every host of the dumps.
    pub(crate) windows: BTreeMap<String, HostWindows>,
    /// Who sends to whom in them.
    pub(crate) ways: Ways,
}

impl Transfers {
    /// The same by the clocks of the traces, which are ahead by so many ns.
    pub(crate) fn later(mut self, ahead: &BTreeMap<String, i64>) -> Self {
        for (host, windows) in &mut self.windows {
            *windows = windows.later(ahead.get(host).copied().unwrap_or(0));
        }
        Self {
            ways: self.ways.later(ahead),
            ..self
        }
    }
}

/// All that the dumps tell of.
pub(crate) fn transfers(
    dataset: &Dataset,
    m: &Measured,
    max_rows: u64,
) -> Result<Transfers, Error> {
    let mut slow = Vec::new();
    let mut ways = Ways::default();
    for table in [Table::Collectives, Table::P2p] {
        let mut rows = rows_of_comms(m, table == Table::P2p);
        for (c, rows) in rows.iter_mut().enumerate() {
            // What stays on one host doesn't pass its network. Half of the Sends don't tell which Recv is whose.
            if hosts_of(m, c).len() < 2 || (table == Table::P2p && *rows > max_rows) {
                *rows = 0;
            }
        }
        for portion in gather::portions(&rows, max_rows) {
            if rows[portion.comms.clone()].iter().all(|&n| n == 0) {
                continue;
            }
            let gathered = gather::gather(dataset, table, m, &portion)?;
            for comm in portion.comms.clone().filter(|&c| rows[c] > 0) {
                slow.extend(match table {
                    Table::P2p => pairs::slow(m, comm, &gathered, &mut ways),
                    _ => of_comm(m, comm, &order::matched(m, comm, &gathered), &mut ways),
                });
            }
        }
    }
    let mut operating = when_stopped(dataset, m, &mut slow)?;
    let interval = m.dump_interval.unwrap_or(0.0);
    let mut out: BTreeMap<String, HostWindows> = BTreeMap::new();
    for process in 0..m.topology.processes.len() {
        let Some((first, last)) = m.topology.span() else {
            continue;
        };
        let ahead = m.clock[process] as i64;
        let host = &m.topology.processes[process].host;
        let span = (
            (first.as_unix_micros() - interval as i64 + ahead).saturating_mul(1000),
            (last.as_unix_micros() + ahead).saturating_mul(1000),
        );
        out.entry(host.clone())
            .or_insert_with(|| HostWindows::of(WindowSource::Kernels))
            .add(span, Vec::new(), Stretches::default());
    }
    for (host, windows) in &mut out {
        if let Some(list) = operating.remove(host) {
            windows.operating = list.finish();
        }
    }
    for s in &slow {
        let mut on = BTreeMap::new();
        for (host, ended) in &s.ended {
            let Some(windows) = out.get_mut(host) else {
                continue;
            };
            let (from, to) = match s.stopped.get(host) {
                Some(&stop) => (stop - s.micros as i64, stop),
                None => {
                    windows.source = WindowSource::Dumps;
                    windows.operating = Stretches::default();
                    (ended.0 - s.micros as i64, ended.1)
                }
            };
            let window = (from.saturating_mul(1000), to.saturating_mul(1000));
            on.insert(host.clone(), window);
            windows.slow.push(SlowSpan {
                window,
                micros: s.micros,
                usual: s.usual,
                ranks: s.ranks,
                pair: s.records.iter().any(|r| r.rank.is_some()),
            });
        }
        if let Some(way) = &s.way {
            ways.add(way, on);
        }
    }
    Ok(Transfers { windows: out, ways })
}

/// The hosts of a communicator, and how much their clocks are ahead of the mean, µs.
fn hosts_of(m: &Measured, comm: usize) -> BTreeMap<&str, i64> {
    m.topology.comms[comm]
        .members
        .iter()
        .map(|member| {
            let process = member.1.0 as usize;
            (
                m.topology.processes[process].host.as_str(),
                m.clock[process] as i64,
            )
        })
        .collect()
}

/// Records of collectives, or of Send and Recv, of each communicator.
fn rows_of_comms(m: &Measured, p2p: bool) -> Vec<u64> {
    let mut rows = vec![0; m.topology.comms.len()];
    for (key, sums) in m.census.cells.iter() {
        if key.timing == m.timing && key.p2p == p2p {
            rows[m.topology.place[key.endpoint as usize].0 as usize] += sums.records;
        }
    }
    rows
}

/// One communicator, in parts that fit.
pub(super) fn portions_of(m: &Measured, comm: usize, max_rows: u64) -> Vec<Portion> {
    let rows = rows_of_comms(m, false)[comm];
    let parts = u32::try_from(rows.div_ceil(max_rows.max(1)).max(1)).unwrap_or(u32::MAX);
    (0..parts)
        .map(|part| Portion {
            comms: comm..comm + 1,
            part: (part, parts),
        })
        .collect()
}

/// The hosts of a communicator in order, and of each member the place of its own among them.
pub(super) fn host_of_members(m: &Measured, comm: usize) -> (Vec<&str>, Vec<usize>) {
    let hosts: Vec<&str> = hosts_of(m, comm).into_keys().collect();
    let members = m.topology.comms[comm].members.iter().map(|member| {
        let host = m.topology.processes[member.1.0 as usize].host.as_str();
        hosts.binary_search(&host).unwrap_or(0)
    });
    let members = members.collect();
    (hosts, members)
}

/// When the collectives of a communicator ended.
pub(super) fn ends(m: &Measured, comm: usize, matched: &Matched, host_of: &[usize]) -> Ends {
    let functions = m.census.functions.items();
    let n_ranks = m.topology.comms[comm].n_ranks;
    let interval = m.dump_interval.unwrap_or(0.0);
    // Where a CPU timed it, the time holds waiting in the queue, and one doesn't follow the other.
    let kernels = m.timing == TimingSource::KernelGpu;
    Ends::of(matched, host_of, interval, |function| {
        kernels && semantics(&functions[function as usize], n_ranks).ends_together
    })
}

/// The slow transfers of a communicator.
fn of_comm(m: &Measured, comm: usize, matched: &Matched, ways: &mut Ways) -> Vec<Slow> {
    let members = m.topology.comms[comm].members.len();
    let (hosts, host_of) = host_of_members(m, comm);
    let clocks = hosts_of(m, comm);
    let ends = ends(m, comm, matched, &host_of);
    let way = Way::among(&hosts);
    let ended_on = |ended: (i64, i64)| -> BTreeMap<String, (i64, i64)> {
        let each = hosts.iter().zip(&ends.ahead).map(|(host, ahead)| {
            let ahead = ahead + clocks.get(host).copied().unwrap_or(0);
            ((*host).to_owned(), (ended.0 + ahead, ended.1 + ahead))
        });
        each.collect()
    };
    let mut times: BTreeMap<(u32, u64), Vec<f64>> = BTreeMap::new();
    let mut found = Vec::new();
    for ((x, _), ended) in matched.collectives().zip(&ends.each) {
        // With half of the ranks missing the shortest time may hold waiting for one of them.
        if x.rows.len() < 2 || 2 * x.rows.len() < members {
            continue;
        }
        let micros = x.shortest();
        let of_cell = times.entry(x.cell()).or_default();
        of_cell.push(micros);
        let warm = of_cell.len() > WARM_UP;
        ways.count(&way, u64::from(warm));
        if is_slow(micros * 1e3, 0.0) {
            found.push((
                x.cell(),
                Slow {
                    comm,
                    way: warm.then(|| Arc::clone(&way)),
                    records: vec![RecordKey {
                        function: x.cell().0,
                        rank: None,
                        sequence_number: x.sequence_number(),
                    }],
                    micros,
                    usual: 0.0,
                    ranks: members as f64,
                    ended: ended_on(*ended),
                    stopped: BTreeMap::new(),
                },
            ));
        }
    }
    let medians: BTreeMap<(u32, u64), f64> = times
        .into_iter()
        .filter_map(|(cell, mut times)| Some((cell, robust::median(&mut times)?)))
        .collect();
    found
        .into_iter()
        .filter_map(|(cell, slow)| {
            let usual = *medians.get(&cell)?;
            is_slow(slow.micros * 1e3, usual * 1e3).then_some(Slow { usual, ..slow })
        })
        .collect()
}

/// Looks up when slow transfers stopped, where dumps are verbose, and when transfers between hosts ran on each.
fn when_stopped(
    dataset: &Dataset,
    m: &Measured,
    slow: &mut [Slow],
) -> Result<BTreeMap<String, Gathering>, Error> {
    let functions = m.census.functions.items();
    let index: BTreeMap<(&str, &str, Option<i64>, i64), usize> = (0..)
        .zip(slow.iter())
        .flat_map(|(i, s)| s.records.iter().map(move |r| (i, s.comm, r)))
        .map(|(i, comm, r)| {
            let id = m.topology.comms[comm].id.as_str();
            let function = functions[r.function as usize].as_str();
            ((id, function, r.rank, r.sequence_number), i)
        })
        .collect();
    let mut operating: BTreeMap<String, Gathering> = BTreeMap::new();
    if index.is_empty() {
        return Ok(operating);
    }
    for p in &m.topology.processes {
        operating.entry(p.host.clone()).or_default();
    }
    let between_hosts: BTreeSet<&str> = (0..m.topology.comms.len())
        .filter(|&c| hosts_of(m, c).len() > 1)
        .map(|c| m.topology.comms[c].id.as_str())
        .collect();
    let mut stopped: BTreeMap<(usize, String), i64> = BTreeMap::new();
    for path in dataset.table(Table::Channels) {
        traces::channels(&path, |row| {
            let Some(operating) = operating.get_mut(row.host) else {
                return;
            };
            if !between_hosts.contains(row.id) {
                return;
            }
            let nanos = |micros: i64| micros.saturating_mul(1000);
            operating.push((nanos(row.ran.0), nanos(row.ran.1)));
            let rank = row.p2p.then_some(row.rank);
            if let Some(&i) = index.get(&(row.id, row.function, rank, row.sequence_number)) {
                let stop = stopped.entry((i, row.host.to_owned())).or_insert(row.ran.1);
                *stop = (*stop).max(row.ran.1);
            }
        })?;
    }
    for ((i, host), stop) in stopped {
        slow[i].stopped.insert(host, stop);
    }
    Ok(operating)
}
