//! Processes and communicators.

use nccl_report_analyze::facts::{Communicator, Job, Process};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ProcessOut<'a> {
    host: &'a str,
    pid: i64,
    local_rank: u32,
    global_rank: Option<u32>,
    /// Index in `runs`.
    run: u32,
}

impl<'a> ProcessOut<'a> {
    pub(super) fn of(of: &'a Process) -> Self {
        Self {
            host: &of.host,
            pid: of.pid,
            local_rank: of.local_rank,
            global_rank: of.global_rank,
            run: of.run,
        }
    }
}

#[derive(Serialize)]
struct MemberOut<'a> {
    rank: u32,
    host: Option<&'a str>,
    pid: Option<i64>,
    local_rank: Option<u32>,
    global_rank: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct CommunicatorOut<'a> {
    id: &'a str,
    name: Option<&'a str>,
    comm_type: &'static str,
    n_ranks: u32,
    nnodes: u32,
    ranks_seen: usize,
    collectives: u64,
    collectives_complete: u64,
    /// Records that the plugin admits it dropped; `null` when no dump says.
    records_dropped: Option<u64>,
    /// Numbers between the first and the last that no rank recorded; gaps by design among them.
    sequence_numbers_unseen: u64,
    /// Records missing from collectives that some rank recorded.
    records_unmatched: u64,
    p2p_records: u64,
    time_us: f64,
    first_dump_us: i64,
    last_dump_us: i64,
    /// Index in `families`.
    family: u32,
    /// Index in `runs`.
    run: u32,
    members: Vec<MemberOut<'a>>,
}

impl<'a> CommunicatorOut<'a> {
    pub(super) fn of(of: &'a Communicator, job: &'a Job) -> Self {
        let member = |member: &nccl_report_analyze::facts::Member| {
            let process = job.processes.get(member.process.0 as usize);
            MemberOut {
                rank: member.rank,
                host: process.map(|p| p.host.as_str()),
                pid: process.map(|p| p.pid),
                local_rank: process.map(|p| p.local_rank),
                global_rank: process.and_then(|p| p.global_rank),
            }
        };
        Self {
            id: &of.id,
            name: of.name.as_deref(),
            comm_type: of.class.as_str(),
            n_ranks: of.n_ranks,
            nnodes: of.nnodes,
            ranks_seen: of.members.len(),
            collectives: of.collectives,
            collectives_complete: of.collectives_complete,
            records_dropped: of.loss.dropped,
            sequence_numbers_unseen: of.loss.numbers_unseen,
            records_unmatched: of.loss.records_unmatched,
            p2p_records: of.p2p_records,
            time_us: of.time.as_micros(),
            first_dump_us: of.first_dump.as_unix_micros(),
            last_dump_us: of.last_dump.as_unix_micros(),
            family: of.family,
            run: of.run,
            members: of.members.iter().map(member).collect(),
        }
    }
}
