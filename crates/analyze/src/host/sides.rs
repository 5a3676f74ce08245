//! Which of two hosts loses segments, by the transfers that each has with others.
//!
//! What a host sends again to another may be lost on either side. But a sender at fault loses what it sends to a third host as well, and
//! a receiver what it is sent by one. So the slow transfers with a retransmit in them are counted that the one has without the other, and
//! how many would be by other reasons is known from the transfers that both have no part in. It needs no addresses.

use std::collections::{BTreeMap, BTreeSet};

use super::destinations::Destinations;
use super::prepared::Prepared;
use super::stretches::{Stretch, Stretches};
use super::unsure::most_of;
use super::ways::{Way, Ways};

/// How much more likely one side must be than the other, for each that it may be: as rare as the errors that are allowed elsewhere.
const FAR_MORE: f64 = 1e3;

/// From here on it is left open; below, the one that sends again is named.
const MORE: f64 = 10.0;

/// However rare slow transfers are otherwise, one makes a side so many times as likely at most: any may have a reason of its own.
const EACH: f64 = 10.0;

/// At so many different times at least they must have been slow: a single event may slow several at once.
const LEAST: usize = 3;

/// What the transfers with others say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    /// It loses what it sends to others, too.
    Sender,
    /// This host loses what others send to it, too: these.
    Receiver { host: String, senders: Vec<String> },
    /// Rather this host, but not for sure.
    Perhaps { host: String },
    /// Nothing.
    Unknown,
}

/// A slow transfer, and the hosts that sent something again meanwhile to one of those that received.
struct Hit<'w> {
    way: &'w Way,
    on: &'w BTreeMap<String, Stretch>,
    by: Vec<&'w str>,
}

/// Which side it is, for what `sender` sends again.
pub(super) fn side(ways: &Ways, to: &Destinations, hosts: &[Prepared<'_>], sender: &str) -> Side {
    let Some(own) = hosts.iter().find(|host| host.host == sender) else {
        return Side::Unknown;
    };
    let candidates: Vec<&str> = match most_of(to, own) {
        None => return Side::Unknown,
        Some(Some(number)) => to.name(number).into_iter().collect(),
        Some(None) => {
            let all: BTreeSet<&str> = ways
                .all()
                .filter(|(way, _)| way.sends(sender))
                .flat_map(|(way, _)| way.receivers.iter().map(String::as_str))
                .filter(|host| *host != sender)
                .collect();
            all.into_iter().collect()
        }
    };
    let hits = hits(ways, to, hosts);
    let judged = candidates
        .iter()
        .filter_map(|receiver| Some((receiver, Evidence::of(ways, &hits, sender, receiver)?)));
    let Some((receiver, best)) = judged.max_by(|a, b| a.1.log.total_cmp(&b.1.log)) else {
        return Side::Unknown;
    };
    let far = FAR_MORE.ln() + (candidates.len() as f64).ln();
    let host = (*receiver).to_owned();
    if best.log >= far && best.times >= LEAST {
        let mut senders: Vec<String> = best.others.iter().map(|s| (*s).to_owned()).collect();
        senders.push(sender.to_owned());
        senders.sort();
        senders.dedup();
        Side::Receiver { host, senders }
    } else if best.log >= MORE.ln() {
        Side::Perhaps { host }
    } else if best.log <= -FAR_MORE.ln() {
        Side::Sender
    } else {
        Side::Unknown
    }
}

fn hits<'w>(ways: &'w Ways, to: &Destinations, hosts: &[Prepared<'_>]) -> Vec<Hit<'w>> {
    let mut out = Vec::new();
    for (way, of) in ways.all() {
        let senders: Vec<(&str, &Prepared<'_>)> = way
            .senders
            .iter()
            .filter_map(|name| Some((name.as_str(), hosts.iter().find(|h| h.host == name)?)))
            .collect();
        // An address that is no known host's may be that of any.
        let takes = |connection: u32| {
            to.of_connection(connection)
                .and_then(|number| to.name(number))
                .is_none_or(|name| {
                    way.receives(name) || !hosts.iter().any(|host| host.host == name)
                })
        };
        for on in &of.slow {
            let by: Vec<&str> = senders
                .iter()
                .filter(|(name, host)| {
                    on.get(*name).is_some_and(|window| {
                        let first = host.list.partition_point(|r| r.at < window.0);
                        let mut inside = host.list[first..].iter().take_while(|r| r.at <= window.1);
                        inside.any(|r| takes(r.connection))
                    })
                })
                .map(|(name, _)| *name)
                .collect();
            if !by.is_empty() {
                out.push(Hit { way, on, by });
            }
        }
    }
    out
}

/// For one of the two, against the other.
struct Evidence<'w> {
    /// Logarithm of how much more likely the receiver is.
    log: f64,
    /// At how many times the receiver's others were slow.
    times: usize,
    /// Who sent again to the receiver then.
    others: Vec<&'w str>,
}

/// Operations, those slow and hit, and at how many times.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    operations: f64,
    slow: f64,
    times: usize,
}

/// Whom a transfer is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Both,
    Sender,
    Receiver,
    Neither,
    /// What goes the other way: NCCL times a Send and a Recv of one group together, so it may be as slow without a loss of its own.
    Back,
}

