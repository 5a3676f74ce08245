//! The slow end of each rank's times: the 99th percentile by group. A pass of its own over the records, made only where a rule asks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nccl_report_ingest::{Dataset, Table};
use rayon::prelude::*;

use crate::Error;
use crate::facts::{CommClass, GroupKey, Job, ProcessId};
use crate::records::registry::EndpointKey;
use crate::records::scan;
use crate::statistics::Sample;
use crate::units::MessageSize;

/// For each group the 99th percentile of the kernel times of each rank that has records in it, µs.
pub(crate) type RankTails = BTreeMap<GroupKey, Vec<(ProcessId, f64)>>;

/// Times of the job's own timing source, by endpoint and group.
type Samples = BTreeMap<(EndpointKey, GroupKey), Sample>;

/// Reads the records once more.
pub(crate) fn rank_tails(dataset: &Dataset, job: &Job) -> Result<RankTails, Error> {
    let tables = [Table::Collectives, Table::P2p];
    let files: Vec<(PathBuf, Table)> = tables
        .into_iter()
        .flat_map(|t| dataset.table(t).into_iter().map(move |p| (p, t)))
        .collect();
    let who = Who::of(job);
    let mut by_rank: BTreeMap<(GroupKey, ProcessId), Sample> = BTreeMap::new();
    // A few files a thread at a time: their samples wait for their turn to be merged, and mustn't pile up.
    for some in files.chunks(4 * rayon::current_num_threads().max(1)) {
        let parts: Vec<Samples> = some
            .par_iter()
            .map(|(path, table)| of_file(path, *table, job))
            .collect::<Result<_, _>>()?;
        for ((endpoint, group), sample) in parts.into_iter().flatten() {
            if let Some(process) = who.find(&endpoint) {
                by_rank.entry((group, process)).or_default().merge(sample);
            }
        }
    }
    let mut out = RankTails::new();
    for ((group, process), mut sample) in by_rank {
        if let Some(&p99) = sample.quantiles(&[0.99]).first() {
            out.entry(group).or_default().push((process, p99));
        }
    }
    Ok(out)
}

fn of_file(path: &std::path::Path, table: Table, job: &Job) -> Result<Samples, Error> {
    let mut samples: BTreeMap<(u32, u32, u64), Sample> = BTreeMap::new();
    let names = scan::operations(path, table, |_, batch| {
        for i in 0..batch.len() {
            if batch.timing[i] == job.overview.timing {
                let key = (batch.endpoint[i], batch.function[i], batch.size[i]);
                samples.entry(key).or_default().push(batch.micros[i]);
            }
        }
        Ok(())
    })?;
    let named = |(endpoint, function, size): (u32, u32, u64)| {
        let endpoint = names.endpoints.items()[endpoint as usize].clone();
        let group = GroupKey {
            class: CommClass::of(endpoint.n_ranks, endpoint.nnodes),
            operation: names.functions.items()[function as usize].clone(),
            size: MessageSize::from_bytes(size),
            n_ranks: endpoint.n_ranks,
            nnodes: endpoint.nnodes,
        };
        (endpoint, group)
    };
    Ok(samples
        .into_iter()
        .map(|(key, sample)| (named(key), sample))
        .collect())
}

/// Which process an endpoint is. One that drives several GPUs is several, told apart by their ranks in the communicator.
struct Who<'a> {
    by_pid: BTreeMap<(&'a str, i64), Vec<ProcessId>>,
    by_rank: BTreeMap<(&'a str, u32), Vec<ProcessId>>,
}

impl<'a> Who<'a> {
    fn of(job: &'a Job) -> Self {
        let mut by_pid: BTreeMap<(&str, i64), Vec<ProcessId>> = BTreeMap::new();
        for (i, p) in job.processes.iter().enumerate() {
            let id = ProcessId(u32::try_from(i).unwrap_or(u32::MAX));
            by_pid.entry((&p.host, p.pid)).or_default().push(id);
        }
        let mut by_rank: BTreeMap<(&str, u32), Vec<ProcessId>> = BTreeMap::new();
        for c in &job.communicators {
            for m in &c.members {
                by_rank.entry((&c.id, m.rank)).or_default().push(m.process);
            }
        }
        Self { by_pid, by_rank }
    }

    fn find(&self, endpoint: &EndpointKey) -> Option<ProcessId> {
        let processes = self.by_pid.get(&(endpoint.host.as_str(), endpoint.pid))?;
        match processes.as_slice() {
            [one] => Some(*one),
            several => {
                let members = self.by_rank.get(&(endpoint.id.as_str(), endpoint.rank))?;
                members.iter().find(|m| several.contains(m)).copied()
            }
        }
    }
}
