//! Numbers that no job should have.

use nccl_report_analyze::facts::{CommClass, DensityCell, Distribution, Histogram};
use nccl_report_analyze::facts::{
    HeatMap, Job, MapOf, PairMatrix, ProcessId, Scatter, ScatterPoint, ScatterSeries,
};
use nccl_report_analyze::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::{all, synthetic};
use super::{labels, parse};

fn empty() -> Job {
    let mut job = synthetic::job(1, 1, synthetic::plain);
    job.overview.span = None;
    job.processes.clear();
    job.communicators.clear();
    job.families.clear();
    job.groups.clear();
    job.slices.clear();
    job.shares.clear();
    job.budget = None;
    job.scatters.clear();
    job.histograms.clear();
    job.heat_maps.clear();
    job.pair_matrices.clear();
    job.timelines.clear();
    job
}

#[test]
fn no_data_no_figure() {
    assert!(all(&empty()).is_empty());
    // Things that hold nothing are nothing, too.
    let mut job = empty();
    let none = synthetic::job(2, 2, synthetic::plain);
    job.scatters = none.scatters;
    for series in job.scatters.iter_mut().flat_map(|s| &mut s.series) {
        series.points.clear();
        series.density.clear();
    }
    job.histograms = none.histograms;
    job.histograms.iter_mut().for_each(|h| h.counts.fill(0));
    job.heat_maps = none.heat_maps;
    job.heat_maps.iter_mut().for_each(|m| m.values.fill(None));
    job.pair_matrices = none.pair_matrices;
    job.pair_matrices
        .iter_mut()
        .for_each(|m| m.bandwidth.fill(None));
    job.timelines = none.timelines;
    job.timelines.iter_mut().for_each(|t| t.ranks.clear());
    job.families = none.families;
    for operation in job.families.iter_mut().flat_map(|f| &mut f.operations) {
        operation.link_busbw = None;
        operation.felt_busbw = None;
        operation.link_busbw_by_communicator.fill(None);
    }
    assert_eq!(
        all(&job).into_iter().map(|f| f.id).collect::<Vec<_>>(),
        Vec::<String>::new()
    );
}

fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        0.0..500.0,
        Just(0.0),
        Just(-0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE),
        Just(5e-324),
        Just(42.0),
    ]
}

fn moment() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        Just(synthetic::START),
        Just(i64::MIN),
        Just(i64::MAX),
        Just(0)
    ]
}

fn filled(v: &[f64], count: u64) -> Distribution<BusBandwidth> {
    let b = |i: usize| BusBandwidth::from_gb_per_s(v[i % v.len()]);
    Distribution {
        count,
        min: b(0),
        p5: b(1),
        p25: b(2),
        p50: b(3),
        mean: b(4),
        p75: b(5),
        p95: b(6),
        p99: b(7),
        max: b(8),
        whisker_low: b(9),
        whisker_high: b(10),
        outliers: count / 2,
        exact: false,
    }
}

