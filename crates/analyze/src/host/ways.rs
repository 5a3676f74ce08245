//! Who sends to whom in the transfers between hosts, how often, and when it was slow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stretches::Stretch;

/// The hosts that send and those that receive, in order: those of a collective do both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Way {
    pub(crate) senders: Vec<String>,
    pub(crate) receivers: Vec<String>,
}

impl Way {
    /// Of collectives over these hosts, which are in order.
    pub(crate) fn among(hosts: &[&str]) -> Arc<Self> {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        Arc::new(Self {
            senders: hosts.clone(),
            receivers: hosts,
        })
    }

    /// Of what one host sends to another.
    pub(crate) fn between(from: &str, to: &str) -> Arc<Self> {
        Arc::new(Self {
            senders: vec![from.to_owned()],
            receivers: vec![to.to_owned()],
        })
    }

    pub(crate) fn sends(&self, host: &str) -> bool {
        holds(&self.senders, host)
    }

    pub(crate) fn receives(&self, host: &str) -> bool {
        holds(&self.receivers, host)
    }
}

fn holds(hosts: &[String], host: &str) -> bool {
    hosts
        .binary_search_by(|known| known.as_str().cmp(host))
        .is_ok()
}

/// The transfers of one way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OfWay {
    pub(crate) operations: u64,
    /// When each slow one ran, or may have run, on each host; ns by its clock.
    pub(crate) slow: Vec<BTreeMap<String, Stretch>>,
}

/// All transfers between hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ways(BTreeMap<Arc<Way>, OfWay>);

impl Ways {
    /// Counts operations.
    pub(crate) fn count(&mut self, way: &Arc<Way>, operations: u64) {
        self.0.entry(Arc::clone(way)).or_default().operations += operations;
    }

    /// Adds a slow one, which is counted already.
    pub(crate) fn add(&mut self, way: &Arc<Way>, on: BTreeMap<String, Stretch>) {
        self.0.entry(Arc::clone(way)).or_default().slow.push(on);
    }

    /// In order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Way, &OfWay)> {
        self.0.iter().map(|(way, of)| (&**way, of))
    }

    /// The same by clocks that are ahead by so many ns.
    pub(crate) fn later(mut self, ahead: &BTreeMap<String, i64>) -> Self {
        let slow = self.0.values_mut().flat_map(|of| &mut of.slow);
        for (host, window) in slow.flatten() {
            let by = ahead.get(host).copied().unwrap_or(0);
            *window = (window.0.saturating_add(by), window.1.saturating_add(by));
        }
        self
    }
}
