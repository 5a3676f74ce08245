//! Ranks and hosts side by side: bandwidth by operation, and who waits for whom.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{Job, ProcessId, SliceOf};

use super::axis;
use super::box_rows::{self, Axis, Five, READING, Row};
use super::boxes::BUS_BANDWIDTH;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::number;
use super::row_labels::{self, Span};
use super::scale::Scale;
use super::selection::keep_largest;
use super::sheet::{MARGIN, Sheet, WIDTH};
use crate::svg::{self, Colour, Rect};

/// Ranks drawn one by one; more are drawn as boxes per host.
const MOST_RANKS: usize = 128;
/// Hosts drawn as boxes; of more, those with the most unusual ranks.
const MOST_HOSTS: usize = 32;
const HEIGHT: f64 = 220.0;
const LABELS: f64 = 110.0;

/// What is compared.
struct Quantity {
    id: String,
    title: String,
    axis: Axis,
    what: String,
    reading: &'static str,
}

/// Bus bandwidth of each rank over the run, in one operation.
pub(crate) fn bandwidth(job: &Job, operation: &str) -> Vec<Figure> {
    let values = per_rank(job, |of, slice_operation, bandwidth, _| {
        (slice_operation == operation).then_some((of, bandwidth, 1.0))
    });
    let operation_name = svg::clip(operation, 40);
    let quantity = Quantity {
        id: format!("bandwidth-{}", slug(operation)),
        title: format!("{operation_name}: bus bandwidth"),
        axis: BUS_BANDWIDTH,
        what: format!("bus bandwidth in {operation_name}, weighed by time"),
        reading: "A dot is one rank over the whole run. Who arrives late waits least and so shows the highest bandwidth.",
    };
    figures(job, &values, &quantity)
}

/// The part of its collective time that each rank waits.
pub(crate) fn waiting(job: &Job) -> Vec<Figure> {
    let values = per_rank(job, |of, _, _, waits| {
        let (wait, time) = waits?;
        Some((of, wait * 100.0, time))
    });
    let quantity = Quantity {
        id: "waiting".to_owned(),
        title: "Waiting for later ranks".to_owned(),
        axis: Axis {
            title: "Waiting (% of collective time)",
            from_zero: true,
            text: |v| number::percent(v / 100.0),
        },
        what: "share of its collective time that it waits for later ranks".to_owned(),
        reading: "A dot is one rank over the whole run. Ranks that wait least are those that the others wait for.",
    };
    figures(job, &values, &quantity)
}

/// Mean over the slices of each rank, weighed; `pick` gives process, value and weight of a slice.
fn per_rank(
    job: &Job,
    pick: impl Fn(ProcessId, &str, f64, Option<(f64, f64)>) -> Option<(ProcessId, f64, f64)>,
) -> Vec<(ProcessId, f64)> {
    let mut sums: BTreeMap<ProcessId, (f64, f64)> = BTreeMap::new();
    for slice in &job.slices {
        let SliceOf::Rank { process } = slice.of else {
            continue;
        };
        let time = slice.time.as_micros();
        let waits = slice
            .wait
            .filter(|_| time > 0.0)
            .map(|w| (w.as_micros() / time, time));
        if let Some((process, value, weight)) =
            pick(process, &slice.operation, slice.busbw.as_gb_per_s(), waits)
            && (value * weight).is_finite()
            && job.processes.len() > process.0 as usize
        {
            let sum = sums.entry(process).or_default();
            sum.0 += value * weight;
            sum.1 += weight;
        }
    }
    let mut values: Vec<_> = sums
        .into_iter()
        .filter(|(_, (_, weight))| *weight > 0.0)
        .map(|(process, (sum, weight))| (process, sum / weight))
        .collect();
    // Hosts together, in the order in which they first appear among the processes.
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    for (i, process) in job.processes.iter().enumerate() {
        first.entry(&process.host).or_insert(i as u32);
    }
    values.sort_by_key(|(id, _)| {
        let process = &job.processes[id.0 as usize];
        (first.get(process.host.as_str()).copied(), *id)
    });
    values
}

fn figures(job: &Job, values: &[(ProcessId, f64)], quantity: &Quantity) -> Vec<Figure> {
    let names = Names::of(job);
    let ids: Vec<ProcessId> = values.iter().map(|(id, _)| *id).collect();
    let hosts = names.host_runs(&ids);
    let mut out = Vec::new();
    if (2..=MOST_RANKS).contains(&values.len()) {
        out.extend(dots(&names, values, &hosts, quantity));
    }
    let several = hosts.iter().filter(|(_, _, n)| *n > 1).count();
    if hosts.len() > 1 && (several > 1 || values.len() > MOST_RANKS) {
        out.extend(host_boxes(values, &hosts, quantity));
    }
    out
}

