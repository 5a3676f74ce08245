//! What eBPF traces of the hosts say.

use askama::Template;
use nccl_report_analyze::facts::{Coincidence, HostCause, Job, SlowLimit, Traces, WindowSource};
use nccl_report_analyze::units::ExecTime;

use super::kept::Kept;
use super::quantity::{count, plural, significant};
use super::section::Section;
use super::table::{Cell, Column, Row, Table};

#[derive(Template)]
#[template(path = "section/traces.html")]
struct View {
    sum: String,
    notes: Vec<String>,
    causes: Option<String>,
    slow_sum: String,
    slow: Option<String>,
    hosts: Option<String>,
    connections: Option<String>,
    addresses: Option<String>,
    files: String,
}

/// The section; `None` without traces.
pub(super) fn section(job: &Job) -> Result<Option<Section>, askama::Error> {
    let Some(traces) = &job.traces else {
        return Ok(None);
    };
    let render = |table: Option<Table>| table.map(|t| t.render()).transpose();
    let events: u64 = traces.hosts.iter().map(|h| h.events).sum();
    let calls: u64 = traces.hosts.iter().map(|h| h.calls).sum();
    let retransmits: u64 = traces.hosts.iter().map(|h| h.retransmits).sum();
    let view = View {
        sum: format!(
            "{} of {}: {}, {} into NCCL, {}.",
            plural(traces.files.len() as u64, "trace", "traces"),
            plural(traces.hosts.len() as u64, "host", "hosts"),
            plural(events, "event", "events"),
            plural(calls, "call", "calls"),
            plural(retransmits, "TCP retransmit", "TCP retransmits"),
        ),
        notes: traces.notes.clone(),
        causes: render(causes(job, traces))?,
        slow_sum: slow_sum(traces),
        slow: render(slow(traces))?,
        hosts: render(coincidences(
            "trace-hosts",
            "Retransmits by host",
            "Host",
            &traces.slow.by_host,
        ))?,
        connections: render(coincidences(
            "trace-connections",
            "Retransmits by connection",
            "Source → destination",
            &traces.slow.by_connection,
        ))?,
        addresses: render(coincidences(
            "trace-addresses",
            "Retransmits by the address that sent",
            "Address of the card",
            &traces.slow.by_address,
        ))?,
        files: files(traces).render()?,
    };
    Ok(Some(Section::new(
        "traces",
        "Hosts: eBPF traces",
        view.render()?,
    )))
}

fn slow_sum(traces: &Traces) -> String {
    let slow = &traces.slow;
    let limit = match slow.limit {
        SlowLimit::Milliseconds(ms) => format!("longer than {} ms", significant(ms)),
        SlowLimit::TimesMedian(n) => format!(
            "longer than {} times the median of their kind",
            significant(n)
        ),
    };
    match slow.windows {
        WindowSource::Calls => format!(
            "{} of {} collective calls in the traces are slow: {limit}.",
            count(slow.slow),
            count(slow.calls)
        ),
        WindowSource::Kernels => "The traces hold no calls into NCCL. Slow transfers and when they ran are those of the verbose dumps.".to_owned(),
        WindowSource::Dumps => "The traces hold no calls into NCCL, and the dumps aren't verbose: when slow transfers ran is known to about a dump interval.".to_owned(),
        WindowSource::None => "No slow collective is known that retransmits could be held against.".to_owned(),
    }
}

fn causes(job: &Job, traces: &Traces) -> Option<Table> {
    let kept = Kept::heaviest(&traces.causes, "rows", |c| {
        f64::from(u8::from(c.named)) * 1e3 + c.explains.unwrap_or(0.0)
    });
    let rows: Vec<Row> = kept.items.iter().map(|c| cause(job, c)).collect();
    let columns = [
        Column::text("Late"),
        Column::text("On its host"),
        Column::text("The cause"),
        Column::number("In the late times"),
        Column::number("Share of late times"),
        Column::number("Share of other times"),
        Column::number("Share of peers' (median)"),
        Column::number("Part of the lateness"),
        Column::number("Chance of coincidence"),
        Column::text("Late times"),
    ];
    let caption = "What happened on the host of each late rank or host while it was late";
    (!rows.is_empty()).then(|| Table::new("trace-causes", caption, columns, rows).noting(&kept))
}

