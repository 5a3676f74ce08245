//! Commands of nccl-tests that confirm a slow link: the suspect against a healthy peer, at the size at which it is slow.

use std::collections::BTreeSet;

use super::pace::Pace;
use super::slow_link::SlowLink;
use super::transfer::Unit;
use crate::facts::Scope;
use crate::measured::Measured;

/// Candidates that a command names one by one.
const NAMED: usize = 8;

/// The command, ready to paste, between backticks; `None` for what no two hosts can show.
pub(super) fn command(
    m: &Measured,
    units: &[Unit],
    l: &SlowLink,
    pace: Option<&Pace>,
) -> Option<String> {
    let hosts = suspects(m, l);
    let first = hosts.first()?;
    let healthy = healthy_host(m, units, l, &hosts);
    let test = |ranks: usize| test_of(pace, ranks);
    Some(match l.scope {
        Scope::Nvlink => of_gpus(m, l, first, healthy, &test),
        Scope::Nic => format!("`{}`", of_cards(m, l, &hosts, healthy, &test(2))),
        Scope::Host => {
            let n = ranks_on(m, first);
            let run = |h: &str, peer: &str| {
                format!(
                    "mpirun -np {} -H {h}:{n},{peer}:{n} {} -g 1",
                    2 * n,
                    test(2 * n)
                )
            };
            let peer = healthy.map_or_else(|| "HEALTHY_HOST".to_owned(), |p| shell(&p));
            let line = match hosts.as_slice() {
                [one] => run(&shell(one), &peer),
                many => format!("for h in {}; do {}; done", listed(many), run("$h", &peer)),
            };
            format!("`{line}`")
        }
        Scope::Fabric => return None,
    })
}

/// The GPUs of a host among themselves: one suspect with all, several in pairs, of which the slow one is in every slow pair.
fn of_gpus(
    m: &Measured,
    l: &SlowLink,
    host: &str,
    healthy: Option<String>,
    test: &dyn Fn(usize) -> String,
) -> String {
    let there = l
        .processes
        .iter()
        .map(|&p| &m.topology.processes[p])
        .filter(|p| p.host == host);
    let devices: Vec<String> = there.map(|p| p.local_rank.to_string()).collect();
    let name = shell(host);
    if let [first, others @ ..] = devices.as_slice()
        && !others.is_empty()
    {
        let others: Vec<&str> = others.iter().take(NAMED).map(String::as_str).collect();
        return format!(
            "`for g in {}; do CUDA_VISIBLE_DEVICES={first},$g {} -g 2; done` on {name}",
            others.join(" "),
            test(2)
        );
    }
    let n = ranks_on(m, host);
    let compared = healthy.map_or_else(String::new, |peer| {
        format!(", and the same on {} to compare", shell(&peer))
    });
    format!("`{} -g {n}` on {name}{compared}", test(n))
}

/// Two cards against each other, one GPU each: every suspect with a healthy one, or where nobody is known to be healthy the first with
/// all others, of which the slow one is in every slow pair.
fn of_cards(
    m: &Measured,
    l: &SlowLink,
    hosts: &[String],
    healthy: Option<String>,
    test: &str,
) -> String {
    let device = |host: &str| {
        let of = |p: &&usize| m.topology.processes[**p].host == host;
        let found = l.processes.iter().find(of);
        found.map_or(0, |&p| m.topology.processes[p].local_rank)
    };
    let run = |a: &str, b: &str, device: &str| {
        format!("mpirun -np 2 -H {a}:1,{b}:1 -x CUDA_VISIBLE_DEVICES={device} {test} -g 1")
    };
    let first = hosts.first().map_or("", String::as_str);
    let own = device(first);
    let alike = hosts.iter().all(|h| device(h) == own);
    let (tested, peer) = match (hosts, healthy) {
        (_, Some(peer)) => (hosts, shell(&peer)),
        ([_], None) => (hosts, "HEALTHY_HOST".to_owned()),
        (_, None) => (hosts.get(1..).unwrap_or_default(), shell(first)),
    };
    match tested {
        [one] => run(&shell(one), &peer, &device(one).to_string()),
        many if alike => format!(
            "for h in {}; do {}; done",
            listed(many),
            run("$h", &peer, &own.to_string())
        ),
        many => {
            let cards = many.iter().take(NAMED);
            let cards: Vec<String> = cards
                .map(|h| format!("{},{}", shell(h), device(h)))
                .collect();
            format!(
                "for c in {}; do {}; done",
                cards.join(" "),
                run("${c%,*}", &peer, "${c#*,}")
            )
        }
    }
}

