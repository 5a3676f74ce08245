//! What is drawn is what the facts say: places on paper are read back through the axis' own labels.

use nccl_report_analyze::facts::{BudgetPart, CommClass, TimeBudget, TimeCause};
use nccl_report_analyze::units::{BusBandwidth, ExecTime};
use roxmltree::Document;

use super::super::drawing::Figure;
use super::super::{all, synthetic};
use super::{cells, elements, inherited, number, parse};

fn find<'a>(figures: &'a [Figure], id: &str) -> &'a Figure {
    figures.iter().find(|f| f.id == id).unwrap_or_else(|| {
        panic!(
            "no {id} among {:?}",
            figures.iter().map(|f| &f.id).collect::<Vec<_>>()
        )
    })
}

/// Reads an axis back from its tick labels: (place, value) of the ticks, then interpolation between the outermost.
struct Reading {
    ticks: Vec<(f64, f64)>,
    logarithmic: bool,
}

impl Reading {
    fn of(document: &Document<'_>, across: bool, logarithmic: bool) -> Self {
        let (along, anchor) = if across {
            ("x", "middle")
        } else {
            ("y", "end")
        };
        let mut ticks: Vec<(f64, f64)> = elements(document, "text")
            .filter(|t| {
                inherited(*t, "text-anchor") == Some(anchor)
                    && inherited(*t, "font-size") == Some("110")
            })
            .filter_map(|t| {
                // Half the height of a letter lies between the middle of a label and its baseline.
                let shift = if across { 0.0 } else { 40.0 };
                Some((
                    number(t, along) - shift,
                    t.text()?.replace(',', "").parse().ok()?,
                ))
            })
            .collect();
        ticks.sort_by(|a, b| a.1.total_cmp(&b.1));
        assert!(ticks.len() > 1, "{ticks:?}");
        Self { ticks, logarithmic }
    }

    fn value(&self, place: f64) -> f64 {
        let f = |v: f64| if self.logarithmic { v.ln() } else { v };
        let (p0, v0) = self.ticks[0];
        let (p1, v1) = self.ticks[self.ticks.len() - 1];
        let v = f(v0) + (place - p0) / (p1 - p0) * (f(v1) - f(v0));
        if self.logarithmic { v.exp() } else { v }
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1e-9)
}

#[test]
fn marks_of_a_scatter_stand_at_their_values() {
    let mut job = synthetic::job(1, 1, synthetic::plain);
    job.scatters.truncate(1);
    job.scatters[0].series.truncate(1);
    let series = &mut job.scatters[0].series[0];
    series.density.clear();
    series.points.truncate(4);
    let facts = [
        (30.0, 101.0),
        (150.0, 152.5),
        (400.0, 187.0),
        (599.0, 120.0),
    ];
    for (point, (seconds, busbw)) in series.points.iter_mut().zip(facts) {
        point.at = nccl_report_analyze::units::Timestamp::from_unix_micros(
            synthetic::START + (seconds * 1e6) as i64,
        );
        point.busbw = BusBandwidth::from_gb_per_s(busbw);
    }
    let figures = all(&job);
    let document = parse(find(&figures, "scatter-nvlink-only-allreduce"));
    let x = Reading::of(&document, true, false);
    let y = Reading::of(&document, false, false);
    let drawn: Vec<(f64, f64)> = elements(&document, "circle")
        .skip(1)
        .map(|c| (x.value(number(c, "cx")), y.value(number(c, "cy"))))
        .collect();
    assert_eq!(drawn.len(), facts.len());
    for ((seconds, busbw), fact) in drawn.iter().zip(facts) {
        assert!(
            (seconds - fact.0).abs() < 0.2 && near(*busbw, fact.1, 0.002),
            "{seconds} {busbw} {fact:?}"
        );
    }
}

#[test]
fn boxes_end_at_the_quartiles_and_whiskers_at_values() {
    let mut job = synthetic::job(2, 8, synthetic::plain);
    job.groups.retain(|g| g.key.class == CommClass::HcaOnly);
    let figures = all(&job);
    let document = parse(find(&figures, "boxes-hca-only"));
    let axis = Reading::of(&document, true, true);
    let boxes: Vec<_> = elements(&document, "rect")
        .filter(|r| r.has_children())
        .collect();
    assert_eq!(boxes.len(), job.groups.len());
    for (drawn, group) in boxes.iter().zip(&job.groups) {
        let d = group.busbw;
        let (left, width) = (number(*drawn, "x"), number(*drawn, "width"));
        assert!(near(axis.value(left), d.p25.as_gb_per_s(), 0.01), "{d:?}");
        // Never narrower than 1.2 pixels, so that a box can be seen.
        let right = if width <= 12.0 { d.p25 } else { d.p75 };
        assert!(
            near(axis.value(left + width), right.as_gb_per_s(), 0.02),
            "{d:?}"
        );
        let middle = number(*drawn, "y") + number(*drawn, "height") / 2.0;
        let ends: Vec<f64> = elements(&document, "line")
            .filter(|l| number(*l, "x1") == number(*l, "x2"))
            .filter(|l| (number(*l, "y1") - middle + 35.0).abs() < 2.0)
            .map(|l| axis.value(number(l, "x1")))
            .collect();
        for whisker in [d.whisker_low, d.whisker_high] {
            assert!(
                ends.iter().any(|e| near(*e, whisker.as_gb_per_s(), 0.01)),
                "{whisker:?} {ends:?}"
            );
        }
    }
}

