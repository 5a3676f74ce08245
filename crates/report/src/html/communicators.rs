//! Communicators: what they are, what is missing of them, how they do.

use askama::Template;
use nccl_report_analyze::facts::{Communicator, Job};

use super::kept::Kept;
use super::people::{self, People};
use super::section::Section;
use super::slices;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/communicators.html")]
struct View {
    table: String,
    operations: String,
}

/// The section.
pub(super) fn section(job: &Job, people: &People<'_>) -> Result<Section, askama::Error> {
    let kept = Kept::heaviest(&job.communicators, "time", |c| c.time.as_micros());
    let rows = kept.items.iter().map(|c| row(c, job, people)).collect();
    let columns = [
        Column::text("Communicator"),
        Column::text("Id"),
        Column::text("Family"),
        Column::text("Class"),
        Column::number("Ranks ×\u{a0}nodes"),
        Column::number("Ranks seen"),
        Column::number("Collectives"),
        Column::number("With every rank"),
        Column::number("Dropped"),
        Column::number("Numbers unseen"),
        Column::number("Unmatched"),
        Column::number("Send, Recv"),
        Column::number("Time"),
        Column::text("Findings"),
    ];
    let caption = "Communicators and what is missing of their records";
    let view = View {
        table: Table::new("communicator-table", caption, columns, rows)
            .noting(&kept)
            .render()?,
        operations: slices::communicators(job, people).render()?,
    };
    Ok(Section::new(
        "communicators",
        "Communicators",
        view.render()?,
    ))
}

fn row(of: &Communicator, job: &Job, people: &People<'_>) -> Row {
    let complete =
        (of.collectives > 0).then(|| of.collectives_complete as f64 / of.collectives as f64);
    Row::of([
        Cell::name(&people::communicator(of)),
        Cell::name(&of.id),
        Cell::name(
            job.families
                .get(of.family as usize)
                .map_or("unknown", |f| f.label.as_str()),
        ),
        Cell::name(of.class.as_str()),
        Cell::label(format!("{} × {}", of.n_ranks, of.nnodes)),
        Cell::count(of.members.len() as u64),
        Cell::count(of.collectives),
        Cell::maybe(complete, Cell::share),
        Cell::maybe(of.loss.dropped, Cell::count),
        Cell::count(of.loss.numbers_unseen),
        Cell::count(of.loss.records_unmatched),
        Cell::count(of.p2p_records),
        Cell::duration(of.time),
        Cell::links(people.seen_in(of)),
    ])
}