/// A job whose every number comes from the lists.
fn odd_job(v: &[f64], t: &[i64], counts: &[u64]) -> Job {
    let value = |i: usize| v[i % v.len()];
    let b = |i: usize| BusBandwidth::from_gb_per_s(value(i));
    let e = |i: usize| ExecTime::from_micros(value(i));
    let at = |i: usize| Timestamp::from_unix_micros(t[i % t.len()]);
    let n = |i: usize| counts[i % counts.len()];
    let process = |i: usize| ProcessId(counts[i % counts.len()] as u32 % 6);

    let mut job = synthetic::job(2, 2, synthetic::plain);
    job.overview.span = Some((at(0), at(1)));
    for family in &mut job.families {
        for (i, operation) in family.operations.iter_mut().enumerate() {
            operation.size = MessageSize::from_bytes(n(i));
            operation.link_busbw = Some(filled(&v[i % v.len()..], n(i)));
            operation.link_busbw_by_communicator = (0..5).map(|i| Some(b(i))).collect();
            operation.share_of_time = value(i);
        }
    }
    for (i, group) in job.groups.iter_mut().enumerate() {
        group.busbw = filled(&v[i % v.len()..], n(i));
        group.share_of_time = value(i);
    }
    for (i, slice) in job.slices.iter_mut().enumerate() {
        (slice.time, slice.wait, slice.busbw) = (e(i), Some(e(i + 1)), b(i));
    }
    for (i, share) in job.shares.iter_mut().enumerate() {
        (share.time, share.share_of_time, share.family) = (e(i), value(i), n(i) as u32 % 5);
    }
    for (i, part) in job.budget.iter_mut().flat_map(|b| &mut b.parts).enumerate() {
        part.time = e(i);
    }
    job.scatters = vec![Scatter {
        class: CommClass::Mixed,
        operation: "AllReduce".into(),
        series: (0..2)
            .map(|s| ScatterSeries {
                size: MessageSize::from_bytes(n(s)),
                records: n(s),
                points: (0..v.len())
                    .map(|i| ScatterPoint {
                        at: at(i),
                        busbw: b(i),
                        process: process(i),
                    })
                    .collect(),
                density: (0..v.len())
                    .map(|i| DensityCell {
                        start: at(i),
                        end: at(i + 1),
                        low: b(i),
                        high: b(i + 1),
                        count: n(i),
                    })
                    .collect(),
            })
            .collect(),
    }];
    job.histograms = vec![Histogram {
        class: CommClass::Mixed,
        operation: "AllReduce".into(),
        size: MessageSize::from_bytes(n(0)),
        edges: (0..v.len()).map(b).collect(),
        counts: counts.to_vec(),
    }];
    job.heat_maps = vec![HeatMap {
        of: MapOf::Transfer,
        title: String::new(),
        unit: "µs".into(),
        rows: (0..counts.len()).map(process).collect(),
        edges: (0..t.len()).map(at).collect(),
        values: (0..v.len())
            .map(|i| (n(i) % 3 > 0).then(|| value(i)))
            .collect(),
        neutral: value(1),
    }];
    job.pair_matrices = vec![PairMatrix {
        size: MessageSize::from_bytes(n(0)),
        processes: (0..counts.len()).map(process).collect(),
        bandwidth: (0..v.len()).map(|i| (n(i) % 3 > 0).then(|| b(i))).collect(),
    }];
    for timeline in &mut job.timelines {
        timeline.communicator = n(0) as u32;
        for (i, rank) in timeline.ranks.iter_mut().enumerate() {
            (rank.arrival, rank.wait, rank.exec_time) = (e(i), e(i + 1), e(i + 2));
            rank.process = (n(i) % 2 == 0).then(|| process(i));
        }
    }
    job
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_numbers_give_sane_drawings(v in vec(odd(), 1..12), t in vec(moment(), 1..6), counts in vec(any::<u64>(), 1..6)) {
        for figure in all(&odd_job(&v, &t, &counts)) {
            let document = parse(&figure);
            prop_assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf\""), "{}", figure.id);
            let labels = labels(&document);
            for (i, label) in labels.iter().enumerate() {
                prop_assert!(label.right <= 961.0 && label.left >= -1.0, "{}: {label:?}", figure.id);
                for other in &labels[i + 1..] {
                    prop_assert!(!label.overlaps(other), "{}: {label:?} {other:?}", figure.id);
                }
            }
        }
    }
}

#[test]
fn one_point_is_a_drawing() {
    for value in [0.0, 42.0, 5e-324, 1e300] {
        let mut job = synthetic::job(1, 1, synthetic::plain);
        job.scatters.truncate(1);
        job.scatters[0].series.truncate(1);
        let series = &mut job.scatters[0].series[0];
        series.density.clear();
        series.points.truncate(1);
        series.points[0].busbw = BusBandwidth::from_gb_per_s(value);
        let figures = all(&job);
        let figure = figures
            .iter()
            .find(|f| f.id.starts_with("scatter-"))
            .expect("a scatter");
        let document = parse(figure);
        assert_eq!(
            super::elements(&document, "circle").count(),
            2,
            "key and mark of {value}"
        );
    }
}