#[test]
fn the_budget_adds_up() {
    let mut job = synthetic::job(1, 2, synthetic::plain);
    let t = ExecTime::from_micros;
    job.budget = Some(TimeBudget {
        total: t(100.0),
        waiting: t(45.0),
        parts: [
            (TimeCause::Transfer, 50.0),
            (TimeCause::PipelineOrder, 30.0),
            (TimeCause::OrdinarySpread, 15.0),
            (TimeCause::Unexplained, 5.0),
        ]
        .map(|(cause, time)| BudgetPart {
            cause,
            finding: None,
            time: t(time),
        })
        .into(),
    });
    let figures = all(&job);
    let figure = find(&figures, "time-budget");
    let document = parse(figure);
    let axis = Reading::of(&document, true, false);
    let parts: Vec<(f64, f64)> = elements(&document, "rect")
        .filter(|r| r.has_children())
        .map(|r| (number(r, "x"), number(r, "x") + number(r, "width")))
        .map(|(from, to)| (axis.value(from), axis.value(to)))
        .collect();
    for ((from, to), (a, b)) in
        parts
            .iter()
            .zip([(0.0, 50.0), (50.0, 80.0), (80.0, 95.0), (95.0, 100.0)])
    {
        assert!(
            (from - a).abs() < 0.05 && (to - b).abs() < 0.05,
            "{parts:?}"
        );
    }
    assert_eq!(parts.len(), 4);
    assert!(
        figure
            .description
            .contains("pipeline order: 30.0%, 30.0 µs"),
        "{}",
        figure.description
    );
}

#[test]
fn the_late_rank_is_the_dark_row() {
    // Rank 5 of host 0 is late all the time; with 4096 ranks only hosts are drawn, and its host keeps its lateness.
    for (hosts, rows) in [(2, 16.0), (512, 128.0)] {
        let job = synthetic::job(hosts, 8, synthetic::plain);
        let figures = all(&job);
        let figure = find(&figures, "map-late-arrival-s-a-collective-median");
        let document = parse(figure);
        let row = if hosts == 2 { 5.0 } else { 0.0 };
        let mut dark = cells(&document, "#7F2704");
        // The first is the step of the legend.
        dark.remove(0);
        assert!(!dark.is_empty(), "{}: nothing is dark", figure.id);
        let hatch = elements(&document, "polyline")
            .filter(|p| inherited(*p, "stroke") == Some("#D5D9DE"))
            .map(|p| p.attribute("points").expect("points"))
            .max_by_key(|p| p.len())
            .expect("a hatched panel");
        let ys: Vec<f64> = hatch
            .split(' ')
            .filter_map(|p| p.split_once(',')?.1.parse().ok())
            .collect();
        let (top, bottom) = (
            ys.iter().copied().fold(f64::MAX, f64::min) / 10.0,
            ys.iter().copied().fold(0.0, f64::max) / 10.0,
        );
        let height = (bottom - top) / rows;
        for [_, y, ..] in dark {
            assert!(
                ((y - top) / height - row).abs() < 0.1,
                "{hosts} hosts: y {y}, top {top}, height {height}"
            );
        }
    }
}

#[test]
fn the_timeline_names_the_last_to_arrive() {
    let job = synthetic::job(2, 8, synthetic::plain);
    let figures = all(&job);
    let figure = find(&figures, "timeline-late-rank-gpu-000-4005-5");
    assert_eq!(figure.findings, ["late_rank:gpu-000/4005/5"]);
    assert!(
        figure
            .description
            .contains("gpu-000:5, rank 5 arrived last"),
        "{}",
        figure.description
    );
    let document = parse(figure);
    let red: Vec<&str> = elements(&document, "text")
        .filter(|t| inherited(*t, "fill") == Some("#C0261C"))
        .filter_map(|t| t.text())
        .collect();
    assert_eq!(red.len(), 2);
    assert_eq!(red[0], "gpu-000:5, rank 5");
    // Arrivals of the others are spread over 60 µs, the last comes at 700.
    let late = red[1].strip_prefix("last, ").expect("a remark");
    let micros: f64 = late
        .split(' ')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    assert!(
        (640.0..700.0).contains(&micros) && late.ends_with("µs late"),
        "{red:?}"
    );
}

#[test]
fn thinning_keeps_the_extremes() {
    let mut job = synthetic::job(1, 1, synthetic::plain);
    job.scatters.truncate(1);
    job.scatters[0].series.truncate(1);
    let series = &mut job.scatters[0].series[0];
    series.density.clear();
    series.points = series.points.iter().copied().cycle().take(50_000).collect();
    for point in &mut series.points {
        point.busbw = BusBandwidth::from_gb_per_s(100.0);
    }
    series.points[31_415].busbw = BusBandwidth::from_gb_per_s(31.0);
    series.points[27_182].busbw = BusBandwidth::from_gb_per_s(271.0);
    let figures = all(&job);
    let figure = find(&figures, "scatter-nvlink-only-allreduce");
    for value in ["31.0 GB/s", "271 GB/s"] {
        assert!(figure.svg.contains(value), "{value}");
    }
    assert!(
        figure.description.contains("1,500 of 50,000 marks"),
        "{}",
        figure.description
    );
}

#[test]
fn the_host_of_an_unusual_rank_is_always_drawn() {
    // Rank 5, of the first of 512 hosts, shows the highest bandwidth and waits least; its host's median is like any other.
    let job = synthetic::job(512, 8, synthetic::plain);
    let figures = all(&job);
    for id in ["hosts-bandwidth-allreduce", "hosts-waiting"] {
        let document = parse(find(&figures, id));
        let first = elements(&document, "text").any(|t| t.text() == Some("gpu-000"));
        assert!(first, "{id}");
    }
}
