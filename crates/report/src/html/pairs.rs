//! Send and Recv, pair by pair.

use askama::Template;
use nccl_report_analyze::facts::{Job, PairSlice, ProcessId};

use super::kept::Kept;
use super::people::{self, People};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/pairs.html")]
struct View {
    empty: bool,
    table: String,
}

/// The section.
pub(super) fn section(job: &Job, people: &People<'_>) -> Result<Section, askama::Error> {
    let kept = Kept::heaviest(&job.pairs, "bytes", |pair| pair.bytes as f64);
    let rows = kept.items.iter().map(|pair| row(pair, people)).collect();
    let columns = [
        Column::text("From"),
        Column::text("To"),
        Column::text("Communicator"),
        Column::text("Crosses network"),
        Column::number("Message size"),
        Column::number("Sends"),
        Column::number("Recvs"),
        Column::number("Messages in all"),
        Column::gbs("Link bandwidth"),
        Column::number("Send p50"),
        Column::number("Send p95"),
        Column::number("Recv p50"),
        Column::number("Recv p95"),
    ];
    let caption = "Send and Recv per ordered pair of ranks and message size";
    let view = View {
        empty: job.pairs.is_empty(),
        table: Table::new("pair-table", caption, columns, rows)
            .noting(&kept)
            .render()?,
    };
    Ok(Section::new("pairs", "Pairs", view.render()?))
}

fn row(of: &PairSlice, people: &People<'_>) -> Row {
    let who = |id: Option<ProcessId>, rank: u32| {
        let process = id.and_then(|id| people.process(id));
        process.map_or_else(
            || format!("rank {rank} of the communicator, no records"),
            people::short,
        )
    };
    let communicator = people.communicator(of.communicator);
    Row::of([
        Cell::name(&who(of.source, of.source_rank)),
        Cell::name(&who(of.destination, of.destination_rank)),
        Cell::name(&communicator.map_or_else(|| "unknown".to_owned(), people::communicator)),
        Cell::name(match of.crosses_network {
            Some(true) => "yes",
            Some(false) => "no",
            None => "unknown",
        }),
        Cell::size(of.size),
        Cell::count(of.sends),
        Cell::count(of.recvs),
        Cell::bytes(of.bytes),
        Cell::gbs(of.link_bandwidth),
        Cell::maybe(of.send_time, |d| Cell::duration(d.p50)),
        Cell::maybe(of.send_time, |d| Cell::duration(d.p95)),
        Cell::maybe(of.recv_time, |d| Cell::duration(d.p50)),
        Cell::maybe(of.recv_time, |d| Cell::duration(d.p95)),
    ])
}
