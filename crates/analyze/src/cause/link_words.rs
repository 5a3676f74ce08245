//! A slow link in words: what is slow and against what, what to do, the numbers behind it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::nccl_tests;
use super::pace::Pace;
use super::slow_link::SlowLink;
use super::transfer::Unit;
use super::verdicts::rounded;
use super::words;
use crate::facts::{Scope, Window};
use crate::measured::Measured;

/// Slow communicators or pairs that the evidence lists one by one.
const LISTED: usize = 6;

/// A slow link, and what is told of it.
pub(super) struct Told<'a> {
    pub(super) m: &'a Measured,
    pub(super) units: &'a [Unit],
    pub(super) link: &'a SlowLink,
    /// It is one of several.
    pub(super) candidates: bool,
    pub(super) pace: Option<&'a Pace>,
    pub(super) window: Option<Window>,
    /// Share of the job's communication time that is lost.
    pub(super) share: f64,
}

impl Told<'_> {
    /// One sentence.
    pub(super) fn summary(&self) -> String {
        format!(
            "{}: {}{}, though no rank is late; {} of the job's communication time is lost.",
            self.what(),
            self.how_slow(),
            words::when(self.m, self.window),
            words::percent(self.share),
        )
    }

    /// "The network card of rank 11 (…) is slow".
    fn what(&self) -> String {
        let l = self.link;
        let names = self.names();
        let n = self.who().len();
        let one_of = |thing: &str, of: &str| {
            format!("The {thing} of one of {n} {of} is slow, the data can't say which ({names})")
        };
        match (l.scope, self.candidates) {
            (Scope::Nvlink, true) => one_of("NVLink", "ranks"),
            (Scope::Nvlink, false) => format!("The NVLink of {names} is slow"),
            (Scope::Nic, true) => one_of("network card", "ranks"),
            (Scope::Nic, false) => format!("The network card of {names} is slow"),
            (Scope::Host, true) => one_of("network", "hosts"),
            (Scope::Host, false) => format!("The network of host {names} is slow"),
            (Scope::Fabric, _) => "The network as a whole was slow for a time".to_owned(),
        }
    }

    /// The suspects by name.
    fn who(&self) -> Vec<String> {
        let l = self.link;
        match l.hosts.as_slice() {
            [] if self.candidates => l
                .processes
                .iter()
                .map(|&p| {
                    let host = words::name(&self.m.topology.processes[p].host);
                    format!("{} on {host}", words::of_host(self.m, p))
                })
                .collect(),
            [] => l
                .processes
                .iter()
                .map(|&p| words::rank(self.m, p))
                .collect(),
            hosts => hosts.iter().map(|h| words::name(h)).collect(),
        }
    }

    /// All suspects in one phrase; of one host the host is said once.
    fn names(&self) -> String {
        let l = self.link;
        let host = |p: &usize| self.m.topology.processes[*p].host.as_str();
        match l.processes.as_slice() {
            [first, rest @ ..]
                if self.candidates && rest.iter().all(|p| host(p) == host(first)) =>
            {
                let ranks = l.processes.iter();
                let ranks: Vec<String> = ranks.map(|&p| words::of_host(self.m, p)).collect();
                format!("{} on {}", words::list(&ranks), words::name(host(first)))
            }
            _ => words::list(&self.who()),
        }
    }

    /// "AllReduce of 128 MiB in DP Group 3 takes 7.1 ms where 7 like it take 2.96 ms (2.4 times as long)".
    fn how_slow(&self) -> String {
        let l = self.link;
        let ratio = words::three(l.ratio);
        let comms: BTreeSet<usize> = l.units.iter().map(|&u| self.units[u].comm).collect();
        let names: Vec<String> = comms.iter().map(|&c| words::comm(self.m, c)).collect();
        let Some((pace, usual)) = self.pace.and_then(|p| Some((p, p.usual?))) else {
            return format!(
                "transfers in {} take {ratio} times as long as usual",
                words::list(&names)
            );
        };
        let times = words::three(pace.slow.micros / usual.micros);
        let what = format!(
            "{} of {} in {} takes {}",
            pace.operation,
            words::size(pace.size),
            words::list(&names),
            words::duration(pace.slow.micros),
        );
        let usual = words::duration(usual.micros);
        match pace.peers {
            0 => format!("{what}, {usual} at other times ({times} times as long)"),
            1 => format!("{what} where the other like it takes {usual} ({times} times as long)"),
            n => format!("{what} where {n} like it take {usual} ({times} times as long)"),
        }
    }

    /// What to do, with a command.
    pub(super) fn advice(&self) -> String {
        let l = self.link;
        let n = self.who().len();
        let check = match l.scope {
            Scope::Nvlink => {
                "Look at the links inside the host: nvidia-smi nvlink -s and -e (inactive links, error counters), Xid 74 in dmesg, dcgmi diag -r 2.".to_owned()
            }
            Scope::Nic if self.candidates => format!(
                "Check the cards of these {n} ranks: rate and width (ibstat, ethtool, lspci -vv: LnkSta), error counters, cable and switch port."
            ),
            Scope::Nic => {
                "Check the card that NCCL chose for this rank (NCCL_DEBUG=INFO names it): rate and width (ibstat, ethtool, lspci -vv: LnkSta), error counters, cable and switch port.".to_owned()
            }
            Scope::Host if self.candidates => format!(
                "Check every card of these {n} hosts: rate, errors, cables, the switch they hang on, PCIe settings (ACS, relaxed ordering), GPUDirect."
            ),
            Scope::Host => {
                "Check every card of this host: rate, errors, cables, the switch it hangs on, PCIe settings (ACS, relaxed ordering), GPUDirect.".to_owned()
            }
            Scope::Fabric => {
                return "No host stands out, so look outside the job at that time: other jobs' traffic, a switch or link that failed over, storage on the same fabric, the switches' congestion counters.".to_owned();
            }
        };
        let why = if self.candidates && n > 1 {
            "tells them apart"
        } else {
            "confirms it"
        };
        let expected = self
            .pace
            .and_then(|p| p.usual?.busbw)
            .map_or_else(String::new, |b| {
                format!(
                    " Healthy ones reach about {} GB/s of bus bandwidth.",
                    words::three(b)
                )
            });
        match nccl_tests::command(self.m, self.units, l, self.pace) {
            Some(command) => format!("{check} nccl-tests {why}: {command}.{expected}"),
            None => check,
        }
    }

    /// The numbers.
    pub(super) fn evidence(&self) -> Vec<(&'static str, Value)> {
        let l = self.link;
        let mut out = vec![
            ("transfer_time_ratio", rounded(l.ratio)),
            ("slow_communicators_and_pairs", json!(l.units.len())),
            ("fast_of_the_same_kind", json!(l.fast)),
            (
                "operations",
                rounded(l.units.iter().map(|&u| self.units[u].operations).sum()),
            ),
            ("times_the_noise", rounded(l.standout.z)),
        ];
        let Some(pace) = self.pace else {
            return out;
        };
        out.extend([
            ("operation", json!(pace.operation)),
            ("message_bytes", json!(pace.size)),
            ("transfer_us", rounded(pace.slow.micros)),
            (
                "link_busbw_gbs",
                pace.slow.busbw.map_or(Value::Null, rounded),
            ),
        ]);
        if let Some(usual) = pace.usual {
            let bandwidth = usual.busbw.map_or(Value::Null, rounded);
            let (time, rate) = if pace.peers > 0 {
                ("peers_transfer_us", "peers_link_busbw_gbs")
            } else {
                (
                    "transfer_at_other_times_us",
                    "link_busbw_at_other_times_gbs",
                )
            };
            out.extend([(time, rounded(usual.micros)), (rate, bandwidth)]);
        }
        let slowest = pace.each.iter().take(LISTED);
        let slowest: Vec<Value> = slowest
            .map(|(name, micros)| json!({"name": name, "mean_us": rounded(*micros)}))
            .collect();
        out.extend([("peers", json!(pace.peers)), ("slowest", json!(slowest))]);
        out
    }
}
