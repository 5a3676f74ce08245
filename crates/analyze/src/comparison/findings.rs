//! Findings that came, went, or stayed.
//!
//! A finding stays when the other run has one of its kind and scope about the same rank: the same place on the same host, or the
//! same rank of the job. Ids of processes and communicators differ between runs and say nothing.

use crate::facts::{Finding, Severity, Subject};

/// A finding that both runs have counts as worse when its share of the time grew by at least this much …
const GREW_BY: f64 = 0.05;
/// … and by this factor.
const GREW_TIMES: f64 = 1.5;

/// The candidate's findings against the baseline's.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Changed {
    /// Only the candidate's.
    pub(crate) new: Vec<Finding>,
    /// Only the baseline's.
    pub(crate) gone: Vec<Finding>,
    /// Of both, as the candidate has them.
    pub(crate) common: Vec<Finding>,
    /// Of `common`, those that cost far more than in the baseline: share before, finding now.
    pub(crate) grown: Vec<(f64, Finding)>,
}

/// Sorts the findings of two runs.
pub(crate) fn changed(baseline: &[Finding], candidate: &[Finding]) -> Changed {
    let mut out = Changed::default();
    let mut taken = vec![false; baseline.len()];
    for f in candidate {
        // An exact partner first, so that two stragglers don't take each other's.
        let partner = (0..baseline.len())
            .find(|&i| !taken[i] && baseline[i].id == f.id)
            .or_else(|| (0..baseline.len()).find(|&i| !taken[i] && same_role(&baseline[i], f)));
        match partner {
            Some(i) => {
                taken[i] = true;
                let (before, now) = (share(&baseline[i]), share(f));
                if matters(f) && now >= before + GREW_BY && now >= GREW_TIMES * before {
                    out.grown.push((before, f.clone()));
                }
                out.common.push(f.clone());
            }
            None => out.new.push(f.clone()),
        }
    }
    out.gone = baseline
        .iter()
        .zip(&taken)
        .filter(|(_, t)| !**t)
        .map(|(f, _)| f.clone())
        .collect();
    out
}

/// Whether it speaks of the job's speed and is severe enough to be told.
pub(crate) fn matters(f: &Finding) -> bool {
    f.kind.is_performance() && f.severity >= Severity::Warning
}

/// Whether it decides a comparison: what it costs is at least the smallest change that matters, as for buckets. Smaller ones come and
/// go between equal runs.
pub(crate) fn decides(f: &Finding, threshold: f64) -> bool {
    matters(f) && share(f) >= threshold
}

fn share(f: &Finding) -> f64 {
    f.impact.share_of_collective_time
}

fn same_role(a: &Finding, b: &Finding) -> bool {
    if a.kind != b.kind || a.scope != b.scope {
        return false;
    }
    if a.subjects.is_empty() || b.subjects.is_empty() {
        return a.subjects.is_empty() && b.subjects.is_empty();
    }
    a.subjects
        .iter()
        .any(|x| b.subjects.iter().any(|y| same_place(x, y)))
}

fn same_place(a: &Subject, b: &Subject) -> bool {
    let same_rank = a.global_rank.is_some() && a.global_rank == b.global_rank;
    same_rank || (a.host == b.host && a.local_rank == b.local_rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FindingKind, Impact};
    use crate::units::ExecTime;

    fn finding(kind: FindingKind, host: &str, rank: Option<u32>, share: f64) -> Finding {
        Finding {
            id: format!("{}:{host}/{rank:?}", kind.as_str()),
            kind,
            severity: Severity::Warning,
            confidence: 1.0,
            summary: String::new(),
            advice: String::new(),
            subjects: vec![Subject {
                host: host.into(),
                pid: Some(7),
                local_rank: rank.map(|r| r % 8),
                global_rank: rank,
            }],
            candidates_only: false,
            scope: None,
            communicators: vec![],
            window: None,
            impact: Impact {
                time_lost: ExecTime::from_micros(0.0),
                share_of_collective_time: share,
            },
            evidence: serde_json::Map::new(),
        }
    }

    #[test]
    fn a_straggler_that_was_not_there_is_new() {
        let late = finding(FindingKind::LateRank, "a-001", Some(5), 0.1);
        let c = changed(&[], std::slice::from_ref(&late));
        assert_eq!(
            (c.new, c.gone, c.common),
            (vec![late.clone()], vec![], vec![])
        );
        let c = changed(std::slice::from_ref(&late), &[]);
        assert_eq!((c.new, c.gone), (vec![], vec![late]));
    }

    #[test]
    fn the_same_rank_on_other_hosts_is_the_same_straggler() {
        let c = changed(
            &[finding(FindingKind::LateRank, "a-001", Some(5), 0.1)],
            &[finding(FindingKind::LateRank, "b-001", Some(5), 0.1)],
        );
        assert_eq!(
            (c.new.len(), c.gone.len(), c.common.len(), c.grown.len()),
            (0, 0, 1, 0)
        );
    }

    #[test]
    fn another_rank_or_another_kind_is_another_finding() {
        let before = [finding(FindingKind::LateRank, "a-001", Some(5), 0.1)];
        for now in [
            finding(FindingKind::LateRank, "a-001", Some(6), 0.1),
            finding(FindingKind::IntermittentLateRank, "a-001", Some(5), 0.1),
        ] {
            let c = changed(&before, &[now]);
            assert_eq!((c.new.len(), c.gone.len()), (1, 1));
        }
    }

    #[test]
    fn a_finding_below_the_threshold_decides_nothing() {
        let of = |kind, share| decides(&finding(kind, "a", Some(1), share), 0.03);
        assert!(of(FindingKind::LateRank, 0.03));
        assert!(!of(FindingKind::LateRank, 0.029));
        assert!(!of(FindingKind::LostRecords, 0.5));
    }

    #[test]
    fn what_costs_far_more_has_grown() {
        let now = finding(FindingKind::LateRank, "a", Some(1), 0.2);
        let of = |before| {
            changed(
                &[finding(FindingKind::LateRank, "a", Some(1), before)],
                std::slice::from_ref(&now),
            )
            .grown
            .len()
        };
        assert_eq!((of(0.1), of(0.14), of(0.16)), (1, 0, 0));
    }
}
