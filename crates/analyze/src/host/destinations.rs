//! Whom segments are sent to: the host of an address where the traces tell it, else the address.

use std::collections::{BTreeMap, BTreeSet};

use super::store::HostTraces;

/// The other ends of the connections.
#[derive(Debug)]
pub(super) struct Destinations {
    /// Hosts and addresses, by number.
    names: Vec<String>,
    /// By the number of a connection; `None` where the trace holds no address.
    of_connection: Vec<Option<u32>>,
}

impl Destinations {
    /// A host has the addresses that it alone sends from. An address that nobody is seen to send from is that of the one host of the dumps
    /// that is never seen to send again, if all hosts are traced and none is seen to have two addresses.
    pub(super) fn of(all: &HostTraces) -> Self {
        let mut hosts_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut addresses_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for host in all.hosts() {
            let addresses = addresses_of.entry(host).or_default();
            let used: BTreeSet<u32> = all.retransmits(host).iter().map(|r| r.connection).collect();
            for address in used.into_iter().filter_map(|c| all.source(c)) {
                addresses.insert(address);
                hosts_of.entry(address).or_default().insert(host);
            }
        }
        let all_traced = !all.dump_hosts.is_empty()
            && all.dump_hosts.len() == all.counts.len()
            && all.dump_hosts.iter().all(|h| all.counts.contains_key(h));
        let one_each = addresses_of.values().all(|of| of.len() <= 1);
        let mut silent = addresses_of.iter().filter(|(_, of)| of.is_empty());
        let silent = match (silent.next(), silent.next()) {
            (Some((host, _)), None) if all_traced && one_each => Some(*host),
            _ => None,
        };
        let name = |address| match hosts_of.get(address) {
            None => silent.unwrap_or(address),
            // What several hosts send from tells none of them.
            Some(hosts) if hosts.len() > 1 => address,
            Some(hosts) => hosts.first().copied().unwrap_or(address),
        };
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let of_connection = all
            .connections
            .items()
            .iter()
            .map(|(_, destination)| {
                let name = name(destination.as_deref()?);
                Some(*numbers.entry(name).or_insert_with(|| {
                    names.push(name.to_owned());
                    u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
                }))
            })
            .collect();
        Self {
            names,
            of_connection,
        }
    }

    /// The number of the other end of a connection.
    pub(super) fn of_connection(&self, connection: u32) -> Option<u32> {
        self.of_connection
            .get(connection as usize)
            .copied()
            .flatten()
    }

    /// The number that a host or an address has.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let place = self.names.iter().position(|known| known == name)?;
        u32::try_from(place).ok()
    }

    /// Who has a number.
    pub(super) fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }
}
