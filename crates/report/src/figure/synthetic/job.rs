//! The whole made-up job.

use nccl_report_analyze::facts::*;
use nccl_report_analyze::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};

use super::super::box_rows::Five;
use super::plots::{heat_maps, histogram, pairs, scatter, timeline};
use super::random::Random;

/// Start of the made-up run.
pub(crate) const START: i64 = 1_760_000_000_000_000;
/// Its length in microseconds.
const LENGTH: i64 = 600_000_000;
pub(super) const SIZES: [u64; 6] = [16 << 10, 256 << 10, 4 << 20, 64 << 20, 256 << 20, 1 << 30];

pub(super) fn gbs(v: f64) -> BusBandwidth {
    BusBandwidth::from_gb_per_s(v)
}

pub(super) fn micros(v: f64) -> ExecTime {
    ExecTime::from_micros(v)
}

pub(super) fn at(share: f64) -> Timestamp {
    Timestamp::from_unix_micros(START + (share * LENGTH as f64) as i64)
}

/// The distribution of a sample.
pub(crate) fn distribution<T>(mut values: Vec<f64>, unit: impl Fn(f64) -> T) -> Distribution<T> {
    values.sort_by(f64::total_cmp);
    let five = Five::of_sample(values.iter().copied()).expect("finite values");
    let place = |p: f64| values[(p * (values.len() - 1) as f64) as usize];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Distribution {
        count: five.count,
        min: unit(five.min),
        p5: unit(place(0.05)),
        p25: unit(five.q1),
        p50: unit(five.median),
        mean: unit(mean),
        p75: unit(five.q3),
        p95: unit(place(0.95)),
        p99: unit(place(0.99)),
        max: unit(five.max),
        whisker_low: unit(five.low),
        whisker_high: unit(five.high),
        outliers: five.outliers,
        exact: true,
    }
}

/// Bandwidth that a link of a class reaches at a size: latency-bound below some MiB.
pub(super) fn reached(class: CommClass, size: u64) -> f64 {
    let peak = if class == CommClass::NvlinkOnly {
        370.0
    } else {
        44.0
    };
    peak * size as f64 / (size as f64 + 6e6)
}

/// A job of `hosts` × `per_host` ranks, host names made by `name`.
pub(crate) fn job(hosts: u32, per_host: u32, name: impl Fn(u32) -> String) -> Job {
    let mut random = Random(7);
    let ranks = hosts * per_host;
    let processes: Vec<Process> = (0..ranks)
        .map(|r| Process {
            host: name(r / per_host),
            pid: 4_000 + i64::from(r),
            local_rank: r % per_host,
            global_rank: Some(r),
            run: 0,
        })
        .collect();
    let (communicators, families) = families(&mut random, hosts, per_host, &name);
    let shares = families
        .iter()
        .enumerate()
        .flat_map(|(i, f)| {
            f.operations.iter().map(move |o| Share {
                family: i as u32,
                operation: o.operation.clone(),
                size: o.size,
                records: o.records,
                bytes: o.records * o.size.as_bytes(),
                time: o.time,
                share_of_time: o.share_of_time,
            })
        })
        .collect();
    let classes = [CommClass::NvlinkOnly, CommClass::HcaOnly, CommClass::Mixed];
    let operations = ["AllReduce", "AllGather", "ReduceScatter"];
    let mut scatters = Vec::new();
    let mut histograms = Vec::new();
    let mut groups = Vec::new();
    for class in classes {
        for operation in operations {
            scatters.push(scatter(&mut random, class, operation, ranks));
            for size in SIZES {
                histograms.push(histogram(&mut random, class, operation, size));
                groups.push(group(&mut random, class, operation, size, per_host, hosts));
            }
        }
    }
    Job {
        inputs: Default::default(),
        overview: Overview {
            title: "synthetic".into(),
            hosts: (0..hosts).map(&name).collect(),
            ranks: u64::from(ranks),
            ranks_expected: Some(u64::from(ranks)),
            span: Some((at(0.0), at(1.0))),
            dialects: vec![Dialect {
                version: "v4.2".into(),
                git_revs: vec![],
                records: 1_000,
            }],
            timing: TimingSource::KernelGpu,
            records_other_timing: 0,
            dump_interval: Some(micros(5e6)),
            sampled: false,
            time: micros(3.6e9),
            bytes: 1 << 40,
            complete: Some(0.97),
            bandwidth_mismatches: 0,
        },
        runs: vec![Run {
            start: at(0.0),
            end: at(1.0),
            ranks: u64::from(ranks),
            hosts: (0..hosts).map(&name).collect(),
        }],
        slices: slices(&mut random, &processes),
        processes,
        communicators,
        families,
        groups,
        pairs: vec![],
        shares,
        budget: Some(TimeBudget {
            total: micros(3.6e9),
            waiting: micros(1.1e9),
            parts: [
                (TimeCause::Transfer, 2.1e9),
                (TimeCause::Finding, 0.9e9),
                (TimeCause::OrdinarySpread, 0.2e9),
                (TimeCause::Unexplained, 0.4e9),
            ]
            .map(|(cause, time)| BudgetPart {
                cause,
                finding: None,
                time: micros(time),
            })
            .into(),
        }),
        findings: vec![],
        scatters,
        histograms,
        heat_maps: heat_maps(&mut random, ranks),
        pair_matrices: vec![pairs(&mut random, ranks, per_host)],
        timelines: vec![timeline(&mut random, ranks.min(per_host * 32))],
        traces: None,
    }
}

