//! A value per rank (or host) and stretch of time.

use nccl_report_analyze::facts::{HeatMap, Job};

use super::axis;
use super::colour_scale::ColourScale;
use super::drawing::{Figure, Section, slug};
use super::names::Names;
use super::row_labels::{self, Span};
use super::selection::keep_largest;
use super::sheet::{MARGIN, Sheet, WIDTH};
use super::time_axis::TimeAxis;
use super::{grid, number};
use crate::svg::{self, Colour, Rect};

/// More ranks than this are drawn as hosts; of more hosts than this, those with the largest values.
const MOST_ROWS: usize = 128;
/// More stretches than this are joined.
const MOST_COLUMNS: usize = 120;
const LABELS: f64 = 150.0;

/// A map ready to be drawn.
struct Table {
    /// Label and values of each row.
    rows: Vec<(String, Vec<Option<f64>>)>,
    /// Runs of rows of one host: first row, how many.
    hosts: Vec<(String, usize, usize)>,
    what: String,
}

/// The figure; `None` if no cell holds a value.
pub(crate) fn figure(job: &Job, map: &HeatMap) -> Option<Figure> {
    let names = Names::of(job);
    let join = map
        .edges
        .len()
        .saturating_sub(1)
        .div_ceil(MOST_COLUMNS)
        .max(1);
    let table = table(map, &names, join);
    let values: Vec<f64> = table
        .rows
        .iter()
        .flat_map(|(_, cells)| cells)
        .flatten()
        .copied()
        .collect();
    if values.is_empty() {
        return None;
    }
    let scale = ColourScale::around(map.neutral, &map.unit, &values);

    let title = capitalised(&svg::clip(&map.title, 160));
    let reading = format!("A row per {}, a column per stretch of time.", table.what);
    let mut sheet = Sheet::new(&title, &reading);
    scale.legend(&mut sheet, &svg::clip(&map.unit, 20), Some("no records"));

    let n = table.rows.len();
    let height = (600.0 / n as f64).clamp(4.5, 18.0);
    let spans = spans(&table, sheet.y, height);
    let left = MARGIN + row_labels::room(&spans, LABELS) + 10.0;
    let panel = Rect::new(
        left,
        sheet.y,
        WIDTH - MARGIN - 14.0 - left,
        height * n as f64,
    );
    let edges: Vec<_> = joined_edges(map, join);
    let time = TimeAxis::of(job, edges.iter().copied(), panel.x, panel.right())?;
    let columns: Vec<(f64, f64)> = edges
        .windows(2)
        .map(|w| (time.at(w[0]), time.at(w[1])))
        .collect();
    grid::draw(&mut sheet, panel, &columns, n, &scale, |row, column| {
        table.rows.get(row)?.1.get(column).copied().flatten()
    });
    for (_, first, _) in table.hosts.iter().skip(1).filter(|_| table.hosts.len() < n) {
        let y = panel.y + height * *first as f64;
        sheet
            .canvas
            .line((panel.x, y), (panel.right(), y), 0.8, Colour::Surface);
    }
    row_labels::beside(&mut sheet.canvas, &spans, left - 8.0, LABELS);
    // On top of nothing: the axis' grid would hide cells.
    let below = Rect::new(panel.x, panel.bottom(), panel.w, 0.0);
    axis::horizontal(&mut sheet.canvas, time.scale(), below, &time.title());

    let largest = farthest(values.iter().copied().map(Some), map.neutral).unwrap_or(map.neutral);
    let description = format!(
        "Heat map of {title}: a row per {}, hosts grouped, over time; where nothing is wrong the value is {}, the farthest from it is {} {}. \
         A row that stands out is one rank or host all the time, a column everybody for a while.{}",
        table.what,
        number::significant(map.neutral),
        number::significant(largest),
        svg::clip(&map.unit, 20),
        if join > 1 {
            format!(
                " Each column joins {join} stretches of time and shows the value farthest from neutral."
            )
        } else {
            String::new()
        }
    );
    sheet.y = panel.bottom() + axis::BELOW;
    Some(sheet.finish(
        &format!("map-{}", slug(&title)),
        Section::Ranks,
        &description,
    ))
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// How far a value is from neutral; ratios by their factor.
fn distance(value: f64, neutral: f64) -> f64 {
    if neutral > 0.0 && value > 0.0 {
        (value / neutral).ln().abs()
    } else {
        (value - neutral).abs()
    }
}

/// Of several values the one that matters most.
fn farthest(values: impl Iterator<Item = Option<f64>>, neutral: f64) -> Option<f64> {
    values
        .flatten()
        .filter(|v| v.is_finite())
        .max_by(|a, b| distance(*a, neutral).total_cmp(&distance(*b, neutral)))
}

fn joined_edges(map: &HeatMap, join: usize) -> Vec<nccl_report_analyze::units::Timestamp> {
    let mut edges: Vec<_> = map.edges.iter().copied().step_by(join).collect();
    if let Some(last) = map.edges.last()
        && edges.last() != Some(last)
    {
        edges.push(*last);
    }
    edges
}

fn table(map: &HeatMap, names: &Names<'_>, join: usize) -> Table {
    let columns = map.edges.len().saturating_sub(1);
    let joined = |rows: std::ops::Range<usize>| -> Vec<Option<f64>> {
        (0..columns)
            .step_by(join)
            .map(|start| {
                let cells = rows.clone().flat_map(|row| {
                    (start..(start + join).min(columns)).map(move |column| {
                        map.values.get(row * columns + column).copied().flatten()
                    })
                });
                farthest(cells, map.neutral)
            })
            .collect()
    };
    let runs = names.host_runs(&map.rows);
    if map.rows.len() <= MOST_ROWS {
        let rows = map
            .rows
            .iter()
            .enumerate()
            .map(|(row, id)| (names.rank(*id), joined(row..row + 1)))
            .collect();
        let hosts = runs
            .into_iter()
            .map(|(host, first, n)| (host.to_owned(), first, n))
            .collect();
        return Table {
            rows,
            hosts,
            what: "rank".to_owned(),
        };
    }
    let mut rows: Vec<(String, Vec<Option<f64>>)> = runs
        .iter()
        .map(|(host, first, n)| ((*host).to_owned(), joined(*first..first + n)))
        .collect();
    let all = rows.len();
    let mut what = "host (of its ranks the value farthest from neutral)".to_owned();
    if all > MOST_ROWS {
        what = format!(
            "host (of its ranks the value farthest from neutral; the {MOST_ROWS} of {all} hosts with the farthest values)"
        );
        let weight = |cells: &[Option<f64>]| {
            farthest(cells.iter().copied(), map.neutral).map_or(-1.0, |v| distance(v, map.neutral))
        };
        let weighed = rows.into_iter().map(|row| (weight(&row.1), row)).collect();
        rows = keep_largest(weighed, MOST_ROWS);
    }
    let hosts = rows
        .iter()
        .enumerate()
        .map(|(i, (host, _))| (host.clone(), i, 1))
        .collect();
    Table { rows, hosts, what }
}

/// Labels for rows where there is room for each, else for hosts.
fn spans(table: &Table, top: f64, height: f64) -> Vec<Span> {
    let span = |label: &str, first: usize, n: usize| Span {
        label: label.to_owned(),
        from: top + height * first as f64,
        to: top + height * (first + n) as f64,
    };
    if height >= 14.0 {
        table
            .rows
            .iter()
            .enumerate()
            .map(|(i, (label, _))| span(label, i, 1))
            .collect()
    } else {
        table
            .hosts
            .iter()
            .map(|(host, first, n)| span(host, *first, *n))
            .collect()
    }
}
