//! A made-up job for the tests and the example: every section has something to show, and every number is fixed.
//!
//! Nothing here is a measurement. The layout is the usual one: tensor parallel inside a node, data parallel across nodes,
//! one communicator over all, and a pipeline that sends from node to node.

mod account;
mod comparison;
mod findings;
mod hostile;
mod sample;
mod traces;

use nccl_report_analyze::facts::{
    BudgetPart, CommClass, Communicator, Family, FamilyOperation, Group, GroupKey, Job, Loss,
    Member, Overview, PairSlice, Process, ProcessId, Run, Share, Slice, SliceOf, TimeBudget,
    TimeCause, TimingSource,
};
use nccl_report_analyze::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};
use nccl_report_ingest::{Inputs, LineCounts};

use account::{inputs, overview};
#[allow(unused_imports, reason = "the example draws jobs only")]
pub use comparison::comparison;
pub use findings::findings;
pub use hostile::{hostile, hostile_names};
use sample::{Sample, bandwidths, times};
#[allow(unused_imports, reason = "the example draws jobs only")]
pub use traces::{traced, traces};

/// 2026-03-14T09:26:53.589793Z.
const START: i64 = 1_773_480_413_589_793;
const MINUTE: i64 = 60_000_000;
const GPUS_PER_NODE: u32 = 8;
const SIZES: [u64; 3] = [8_192, 64 << 20, 1 << 30];

/// The ordinary job: 4 nodes of 8 GPUs.
#[must_use]
pub fn job() -> Job {
    job_of(4)
}

/// The same on `nodes` nodes.
#[must_use]
pub fn job_of(nodes: u32) -> Job {
    let processes = processes(nodes);
    let communicators = communicators(nodes);
    let families = families(&communicators);
    let groups = groups(&families);
    Job {
        inputs: inputs(nodes),
        overview: overview(nodes),
        runs: vec![Run {
            start: Timestamp::from_unix_micros(START),
            end: Timestamp::from_unix_micros(START + 42 * MINUTE),
            ranks: u64::from(nodes * GPUS_PER_NODE),
            hosts: hosts(nodes),
        }],
        slices: slices(nodes, &communicators),
        pairs: pairs(nodes, &communicators),
        shares: shares(&families),
        budget: Some(budget()),
        findings: findings(),
        scatters: Vec::new(),
        histograms: Vec::new(),
        heat_maps: Vec::new(),
        pair_matrices: Vec::new(),
        timelines: Vec::new(),
        traces: None,
        processes,
        communicators,
        families,
        groups,
    }
}

fn budget() -> TimeBudget {
    let part = |cause, finding: Option<&str>, micros| BudgetPart {
        cause,
        finding: finding.map(str::to_owned),
        time: ExecTime::from_micros(micros),
    };
    TimeBudget {
        total: ExecTime::from_micros(4.0e9),
        waiting: ExecTime::from_micros(9.0e8),
        parts: vec![
            part(TimeCause::Transfer, None, 2.6e9),
            part(TimeCause::Finding, Some("late_rank:gpu-002/4705/5"), 6.4e8),
            part(TimeCause::Finding, Some("slow_link:fabric/1"), 2e8),
            part(TimeCause::Finding, Some("slow_link:nic/gpu-003"), 1e8),
            part(TimeCause::PipelineOrder, None, 1e8),
            part(TimeCause::OrdinarySpread, None, 1.6e8),
            part(TimeCause::Unexplained, None, 2e8),
        ],
    }
}

/// A job in which nothing is wrong and nothing is missing.
#[must_use]
pub fn healthy() -> Job {
    let mut job = job();
    job.findings.clear();
    job.overview.ranks_expected = Some(job.overview.ranks);
    job.overview.complete = Some(1.0);
    job.overview.bandwidth_mismatches = 0;
    job.overview.records_other_timing = 0;
    job.inputs.rejected = LineCounts::default();
    job.inputs.repaired = LineCounts::default();
    job.inputs.files_skipped.clear();
    job.inputs.files_damaged.clear();
    job.inputs.truncated_dumps = 0;
    for communicator in &mut job.communicators {
        communicator.collectives_complete = communicator.collectives;
        communicator.loss = Loss {
            dropped: Some(0),
            numbers_unseen: 0,
            records_unmatched: 0,
        };
    }
    job
}

