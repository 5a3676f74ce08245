//! Box plots side by side: a row for each bucket, a box for each run.

use nccl_report_analyze::facts::{BucketComparison, Level};

use super::{BASELINE, CANDIDATE, ROWS, label};
use crate::figure::box_rows::{self, Axis, Five, READING, Row};
use crate::figure::drawing::{Figure, Section};
use crate::figure::number;
use crate::figure::sheet::{Key, Sheet};
use nccl_report_analyze::units::ExecTime;

const BANDWIDTH: Axis = Axis {
    title: "Bus bandwidth (GB/s)",
    from_zero: false,
    text: number::gb_per_s,
};
const TIME: Axis = Axis {
    title: "Time (µs)",
    from_zero: false,
    text: |us| number::time(ExecTime::from_micros(us)),
};

/// The figure; `None` without a bucket that has values.
pub(super) fn figure(buckets: &[&BucketComparison], bandwidth: bool) -> Option<Figure> {
    let rows: Vec<Row> = buckets
        .iter()
        .take(ROWS)
        .filter_map(|b| {
            let boxes: Vec<_> = [(BASELINE, &b.baseline), (CANDIDATE, &b.candidate)]
                .into_iter()
                .filter_map(|(colour, level)| Some((colour, five(level.as_ref()?)?)))
                .collect();
            (!boxes.is_empty()).then(|| Row {
                label: label(b),
                boxes,
            })
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let (id, title, what, axis) = if bandwidth {
        (
            "compare-bandwidth",
            "Bandwidth of the links in both runs",
            "bus bandwidth from the shortest time of each collective",
            BANDWIDTH,
        )
    } else {
        (
            "compare-time",
            "Times in both runs, where latency rules",
            "shortest time of each collective",
            TIME,
        )
    };
    let mut sheet = Sheet::new(title, READING);
    sheet.legend(&[
        (Key::Area(BASELINE), "baseline".to_owned()),
        (Key::Area(CANDIDATE), "candidate".to_owned()),
    ]);
    box_rows::draw(&mut sheet, &rows, axis)?;
    let more = if buckets.len() > ROWS {
        format!(" The first {ROWS} of {} buckets are drawn.", buckets.len())
    } else {
        String::new()
    };
    let description = format!(
        "Box plots of the {what}, the baseline above the candidate, a row for each bucket of like operations.{more}"
    );
    Some(sheet.finish(id, Section::Changes, &description))
}

/// The five numbers, of quantiles at equal steps.
fn five(level: &Level) -> Option<Five> {
    let sample = Five::of_sample(level.quantiles.iter().copied())?;
    // So many of the operations as of the quantiles lie outside; less than one step isn't known.
    let outside = sample.outliers as f64 / level.quantiles.len() as f64;
    (sample.max > 0.0).then_some(Five {
        count: level.operations,
        outliers: (outside * level.operations as f64).round() as u64,
        ..sample
    })
}
