//! The traces of a job: whose they are, and what of them is light enough to be held: retransmits, counts, names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use nccl_report_ingest::{Dataset, SourceFile, Table};

use super::attribution::{Attributed, attribute};
use crate::measured::Measured;
use crate::records::registry::Registry;
use crate::records::traces;
use crate::{Error, Options};

/// Source and destination address.
pub(crate) type Connection = (Option<String>, Option<String>);

/// A segment that was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Retransmit {
    /// When, ns since the epoch by the host's clock.
    pub(crate) at: i64,
    /// A number of [`HostTraces::connections`].
    pub(crate) connection: u32,
}

/// One database.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) whose: Attributed,
    tables: Vec<(Table, PathBuf)>,
    /// Its retransmits by host, in order of time.
    pub(crate) retransmits: BTreeMap<String, Vec<Retransmit>>,
}

impl Trace {
    /// Its Parquet file of a table.
    pub(crate) fn table(&self, table: Table) -> Option<&PathBuf> {
        self.tables.iter().find(|t| t.0 == table).map(|t| &t.1)
    }
}

/// Counts of a host.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) counted: Option<u64>,
    pub(crate) calls: u64,
}

/// All traces of a job.
#[derive(Debug)]
pub(crate) struct HostTraces {
    pub(crate) files: Vec<Trace>,
    pub(crate) connections: Registry<Connection>,
    /// By host.
    pub(crate) counts: BTreeMap<String, Counts>,
    /// Hosts of the dumps.
    pub(crate) dump_hosts: BTreeSet<String>,
    /// What can't be said.
    pub(crate) notes: Vec<String>,
}

impl HostTraces {
    /// Reads what is light; `None` where the dataset holds no trace.
    pub(crate) fn of(
        dataset: &Dataset,
        m: &Measured,
        options: &Options,
    ) -> Result<Option<Self>, Error> {
        let sources: Vec<&SourceFile> = dataset
            .files()
            .iter()
            .filter(|file| file.trace.is_some())
            .collect();
        if sources.is_empty() {
            return Ok(None);
        }
        let dump_hosts: BTreeSet<&str> = m
            .topology
            .processes
            .iter()
            .map(|p| p.host.as_str())
            .collect();
        let (whose, notes) = attribute(&sources, &dump_hosts, &options.hosts_of_traces);
        let mut all = Self {
            files: Vec::new(),
            connections: Registry::default(),
            counts: BTreeMap::new(),
            dump_hosts: dump_hosts.into_iter().map(str::to_owned).collect(),
            notes,
        };
        for (source, whose) in sources.iter().zip(whose) {
            let tables = source
                .tables
                .iter()
                .map(|t| (t.table, dataset.root().join(&t.path)))
                .collect();
            all.add(Trace {
                whose,
                tables,
                retransmits: BTreeMap::new(),
            })?;
        }
        Ok(Some(all))
    }

    fn add(&mut self, mut trace: Trace) -> Result<(), Error> {
        if let Some(path) = trace.table(Table::TcpRetransmits).cloned() {
            let mut last: Option<(Connection, u32)> = None;
            traces::retransmits(&path, |row| {
                let (Some(at), Some(host)) = (row.at, trace.whose.host(row.host)) else {
                    return;
                };
                let same = |c: &Connection| {
                    c.0.as_deref() == row.source && c.1.as_deref() == row.destination
                };
                let connection = match &last {
                    Some((known, number)) if same(known) => *number,
                    _ => {
                        let new = (
                            row.source.map(str::to_owned),
                            row.destination.map(str::to_owned),
                        );
                        let number = self.connections.intern(&new);
                        last = Some((new, number));
                        number
                    }
                };
                let of_host = match trace.retransmits.get_mut(host) {
                    Some(list) => list,
                    None => trace.retransmits.entry(host.to_owned()).or_default(),
                };
                of_host.push(Retransmit { at, connection });
            })?;
            for list in trace.retransmits.values_mut() {
                list.sort_unstable();
            }
        }
        let mut count = |host: Option<&str>, add: &dyn Fn(&mut Counts)| {
            if let Some(host) = host {
                match self.counts.get_mut(host) {
                    Some(counts) => add(counts),
                    None => add(self.counts.entry(host.to_owned()).or_default()),
                }
            }
        };
        if let Some(path) = trace.table(Table::HostEvents) {
            traces::events(path, |row| {
                count(trace.whose.host(row.host), &|c| c.events += 1);
            })?;
        }
        if let Some(path) = trace.table(Table::HostEventAggregates) {
            traces::aggregates(path, |row| {
                let n = u64::try_from(row.count).unwrap_or(0);
                count(trace.whose.host(row.host), &|c| {
                    c.counted = Some(c.counted.unwrap_or(0).saturating_add(n));
                });
            })?;
        }
        if let Some(path) = trace.table(Table::NcclCalls) {
            traces::calls(path, |row| {
                count(trace.whose.host(row.host), &|c| c.calls += 1);
            })?;
        }
        for host in trace.retransmits.keys() {
            count(Some(host), &|_| {});
        }
        self.files.push(trace);
        Ok(())
    }

    /// Retransmits of a host. Two traces of one host see the same ones, so those of the fuller count.
    pub(crate) fn retransmits(&self, host: &str) -> &[Retransmit] {
        self.files
            .iter()
            .filter_map(|file| file.retransmits.get(host))
            .max_by_key(|list| list.len())
            .map_or(&[], Vec::as_slice)
    }

    /// Every host that a trace is of.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }

    /// The name of a connection: source → destination, as far as the trace says.
    pub(crate) fn connection(&self, number: u32) -> Option<String> {
        let (source, destination) = self.connections.items().get(number as usize)?;
        match (source, destination) {
            (None, None) => None,
            (source, destination) => Some(format!(
                "{} → {}",
                source.as_deref().unwrap_or("?"),
                destination.as_deref().unwrap_or("?")
            )),
        }
    }

    /// The source address of a connection.
    pub(crate) fn source(&self, number: u32) -> Option<&str> {
        self.connections.items().get(number as usize)?.0.as_deref()
    }

    /// The destination address of a connection.
    pub(crate) fn destination(&self, number: u32) -> Option<&str> {
        self.connections.items().get(number as usize)?.1.as_deref()
    }

    /// The host of an address: the one that sends from it, where one alone does. Where nobody is seen to, and of the hosts of the dumps, all of
    /// them traced, just one is never seen to send again, it is that one's.
    pub(crate) fn host_of_address(&self, address: &str) -> Option<&str> {
        let mut found = None;
        let mut silent = Vec::new();
        for host in self.hosts() {
            let list = self.retransmits(host);
            if list
                .iter()
                .any(|r| self.source(r.connection) == Some(address))
            {
                if found.replace(host).is_some() {
                    return None;
                }
            } else if list.iter().all(|r| self.source(r.connection).is_none()) {
                silent.push(host);
            }
        }
        let all_traced = !self.dump_hosts.is_empty()
            && self.dump_hosts.len() == self.counts.len()
            && self
                .dump_hosts
                .iter()
                .all(|host| self.counts.contains_key(host));
        match (found, silent.as_slice()) {
            (None, [one]) if all_traced => Some(one),
            (found, _) => found,
        }
    }
}