fn cause(job: &Job, c: &HostCause) -> Row {
    let subject = job
        .findings
        .iter()
        .find(|f| f.id == c.finding)
        .and_then(|f| f.subjects.first());
    let who = subject.map_or_else(
        || c.host.clone(),
        |s| match (s.global_rank, s.pid) {
            (Some(rank), _) => format!("rank {rank} on {}", s.host),
            (None, Some(pid)) => format!("pid {pid} on {}", s.host),
            (None, None) => s.host.clone(),
        },
    );
    let timed = c.inside.is_some();
    // Of moments the numbers are per second.
    let rate = |of: f64| {
        if timed {
            Cell::share(of)
        } else {
            Cell::label(format!("{} /s", significant(of)))
        }
    };
    Row::of([
        Cell::name(&who),
        Cell::name(words(&c.cause)),
        Cell::name(if c.named { "yes" } else { "no" }),
        match c.inside {
            Some(time) => Cell::duration(time),
            None => Cell::count(c.events_inside),
        },
        rate(c.share_inside),
        Cell::maybe(c.share_outside, rate),
        Cell::maybe(c.share_of_peers, rate),
        Cell::maybe(c.explains, Cell::share),
        Cell::maybe(c.chance, |p| Cell::label(significant(p))),
        Cell::name(if c.coarse {
            "to a dump interval"
        } else {
            "exact"
        }),
    ])
}

fn words(cause: &str) -> &str {
    match cause {
        "off_cpu" => "process off the CPU",
        "cuda_sync" => "process waiting for its GPU",
        "block_io" => "disk requests",
        "page_alloc" => "page allocations",
        "oom_kill" => "out-of-memory kills",
        "process_exit" => "processes ending",
        other => other,
    }
}

fn slow(traces: &Traces) -> Option<Table> {
    let kept = Kept::heaviest(&traces.slow.rows, "slow collectives", |row| {
        row.duration_ns as f64
    });
    let rows: Vec<Row> = kept
        .items
        .iter()
        .map(|row| {
            Row::of([
                Cell::name(&row.op),
                Cell::name(&row.host),
                Cell::maybe(row.rank, Cell::label),
                Cell::duration(ExecTime::from_micros(row.duration_ns as f64 / 1e3)),
                Cell::count(row.retransmits_in_window),
            ])
        })
        .collect();
    let columns = [
        Column::text("Operation"),
        Column::text("Host"),
        Column::number("Rank"),
        Column::number("Took"),
        Column::number("Retransmits in it"),
    ];
    (!rows.is_empty()).then(|| {
        Table::new(
            "trace-slow",
            "Slow collective calls, longest first",
            columns,
            rows,
        )
        .noting(&kept)
    })
}

fn coincidences(
    id: &'static str,
    caption: &str,
    what: &'static str,
    list: &[Coincidence],
) -> Option<Table> {
    let kept = Kept::heaviest(list, "retransmits", |row| row.retransmits as f64);
    let rows: Vec<Row> = kept
        .items
        .iter()
        .map(|row| {
            Row::of([
                Cell::name(if row.what.is_empty() {
                    &row.host
                } else {
                    &row.what
                }),
                Cell::count(row.retransmits),
                Cell::count(row.inside),
                Cell::count(row.slow_calls),
            ])
        })
        .collect();
    let columns = [
        Column::text(what),
        Column::number("Retransmits"),
        Column::number("In slow collectives"),
        Column::number("Slow collectives with one"),
    ];
    (!rows.is_empty()).then(|| Table::new(id, caption, columns, rows).noting(&kept))
}

fn files(traces: &Traces) -> Table {
    let kept = Kept::heaviest(&traces.files, "rows", |file| file.rows as f64);
    let rows = kept
        .items
        .iter()
        .map(|file| {
            let ahead = traces
                .hosts
                .iter()
                .find(|h| file.hosts.first() == Some(&h.host))
                .and_then(|h| h.clock_ahead);
            Row::of([
                Cell::sentence(&file.path),
                Cell::name(&match file.hosts.as_slice() {
                    [] => "unknown".to_owned(),
                    [one] => one.clone(),
                    [one, rest @ ..] => format!("{one} and {} more", rest.len()),
                }),
                Cell::name(match file.known_by.as_str() {
                    "option" => "the command line",
                    "rows" => "its rows",
                    "name" => "its path",
                    _ => "nothing",
                }),
                Cell::count(file.rows),
                Cell::maybe(file.span, |s| Cell::moment(s.0)),
                Cell::maybe(file.span, |s| Cell::moment(s.1)),
                Cell::maybe(ahead, Cell::duration),
            ])
        })
        .collect();
    let columns = [
        Column::text("Trace"),
        Column::text("Host"),
        Column::text("Known by"),
        Column::number("Rows"),
        Column::number("First"),
        Column::number("Last"),
        Column::number("Clock ahead of the dumps'"),
    ];
    Table::new("trace-files", "Traces", columns, rows).noting(&kept)
}
