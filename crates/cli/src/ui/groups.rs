//! The table of the groups that take the most time.

use comfy_table::{Cell, CellAlignment, Table, presets};
use nccl_report_analyze::facts::{Distribution, Group, Job};
use nccl_report_ingest::units::BusBandwidth;
use nccl_report_render::budget_shares;

use super::page::Page;
use super::text::{abbreviated, bandwidth, bytes, clipped, counted, percent};

const SHOWN: usize = 10;
const OPERATION_WIDTH: usize = 16;
const LABEL_WIDTH: usize = 60;
/// Stands after a size at which time hardly depends on the size.
const LATENCY_BOUND: &str = "*";
const UNKNOWN: &str = "–";

/// The columns, in their order. The ones with the highest `rank` go first where the terminal is narrow.
const COLUMNS: [Column; 8] = [
    column("class", 0, CellAlignment::Left, |g| g.key.class.to_string()),
    column("operation", 0, CellAlignment::Left, |g| {
        clipped(&g.key.operation, OPERATION_WIDTH)
    }),
    column("size", 0, CellAlignment::Right, size),
    column("ranks×nodes", 2, CellAlignment::Right, |g| {
        format!("{}×{}", g.key.n_ranks, g.key.nnodes)
    }),
    column("count", 3, CellAlignment::Right, |g| {
        abbreviated(g.collectives)
    }),
    column("link", 0, CellAlignment::Right, |g| {
        median(g.link_busbw.as_ref())
    }),
    column("felt", 1, CellAlignment::Right, |g| {
        // Send and Recv aren't matched over ranks: each record is what was felt.
        median(g.felt_busbw.as_ref().or(g.p2p.then_some(&g.busbw)))
    }),
    column("time", 0, CellAlignment::Right, |g| {
        percent(g.share_of_time)
    }),
];

struct Column {
    name: &'static str,
    rank: u8,
    alignment: CellAlignment,
    value: fn(&Group) -> String,
}

const fn column(
    name: &'static str,
    rank: u8,
    alignment: CellAlignment,
    value: fn(&Group) -> String,
) -> Column {
    Column {
        name,
        rank,
        alignment,
        value,
    }
}

/// The time by cause, and the groups by share of it, largest first; nothing where there is none.
pub fn section(page: &mut Page, job: &Job) {
    let groups = &job.groups;
    if groups.is_empty() {
        return;
    }
    let mut largest: Vec<&Group> = groups.iter().collect();
    largest.sort_by(|a, b| b.share_of_time.total_cmp(&a.share_of_time));
    largest.truncate(SHOWN);

    page.heading("Where the time goes");
    causes(page, job);
    for line in fitting(&largest, page.room()).lines() {
        page.raw(&line);
    }
    if let Some(more @ 1..) = groups.len().checked_sub(SHOWN) {
        let more = counted(more as u64, "group", "groups");
        page.aside(&format!("{more} more in the report"));
    }
    notes(page, &largest);
}

/// "transfer 61.2 %, waiting for rank 13 16.0 %, …".
fn causes(page: &mut Page, job: &Job) {
    let parts: Vec<String> = budget_shares(job)
        .iter()
        .map(|(label, share)| {
            // The sign stays with its number.
            let share = percent(*share).replace(' ', "\u{a0}");
            format!("{} {share}", clipped(label, LABEL_WIDTH))
        })
        .collect();
    if !parts.is_empty() {
        page.line(&parts.join(", "));
    }
}

fn notes(page: &mut Page, shown: &[&Group]) {
    page.aside(
        "link, felt: median bus bandwidth in GB/s, from the shortest and from the mean time of each \
         collective. time: share of the kernel time, waiting included.",
    );
    if shown.iter().any(|g| is_per_rank(g)) {
        page.aside("The size of AllGather and ReduceScatter is per rank.");
    }
    if shown.iter().any(|g| g.latency_bound) {
        page.aside(&format!(
            "{LATENCY_BOUND} bound by latency: at this size the bandwidth says little."
        ));
    }
}

/// The table with as many columns as there is room for.
fn fitting(groups: &[&Group], room: usize) -> Table {
    let most = COLUMNS.iter().map(|c| c.rank).max().unwrap_or(0);
    let narrower = (0..=most).rev().map(|rank| table(groups, rank));
    let mut last = None;
    for table in narrower {
        let width = table.lines().map(|l| width_of(&l)).max().unwrap_or(0);
        if width <= room {
            return table;
        }
        last = Some(table);
    }
    last.unwrap_or_default()
}

fn table(groups: &[&Group], rank: u8) -> Table {
    let columns = || COLUMNS.iter().filter(move |c| c.rank <= rank);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns().map(|c| Cell::new(c.name).set_alignment(c.alignment)));
    for group in groups {
        table.add_row(columns().map(|c| Cell::new((c.value)(group)).set_alignment(c.alignment)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

fn width_of(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line.trim_end())
}

fn size(group: &Group) -> String {
    let mark = if group.latency_bound {
        LATENCY_BOUND
    } else {
        ""
    };
    format!("{}{mark}", bytes(group.key.size.as_bytes()))
}

fn median(of: Option<&Distribution<BusBandwidth>>) -> String {
    of.map_or_else(|| UNKNOWN.to_owned(), |d| bandwidth(d.p50.as_gb_per_s()))
}

fn is_per_rank(group: &Group) -> bool {
    matches!(group.key.operation.as_str(), "AllGather" | "ReduceScatter")
}