/// What is left when there were no records.
#[must_use]
pub fn empty() -> Job {
    let mut job = job();
    job.inputs = Inputs::default();
    job.runs.clear();
    job.processes.clear();
    job.communicators.clear();
    job.families.clear();
    job.groups.clear();
    job.slices.clear();
    job.pairs.clear();
    job.shares.clear();
    job.budget = None;
    job.findings.clear();
    job.overview = Overview {
        title: "nothing".into(),
        hosts: Vec::new(),
        ranks: 0,
        ranks_expected: None,
        span: None,
        dialects: Vec::new(),
        timing: TimingSource::Unknown,
        records_other_timing: 0,
        dump_interval: None,
        sampled: false,
        time: ExecTime::from_micros(0.0),
        bytes: 0,
        complete: None,
        bandwidth_mismatches: 0,
    };
    job
}

fn hosts(nodes: u32) -> Vec<String> {
    (1..=nodes).map(|n| format!("gpu-{n:03}")).collect()
}

fn processes(nodes: u32) -> Vec<Process> {
    (0..nodes * GPUS_PER_NODE)
        .map(|rank| Process {
            host: format!("gpu-{:03}", rank / GPUS_PER_NODE + 1),
            pid: 4_700 + i64::from(rank % GPUS_PER_NODE),
            local_rank: rank % GPUS_PER_NODE,
            global_rank: Some(rank),
            run: 0,
        })
        .collect()
}

fn communicator_id(index: u64) -> String {
    format!("0x{:014x}", 0x8f3a_5c71_0000_0000_u64 + index * 7_919_001)
}

fn communicator(
    index: u64,
    name: Option<String>,
    nnodes: u32,
    family: u32,
    members: &[u32],
) -> Communicator {
    let n_ranks = u32::try_from(members.len()).unwrap_or(0);
    Communicator {
        id: communicator_id(index),
        name,
        class: CommClass::of(n_ranks, nnodes),
        n_ranks,
        nnodes,
        members: (0..)
            .zip(members)
            .map(|(rank, &process)| Member {
                rank,
                process: ProcessId(process),
            })
            .collect(),
        family,
        run: 0,
        collectives: 2_400,
        collectives_complete: 2_377,
        p2p_records: if family == 3 { 4_800 } else { 0 },
        loss: Loss {
            dropped: if index.is_multiple_of(3) {
                None
            } else {
                Some(index * 11)
            },
            numbers_unseen: index * 5,
            records_unmatched: 23,
        },
        time: ExecTime::from_micros(1.25e8 + index as f64 * 1.5),
        first_dump: Timestamp::from_unix_micros(START),
        last_dump: Timestamp::from_unix_micros(START + 42 * MINUTE),
    }
}

fn communicators(nodes: u32) -> Vec<Communicator> {
    let all: Vec<u32> = (0..nodes * GPUS_PER_NODE).collect();
    let mut made = Vec::new();
    for node in 0..nodes {
        let members = &all[(node * GPUS_PER_NODE) as usize..((node + 1) * GPUS_PER_NODE) as usize];
        let name = Some(format!("TP Group {node}"));
        made.push(communicator(made.len() as u64, name, 1, 0, members));
    }
    for gpu in 0..GPUS_PER_NODE {
        let members: Vec<u32> = (0..nodes).map(|node| node * GPUS_PER_NODE + gpu).collect();
        let name = Some(format!("DP Group {gpu}"));
        made.push(communicator(made.len() as u64, name, nodes, 1, &members));
    }
    made.push(communicator(made.len() as u64, None, nodes, 2, &all));
    let name = Some("PP Group".to_owned());
    made.push(communicator(made.len() as u64, name, nodes, 3, &all));
    made
}

