//! Numbers and names in sentences.

use crate::facts::{Subject, Window};
use crate::measured::Measured;
use crate::statistics::window::Standout;
use crate::units::Timestamp;

/// A duration: "85 µs", "1.4 ms", "2.1 s".
pub(crate) fn duration(micros: f64) -> String {
    match micros.abs() {
        m if m < 1e3 => format!("{} µs", three(micros)),
        m if m < 1e6 => format!("{} ms", three(micros / 1e3)),
        _ => format!("{} s", three(micros / 1e6)),
    }
}

/// Three significant digits, no more decimals than that needs.
pub(crate) fn three(v: f64) -> String {
    if v == 0.0 || !v.is_finite() {
        return "0".into();
    }
    let decimals = (2 - v.abs().log10().floor() as i32).clamp(0, 6);
    let s = format!("{v:.0$}", usize::try_from(decimals).unwrap_or(0));
    if s.contains('.') {
        s.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        s
    }
}

/// A share: "12 %", "0.4 %".
pub(crate) fn percent(share: f64) -> String {
    let p = 100.0 * share;
    if p >= 10.0 {
        format!("{p:.0} %")
    } else {
        format!("{p:.1} %")
    }
}

/// "rank 13 (gpu-002, GPU 5, pid 4711)", or without the global rank where none is known.
pub(crate) fn rank(m: &Measured, process: usize) -> String {
    let p = &m.topology.processes[process];
    match p.global_rank {
        Some(g) => format!(
            "rank {g} ({}, local rank {}, pid {})",
            p.host, p.local_rank, p.pid
        ),
        None => format!("pid {} on {} (local rank {})", p.pid, p.host, p.local_rank),
    }
}

/// Several names: "a", "a and b", "a, b and 6 others".
pub(crate) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [a] => a.clone(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", rest.len()),
    }
}

/// A process as a subject.
pub(crate) fn subject(m: &Measured, process: usize) -> Subject {
    let p = &m.topology.processes[process];
    Subject {
        host: p.host.clone(),
        pid: Some(p.pid),
        local_rank: Some(p.local_rank),
        global_rank: p.global_rank,
    }
}

/// A host as a subject.
pub(crate) fn host(name: &str) -> Subject {
    Subject {
        host: name.to_owned(),
        pid: None,
        local_rank: None,
        global_rank: None,
    }
}

/// The window of a standout; `None` where it is the whole run.
pub(crate) fn window(m: &Measured, s: &Standout) -> Option<Window> {
    (!s.whole && s.end > s.start).then(|| Window {
        start: m.grid.bounds(s.start).0,
        end: m.grid.bounds(s.end - 1).1,
    })
}

/// "from 2.0 s to 3.1 s of the run", or nothing for the whole run.
pub(crate) fn when(m: &Measured, w: Option<Window>) -> String {
    let origin = m.topology.span().map_or(0, |s| s.0.as_unix_micros());
    let at = |t: Timestamp| duration((t.as_unix_micros() - origin) as f64);
    w.map(|w| format!(", from {} to {} of the run", at(w.start), at(w.end)))
        .unwrap_or_default()
}

/// A communicator's name for people: its own, else its id.
pub(crate) fn comm(m: &Measured, c: usize) -> String {
    let comm = &m.topology.comms[c];
    comm.name.clone().unwrap_or_else(|| comm.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (
                three(0.0),
                three(12.345),
                three(1234.6),
                three(0.012_34),
                three(100.0)
            ),
            (
                "0".into(),
                "12.3".into(),
                "1235".into(),
                "0.0123".into(),
                "100".into()
            )
        );
        assert_eq!(
            (duration(85.2), duration(1400.0), duration(2.1e6)),
            ("85.2 µs".into(), "1.4 ms".into(), "2.1 s".into())
        );
        assert_eq!(
            (percent(0.123), percent(0.0042)),
            ("12 %".into(), "0.4 %".into())
        );
    }
}
