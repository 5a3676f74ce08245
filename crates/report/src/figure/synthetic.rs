//! Jobs made up for tests: every figure has something to draw, numbers follow a seeded generator.

use nccl_report_analyze::facts::*;
use nccl_report_analyze::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};

use super::box_rows::Five;

/// Start of the made-up run.
pub(crate) const START: i64 = 1_760_000_000_000_000;
/// Its length in microseconds.
const LENGTH: i64 = 600_000_000;
const SIZES: [u64; 6] = [16 << 10, 256 << 10, 4 << 20, 64 << 20, 256 << 20, 1 << 30];

/// Splitmix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// About normal, mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    fn around(&mut self, centre: f64, spread: f64) -> f64 {
        centre * (spread * self.normal()).exp()
    }
}

fn gbs(v: f64) -> BusBandwidth {
    BusBandwidth::from_gb_per_s(v)
}

fn micros(v: f64) -> ExecTime {
    ExecTime::from_micros(v)
}

fn at(share: f64) -> Timestamp {
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
fn reached(class: CommClass, size: u64) -> f64 {
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
            transfer: micros(2.1e9),
            waiting: micros(0.9e9),
            slow_links: micros(0.2e9),
            unexplained: micros(0.4e9),
        }),
        findings: vec![],
        scatters,
        histograms,
        heat_maps: heat_maps(&mut random, ranks),
        pair_matrices: vec![pairs(&mut random, ranks, per_host)],
        timelines: vec![timeline(&mut random, ranks.min(per_host * 32))],
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

fn scatter(random: &mut Random, class: CommClass, operation: &str, ranks: u32) -> Scatter {
    let series = SIZES
        .into_iter()
        .map(|size| {
            let reach = reached(class, size);
            let points = (0..120)
                .map(|_| (if random.share() < 0.3 { 0.4 } else { 1.0 }, random.share()))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(slow, moment)| ScatterPoint {
                    at: at(moment),
                    busbw: gbs(random.around(reach * slow, 0.05)),
                    process: ProcessId(random.next() as u32 % ranks),
                })
                .collect();
            let mut density = Vec::new();
            if ranks > 8 {
                for column in 0..60 {
                    for row in -2..=2 {
                        let low = reach * (0.04 * f64::from(row)).exp();
                        density.push(DensityCell {
                            start: at(f64::from(column) / 60.0),
                            end: at(f64::from(column + 1) / 60.0),
                            low: gbs(low),
                            high: gbs(low * 1.04f64.exp().min(1.0408)),
                            count: (400.0 * (-f64::from(row * row)).exp() * random.share()) as u64,
                        });
                    }
                }
            }
            ScatterSeries {
                size: MessageSize::from_bytes(size),
                records: 60_000,
                points,
                density,
            }
        })
        .collect();
    Scatter {
        class,
        operation: operation.into(),
        series,
    }
}

fn histogram(random: &mut Random, class: CommClass, operation: &str, size: u64) -> Histogram {
    let reach = reached(class, size);
    let edges: Vec<f64> = (0..=60)
        .map(|i| reach / 4.0 * 6f64.powf(f64::from(i) / 60.0))
        .collect();
    let mut counts = vec![0; 60];
    for n in 0..5_000 {
        let v = random.around(if n % 5 == 0 { reach * 0.55 } else { reach }, 0.05);
        let bin = edges.partition_point(|e| *e <= v);
        if (1..=60).contains(&bin) {
            counts[bin - 1] += 1;
        }
    }
    Histogram {
        class,
        operation: operation.into(),
        size: MessageSize::from_bytes(size),
        edges: edges.into_iter().map(gbs).collect(),
        counts,
    }
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

fn heat_maps(random: &mut Random, ranks: u32) -> Vec<HeatMap> {
    let columns = 120;
    let edges: Vec<Timestamp> = (0..=columns)
        .map(|c| at(f64::from(c) / f64::from(columns)))
        .collect();
    let cells = |random: &mut Random, value: &dyn Fn(&mut Random, u32, u32) -> f64| -> Vec<Cell> {
        (0..ranks)
            .flat_map(|r| (0..columns).map(move |c| (r, c)))
            .map(|(r, c)| {
                (random.share() > 0.02 && !(r == 3 && c > 80)).then(|| value(random, r, c))
            })
            .collect()
    };
    let late = cells(random, &|random, r, c| {
        let noise = 6.0 * random.share();
        if r == 5 {
            600.0 + 100.0 * random.share()
        } else if (50..60).contains(&c) && r % 8 == 2 {
            80.0
        } else {
            noise
        }
    });
    let ratio = cells(random, &|random, r, c| {
        random.around(if r / 8 == 1 && c > 60 { 1.9 } else { 1.0 }, 0.04)
    });
    let rows: Vec<ProcessId> = (0..ranks).map(ProcessId).collect();
    vec![
        HeatMap {
            title: "late arrival, µs a collective, median".into(),
            unit: "µs".into(),
            rows: rows.clone(),
            edges: edges.clone(),
            values: late,
            neutral: 0.0,
        },
        HeatMap {
            title: "transfer time against peers".into(),
            unit: "×".into(),
            rows,
            edges,
            values: ratio,
            neutral: 1.0,
        },
    ]
}

fn pairs(random: &mut Random, ranks: u32, per_host: u32) -> PairMatrix {
    // A large job's matrix holds the ranks of its first hosts.
    let n = ranks.min(512);
    let bandwidth = (0..n)
        .flat_map(|from| (0..n).map(move |to| (from, to)))
        .map(|(from, to)| {
            let same = from / per_host == to / per_host;
            let talks = from != to && (same || to == (from + per_host) % n);
            let reach = match (same, from / per_host == 1) {
                (true, _) => 180.0,
                (_, true) => 11.0,
                _ => 23.0,
            };
            talks.then(|| gbs(random.around(reach, 0.03)))
        })
        .collect();
    PairMatrix {
        size: MessageSize::from_bytes(32 << 20),
        processes: (0..n).map(ProcessId).collect(),
        bandwidth,
    }
}

fn timeline(random: &mut Random, ranks: u32) -> CollectiveTimeline {
    let late = 5.min(ranks - 1);
    let mut arrivals: Vec<f64> = (0..ranks).map(|_| 60.0 * random.share()).collect();
    arrivals[late as usize] = 700.0;
    let least = arrivals.iter().copied().fold(f64::MAX, f64::min);
    let end = 700.0 - least + 210.0;
    CollectiveTimeline {
        finding: "late_rank:gpu-000/4005/5".into(),
        communicator: 0,
        operation: "AllReduce".into(),
        sequence_number: 1_234,
        size: MessageSize::from_bytes(64 << 20),
        ranks: arrivals
            .iter()
            .enumerate()
            .map(|(r, a)| RankArrival {
                rank: r as u32,
                process: Some(ProcessId(r as u32)),
                arrival: micros(a - least),
                wait: micros(700.0 - a),
                exec_time: micros(end - (a - least)),
            })
            .collect(),
    }
}
