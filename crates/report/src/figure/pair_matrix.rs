//! Send/Recv bandwidth per sender and receiver.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{Job, PairMatrix, ProcessId};

use super::colour_scale::ColourScale;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::row_labels::{self, Span};
use super::selection::keep_largest;
use super::sheet::{MARGIN, NOTE, Sheet, WIDTH};
use super::{grid, number};
use crate::svg::{Anchor, Colour, Rect};

/// More processes than this are drawn as hosts; of more hosts than this, those with the slowest pairs.
const MOST: usize = 64;
const LABELS: f64 = 140.0;

/// Senders × receivers, labelled.
struct Table {
    labels: Vec<String>,
    cells: BTreeMap<(usize, usize), f64>,
    what: String,
}

/// The figure; `None` if no pair has a bandwidth.
pub(crate) fn figure(job: &Job, matrix: &PairMatrix) -> Option<Figure> {
    let names = Names::of(job);
    let table = table(matrix, &names);
    let values: Vec<f64> = table.cells.values().copied().collect();
    let scale = ColourScale::magnitude(&values)?;
    let size = number::size(matrix.size);
    let title = format!("Send and Recv of {size}: bandwidth between pairs");
    let mut sheet = Sheet::new(
        &title,
        &format!(
            "Senders down, receivers across; a cell per pair of {}.",
            table.what
        ),
    );
    scale.legend(&mut sheet, "GB/s", Some("don't talk"));

    let n = table.labels.len();
    let cell = (620.0 / n as f64).clamp(4.0, 28.0);
    let spans = |from: f64| -> Vec<Span> {
        table
            .labels
            .iter()
            .enumerate()
            .map(|(i, label)| Span {
                label: label.clone(),
                from: from + cell * i as f64,
                to: from + cell * (i + 1) as f64,
            })
            .collect()
    };
    let rows = spans(sheet.y);
    let left = MARGIN + 22.0 + row_labels::room(&rows, LABELS) + 10.0;
    let side = cell * n as f64;
    let panel = Rect::new(left, sheet.y, side.min(WIDTH - MARGIN - left), side);
    let columns = spans(panel.x);
    let edges: Vec<_> = columns.iter().map(|s| (s.from, s.to)).collect();
    grid::draw(&mut sheet, panel, &edges, n, &scale, |row, column| {
        table.cells.get(&(row, column)).copied()
    });
    let corners = [
        (panel.x, panel.y),
        (panel.right(), panel.y),
        (panel.right(), panel.bottom()),
        (panel.x, panel.bottom()),
        (panel.x, panel.y),
    ];
    sheet.canvas.path(corners.to_vec(), 1.0, Colour::Axis);
    row_labels::beside(&mut sheet.canvas, &rows, left - 8.0, LABELS);
    row_labels::below(&mut sheet.canvas, &columns, panel.bottom(), LABELS);
    let below = panel.bottom() + row_labels::height_below(&columns, LABELS);
    sheet
        .canvas
        .text(
            (MARGIN + 8.0, panel.y + side / 2.0),
            "Sender",
            NOTE,
            Anchor::Middle,
            Colour::Text,
        )
        .upward();
    sheet.canvas.text(
        (panel.x + side / 2.0, below + 10.0),
        "Receiver",
        NOTE,
        Anchor::Middle,
        Colour::Text,
    );

    let slowest = table.cells.iter().min_by(|a, b| a.1.total_cmp(b.1));
    let slowest = slowest.map_or_else(String::new, |((from, to), value)| {
        let label = |i: &usize| crate::svg::clip(&table.labels[*i], 80);
        format!(
            " The slowest pair is {} to {} with {}.",
            label(from),
            label(to),
            number::gb_per_s(*value)
        )
    });
    let description = format!(
        "Matrix of the bandwidth of Send and Recv of {size}, senders down and receivers across, by pair of {}. \
         Look for a row or column darker than its neighbours of the same kind: a sender or receiver with a slow link.{slowest}",
        table.what
    );
    sheet.y = below + 26.0;
    Some(sheet.finish(
        &format!("pairs-{}", slug(&size)),
        Section::Pairs,
        &description,
    ))
}

fn table(matrix: &PairMatrix, names: &Names<'_>) -> Table {
    let n = matrix.processes.len();
    let mut cells: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (i, value) in matrix
        .bandwidth
        .iter()
        .enumerate()
        .take(n.saturating_mul(n))
    {
        if let Some(value) = value
            .map(|v| v.as_gb_per_s())
            .filter(|v| v.is_finite() && *v > 0.0)
        {
            cells.insert((i / n, i % n), value);
        }
    }
    let ranks: Vec<ProcessId> = matrix.processes.clone();
    if n <= MOST {
        let labels = ranks.iter().map(|id| names.rank(*id)).collect();
        return Table {
            labels,
            cells,
            what: "ranks".to_owned(),
        };
    }
    // By host: its slowest pair.
    let mut hosts: Vec<&str> = Vec::new();
    let mut host_of = Vec::with_capacity(n);
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for id in &ranks {
        let host = names.host(*id);
        let at = *index.entry(host).or_insert_with(|| {
            hosts.push(host);
            hosts.len() - 1
        });
        host_of.push(at);
    }
    let mut by_host: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for ((from, to), value) in cells {
        by_host
            .entry((host_of[from], host_of[to]))
            .and_modify(|v| *v = v.min(value))
            .or_insert(value);
    }
    let mut what = "hosts (of their ranks the slowest pair)".to_owned();
    let mut kept: Vec<usize> = (0..hosts.len()).collect();
    if hosts.len() > MOST {
        what = format!(
            "hosts (of their ranks the slowest pair; the {MOST} of {} hosts with the slowest pairs)",
            hosts.len()
        );
        let mut slowest = vec![f64::INFINITY; hosts.len()];
        for ((from, to), value) in &by_host {
            for host in [*from, *to] {
                slowest[host] = slowest[host].min(*value);
            }
        }
        kept = keep_largest(
            kept.into_iter()
                .map(|host| (-slowest[host], host))
                .collect(),
            MOST,
        );
    }
    let cells = by_host
        .into_iter()
        .filter_map(|((from, to), value)| {
            Some((
                (
                    kept.binary_search(&from).ok()?,
                    kept.binary_search(&to).ok()?,
                ),
                value,
            ))
        })
        .collect();
    let labels = kept.into_iter().map(|i| hosts[i].to_owned()).collect();
    Table {
        labels,
        cells,
        what,
    }
}
