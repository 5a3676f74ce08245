//! Retransmits of each host over time.

use std::collections::BTreeMap;

use super::slow_spans::HostWindows;
use super::store::HostTraces;
use crate::facts::RetransmitsOverTime;
use crate::units::Timestamp;

/// Stretches of a run, as wide as a mark on the page.
const STRETCHES: i64 = 120;

/// Counts of every host that has any; by each host's own clock, whose difference is below a stretch.
pub(crate) fn over_time(
    all: &HostTraces,
    windows: &BTreeMap<String, HostWindows>,
) -> Option<RetransmitsOverTime> {
    let hosts: Vec<&str> = all
        .hosts()
        .filter(|host| !all.retransmits(host).is_empty())
        .collect();
    let stamps = hosts
        .iter()
        .flat_map(|host| all.retransmits(host))
        .map(|r| r.at);
    let spans = windows.values().map(|w| w.span).filter(|s| s.0 < s.1);
    let first = stamps.clone().chain(spans.clone().map(|s| s.0)).min()?;
    let last = stamps.chain(spans.map(|s| s.1)).max()?;
    if hosts.is_empty() {
        return None;
    }
    let length = i128::from(last) - i128::from(first) + 1;
    let stretch = |at: i64| -> Option<usize> {
        let place = (i128::from(at) - i128::from(first)) * i128::from(STRETCHES) / length;
        usize::try_from(place)
            .ok()
            .filter(|p| *p < STRETCHES as usize)
    };
    let micros =
        |ns: i128| Timestamp::from_unix_micros(i64::try_from(ns / 1000).unwrap_or(i64::MAX));
    let mut counts = vec![0; hosts.len() * STRETCHES as usize];
    for (row, host) in hosts.iter().enumerate() {
        for r in all.retransmits(host) {
            if let Some(place) = stretch(r.at) {
                counts[row * STRETCHES as usize + place] += 1;
            }
        }
    }
    let mut slow = vec![0; STRETCHES as usize];
    for span in windows.values().flat_map(|w| &w.slow) {
        if let Some(place) = stretch(span.window.0) {
            slow[place] += 1;
        }
    }
    Some(RetransmitsOverTime {
        edges: (0..=STRETCHES)
            .map(|k| micros(i128::from(first) + length * i128::from(k) / i128::from(STRETCHES)))
            .collect(),
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        counts,
        slow,
    })
}
