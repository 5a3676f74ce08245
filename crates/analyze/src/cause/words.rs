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

/// Characters of a name in a sentence: the longest host name that DNS knows without its domain.
const NAME: usize = 63;

/// A name as sentences have it: what is longer than any real one keeps both ends.
pub(crate) fn name(text: &str) -> String {
    let length = text.chars().count();
    if length <= NAME {
        return text.to_owned();
    }
    let half = NAME / 2;
    let start = text.chars().take(half);
    let end = text.chars().skip(length - half);
    start.chain(['…']).chain(end).collect()
}

/// "rank 13 (gpu-002, local rank 5, pid 4711)", or without the global rank where none is known.
pub(crate) fn rank(m: &Measured, process: usize) -> String {
    let p = &m.topology.processes[process];
    let host = name(&p.host);
    match p.global_rank {
        Some(g) => format!(
            "rank {g} ({host}, local rank {}, pid {})",
            p.local_rank, p.pid
        ),
        None => format!("pid {} on {host} (local rank {})", p.pid, p.local_rank),
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

/// ", from 0.84 s to 2.10 s of the run", or nothing for the whole run.
pub(crate) fn when(m: &Measured, w: Option<Window>) -> String {
    let origin = m.topology.span().map_or(0, |s| s.0.as_unix_micros());
    let at = |t: Timestamp| (t.as_unix_micros().saturating_sub(origin)) as f64 / 1e6;
    w.map(|w| {
        let (start, end) = between(at(w.start), at(w.end));
        format!(", from {start} to {end} of the run")
    })
    .unwrap_or_default()
}

/// Two moments in seconds, both so exact that the time between them has three digits.
fn between(start: f64, end: f64) -> (String, String) {
    let decimals = (2.0 - (end - start).max(1e-3).log10().floor()).clamp(0.0, 3.0) as usize;
    // A window begins up to an interval before the first line was written.
    let start = start.max(0.0);
    let text = |seconds: f64| {
        if end < 600.0 {
            format!("{seconds:.decimals$} s")
        } else {
            let whole = seconds.round() as u64;
            format!(
                "{}:{:02}:{:02} h",
                whole / 3600,
                whole / 60 % 60,
                whole % 60
            )
        }
    };
    (text(start), text(end))
}

/// A number that is expected of equals, where it may be far below one: "3.2", "one", "one in 31 such runs".
pub(crate) fn expected(events: f64) -> String {
    match events {
        e if e >= 1.5 => three(e),
        e if e > 0.67 => "one".to_owned(),
        e if e > 0.0 => format!("one in {} such runs", count((1.0 / e).round() as u64)),
        _ => "none".to_owned(),
    }
}

/// A number and its noun: "the other rank", "the other 7 ranks" need the noun in two forms.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// A whole number with its thousands apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A message size: "8 KiB", "12.5 MiB".
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    format!(
        "{} {}",
        three(bytes as f64 / (1_u64 << (10 * power)) as f64),
        UNITS[power]
    )
}

/// A rank in few words: "rank 13", or where it isn't known "gpu-002:5".
pub(crate) fn short(m: &Measured, process: usize) -> String {
    let p = &m.topology.processes[process];
    match p.global_rank {
        Some(g) => format!("rank {g}"),
        None => format!("{}:{}", name(&p.host), p.local_rank),
    }
}

/// A rank among those of its host: "rank 13", or where that isn't known "local rank 5".
pub(crate) fn of_host(m: &Measured, process: usize) -> String {
    let p = &m.topology.processes[process];
    match p.global_rank {
        Some(g) => format!("rank {g}"),
        None => format!("local rank {}", p.local_rank),
    }
}

/// The first letter as a capital.
pub(crate) fn capital(s: &str) -> String {
    let mut c = s.chars();
    c.next().map_or_else(String::new, |f| {
        f.to_uppercase().collect::<String>() + c.as_str()
    })
}

/// A communicator's name for people: its own, else its id.
pub(crate) fn comm(m: &Measured, c: usize) -> String {
    let comm = &m.topology.comms[c];
    name(comm.name.as_ref().unwrap_or(&comm.id))
}

/// Whether a communicator doesn't tell which of its process's GPUs a rank of it is: where one process drives several, and not all of them
/// are in the communicator. Then ranks of several communicators are told apart by guess, and so are culprits and victims.
pub(crate) fn unsure_place(m: &Measured, comm: usize, process: usize) -> bool {
    let all = &m.topology.processes;
    let who = |p: usize| (all[p].run, &all[p].host, all[p].pid);
    let same = |p: usize| who(p) == who(process);
    let here = m.topology.comms[comm].members.iter();
    here.filter(|x| same(x.1.0 as usize)).count() < (0..all.len()).filter(|&p| same(p)).count()
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

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(name("gpu-001"), "gpu-001");
        let long = name(&format!("a{}z", "é".repeat(400)));
        assert_eq!(long.chars().count(), NAME);
        assert!(long.starts_with("aé") && long.contains('…') && long.ends_with("éz"));
    }

    #[test]
    fn moments_are_as_exact_as_their_window_is_short() {
        let text = |a, b| {
            let (a, b) = between(a, b);
            format!("{a} to {b}")
        };
        assert_eq!(text(0.8412, 2.1049), "0.84 s to 2.10 s");
        assert_eq!(text(0.8412, 0.9049), "0.841 s to 0.905 s");
        assert_eq!(text(12.3, 97.2), "12.3 s to 97.2 s");
        assert_eq!(text(-0.2, 700.0), "0:00:00 h to 0:11:40 h");
    }

    #[test]
    fn what_equals_would_show_is_said_in_whole_things() {
        let words = [3.21, 1.2, 0.0323, 0.0].map(expected);
        assert_eq!(words, ["3.21", "one", "one in 31 such runs", "none"]);
        assert_eq!(
            [
                counted(1, "rank", "ranks"),
                counted(12_000, "rank", "ranks")
            ],
            ["1 rank", "12,000 ranks"]
        );
        assert_eq!(
            [size(8192), size(26_214_400), size(0)],
            ["8 KiB", "25 MiB", "0 B"]
        );
    }
}
