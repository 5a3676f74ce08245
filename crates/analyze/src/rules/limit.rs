//! Where a run exceeds a limit: one place of many, with the numbers.

use super::{Bandwidth, BandwidthOf, RankP99, RankTails, Statistic};
use crate::comparison::group_name;
use crate::facts::{Distribution, Group, GroupKey, Job, ProcessId};
use crate::statistics::robust;
use crate::units::BusBandwidth;

/// A place where a limit is exceeded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Excess {
    /// Where, in words.
    pub(super) place: String,
    /// What is limited, in words.
    pub(super) what: String,
    pub(super) value: f64,
    pub(super) limit: f64,
    pub(super) unit: &'static str,
    /// The rank, where it is one's.
    pub(super) process: Option<ProcessId>,
    /// Share of the job's communication time that it is about, 0..1.
    pub(super) share_of_time: f64,
}

impl Excess {
    /// How many times the limit it is, whichever side is wrong.
    pub(super) fn factor(&self) -> f64 {
        let factor = self.value / self.limit;
        if factor < 1.0 { 1.0 / factor } else { factor }
    }
}

/// What a rule found: where the limit is exceeded, and whether there was anything to look at.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Looked {
    pub(super) excesses: Vec<Excess>,
    /// Why a limit couldn't be held against the run.
    pub(super) nothing: Option<String>,
}

/// Groups whose bandwidth is under the floor.
pub(super) fn bandwidth(rule: &Bandwidth, job: &Job) -> Looked {
    let groups: Vec<&Group> = job
        .groups
        .iter()
        .filter(|g| rule.groups.takes(&g.key))
        .collect();
    if groups.is_empty() {
        return nothing("no operation of the run is of its class, operation, size and shape");
    }
    let values = groups.iter().filter_map(|g| Some((*g, value(g, rule)?)));
    let known: Vec<(&Group, f64)> = values.filter(|v| v.1.is_finite()).collect();
    if known.is_empty() {
        return nothing("the operations that it is about have no such bandwidth");
    }
    let excesses = known
        .into_iter()
        .filter(|(_, value)| *value < rule.min_gbs)
        .map(|(g, value)| Excess {
            place: group_name(&g.key),
            what: format!(
                "{} of the {}",
                statistic_word(rule.statistic),
                bandwidth_word(rule.of)
            ),
            value,
            limit: rule.min_gbs,
            unit: "GB/s",
            process: None,
            share_of_time: g.share_of_time,
        })
        .collect();
    Looked {
        excesses,
        nothing: None,
    }
}

/// Link and felt bandwidth come from matched collectives, which Send and Recv aren't: there the records count.
fn value(group: &Group, rule: &Bandwidth) -> Option<f64> {
    let of: &Distribution<BusBandwidth> = match rule.of {
        BandwidthOf::Records => &group.busbw,
        _ if group.p2p => &group.busbw,
        BandwidthOf::Link => group.link_busbw.as_ref()?,
        BandwidthOf::Felt => group.felt_busbw.as_ref()?,
    };
    let number = match rule.statistic {
        Statistic::Min => of.min,
        Statistic::P5 => of.p5,
        Statistic::P25 => of.p25,
        Statistic::P50 => of.p50,
        Statistic::Mean => of.mean,
        Statistic::P75 => of.p75,
        Statistic::P95 => of.p95,
        Statistic::Max => of.max,
    };
    Some(number.as_gb_per_s())
}

const fn statistic_word(of: Statistic) -> &'static str {
    match of {
        Statistic::Min => "minimum",
        Statistic::P5 => "5th percentile",
        Statistic::P25 => "25th percentile",
        Statistic::P50 => "median",
        Statistic::Mean => "mean",
        Statistic::P75 => "75th percentile",
        Statistic::P95 => "95th percentile",
        Statistic::Max => "maximum",
    }
}