fn dots(
    names: &Names<'_>,
    values: &[(ProcessId, f64)],
    hosts: &[(&str, usize, usize)],
    quantity: &Quantity,
) -> Option<Figure> {
    let mut sheet = Sheet::new(
        &format!("{}, rank by rank", quantity.title),
        quantity.reading,
    );
    let panel = Rect::new(
        axis::LEFT,
        sheet.y,
        WIDTH - axis::LEFT - MARGIN - 4.0,
        HEIGHT,
    );
    let numbers = values.iter().map(|(_, v)| *v);
    let scale = if quantity.axis.from_zero {
        Scale::from_zero(numbers)
    } else {
        Scale::positive(numbers)
    }?
    .onto(panel.bottom(), panel.y);
    let step = panel.w / values.len() as f64;
    for (_, first, n) in hosts.iter().skip(1).step_by(2) {
        let band = Rect::new(
            panel.x + step * *first as f64,
            panel.y,
            step * *n as f64,
            panel.h,
        );
        sheet.canvas.rect(band, Colour::Band);
    }
    let title = if scale.is_logarithmic() {
        format!("{}, logarithmic", quantity.axis.title)
    } else {
        quantity.axis.title.to_owned()
    };
    axis::vertical(&mut sheet.canvas, scale, panel, &title);
    let base = panel.bottom();
    sheet
        .canvas
        .line((panel.x, base), (panel.right(), base), 1.0, Colour::Axis);
    for (i, (id, value)) in values.iter().enumerate() {
        let at = (panel.x + step * (i as f64 + 0.5), scale.at(*value));
        let note = format!("{}: {}", names.rank(*id), (quantity.axis.text)(*value));
        sheet
            .canvas
            .disc(
                at,
                if values.len() > 64 { 2.8 } else { 3.8 },
                Colour::Series(0),
            )
            .note(note);
    }
    let spans: Vec<Span> = if hosts.len() == values.len() || values.len() <= 16 {
        values
            .iter()
            .enumerate()
            .map(|(i, (id, _))| Span {
                label: names.rank(*id),
                from: panel.x + step * i as f64,
                to: panel.x + step * (i + 1) as f64,
            })
            .collect()
    } else {
        hosts
            .iter()
            .map(|(host, first, n)| Span {
                label: (*host).to_owned(),
                from: panel.x + step * *first as f64,
                to: panel.x + step * (*first + n) as f64,
            })
            .collect()
    };
    row_labels::below(&mut sheet.canvas, &spans, base, LABELS);
    sheet.y = base + row_labels::height_below(&spans, LABELS) + 12.0;

    let lowest = values.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let highest = values.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let describe = |(id, value): &(ProcessId, f64)| {
        format!("{} ({})", names.rank(*id), (quantity.axis.text)(*value))
    };
    let description = format!(
        "A dot per rank: {}; hosts side by side. {} Lowest: {}; highest: {}.",
        quantity.what,
        quantity.reading,
        describe(lowest),
        describe(highest)
    );
    Some(sheet.finish(
        &format!("ranks-{}", quantity.id),
        Section::Ranks,
        &description,
    ))
}

fn host_boxes(
    values: &[(ProcessId, f64)],
    hosts: &[(&str, usize, usize)],
    quantity: &Quantity,
) -> Option<Figure> {
    let typical = Five::of_sample(values.iter().map(|(_, v)| *v))?.median;
    // Weighed by how far the host's most unusual rank is from the rest of the job.
    let rows: Vec<(f64, Row)> = hosts
        .iter()
        .filter_map(|(host, first, n)| {
            let five = Five::of_sample(values[*first..first + n].iter().map(|(_, v)| *v))?;
            let far = (five.max - typical).abs().max((five.min - typical).abs());
            let boxes = vec![(Colour::Series(0), five)];
            Some((
                far,
                Row {
                    label: (*host).to_owned(),
                    boxes,
                },
            ))
        })
        .collect();
    let all = rows.len();
    let rows = keep_largest(rows, MOST_HOSTS);
    let mut sheet = Sheet::new(&format!("{}, host by host", quantity.title), READING);
    box_rows::draw(&mut sheet, &rows, quantity.axis)?;
    let mut description = format!(
        "Box plots over the ranks of each host: {}. A host whose box lies apart from the others deserves a look.",
        quantity.what
    );
    if all > rows.len() {
        description += &format!(
            " Of {all} hosts those {MOST_HOSTS} are drawn that have the ranks farthest from the median of all ranks."
        );
    }
    Some(sheet.finish(
        &format!("hosts-{}", quantity.id),
        Section::Ranks,
        &description,
    ))
}
