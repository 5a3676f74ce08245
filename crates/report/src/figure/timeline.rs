//! One collective, rank by rank: who came last, who waited.

use std::collections::BTreeSet;

use nccl_report_analyze::facts::{CollectiveTimeline, Job, ProcessId, RankArrival};
use nccl_report_analyze::units::ExecTime;

use super::axis;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::number;
use super::scale::Scale;
use super::sheet::{Key, LABEL, MARGIN, Sheet, WIDTH};
use crate::svg::{self, Anchor, Colour, Rect};

/// Ranks drawn one by one; of more, the last and some of the first to arrive.
const MOST_RANKS: usize = 64;
const LAST: usize = 32;
const LABELS: f64 = 190.0;
const REMARK: f64 = 124.0;

/// The figure; `None` without ranks.
pub(crate) fn figure(job: &Job, timeline: &CollectiveTimeline) -> Option<Figure> {
    let names = Names::of(job);
    let mut ranks: Vec<&RankArrival> = timeline.ranks.iter().filter(|r| drawable(r)).collect();
    let last = ranks
        .iter()
        .max_by(|a, b| arrival(a).total_cmp(&arrival(b)).then(b.rank.cmp(&a.rank)))
        .copied()?;
    let all = ranks.len();
    if all > MOST_RANKS {
        ranks.sort_by(|a, b| arrival(a).total_cmp(&arrival(b)).then(a.rank.cmp(&b.rank)));
        ranks = ranks
            .iter()
            .take(MOST_RANKS - LAST)
            .chain(&ranks[all - LAST..])
            .copied()
            .collect();
        ranks.sort_by_key(|r| r.rank);
    }
    let named = named(job, timeline);
    let is_named = |r: &RankArrival| named.contains(&r.rank);
    let label = |r: &RankArrival| match r.process {
        Some(id) => format!("{}, rank {}", names.rank(id), r.rank),
        None => format!("rank {}", r.rank),
    };
    let end = ranks
        .iter()
        .map(|r| arrival(r) + r.exec_time.as_micros())
        .fold(0.0, f64::max);
    let (divisor, unit) = if end < 5e3 {
        (1.0, "µs")
    } else if end < 5e6 {
        (1e3, "ms")
    } else {
        (1e6, "s")
    };

    let what = format!(
        "{} {} no. {}",
        svg::clip(&timeline.operation, 40),
        number::size(timeline.size),
        timeline.sequence_number
    );
    let communicator = job
        .communicators
        .get(timeline.communicator as usize)
        .map_or_else(String::new, |c| {
            format!(" in {}", svg::clip(&names.communicator(c), 60))
        });
    let mut sheet = Sheet::new(
        &format!("{what}{communicator}: arrival and waiting, rank by rank"),
        "Time zero is the arrival of the first rank; all ranks end together, so who arrives last runs shortest.",
    );
    sheet.legend(&[
        (Key::Area(Colour::Idle), "not yet arrived".to_owned()),
        (
            Key::Area(Colour::Waiting),
            "waiting for later ranks".to_owned(),
        ),
        (Key::Area(Colour::Transfer), "transfer".to_owned()),
        (
            Key::Line(Colour::Alert),
            if named.len() > 1 || named.iter().any(|n| *n != last.rank) {
                "the last to arrive, and whom the finding names".to_owned()
            } else {
                "the last to arrive".to_owned()
            },
        ),
    ]);
    let pitch = (520.0 / ranks.len() as f64).clamp(14.0, 22.0);
    let room = ranks
        .iter()
        .map(|r| svg::width(&svg::shorten(&label(r), LABELS, LABEL, false), LABEL, false))
        .fold(0.0, f64::max);
    let left = MARGIN + room + 10.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - REMARK - left,
        pitch * ranks.len() as f64 + 4.0,
    );
    let scale = Scale::exact(0.0, end / divisor).onto(panel.x, panel.right());
    axis::horizontal(
        &mut sheet.canvas,
        scale,
        panel,
        &format!("Time since the first arrival ({unit})"),
    );

    for (n, rank) in ranks.iter().enumerate() {
        let y = panel.y + 4.0 + pitch * n as f64;
        let exec = rank.exec_time.as_micros().max(0.0);
        let wait = rank.wait.as_micros().clamp(0.0, exec);
        let stops = [
            0.0,
            arrival(rank),
            arrival(rank) + wait,
            arrival(rank) + exec,
        ]
        .map(|t| scale.at(t / divisor));
        let is_last = rank.rank == last.rank && all > 1;
        let late = is_last || is_named(rank);
        let time = |micros: f64| number::time(ExecTime::from_micros(micros));
        let note = format!(
            "{}: arrived after {}, waited {}, transferred for {}",
            label(rank),
            time(arrival(rank)),
            time(wait),
            time(exec - wait)
        );
        for (colour, from, to) in [
            (Colour::Idle, stops[0], stops[1]),
            (Colour::Waiting, stops[1], stops[2]),
            (Colour::Transfer, stops[2], stops[3]),
        ] {
            if to - from > 0.04 {
                let idle = colour == Colour::Idle;
                let bar = if idle {
                    Rect::new(from, y + pitch / 2.0 - 3.0, to - from, 2.0)
                } else {
                    Rect::new(from, y, to - from, pitch - 4.0)
                };
                sheet.canvas.rect(bar, colour).note(&note);
            }
        }
        let name = svg::shorten(&label(rank), LABELS, LABEL, false);
        let middle = y + (pitch - 4.0) / 2.0;
        let colour = if late { Colour::Alert } else { Colour::Text };
        sheet
            .canvas
            .text((left - 8.0, middle), &name, LABEL, Anchor::End, colour);
        if late {
            sheet.canvas.line(
                (stops[1], y - 2.0),
                (stops[1], y + pitch - 2.0),
                2.0,
                Colour::Alert,
            );
            let word = if is_last { "last" } else { "named" };
            let remark = format!("{word}, {} late", time(late_by(timeline, rank)));
            let remark = svg::shorten(&remark, REMARK - 8.0, LABEL, false);
            sheet.canvas.text(
                (panel.right() + 8.0, middle),
                &remark,
                LABEL,
                Anchor::Start,
                Colour::Alert,
            );
        }
    }
    sheet.y = panel.bottom() + axis::BELOW;
    let mut description = format!(
        "Bars of arrival, waiting and transfer of the ranks of {what}{communicator}. {} arrived last, {} after the median of the others and {} after the first; the others waited for it.",
        label(last),
        number::time(ExecTime::from_micros(late_by(timeline, last))),
        number::time(last.arrival)
    );
    let promised = job
        .communicators
        .get(timeline.communicator as usize)
        .map_or(all, |c| c.n_ranks as usize);
    if all < promised {
        description += &format!(" {all} of its {promised} ranks left a record of it.");
    }
    if all > ranks.len() {
        description += &format!(
            " Of {all} ranks the {LAST} last and the {} first to arrive are drawn.",
            MOST_RANKS - LAST
        );
    }
    let id = format!("timeline-{}", slug(&timeline.finding));
    let mut figure = sheet.finish(&id, Section::Findings, &description);
    figure.findings = vec![timeline.finding.clone()];
    Some(figure)
}