const fn bandwidth_word(of: BandwidthOf) -> &'static str {
    match of {
        BandwidthOf::Link => "link bandwidth",
        BandwidthOf::Felt => "felt bandwidth",
        BandwidthOf::Records => "bandwidth of the records",
    }
}

/// Ranks whose slow end is too slow.
pub(super) fn rank_p99(
    rule: &RankP99,
    job: &Job,
    tails: &RankTails,
    baseline: Option<&Job>,
) -> Looked {
    let groups: Vec<_> = tails
        .iter()
        .filter(|(key, _)| rule.groups.takes(key))
        .collect();
    if groups.is_empty() {
        return nothing("no operation of the run is of its class, operation, size and shape");
    }
    let mut out = Looked::default();
    let mut limited = rule.max_us.is_some();
    for (key, ranks) in groups {
        for (limit, what) in limits(rule, key, ranks, baseline) {
            limited = true;
            let over = ranks.iter().filter(|(_, p99)| *p99 > limit);
            out.excesses.extend(over.map(|&(process, p99)| Excess {
                place: group_name(key),
                what: what.clone(),
                value: p99,
                limit,
                unit: "µs",
                process: Some(process),
                share_of_time: share(job, key),
            }));
        }
    }
    if !limited {
        out.nothing = Some(match (rule.max_times_baseline, baseline) {
            (Some(_), None) => {
                "its limit needs a baseline, which `nccl-report compare` has".to_owned()
            }
            (Some(_), Some(_)) => "the baseline has no such operation".to_owned(),
            _ => "no group has the three ranks that it takes to have peers".to_owned(),
        });
    }
    out
}

/// Ranks that a rank is compared with, and itself, at least.
const PEERS: usize = 3;

/// The limits of a group in µs, each in words.
fn limits(
    rule: &RankP99,
    key: &GroupKey,
    ranks: &[(ProcessId, f64)],
    baseline: Option<&Job>,
) -> Vec<(f64, String)> {
    let mut out = Vec::new();
    if let Some(us) = rule.max_us {
        out.push((us, "99th percentile of its time".to_owned()));
    }
    if let Some(times) = rule.max_times_peers.filter(|_| ranks.len() >= PEERS) {
        let mut all: Vec<f64> = ranks.iter().map(|r| r.1).collect();
        if let Some(median) = robust::median(&mut all) {
            out.push((
                times * median,
                format!("99th percentile of its time, limited to {times} times that of its peers"),
            ));
        }
    }
    let before = baseline.and_then(|job| job.groups.iter().find(|g| g.key == *key));
    if let Some((times, group)) = rule.max_times_baseline.zip(before) {
        let limit = times * group.exec_time.p99.as_micros();
        out.push((
            limit,
            format!("99th percentile of its time, limited to {times} times that of the baseline"),
        ));
    }
    out
}

fn share(job: &Job, key: &GroupKey) -> f64 {
    job.groups
        .iter()
        .find(|g| g.key == *key)
        .map_or(0.0, |g| g.share_of_time)
}

/// Time spent waiting for late ranks.
pub(super) fn waiting(max_share: f64, job: &Job) -> Looked {
    let Some(budget) = &job.budget else {
        return nothing("no collective could be matched over its ranks, so waiting isn't known");
    };
    let total = budget.total.as_micros();
    let share = if total > 0.0 {
        budget.waiting.as_micros() / total
    } else {
        0.0
    };
    let excess = (share > max_share).then(|| Excess {
        place: "the whole run".to_owned(),
        what: "share of the communication time in which ranks wait for others".to_owned(),
        value: share,
        limit: max_share,
        unit: "",
        process: None,
        share_of_time: share,
    });
    Looked {
        excesses: excess.into_iter().collect(),
        nothing: None,
    }
}

fn nothing(why: &str) -> Looked {
    Looked {
        excesses: Vec::new(),
        nothing: Some(why.to_owned()),
    }
}