fn families(communicators: &[Communicator]) -> Vec<Family> {
    let shape: [(&str, &[&str], f64); 4] = [
        ("TP Group", &["AllReduce"], 0.46),
        ("DP Group", &["AllGather", "ReduceScatter"], 0.38),
        ("mixed, all ranks", &["AllReduce"], 0.1),
        ("PP Group", &["Recv", "Send"], 0.06),
    ];
    (0..)
        .zip(shape)
        .map(|(family, (label, operations, share))| {
            let members: Vec<u32> = (0..)
                .zip(communicators)
                .filter(|(_, c)| c.family == family)
                .map(|(index, _)| index)
                .collect();
            let first = &communicators[members[0] as usize];
            let cells = operations.len() * SIZES.len();
            Family {
                label: label.to_owned(),
                class: first.class,
                n_ranks: first.n_ranks,
                nnodes: first.nnodes,
                operations: operations
                    .iter()
                    .flat_map(|name| SIZES.map(|size| (*name, size)))
                    .map(|(name, size)| {
                        family_operation(name, size, &members, share / cells as f64)
                    })
                    .collect(),
                communicators: members,
                share_of_time: share,
            }
        })
        .collect()
}

/// Transfer time in µs and bus bandwidth in GB/s: 20 µs of latency, then 180 GB/s.
fn pace(size: u64) -> (f64, f64) {
    let transfer = 20.0 + size as f64 / 180_000.0;
    (transfer, size as f64 / transfer / 1_000.0)
}

fn family_operation(name: &str, size: u64, members: &[u32], share: f64) -> FamilyOperation {
    let (transfer, link) = pace(size);
    let mut sample = Sample::seeded(size ^ name.len() as u64);
    let collective = !matches!(name, "Send" | "Recv");
    FamilyOperation {
        operation: name.to_owned(),
        size: MessageSize::from_bytes(size),
        operations: 800,
        records: 6_400,
        link_busbw: collective.then(|| bandwidths(&sample.around(link, 0.03, 200))),
        felt_busbw: collective.then(|| bandwidths(&sample.around(link * 0.8, 0.15, 200))),
        shortest: collective.then(|| times(&sample.around(transfer, 0.03, 200))),
        spread: collective.then(|| times(&sample.around(transfer * 0.3, 0.5, 200))),
        time: ExecTime::from_micros(4.0e9 * share),
        share_of_time: share,
        link_busbw_by_communicator: (0..)
            .zip(members)
            .map(|(nth, _)| {
                let slow = if nth == 2 { 0.7 } else { 1.0 };
                (nth != 5).then(|| BusBandwidth::from_gb_per_s(link * slow))
            })
            .collect(),
    }
}

fn groups(families: &[Family]) -> Vec<Group> {
    let mut groups: Vec<Group> = families
        .iter()
        .flat_map(|family| family.operations.iter().map(move |of| (family, of)))
        .map(|(family, of)| {
            let size = of.size.as_bytes();
            let (transfer, link) = pace(size);
            let mut sample = Sample::seeded(size + u64::from(family.n_ranks));
            Group {
                key: GroupKey {
                    class: family.class,
                    operation: of.operation.clone(),
                    size: of.size,
                    n_ranks: family.n_ranks,
                    nnodes: family.nnodes,
                },
                p2p: of.link_busbw.is_none(),
                communicators: family.communicators.len() as u64,
                collectives: of.operations,
                records: of.records,
                busbw: bandwidths(&sample.around(link * 0.8, 0.2, 400)),
                exec_time: times(&sample.around(transfer * 1.3, 0.2, 400)),
                link_busbw: of.link_busbw,
                felt_busbw: of.felt_busbw,
                time: of.time,
                share_of_time: of.share_of_time,
                latency_bound: size < 1 << 20,
            }
        })
        .collect();
    groups.sort_by(|a, b| a.key.cmp(&b.key));
    groups
}

