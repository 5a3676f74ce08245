//! The same records cut along other axes: per communicator, host, rank, and over time.

use askama::Template;
use nccl_report_analyze::facts::{Job, Slice, SliceOf};

use super::kept::Kept;
use super::people::{self, People};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/slices.html")]
struct View {
    /// How to read it.
    lead: &'static str,
    table: String,
}

/// The columns that every cut has, after those that say what is cut.
const COLUMNS: [fn() -> Column; 8] = [
    || Column::text("Operation"),
    || Column::number("Records"),
    || Column::number("Messages in all"),
    || Column::gbs("busbw"),
    || Column::number("Time"),
    || Column::number("Wait"),
    || Column::number("Wait share"),
    || Column::number("Share of time"),
];

fn cells(of: &Slice) -> [Cell; 8] {
    let wait = of.wait.filter(|_| of.time.as_micros() > 0.0);
    [
        Cell::name(&of.operation),
        Cell::count(of.records),
        Cell::bytes(of.bytes),
        Cell::gbs(of.busbw),
        Cell::duration(of.time),
        Cell::maybe(of.wait, Cell::duration),
        Cell::maybe(wait, |wait| {
            Cell::share(wait.as_micros() / of.time.as_micros())
        }),
        Cell::bar(of.share_of_time),
    ]
}

fn table<'a>(
    id: &'static str,
    caption: &'static str,
    columns: impl IntoIterator<Item = Column>,
    slices: impl IntoIterator<Item = (&'a Slice, bool)>,
    row: impl Fn(&Slice) -> Vec<Cell>,
) -> Table {
    // Whom a finding names is always shown.
    let weight = |(slice, accused): &(&Slice, bool)| {
        if *accused {
            f64::INFINITY
        } else {
            slice.time.as_micros()
        }
    };
    let kept = Kept::heaviest(slices, "time", weight);
    let rows = kept
        .items
        .iter()
        .map(|(slice, _)| Row::of(row(slice)))
        .collect();
    let columns = columns.into_iter().collect::<Vec<_>>();
    Table::new(id, caption, columns, rows).noting(&kept)
}

/// The table of operations per communicator.
pub(super) fn communicators(job: &Job, people: &People<'_>) -> Table {
    let index = |slice: &Slice| match slice.of {
        SliceOf::Communicator { communicator } => Some(communicator),
        _ => None,
    };
    let of_communicators = job
        .slices
        .iter()
        .filter(|slice| index(slice).is_some())
        .map(|slice| (slice, false));
    let columns = [Column::text("Communicator")]
        .into_iter()
        .chain(COLUMNS.map(|column| column()));
    table(
        "communicator-operations",
        "Operations of each communicator",
        columns,
        of_communicators,
        |slice| {
            let communicator = index(slice).and_then(|index| people.communicator(index));
            let name = communicator.map_or_else(|| "unknown".to_owned(), people::communicator);
            [Cell::name(&name)]
                .into_iter()
                .chain(cells(slice))
                .collect()
        },
    )
}

/// Per host.
pub(super) fn hosts(job: &Job, people: &People<'_>) -> Result<Section, askama::Error> {
    let host = |slice: &Slice| match &slice.of {
        SliceOf::Host { host } => Some(host.clone()),
        _ => None,
    };
    let of_hosts = job.slices.iter().filter_map(|slice| {
        host(slice).map(|host| (slice, !people.against_host(&host).is_empty()))
    });
    let columns = [Column::text("Host")]
        .into_iter()
        .chain(COLUMNS.map(|column| column()))
        .chain([Column::text("Findings")]);
    let table = table(
        "host-table",
        "Operations of each host",
        columns,
        of_hosts,
        |slice| {
            let host = host(slice).unwrap_or_default();
            let findings = Cell::links(people.against_host(&host));
            [Cell::name(&host)]
                .into_iter()
                .chain(cells(slice))
                .chain([findings])
                .collect()
        },
    );
    render(
        "hosts",
        "Hosts",
        "All records of a host, per operation.",
        table,
    )
}

/// Per rank.
pub(super) fn ranks(job: &Job, people: &People<'_>) -> Result<Section, askama::Error> {
    let process = |slice: &Slice| match slice.of {
        SliceOf::Rank { process } => people.process(process),
        _ => None,
    };
    let of_ranks = job
        .slices
        .iter()
        .filter(|slice| matches!(slice.of, SliceOf::Rank { .. }))
        .map(|slice| {
            (
                slice,
                process(slice).is_some_and(|p| !people.against(p).is_empty()),
            )
        });
    let columns = [
        Column::number("Rank"),
        Column::text("Host"),
        Column::number("Local rank"),
        Column::number("Pid"),
    ]
    .into_iter()
    .chain(COLUMNS.map(|column| column()))
    .chain([Column::text("Findings")]);
    let table = table(
        "rank-table",
        "Operations of each rank",
        columns,
        of_ranks,
        |slice| {
            let of = process(slice);
            let mut row = vec![
                Cell::maybe(of.and_then(|p| p.global_rank), Cell::label),
                Cell::name(of.map_or("unknown", |p| p.host.as_str())),
                Cell::maybe(of, |p| Cell::label(p.local_rank)),
                Cell::maybe(of, |p| Cell::label(p.pid)),
            ];
            row.extend(cells(slice));
            row.push(Cell::links(of.map_or(&[], |p| people.against(p))));
            row
        },
    );
    let lead = "A rank that arrives late waits least: look for the lowest wait share among ranks with the same operations. \
                A high one marks those who wait for others.";
    render("ranks", "Ranks", lead, table)
}

/// Over time.
pub(super) fn over_time(job: &Job) -> Result<Section, askama::Error> {
    let stretch = |slice: &Slice| match slice.of {
        SliceOf::Time { start, end } => Some((start, end)),
        _ => None,
    };
    let of_time = job
        .slices
        .iter()
        .filter(|slice| stretch(slice).is_some())
        .map(|slice| (slice, false));
    let columns = [Column::number("From"), Column::number("To")]
        .into_iter()
        .chain(COLUMNS.map(|column| column()));
    let table = table(
        "time-table",
        "Operations in each stretch of the run, UTC",
        columns,
        of_time,
        |slice| {
            let (start, end) = (stretch(slice).map(|s| s.0), stretch(slice).map(|s| s.1));
            [
                Cell::maybe(start, Cell::moment),
                Cell::maybe(end, Cell::moment),
            ]
            .into_iter()
            .chain(cells(slice))
            .collect()
        },
    );
    let lead = "By the time at which a record was written, which lies up to a dump interval after the operation.";
    render("over-time", "Over time", lead, table)
}

fn render(
    id: &'static str,
    title: &'static str,
    lead: &'static str,
    table: Table,
) -> Result<Section, askama::Error> {
    let view = View {
        lead,
        table: table.render()?,
    };
    Ok(Section::new(id, title, view.render()?))
}
