//! Slow collectives that coincide with TCP retransmits of a host, far more often than chance.
//!
//! Retransmits happen on any busy network, and slow collectives for many reasons; some always coincide. If they had nothing to
//! do with each other, a retransmit would fall into a slow stretch as often as slow stretches fill the time: the number that
//! do is binomial, and its tail is the evidence. Retransmits come in bursts, so one burst counts once.

use std::collections::BTreeMap;

use nccl_report_ingest::ebpf::HostTrace;

use crate::measured::Measured;
use crate::statistics::robust;

/// A call is slow at so many times the median of its kind: waiting for a late peer seldom makes it five times as long, a
/// retransmission time-out of 40 ms and more does.
const SLOW: f64 = 5.0;

/// Shorter calls aren't slowed by retransmits, whose time-outs are 5 ms at the least.
const LEAST_NANOS: i64 = 5_000_000;

/// Retransmits within this time are one burst.
const BURST_NANOS: i64 = 10_000_000;

/// Bursts inside slow stretches, at least.
const LEAST_BURSTS: u64 = 5;

/// Times as many bursts a second inside slow stretches as outside, at least.
const RATE: f64 = 5.0;

/// Chance of so many under coincidence, over all hosts.
const CHANCE: f64 = 1e-5;

/// A time in which an operation ran on a host, by its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ran {
    /// Start, ns.
    pub(crate) start: i64,
    /// Length, ns.
    pub(crate) length: i64,
    /// Operations of one number are alike.
    pub(crate) kind: u32,
}

/// A host whose retransmits slow collectives down.
#[derive(Debug, Clone)]
pub(crate) struct Retransmits {
    /// Host.
    pub(crate) host: String,
    /// Retransmits in slow stretches, and in all.
    pub(crate) inside: (u64, u64),
    /// Bursts a second inside slow stretches, and outside.
    pub(crate) rates: (f64, f64),
    /// Slow operations of the host with a retransmit in them.
    pub(crate) operations: u64,
    /// Their typical length, and that of their kind, µs.
    pub(crate) micros: (f64, f64),
    /// Time above the median of their kind, µs, on this host.
    pub(crate) time_lost: f64,
    /// Chance under coincidence.
    pub(crate) chance: f64,
}

/// Every such host, by time lost. `kernels` gives what ran on a host where its traces hold no NCCL calls.
pub(crate) fn retransmits(
    m: &Measured,
    traces: &[HostTrace],
    kernels: &BTreeMap<String, Vec<Ran>>,
) -> Vec<Retransmits> {
    let mut by_host: BTreeMap<&str, (Vec<i64>, Vec<Ran>)> = BTreeMap::new();
    for trace in traces {
        let Some(host) = host_of(m, trace) else {
            continue;
        };
        let entry = by_host.entry(host).or_default();
        entry.0.extend(&trace.retransmits_ns);
        entry.1.extend(trace.calls.iter().map(|c| Ran {
            start: c.start_ns,
            length: c.duration_ns,
            kind: c.kind,
        }));
    }
    let hosts = by_host.len() as f64;
    let mut out: Vec<Retransmits> = by_host
        .into_iter()
        .filter_map(|(host, (mut events, mut ran))| {
            // Two traces of one host see the same retransmit.
            events.sort_unstable();
            events.dedup();
            if ran.is_empty() {
                ran = kernels.get(host).cloned().unwrap_or_default();
            }
            judge(host, &events, &ran, hosts)
        })
        .collect();
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.host.cmp(&b.host))
    });
    out
}

/// The host of the dumps that a trace is of: the one it names, else the one that its file's or folder's name contains.
fn host_of<'a>(m: &'a Measured, trace: &HostTrace) -> Option<&'a str> {
    let short = |s: &str| s.split('.').next().unwrap_or(s).to_ascii_lowercase();
    let hosts = || m.topology.processes.iter().map(|p| p.host.as_str());
    if let Some(node) = &trace.node {
        return hosts().find(|h| short(h) == short(node));
    }
    let path = trace.path.to_string_lossy().to_ascii_lowercase();
    hosts()
        .filter(|h| path.contains(&short(h)))
        .max_by_key(|h| h.len())
}

