//! How long a Send waits until its receiver is ready, stage by stage of a pipeline.

use std::collections::BTreeMap;

use nccl_report_analyze::facts::{FindingKind, Job};
use nccl_report_analyze::units::ExecTime;

use super::box_rows::{self, Axis, Five, READING, Row};
use super::drawing::{Figure, Section};
use super::number;
use super::sheet::Sheet;
use super::shown;
use crate::svg::Colour;

/// Stages drawn; more than this no pipeline has.
const MOST: usize = 64;

const WAIT: Axis = Axis {
    title: "Wait of a Send (ms), mean of a pair",
    from_zero: true,
    text: |millis| number::time(ExecTime::from_micros(millis * 1e3)),
};

/// The figure, for a job with a finding about stages; `None` without.
pub(crate) fn figure(job: &Job) -> Option<Figure> {
    let finding = job
        .findings
        .iter()
        .find(|f| f.kind == FindingKind::StageImbalance)?;
    let mut waits: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for pair in &job.pairs {
        let communicator = job.communicators.get(pair.communicator as usize);
        let bandwidth = pair.link_bandwidth.as_gb_per_s();
        let (Some(_), Some(sends)) = (
            communicator.filter(|c| finding.communicators.contains(&c.id)),
            pair.send_time.as_ref().filter(|_| bandwidth > 0.0),
        ) else {
            continue;
        };
        // The time that the transfer itself takes: bytes ÷ 10⁹ bytes a second.
        let transfer = pair.size.as_bytes() as f64 / bandwidth / 1e3;
        let wait = (sends.mean.as_micros() - transfer).max(0.0);
        waits
            .entry(pair.destination_rank)
            .or_default()
            .push(wait / 1e3);
    }
    let rows: Vec<Row> = waits
        .into_iter()
        .take(MOST)
        .filter_map(|(stage, waits)| {
            Some(Row {
                label: format!("to stage {stage}"),
                boxes: vec![(Colour::Order, Five::of_sample(waits)?)],
            })
        })
        .collect();
    let mut sheet = Sheet::new(
        "Pipeline: how long a Send waits for the stage that receives it",
        READING,
    );
    box_rows::draw(&mut sheet, &rows, WAIT)?;
    let mut figure = sheet.finish(
        "stages-waiting",
        Section::Pairs,
        "Box plots over the pairs of all replicas, by receiving stage: the mean time of a Send beyond the transfer itself. A stage that \
         all Sends wait for takes longer than its neighbours; where only some do, look at the rank that they are sent to.",
    );
    figure.findings = shown::in_stages(job);
    Some(figure)
}
