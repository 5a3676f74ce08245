//! What figures are drawn from.

use nccl_report_analyze::facts::*;
use nccl_report_analyze::units::{MessageSize, Timestamp};

use super::job::{SIZES, at, gbs, micros, reached};
use super::random::Random;

pub(super) fn scatter(
    random: &mut Random,
    class: CommClass,
    operation: &str,
    ranks: u32,
) -> Scatter {
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

pub(super) fn histogram(
    random: &mut Random,
    class: CommClass,
    operation: &str,
    size: u64,
) -> Histogram {
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

pub(super) fn heat_maps(random: &mut Random, ranks: u32) -> Vec<HeatMap> {
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
            of: MapOf::Lateness,
            title: "late arrival, µs a collective, median".into(),
            unit: "µs".into(),
            rows: rows.clone(),
            edges: edges.clone(),
            values: late,
            neutral: 0.0,
        },
        HeatMap {
            of: MapOf::Transfer,
            title: "transfer time against peers".into(),
            unit: "×".into(),
            rows,
            edges,
            values: ratio,
            neutral: 1.0,
        },
    ]
}

pub(super) fn pairs(random: &mut Random, ranks: u32, per_host: u32) -> PairMatrix {
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

pub(super) fn timeline(random: &mut Random, ranks: u32) -> CollectiveTimeline {
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
