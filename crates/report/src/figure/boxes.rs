//! Box plots of bus bandwidth: per class, per family.

use nccl_report_analyze::facts::{CommClass, Family, Group, Job};
use nccl_report_analyze::units::BusBandwidth;

use super::box_rows::{self, Axis, Five, READING, Row};
use super::drawing::{Figure, Section, slug};
use super::number;
use super::selection::keep_largest;
use super::sheet::{Key, Sheet};
use crate::svg::{Colour, clip};

/// Rows of a figure; those with the largest share of time are kept.
const MOST_ROWS: usize = 24;

/// How a bus bandwidth is drawn.
pub(crate) const BUS_BANDWIDTH: Axis = Axis {
    title: "Bus bandwidth (GB/s)",
    from_zero: false,
    text: number::gb_per_s,
};

fn left_out_note(all: usize) -> String {
    if all <= MOST_ROWS {
        return String::new();
    }
    format!(" The {MOST_ROWS} of {all} rows with the largest share of time are drawn.")
}

/// Bus bandwidth of the records of a class, as written, by operation and size.
pub(crate) fn class(job: &Job, class: CommClass) -> Option<Figure> {
    let groups: Vec<&Group> = job.groups.iter().filter(|g| g.key.class == class).collect();
    let shapes = groups
        .iter()
        .map(|g| (g.key.n_ranks, g.key.nnodes))
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    let sizes = number::SizeLabels::of(groups.iter().map(|g| g.key.size));
    let rows: Vec<(f64, Row)> = groups
        .iter()
        .filter_map(|g| {
            let five = Five::of(&g.busbw, BusBandwidth::as_gb_per_s).filter(|f| f.max > 0.0)?;
            let size = sizes.get(g.key.size);
            let operation = clip(&g.key.operation, 40);
            let label = if shapes > 1 {
                format!("{operation} {size}, {} ranks", g.key.n_ranks)
            } else {
                format!("{operation} {size}")
            };
            Some((
                g.share_of_time,
                Row {
                    label,
                    boxes: vec![(Colour::Series(0), five)],
                },
            ))
        })
        .collect();
    let all = rows.len();
    let rows = keep_largest(rows, MOST_ROWS);
    let class = class.as_str();
    let mut sheet = Sheet::new(
        &format!("Bus bandwidth of all records on {class} communicators"),
        READING,
    );
    box_rows::draw(&mut sheet, &rows, BUS_BANDWIDTH)?;
    let description = format!(
        "Box plots of the bus bandwidth of every record on {class} communicators, as written, by operation, message size and number of ranks. \
         A record's time contains its waiting for late ranks, so low values need not mean a slow link.{}",
        left_out_note(all)
    );
    Some(sheet.finish(
        &format!("boxes-{class}"),
        Section::Distribution,
        &description,
    ))
}

/// What the links give and what the job felt, by operation and size in a family.
pub(crate) fn family(family: &Family) -> Option<Figure> {
    const LINK: Colour = Colour::Series(0);
    const FELT: Colour = Colour::Series(1);
    let sizes = number::SizeLabels::of(family.operations.iter().map(|o| o.size));
    let rows: Vec<(f64, Row)> = family
        .operations
        .iter()
        .filter_map(|o| {
            let boxes: Vec<_> = [(LINK, &o.link_busbw), (FELT, &o.felt_busbw)]
                .into_iter()
                .filter_map(|(colour, d)| {
                    let five = Five::of(d.as_ref()?, BusBandwidth::as_gb_per_s)?;
                    (five.max > 0.0).then_some((colour, five))
                })
                .collect();
            let size = sizes.get(o.size);
            let label = format!("{} {size}", clip(&o.operation, 40));
            (!boxes.is_empty()).then_some((o.share_of_time, Row { label, boxes }))
        })
        .collect();
    let all = rows.len();
    let rows = keep_largest(rows, MOST_ROWS);
    let label = clip(&family.label, 80);
    let mut sheet = Sheet::new(
        &format!("{label}: what the links give and what the job felt"),
        READING,
    );
    sheet.legend(&[
        (
            Key::Area(LINK),
            "link: from the shortest time of each collective".to_owned(),
        ),
        (
            Key::Area(FELT),
            "felt: from the mean time over the ranks, waiting included".to_owned(),
        ),
    ]);
    box_rows::draw(&mut sheet, &rows, BUS_BANDWIDTH)?;
    let description = format!(
        "Box plots of bus bandwidth in {label} ({}, {}, {}) by operation and size. Where felt lies far below link, ranks wait for late ones; \
         where both are low, the link is slow.{}",
        number::counted(family.communicators.len() as u64, "communicator"),
        number::counted(u64::from(family.n_ranks), "rank"),
        number::counted(u64::from(family.nnodes), "node"),
        left_out_note(all)
    );
    Some(sheet.finish(
        &format!("family-{}", slug(&family.label)),
        Section::Families,
        &description,
    ))
}
