//! Families side by side: how do the same operations do in each?

use askama::Template;
use nccl_report_analyze::facts::{Family, FamilyOperation, Job};
use nccl_report_analyze::units::BusBandwidth;

use super::kept::Kept;
use super::people::{self, People};
use super::quantity::plural;
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/families.html")]
struct View {
    table: String,
}

/// The section.
pub(super) fn section(job: &Job, people: &People<'_>) -> Result<Section, askama::Error> {
    let all = job
        .families
        .iter()
        .flat_map(|family| family.operations.iter().map(move |of| (family, of)));
    let kept = Kept::heaviest(all, "time", |(_, of)| of.time.as_micros());
    let rows = kept
        .items
        .iter()
        .map(|(family, of)| row(family, of, people))
        .collect();
    let columns = [
        Column::text("Family"),
        Column::text("Class"),
        Column::number("Ranks ×\u{a0}nodes"),
        Column::number("Comms"),
        Column::text("Operation"),
        Column::number("Message size"),
        Column::number("Operations"),
        Column::gbs("Link p50"),
        Column::gbs("Felt p50"),
        Column::gbs("Slowest comm, link p50"),
        Column::number("Shortest p50"),
        Column::number("Spread p50"),
        Column::number("Spread p95"),
        Column::number("Time"),
        Column::number("Share of time"),
    ];
    let caption = "Communicators of one shape and role, per operation and message size";
    let table = Table::new("family-table", caption, columns, rows)
        .noting(&kept)
        .render()?;
    Ok(Section::new(
        "families",
        "Families",
        View { table }.render()?,
    ))
}

fn row(family: &Family, of: &FamilyOperation, people: &People<'_>) -> Row {
    let slowest = slowest(family, of).map(|(index, bandwidth)| {
        let name = people
            .communicator(index)
            .map_or_else(String::new, people::communicator);
        Cell::gbs(bandwidth).of_whom(&name)
    });
    let ranks = plural(family.n_ranks.into(), "rank", "ranks");
    Row::of([
        Cell::name(&family.label),
        Cell::name(family.class.as_str()),
        Cell::label(format!("{} × {}", family.n_ranks, family.nnodes)).with_title(format!(
            "{ranks} on {}",
            plural(family.nnodes.into(), "node", "nodes")
        )),
        Cell::count(family.communicators.len() as u64),
        Cell::name(&of.operation),
        Cell::size(of.size),
        Cell::count(of.operations),
        Cell::maybe(of.link_busbw, |d| Cell::gbs(d.p50)),
        Cell::maybe(of.felt_busbw, |d| Cell::gbs(d.p50)),
        slowest.unwrap_or_else(Cell::none),
        Cell::maybe(of.shortest, |d| Cell::duration(d.p50)),
        Cell::maybe(of.spread, |d| Cell::duration(d.p50)),
        Cell::maybe(of.spread, |d| Cell::duration(d.p95)),
        Cell::duration(of.time),
        Cell::bar(of.share_of_time),
    ])
}

/// The communicator with the lowest median link bandwidth, where there are several to compare.
fn slowest(family: &Family, of: &FamilyOperation) -> Option<(u32, BusBandwidth)> {
    let known = family
        .communicators
        .iter()
        .zip(&of.link_busbw_by_communicator)
        .filter_map(|(index, bandwidth)| bandwidth.map(|b| (*index, b)))
        .filter(|(_, b)| b.as_gb_per_s().is_finite());
    if known.clone().count() < 2 {
        return None;
    }
    known.min_by(|a, b| a.1.as_gb_per_s().total_cmp(&b.1.as_gb_per_s()))
}