fn judge(host: &str, events: &[i64], ran: &[Ran], hosts: f64) -> Option<Retransmits> {
    let start = ran.iter().map(|r| r.start).min()?;
    let end = ran.iter().map(|r| r.start.saturating_add(r.length)).max()?;
    let mut lengths: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for r in ran {
        lengths.entry(r.kind).or_default().push(r.length as f64);
    }
    let median: BTreeMap<u32, f64> = lengths
        .into_iter()
        .filter_map(|(k, mut v)| robust::median(&mut v).map(|m| (k, m)))
        .collect();
    let mut slow: Vec<Ran> = ran
        .iter()
        .copied()
        .filter(|r| r.length >= LEAST_NANOS && r.length as f64 >= SLOW * median[&r.kind])
        .collect();
    slow.sort_unstable();
    let stretches = union(&slow);
    let covered: i64 = stretches.iter().map(|s| s.1 - s.0).sum();
    let share = covered as f64 / (end - start).max(1) as f64;
    let inside = |t: i64| {
        let i = stretches.partition_point(|s| s.0 <= t);
        i > 0 && t <= stretches[i - 1].1
    };
    let seen: Vec<i64> = events
        .iter()
        .copied()
        .filter(|t| (start..=end).contains(t))
        .collect();
    let bursts: Vec<i64> = seen
        .chunk_by(|a, b| b - a <= BURST_NANOS)
        .map(|burst| burst[0])
        .collect();
    let within = bursts.iter().filter(|&&t| inside(t)).count() as u64;
    let chance = (binomial_tail(within, bursts.len() as u64, share) * hosts).min(1.0);
    let seconds = |ns: f64| (ns / 1e9).max(1e-9);
    let rates = (
        within as f64 / seconds(covered as f64),
        (bursts.len() as u64 - within) as f64 / seconds((end - start - covered) as f64),
    );
    if within < LEAST_BURSTS || chance > CHANCE || rates.0 < RATE * rates.1 {
        return None;
    }
    let hit: Vec<&Ran> = slow
        .iter()
        .filter(|r| {
            let i = seen.partition_point(|&t| t < r.start);
            seen.get(i).is_some_and(|&t| t <= r.start + r.length)
        })
        .collect();
    let mut long: Vec<f64> = hit.iter().map(|r| r.length as f64 / 1e3).collect();
    let mut usual: Vec<f64> = hit.iter().map(|r| median[&r.kind] / 1e3).collect();
    Some(Retransmits {
        host: host.to_owned(),
        inside: (
            seen.iter().filter(|&&t| inside(t)).count() as u64,
            seen.len() as u64,
        ),
        rates,
        operations: hit.len() as u64,
        micros: (robust::median(&mut long)?, robust::median(&mut usual)?),
        time_lost: hit
            .iter()
            .map(|r| (r.length as f64 - median[&r.kind]) / 1e3)
            .sum(),
        chance,
    })
}

/// Sorted times merged where they overlap.
fn union(slow: &[Ran]) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = Vec::new();
    for r in slow {
        let end = r.start.saturating_add(r.length);
        match out.last_mut() {
            Some(last) if r.start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((r.start, end)),
        }
    }
    out
}

/// Chance of `k` or more of `n` where each happens with probability `p`.
fn binomial_tail(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 || k > n {
        return 0.0;
    }
    let ln_choose = |k: u64| {
        (1..=k)
            .map(|i| ((n - k + i) as f64).ln() - (i as f64).ln())
            .sum::<f64>()
    };
    let mut ln_term = ln_choose(k) + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    for i in k..=n {
        sum += ln_term.exp();
        ln_term += ((n - i) as f64).ln() - ((i + 1) as f64).ln() + p.ln() - (1.0 - p).ln();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1/2⁴·(4 + 1) for 3 or more of 4 at one half; all of 10 at 0.1 is 1e-10.
    #[test]
    fn tails_by_hand() {
        assert!((binomial_tail(3, 4, 0.5) - 5.0 / 16.0).abs() < 1e-12);
        assert!((binomial_tail(10, 10, 0.1) / 1e-10 - 1.0).abs() < 1e-9);
        assert_eq!(
            (
                binomial_tail(0, 5, 0.3),
                binomial_tail(3, 2, 0.3),
                binomial_tail(1, 1, 1.0)
            ),
            (1.0, 0.0, 1.0)
        );
    }

    /// A call of 1 ms every 10 ms; every 20th takes 50 ms.
    fn calls() -> Vec<Ran> {
        (0..400)
            .map(|i| Ran {
                start: i * 60_000_000,
                length: if i % 20 == 7 { 50_000_000 } else { 1_000_000 },
                kind: 0,
            })
            .collect()
    }

    #[test]
    fn retransmits_inside_slow_calls_are_a_cause_and_the_same_number_anywhere_is_not() {
        let ran = calls();
        let inside: Vec<i64> = ran
            .iter()
            .filter(|r| r.length > LEAST_NANOS)
            .map(|r| r.start + 9_000_000)
            .collect();
        let found = judge("h", &inside, &ran, 4.0).expect("a cause");
        assert_eq!((found.inside, found.operations), ((20, 20), 20));
        assert!(
            (found.micros.0 - 50_000.0).abs() < 1e-9 && (found.micros.1 - 1_000.0).abs() < 1e-9
        );
        let anywhere: Vec<i64> = (0..400).map(|i| i * 60_000_000 + 30_000_000).collect();
        assert!(judge("h", &anywhere, &ran, 4.0).is_none());
        assert!(judge("h", &[], &ran, 4.0).is_none());
    }
}