fn shares(families: &[Family]) -> Vec<Share> {
    let mut shares: Vec<Share> = (0..)
        .zip(families)
        .flat_map(|(index, family)| family.operations.iter().map(move |of| (index, of)))
        .map(|(family, of)| Share {
            family,
            operation: of.operation.clone(),
            size: of.size,
            records: of.records,
            bytes: of.records * of.size.as_bytes(),
            time: of.time,
            share_of_time: of.share_of_time,
        })
        .collect();
    shares.sort_by(|a, b| b.share_of_time.total_cmp(&a.share_of_time));
    shares
}

fn slices(nodes: u32, communicators: &[Communicator]) -> Vec<Slice> {
    let slice = |of: SliceOf, operation: &str, salt: u32, share: f64| Slice {
        of,
        operation: operation.to_owned(),
        records: 1_200 + u64::from(salt % 7),
        bytes: 1_200 * (64 << 20),
        time: ExecTime::from_micros(4.0e9 * share),
        wait: (operation != "Send")
            .then(|| ExecTime::from_micros(4.0e9 * share * (0.2 + 0.01 * f64::from(salt % 9)))),
        busbw: BusBandwidth::from_gb_per_s(140.0 + f64::from(salt % 5)),
        share_of_time: share,
    };
    let operations = ["AllReduce", "AllGather", "Send"];
    let ranks = nodes * GPUS_PER_NODE;
    let mut slices = Vec::new();
    for (index, _) in (0..).zip(communicators) {
        let of = SliceOf::Communicator {
            communicator: index,
        };
        slices.push(slice(
            of,
            "AllReduce",
            index,
            1.0 / communicators.len() as f64,
        ));
    }
    for (index, host) in (0..).zip(hosts(nodes)) {
        for operation in operations {
            let of = SliceOf::Host { host: host.clone() };
            slices.push(slice(of, operation, index, 1.0 / f64::from(nodes * 3)));
        }
    }
    for rank in 0..ranks {
        for operation in operations {
            let of = SliceOf::Rank {
                process: ProcessId(rank),
            };
            slices.push(slice(of, operation, rank, 1.0 / f64::from(ranks * 3)));
        }
    }
    for bin in 0..14_u32 {
        let start = START + i64::from(bin) * 3 * MINUTE;
        let of = SliceOf::Time {
            start: Timestamp::from_unix_micros(start),
            end: Timestamp::from_unix_micros(start + 3 * MINUTE),
        };
        slices.push(slice(of, "AllReduce", bin, 1.0 / 14.0));
    }
    slices
}

fn pairs(nodes: u32, communicators: &[Communicator]) -> Vec<PairSlice> {
    let pipeline = u32::try_from(communicators.len()).unwrap_or(1) - 1;
    let ranks = nodes * GPUS_PER_NODE;
    (0..ranks - GPUS_PER_NODE)
        .map(|source| {
            let destination = source + GPUS_PER_NODE;
            let mut sample = Sample::seeded(u64::from(source));
            PairSlice {
                communicator: pipeline,
                source_rank: source,
                destination_rank: destination,
                source: Some(ProcessId(source)),
                destination: (source % 11 != 3).then_some(ProcessId(destination)),
                crosses_network: (source % 11 != 3).then_some(true),
                size: MessageSize::from_bytes(32 << 20),
                sends: 1_200,
                recvs: if source % 11 == 3 { 0 } else { 1_200 },
                bytes: 1_200 * (32 << 20),
                send_time: Some(times(&sample.around(1_450.0, 0.05, 100))),
                recv_time: (source % 11 != 3).then(|| times(&sample.around(2_900.0, 0.4, 100))),
                link_bandwidth: BusBandwidth::from_gb_per_s(if source % 8 == 5 {
                    11.9
                } else {
                    23.1
                }),
            }
        })
        .collect()
}
