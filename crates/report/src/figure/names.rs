//! Short names for hosts, ranks, communicators.

use nccl_report_analyze::facts::{Communicator, Job, Process, ProcessId};

/// The names of a job.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    job: &'a Job,
    /// Bytes of the domain that all host names end with.
    domain: usize,
}

impl<'a> Names<'a> {
    pub(crate) fn of(job: &'a Job) -> Self {
        Self {
            job,
            domain: shared_domain(job.processes.iter().map(|p| p.host.as_str())),
        }
    }

    pub(crate) fn process(&self, id: ProcessId) -> Option<&'a Process> {
        self.job.processes.get(id.0 as usize)
    }

    /// The host of a process, without the domain that all share.
    pub(crate) fn host(&self, id: ProcessId) -> &'a str {
        match self.process(id) {
            Some(p) if p.host.trim().is_empty() => "(no name)",
            Some(p) => &p.host[..p.host.len() - self.domain],
            None => "(unknown host)",
        }
    }

    /// A rank as host:local rank.
    pub(crate) fn rank(&self, id: ProcessId) -> String {
        match self.process(id) {
            Some(p) => format!("{}:{}", crate::svg::clip(self.host(id), 60), p.local_rank),
            None => format!("process {}", id.0),
        }
    }

    /// Neighbours on one host, as (host, first, how many).
    pub(crate) fn host_runs(&self, ids: &[ProcessId]) -> Vec<(&'a str, usize, usize)> {
        let mut runs: Vec<(&str, usize, usize)> = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            let host = self.host(*id);
            match runs.last_mut() {
                Some((last, _, n)) if *last == host => *n += 1,
                _ => runs.push((host, i, 1)),
            }
        }
        runs
    }

    pub(crate) fn communicator(&self, communicator: &Communicator) -> String {
        communicator
            .name
            .clone()
            .unwrap_or_else(|| communicator.id.clone())
    }
}

/// Length of the longest ".domain" that all names end with, or 0. Addresses are left alone: their ends tell them apart.
fn shared_domain<'a>(mut names: impl Iterator<Item = &'a str> + Clone) -> usize {
    let lettered = names
        .clone()
        .all(|n| n.starts_with(|c: char| c.is_alphabetic()));
    let Some(first) = names.next().filter(|_| lettered) else {
        return 0;
    };
    first
        .char_indices()
        .filter(|(i, c)| *c == '.' && *i > 0)
        .map(|(i, _)| &first[i..])
        .find(|domain| {
            names
                .clone()
                .all(|n| n.len() > domain.len() && n.ends_with(domain))
        })
        .map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_cut_when_shared() {
        let of = |names: &[&str]| shared_domain(names.iter().copied());
        assert_eq!(of(&["gpu-1.a.org", "gpu-2.a.org"]), ".a.org".len());
        assert_eq!(of(&["gpu-1.a.org", "gpu-2.b.org"]), ".org".len());
        assert_eq!(of(&["gpu-1.a.org"]), ".a.org".len());
        assert_eq!(of(&["10.0.0.1", "10.1.0.1"]), 0);
        assert_eq!(of(&["a", "b"]), 0);
        assert_eq!(of(&["é.x", "x"]), 0);
        assert_eq!(of(&[]), 0);
    }
}