/// Hosts of the suspects, in their order, each once.
fn suspects(m: &Measured, l: &SlowLink) -> Vec<String> {
    let of_processes = l.processes.iter().map(|&p| &m.topology.processes[p].host);
    let mut seen = BTreeSet::new();
    l.hosts
        .iter()
        .chain(of_processes)
        .filter(|h| seen.insert(h.as_str()))
        .cloned()
        .collect()
}

/// A host that a fast communicator or pair of the same kind clears, the first by name.
fn healthy_host(m: &Measured, units: &[Unit], l: &SlowLink, not: &[String]) -> Option<String> {
    let kinds: BTreeSet<_> = l.units.iter().map(|&u| units[u].kind).collect();
    let slow: BTreeSet<usize> = l.units.iter().copied().collect();
    let hosts: BTreeSet<&String> = units
        .iter()
        .enumerate()
        .filter(|(i, u)| kinds.contains(&u.kind) && !slow.contains(i))
        .flat_map(|(_, u)| &u.processes)
        .map(|&p| &m.topology.processes[p].host)
        .filter(|h| !not.contains(h))
        .collect();
    hosts.into_iter().next().cloned()
}

fn ranks_on(m: &Measured, host: &str) -> usize {
    let all = m.topology.processes.iter();
    all.filter(|p| p.host == host).count().max(1)
}

/// The test of nccl-tests for an operation, at its size. nccl-tests takes the total of `AllGather` and `ReduceScatter`, records hold the
/// part of a rank.
fn test_of(pace: Option<&Pace>, ranks: usize) -> String {
    let (operation, size) =
        pace.map_or(("AllReduce", 128 << 20), |p| (p.operation.as_str(), p.size));
    let (program, size) = match operation {
        "AllGather" => ("all_gather_perf", size.saturating_mul(ranks as u64)),
        "ReduceScatter" => ("reduce_scatter_perf", size.saturating_mul(ranks as u64)),
        "Send" | "Recv" => ("sendrecv_perf", size),
        "Broadcast" => ("broadcast_perf", size),
        "Reduce" => ("reduce_perf", size),
        _ => ("all_reduce_perf", size),
    };
    let size = bytes(size);
    format!("{program} -b {size} -e {size}")
}

/// A size as nccl-tests reads it: K, M and G are binary.
fn bytes(size: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let whole = units
        .iter()
        .find(|(shift, _)| size > 0 && size.is_multiple_of(1 << shift));
    whole.map_or_else(
        || size.to_string(),
        |(shift, unit)| format!("{}{unit}", size >> shift),
    )
}

fn listed(hosts: &[String]) -> String {
    let names: Vec<String> = hosts.iter().take(NAMED).map(|h| shell(h)).collect();
    names.join(" ")
}

/// A host name that may stand in a command that somebody pastes. Names come from the dumps, and no real one needs quoting.
fn shell(host: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !host.is_empty() && !host.starts_with('-') && host.chars().all(plain) {
        host.to_owned()
    } else {
        "HOST".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::pace::Level;

    fn pace(operation: &str, size: u64) -> Pace {
        Pace {
            operation: operation.into(),
            size,
            slow: Level {
                micros: 2.0,
                busbw: None,
            },
            usual: None,
            peers: 0,
            each: Vec::new(),
        }
    }

    #[test]
    fn sizes_are_those_of_nccl_tests() {
        let test = |operation, size, ranks| test_of(Some(&pace(operation, size)), ranks);
        assert_eq!(
            test("AllReduce", 128 << 20, 2),
            "all_reduce_perf -b 128M -e 128M"
        );
        // 25 MiB a rank on two ranks are 50 MiB in all.
        assert_eq!(
            test("ReduceScatter", 26_214_400, 2),
            "reduce_scatter_perf -b 50M -e 50M"
        );
        assert_eq!(test("Send", 12_345, 2), "sendrecv_perf -b 12345 -e 12345");
        assert_eq!(bytes(0), "0");
    }

    #[test]
    fn names_that_a_shell_would_act_on_are_not_in_commands() {
        for name in ["$(reboot)", "a;b", "-x", "", "a b", "`id`", "a\nb", "é"] {
            assert_eq!(shell(name), "HOST", "{name}");
        }
        assert_eq!(
            shell("gpu-001.cluster_2.example"),
            "gpu-001.cluster_2.example"
        );
    }
}
