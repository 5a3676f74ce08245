//! Who is who: names for ranks and communicators, and which findings name them.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{Communicator, Finding, Job, Process, ProcessId, Subject};

use super::table::Link;
use super::{text, wording};

/// Names, and links from the named to the findings.
pub(super) struct People<'a> {
    job: &'a Job,
    accused: BTreeMap<Subject, Vec<Link>>,
    accused_hosts: BTreeMap<&'a str, Vec<Link>>,
    in_communicators: BTreeMap<&'a str, Vec<Link>>,
}

/// Where on the page a finding stands.
pub(super) fn anchor(index: usize) -> String {
    format!("finding-{}", index + 1)
}

impl<'a> People<'a> {
    pub(super) fn of(job: &'a Job) -> Self {
        let mut people = Self {
            job,
            accused: BTreeMap::new(),
            accused_hosts: BTreeMap::new(),
            in_communicators: BTreeMap::new(),
        };
        for (index, finding) in job.findings.iter().enumerate() {
            people.note(index, finding);
        }
        people
    }

    fn note(&mut self, index: usize, finding: &'a Finding) {
        let link = Link {
            anchor: anchor(index),
            text: format!(
                "{}{}",
                if finding.candidates_only {
                    "one of: "
                } else {
                    ""
                },
                wording::kind(finding.kind)
            ),
        };
        for subject in &finding.subjects {
            if subject.pid.is_some() {
                self.accused
                    .entry(subject.clone())
                    .or_default()
                    .push(link.clone());
            } else {
                self.accused_hosts
                    .entry(&subject.host)
                    .or_default()
                    .push(link.clone());
            }
        }
        for id in &finding.communicators {
            self.in_communicators
                .entry(id)
                .or_default()
                .push(link.clone());
        }
    }

    pub(super) fn process(&self, id: ProcessId) -> Option<&'a Process> {
        self.job.processes.get(id.0 as usize)
    }

    pub(super) fn communicator(&self, index: u32) -> Option<&'a Communicator> {
        self.job.communicators.get(index as usize)
    }

    /// Findings that name the rank.
    pub(super) fn against(&self, process: &Process) -> &[Link] {
        let subject = Subject {
            host: process.host.clone(),
            pid: Some(process.pid),
            local_rank: Some(process.local_rank),
            global_rank: process.global_rank,
        };
        self.accused.get(&subject).map_or(&[], Vec::as_slice)
    }

    /// Findings that name the host as a whole.
    pub(super) fn against_host(&self, host: &str) -> &[Link] {
        self.accused_hosts.get(host).map_or(&[], Vec::as_slice)
    }

    /// Findings that show in the communicator.
    pub(super) fn seen_in(&self, communicator: &Communicator) -> &[Link] {
        self.in_communicators
            .get(communicator.id.as_str())
            .map_or(&[], Vec::as_slice)
    }
}

/// "rank 13 · gpu-002 GPU 5", or what is known of it.
pub(super) fn subject(of: &Subject) -> String {
    let host = text::name(&of.host);
    let mut parts = Vec::new();
    if let Some(rank) = of.global_rank {
        parts.push(format!("rank {rank}"));
    }
    parts.push(if of.pid.is_none() && of.global_rank.is_none() {
        format!("host {host}")
    } else {
        host
    });
    if let Some(local) = of.local_rank {
        parts.push(format!("local rank {local}"));
    }
    if let Some(pid) = of.pid {
        parts.push(format!("pid {pid}"));
    }
    parts.join(" · ")
}

/// A short name for a rank in a table of pairs.
pub(super) fn short(process: &Process) -> String {
    let host = text::name(&process.host);
    match process.global_rank {
        Some(rank) => format!("rank {rank} · {host}"),
        None => format!("{host} · local rank {}", process.local_rank),
    }
}

/// The name that the application gave, else the id.
pub(super) fn communicator(of: &Communicator) -> String {
    match &of.name {
        Some(name) if !name.is_empty() => text::name(name),
        _ => text::name(&of.id),
    }
}
