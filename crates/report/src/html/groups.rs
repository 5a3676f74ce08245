//! Statistics of like with like, over all communicators.

use std::collections::BTreeMap;

use askama::Template;
use nccl_report_analyze::facts::{Group, Job};

use super::kept::Kept;
use super::quantity::size;
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/groups.html")]
struct View {
    /// Where small and large messages both appear: the class and operation, the largest small and the smallest large size.
    regimes: Vec<Regimes>,
    regimes_more: usize,
    /// A quantile comes from a sketch.
    sketched: bool,
    table: String,
}

struct Regimes {
    what: String,
    latency: String,
    bandwidth: String,
}

const REGIMES: usize = 12;

/// The section.
pub(super) fn section(job: &Job) -> Result<Section, askama::Error> {
    let kept = Kept::heaviest(&job.groups, "time", |group| group.time.as_micros());
    let rows = kept.items.iter().map(|group| row(group)).collect();
    let columns = [
        Column::text("Class"),
        Column::text("Operation"),
        Column::number("Message size"),
        Column::number("Ranks ×\u{a0}nodes"),
        Column::text("Regime"),
        Column::number("Comms"),
        Column::number("Operations"),
        Column::number("Records"),
        Column::gbs("busbw p5"),
        Column::gbs("busbw p50"),
        Column::gbs("busbw p95"),
        Column::gbs("Link p50"),
        Column::gbs("Felt p50"),
        Column::number("Time p50"),
        Column::number("Time p95"),
        Column::number("Time p99"),
        Column::number("Time max"),
        Column::number("Share of time"),
    ];
    let caption = "Records by communicator class, operation, message size, ranks and nodes";
    let mut regimes = regimes(&job.groups);
    let view = View {
        regimes_more: regimes.len().saturating_sub(REGIMES),
        regimes: {
            regimes.truncate(REGIMES);
            regimes
        },
        sketched: job
            .groups
            .iter()
            .any(|g| !g.busbw.exact || !g.exec_time.exact),
        table: Table::new("group-table", caption, columns, rows)
            .noting(&kept)
            .render()?,
    };
    Ok(Section::new("groups", "Groups", view.render()?))
}

fn row(of: &Group) -> Row {
    let key = &of.key;
    Row::of([
        Cell::name(key.class.as_str()),
        Cell::name(&key.operation),
        Cell::size(key.size),
        Cell::label(format!("{} × {}", key.n_ranks, key.nnodes)),
        Cell::name(if of.latency_bound {
            "latency"
        } else {
            "bandwidth"
        }),
        Cell::count(of.communicators),
        Cell::count(of.collectives),
        Cell::count(of.records),
        Cell::gbs(of.busbw.p5),
        Cell::gbs(of.busbw.p50),
        Cell::gbs(of.busbw.p95),
        Cell::maybe(of.link_busbw, |d| Cell::gbs(d.p50)),
        Cell::maybe(of.felt_busbw, |d| Cell::gbs(d.p50)),
        Cell::duration(of.exec_time.p50),
        Cell::duration(of.exec_time.p95),
        Cell::duration(of.exec_time.p99),
        Cell::duration(of.exec_time.max),
        Cell::bar(of.share_of_time),
    ])
}

/// The operations of one shape that appear in both regimes.
fn regimes(groups: &[Group]) -> Vec<Regimes> {
    type Shape<'a> = (&'a str, &'a str, u32, u32);
    let mut by_shape: BTreeMap<Shape<'_>, (Option<u64>, Option<u64>)> = BTreeMap::new();
    for group in groups {
        let key = &group.key;
        let shape = (
            key.class.as_str(),
            key.operation.as_str(),
            key.n_ranks,
            key.nnodes,
        );
        let bytes = key.size.as_bytes();
        let (latency, bandwidth) = by_shape.entry(shape).or_default();
        if group.latency_bound {
            *latency = Some(latency.map_or(bytes, |l| l.max(bytes)));
        } else {
            *bandwidth = Some(bandwidth.map_or(bytes, |b| b.min(bytes)));
        }
    }
    let both = by_shape
        .into_iter()
        .filter_map(|((class, operation, ranks, nodes), sizes)| {
            let (latency, bandwidth) = (sizes.0?, sizes.1?);
            Some(Regimes {
                what: format!(
                    "{} ({class}, {ranks} × {nodes})",
                    super::text::name(operation)
                ),
                latency: size(latency),
                bandwidth: size(bandwidth),
            })
        });
    both.collect()
}