/// How much later than the median of the others a rank arrived, µs: the lateness that findings speak of.
fn late_by(timeline: &CollectiveTimeline, rank: &RankArrival) -> f64 {
    let others = timeline.ranks.iter().filter(|r| r.rank != rank.rank);
    let mut arrivals: Vec<f64> = others.filter(|r| drawable(r)).map(arrival).collect();
    arrivals.sort_by(f64::total_cmp);
    let n = arrivals.len();
    if n == 0 {
        return 0.0;
    }
    arrival(rank) - f64::midpoint(arrivals[(n - 1) / 2], arrivals[n / 2])
}

/// Ranks that the finding names.
fn named(job: &Job, timeline: &CollectiveTimeline) -> BTreeSet<u32> {
    let finding = job.findings.iter().find(|f| f.id == timeline.finding);
    let subjects = finding.map_or(&[][..], |f| f.subjects.as_slice());
    let is_named = |id: ProcessId| {
        job.processes.get(id.0 as usize).is_some_and(|p| {
            subjects.iter().any(|s| {
                s.host == p.host
                    && s.pid.is_none_or(|pid| pid == p.pid)
                    && s.local_rank.is_none_or(|local| local == p.local_rank)
            })
        })
    };
    let ranks = timeline.ranks.iter();
    ranks
        .filter(|r| r.process.is_some_and(is_named))
        .map(|r| r.rank)
        .collect()
}

fn arrival(rank: &RankArrival) -> f64 {
    rank.arrival.as_micros().max(0.0)
}

fn drawable(rank: &RankArrival) -> bool {
    rank.arrival.as_micros().is_finite() && rank.exec_time.as_micros().is_finite()
}