/// The names of an ordinary job.
pub(crate) fn plain(host: u32) -> String {
    format!("gpu-{host:03}.cluster.example.org")
}

/// Names that a report must survive.
pub(crate) fn hostile(host: u32) -> String {
    match host % 4 {
        0 => format!("<script>alert('{host}')</script>&\"\u{0}\u{1b}[31m"),
        1 => format!("{}-{host}", "very-long-name".repeat(720)),
        2 => format!("\u{202e}gnp.{host}\u{fffe}\n\t名前"),
        _ => String::new(),
    }
}

fn families(
    random: &mut Random,
    hosts: u32,
    per_host: u32,
    name: &impl Fn(u32) -> String,
) -> (Vec<Communicator>, Vec<Family>) {
    let shapes = [
        ("TP Group", per_host, 1, hosts, CommClass::of(per_host, 1)),
        (
            "DP Group",
            hosts,
            hosts,
            per_host,
            CommClass::of(hosts, hosts),
        ),
        (
            "World",
            hosts * per_host,
            hosts,
            1,
            CommClass::of(hosts * per_host, hosts),
        ),
    ];
    let mut communicators = Vec::new();
    let mut families = Vec::new();
    for (f, (label, n_ranks, nnodes, count, class)) in shapes.into_iter().enumerate() {
        let first = communicators.len() as u32;
        for i in 0..count {
            communicators.push(Communicator {
                id: format!("0x{:x}", random.next() >> 8),
                name: (i % 3 > 0).then(|| format!("{label} {i} {}", name(i))),
                class,
                n_ranks,
                nnodes,
                members: vec![],
                family: f as u32,
                run: 0,
                collectives: 100,
                collectives_complete: 97,
                p2p_records: 0,
                loss: Loss {
                    dropped: None,
                    numbers_unseen: 0,
                    records_unmatched: 0,
                },
                time: micros(1e6),
                first_dump: at(0.0),
                last_dump: at(1.0),
            });
        }
        let indices: Vec<u32> = (first..communicators.len() as u32).collect();
        let mut operations = Vec::new();
        for operation in ["AllReduce", "ReduceScatter"] {
            for size in SIZES {
                let reach = reached(class, size);
                let link: Vec<f64> = (0..200).map(|_| random.around(reach, 0.03)).collect();
                let felt = link
                    .iter()
                    .map(|v| v * (0.6 + 0.4 * random.share()))
                    .collect();
                let share = random.share() / 40.0;
                operations.push(FamilyOperation {
                    operation: operation.into(),
                    size: MessageSize::from_bytes(size),
                    operations: 200,
                    records: 200 * u64::from(n_ranks),
                    link_busbw: Some(distribution(link, gbs)),
                    felt_busbw: Some(distribution(felt, gbs)),
                    shortest: None,
                    spread: None,
                    time: micros(share * 3.6e9),
                    share_of_time: share,
                    link_busbw_by_communicator: indices
                        .iter()
                        .map(|i| {
                            Some(gbs(random.around(reach, 0.01)
                                * if *i == first + 1 { 0.5 } else { 1.0 }))
                        })
                        .collect(),
                });
            }
        }
        families.push(Family {
            label: label.into(),
            class,
            n_ranks,
            nnodes,
            communicators: indices,
            share_of_time: operations.iter().map(|o| o.share_of_time).sum(),
            operations,
        });
    }
    (communicators, families)
}

fn group(
    random: &mut Random,
    class: CommClass,
    operation: &str,
    size: u64,
    per_host: u32,
    hosts: u32,
) -> Group {
    let busbw: Vec<f64> = (0..500)
        .map(|n| random.around(reached(class, size), if n % 20 == 0 { 0.6 } else { 0.05 }))
        .collect();
    let exec = busbw.iter().map(|v| size as f64 / v / 1e3).collect();
    let (n_ranks, nnodes) = match class {
        CommClass::NvlinkOnly => (per_host, 1),
        CommClass::HcaOnly => (hosts, hosts),
        _ => (hosts * per_host, hosts),
    };
    Group {
        key: GroupKey {
            class,
            operation: operation.into(),
            size: MessageSize::from_bytes(size),
            n_ranks,
            nnodes,
        },
        p2p: false,
        communicators: 1,
        collectives: 500,
        records: 500,
        busbw: distribution(busbw, gbs),
        exec_time: distribution(exec, micros),
        link_busbw: None,
        felt_busbw: None,
        time: micros(1e8),
        share_of_time: 0.01,
        latency_bound: size < 1 << 20,
    }
}

fn slices(random: &mut Random, processes: &[Process]) -> Vec<Slice> {
    let mut slices = Vec::new();
    for id in 0..processes.len() as u32 {
        for (operation, reach) in [
            ("AllReduce", 320.0),
            ("ReduceScatter", 40.0),
            ("Send", 20.0),
        ] {
            let late = id == 5;
            let wait = if late {
                0.02
            } else {
                0.2 + 0.05 * random.share()
            };
            slices.push(Slice {
                of: SliceOf::Rank {
                    process: ProcessId(id),
                },
                operation: operation.into(),
                records: 1_000,
                bytes: 1 << 36,
                time: micros(1e6),
                wait: (operation != "Send").then(|| micros(wait * 1e6)),
                busbw: gbs(random.around(reach * if late { 1.25 } else { 1.0 }, 0.01)),
                share_of_time: 0.001,
            });
        }
    }
    slices
}
