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
    /// Which of them tells most of a host's retransmits.
    fullest: BTreeMap<String, usize>,
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
            fullest: BTreeMap::new(),
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
        all.fullest = all.fullest();
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

    /// Retransmits of a host. Two traces of one host see the same ones, so those of the fuller count; of as many, those with addresses.
    pub(crate) fn retransmits(&self, host: &str) -> &[Retransmit] {
        let file = self.fullest.get(host).map(|&file| &self.files[file]);
        file.and_then(|file| file.retransmits.get(host))
            .map_or(&[], Vec::as_slice)
    }

    /// The file that tells most of each host's retransmits. An address counts as much as the retransmit itself.
    fn fullest(&self) -> BTreeMap<String, usize> {
        let mut best: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (i, file) in self.files.iter().enumerate() {
            for (host, list) in &file.retransmits {
                let addressed = |r: &&Retransmit| self.destination(r.connection).is_some();
                let told = list.len() + list.iter().filter(addressed).count();
                match best.get_mut(host) {
                    Some(known) if known.0 >= told => {}
                    Some(known) => *known = (told, i),
                    None => {
                        best.insert(host.clone(), (told, i));
                    }
                }
            }
        }
        best.into_iter().map(|(host, (_, i))| (host, i)).collect()
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
}