impl Whose {
    fn of(way: &Way, sender: &str, receiver: &str) -> Self {
        match (way.sends(sender), way.receives(receiver)) {
            (true, true) => Self::Both,
            (true, false) => Self::Sender,
            (false, true) => Self::Receiver,
            (false, false) if way.receives(sender) || way.sends(receiver) => Self::Back,
            (false, false) => Self::Neither,
        }
    }
}

impl<'w> Evidence<'w> {
    /// `None` where the two have no slow transfer together.
    fn of(ways: &Ways, hits: &[Hit<'w>], sender: &str, receiver: &str) -> Option<Self> {
        let mut counts = [Count::default(); 5];
        for (way, of) in ways.all() {
            counts[Whose::of(way, sender, receiver) as usize].operations += of.operations as f64;
        }
        let mut windows: [Vec<Stretch>; 5] = Default::default();
        let mut others = Vec::new();
        for hit in hits {
            let of = Whose::of(hit.way, sender, receiver);
            let by = |host: &str| match of {
                Whose::Both | Whose::Sender => host == sender,
                Whose::Receiver => host != receiver,
                Whose::Neither | Whose::Back => true,
            };
            let mut by = hit.by.iter().filter(|host| by(host)).peekable();
            let Some(window) = by.peek().and_then(|host| hit.on.get(**host)) else {
                continue;
            };
            counts[of as usize].slow += 1.0;
            windows[of as usize].push(*window);
            if of == Whose::Receiver {
                others.extend(by);
            }
        }
        for (count, windows) in counts.iter_mut().zip(windows) {
            count.times = Stretches::of(windows).all().len();
        }
        let [both, of_sender, of_receiver, neither, back] = counts;
        if both.slow < 1.0 {
            return None;
        }
        others.sort_unstable();
        others.dedup();
        let rate = both.slow / both.operations.max(1.0);
        Some(Self {
            log: speaks(of_receiver, [of_sender, neither], back, rate)
                - speaks(of_sender, [of_receiver, neither], back, rate),
            times: of_receiver.times,
            others,
        })
    }
}

/// How much the slow ones of a side speak for it: the logarithm of the ratio of the rates, for each that is more than the others let expect;
/// where there are no others, than what goes `back` does.
fn speaks(of: Count, others: [Count; 2], back: Count, rate: f64) -> f64 {
    let any = others.iter().any(|c| c.operations > 0.0);
    let others = if any {
        others
    } else {
        [back, Count::default()]
    };
    let sum = |field: fn(&Count) -> f64| others.iter().map(field).sum::<f64>();
    // A rate of zero is only one that wasn't met: one more, of two more.
    let anyway = (sum(|c| c.slow) + 1.0) / (sum(|c| c.operations) + 2.0);
    let more = (of.slow - of.operations * anyway)
        .min(of.times as f64)
        .max(0.0);
    more * (rate / anyway).clamp(1.0, EACH).ln()
}

#[cfg(test)]
#[path = "sides_tests.rs"]
mod tests;
