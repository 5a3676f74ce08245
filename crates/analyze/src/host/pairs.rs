//! Slow Sends and Receives between hosts.
//!
//! `p2p_sn` counts locally, so nothing written says which Send belongs to which Recv. But what one rank sends to another arrives in order:
//! where both sides recorded as many operations, of the same sizes one after another, the n-th Send is the n-th Recv. So it is where both
//! recorded all from the first on and one of them ends sooner, as processes do that lose their last dump. The side that came last waited
//! least, so the shorter of the two times is the transfer.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ended::{LATE_DUMP, between};
use super::slow_spans::is_slow;
use super::transfers::{RecordKey, Slow, WARM_UP};
use super::ways::{Way, Ways};
use crate::collective::order::ahead;
use crate::measured::Measured;
use crate::records::held::Held;
use crate::statistics::robust;

/// A Send or a Recv.
#[derive(Debug, Clone, Copy)]
struct One {
    function: u32,
    sequence_number: i64,
    size: u64,
    /// µs.
    micros: f64,
    /// When its line was written, µs by the mean of the hosts' clocks.
    dumped: i64,
}

/// What one member sent to another, as each side recorded it.
#[derive(Debug, Default)]
struct Pair {
    sends: Vec<One>,
    receives: Vec<One>,
}

/// The slow transfers between members of a communicator on different hosts.
pub(super) fn slow(m: &Measured, comm: usize, held: &Held, ways: &mut Ways) -> Vec<Slow> {
    let of = &m.topology.comms[comm];
    let ahead = ahead(of, &m.clock);
    let host = |member: usize| {
        let process = of.members[member].1.0 as usize;
        m.topology.processes[process].host.as_str()
    };
    let whole = (m.dump_interval.unwrap_or(0.0) * (1.0 + LATE_DUMP)) as i64;
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut found: Vec<(u64, Slow)> = Vec::new();
    let (pairs, complete) = pairs(m, comm, held, &ahead);
    for ((from, to), pair) in pairs {
        if host(from) == host(to) {
            continue;
        }
        let way = Way::between(host(from), host(to));
        let matched = pair.matched(complete[from] && complete[to]);
        for (i, (sent, received)) in matched.into_iter().enumerate() {
            let warm = i >= WARM_UP;
            ways.count(&way, u64::from(warm));
            let micros = sent.micros.min(received.micros);
            times.entry(sent.size).or_default().push(micros);
            if !is_slow(micros * 1e3, 0.0) {
                continue;
            }
            let ended = between([sent.dumped, received.dumped].into_iter(), whole);
            let on = |member: usize| {
                let by = ahead[member];
                (host(member).to_owned(), (ended.0 + by, ended.1 + by))
            };
            let key = |member: usize, one: One| RecordKey {
                function: one.function,
                rank: Some(i64::from(of.members[member].0)),
                sequence_number: one.sequence_number,
            };
            let slow = Slow {
                comm,
                way: warm.then(|| Arc::clone(&way)),
                records: vec![key(from, sent), key(to, received)],
                micros,
                usual: 0.0,
                ranks: 2.0,
                ended: BTreeMap::from([on(from), on(to)]),
                stopped: BTreeMap::new(),
            };
            found.push((sent.size, slow));
        }
    }
    let medians: BTreeMap<u64, f64> = times
        .into_iter()
        .filter_map(|(size, mut times)| Some((size, robust::median(&mut times)?)))
        .collect();
    found
        .into_iter()
        .filter_map(|(size, slow)| {
            let usual = *medians.get(&size)?;
            is_slow(slow.micros * 1e3, usual * 1e3).then_some(Slow { usual, ..slow })
        })
        .collect()
}

/// By members, who sends and to whom.
type Pairs = BTreeMap<(usize, usize), Pair>;

/// The records of a communicator; and of each member, whether it recorded all from the first on: its Sends and Receives are numbered from
/// 1 together.
fn pairs(m: &Measured, comm: usize, held: &Held, ahead: &[i64]) -> (Pairs, Vec<bool>) {
    let of = &m.topology.comms[comm];
    let functions = m.census.functions.items();
    let member_of: BTreeMap<i64, usize> = (0..)
        .zip(&of.members)
        .map(|(member, x)| (i64::from(x.0), member))
        .collect();
    let mut out = Pairs::new();
    let mut whole = Vec::with_capacity(of.members.len());
    for (member, &(_, _, endpoint)) in of.members.iter().enumerate() {
        let (mut recorded, mut last) = (0_i64, 0);
        for (file, records) in held.of_endpoint(endpoint) {
            for r in records {
                let (function, size, timing) = file.cell(r);
                let Some(&peer) = member_of.get(&i64::from(r.peer)) else {
                    continue;
                };
                if timing != m.timing {
                    continue;
                }
                let one = One {
                    function,
                    sequence_number: r.sequence_number,
                    size,
                    micros: r.micros,
                    dumped: r.dumped.saturating_sub(ahead[member]),
                };
                recorded += 1;
                last = last.max(r.sequence_number);
                match functions[function as usize].as_str() {
                    "Send" => out.entry((member, peer)).or_default().sends.push(one),
                    "Recv" => out.entry((peer, member)).or_default().receives.push(one),
                    _ => {}
                }
            }
        }
        whole.push(recorded == last);
    }
    (out, whole)
}

impl Pair {
    /// The Sends with their Receives; none where one side lacks records, for then nothing tells which, unless it is `whole` but for those
    /// after its last.
    fn matched(mut self, whole: bool) -> Vec<(One, One)> {
        for side in [&mut self.sends, &mut self.receives] {
            side.sort_by_key(|one| one.sequence_number);
        }
        if whole {
            let both = self.sends.len().min(self.receives.len());
            self.sends.truncate(both);
            self.receives.truncate(both);
        }
        let sizes = |side: &[One]| side.iter().map(|one| one.size).collect::<Vec<_>>();
        if sizes(&self.sends) != sizes(&self.receives) {
            return Vec::new();
        }
        self.sends.into_iter().zip(self.receives).collect()
    }
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod end_to_end;

#[cfg(test)]
mod tests {
    use super::*;

    fn one(sequence_number: i64, size: u64, micros: f64) -> One {
        One {
            function: 0,
            sequence_number,
            size,
            micros,
            dumped: 0,
        }
    }

    #[test]
    fn operations_belong_together_in_their_order_or_not_at_all() {
        let pair = |receives: Vec<One>| Pair {
            sends: vec![one(5, 8, 100.0), one(2, 16, 50.0)],
            receives,
        };
        // Numbered on each side by itself.
        let matched = pair(vec![one(1, 16, 10.0), one(9, 8, 7_000.0)]).matched(false);
        let got: Vec<(u64, f64)> = matched
            .iter()
            .map(|(a, b)| (a.size, a.micros.min(b.micros)))
            .collect();
        assert_eq!(got, [(16, 10.0), (8, 100.0)]);
        // One was lost; or another was.
        assert!(pair(vec![one(9, 8, 7_000.0)]).matched(false).is_empty());
        let other = vec![one(1, 8, 10.0), one(9, 8, 7_000.0)];
        assert!(pair(other).matched(false).is_empty());
        // The last was lost, and no other.
        let matched = pair(vec![one(1, 16, 10.0)]).matched(true);
        assert_eq!((matched.len(), matched[0].1.size), (1, 16));
    }
}
