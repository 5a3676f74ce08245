//! What a trace says of itself, so that later steps know where it belongs before they read a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Hosts told apart in one database; merged ones hold tens.
pub(super) const MOST_HOSTS: usize = 4096;

/// What a database holds, besides its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TraceSeen {
    /// Hosts that its rows name, with how many rows.
    pub hosts: BTreeMap<String, u64>,
    /// Rows of events, calls and retransmits that name no host.
    pub without_host: u64,
    /// Earliest stamp of an event, a call or a retransmit, nanoseconds since 1970 by that host's clock.
    pub first_ns: Option<i64>,
    /// Latest stamp.
    pub last_ns: Option<i64>,
    /// The format's version, as the database says.
    pub version: Option<String>,
}

impl TraceSeen {
    /// Takes the stamp of a row.
    pub(super) fn stamp(&mut self, ns: i64) {
        self.first_ns = Some(self.first_ns.map_or(ns, |first| first.min(ns)));
        self.last_ns = Some(self.last_ns.map_or(ns, |last| last.max(ns)));
    }

    /// Takes the host of a row.
    pub(super) fn host(&mut self, host: Option<&str>) {
        match host {
            None => self.without_host += 1,
            Some(host) => {
                if let Some(rows) = self.hosts.get_mut(host) {
                    *rows += 1;
                } else if self.hosts.len() < MOST_HOSTS {
                    self.hosts.insert(host.to_owned(), 1);
                }
            }
        }
    }
}
