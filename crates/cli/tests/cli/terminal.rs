//! Colour, pipes, and names that would like to act on the terminal.

use crate::dump;
use crate::program::Place;

/// Escape, C1's control sequence introducer, bell, right-to-left override.
const HOSTILE: &str = "gpu\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J\u{202e}";

fn acts_on_the_terminal(text: &str) -> bool {
    text.chars()
        .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
}

#[test]
fn nothing_is_coloured_in_a_pipe() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.run(&["logs"]).ended_with(0);
    assert!(!acts_on_the_terminal(&run.stdout), "{:?}", run.stdout);
    let run = place.run(&["no-such-folder"]).ended_with(2);
    assert!(!acts_on_the_terminal(&run.stderr), "{:?}", run.stderr);
}

#[test]
fn colour_can_be_asked_for_and_refused() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let always = place.run(&["logs", "--color", "always"]).ended_with(0);
    assert!(always.stdout.contains("\u{1b}["), "{:?}", always.stdout);
    let never = place.run(&["logs", "--color", "never"]).ended_with(0);
    assert!(!acts_on_the_terminal(&never.stdout), "{:?}", never.stdout);
}

#[test]
fn hostile_host_names_are_shown_and_not_obeyed() {
    let place = Place::new();
    dump::healthy(&place, HOSTILE);
    let run = place.run(&["logs", "-vv"]).ended_with(0);
    assert!(!acts_on_the_terminal(&run.stdout), "{:?}", run.stdout);
    assert!(!acts_on_the_terminal(&run.stderr), "{:?}", run.stderr);
    assert!(run.stdout.contains("gpu\\u{1b}"), "{:?}", run.stdout);
}

#[cfg(unix)]
#[test]
fn hostile_file_names_are_shown_and_not_obeyed() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    place.write("logs/\u{1b}[31mred.log", "no record\n");
    let run = place.run(&["logs", "-vv"]).ended_with(0);
    assert!(!acts_on_the_terminal(&run.stdout), "{:?}", run.stdout);
    assert!(
        run.stdout.contains("\\u{1b}[31mred.log"),
        "{:?}",
        run.stdout
    );
    let run = place.run(&["no\u{1b}[31msuch\nerror: fake"]).ended_with(2);
    assert!(!acts_on_the_terminal(&run.stderr), "{:?}", run.stderr);
    assert!(
        run.stderr.contains("such\\nerror: fake"),
        "{:?}",
        run.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    for args in [
        "logs",
        "logs --format json",
        "analyze logs",
        "--help",
        "man",
        "completions bash",
    ] {
        // The reader is gone before the program writes.
        let line = format!("{{ sleep 0.1; \"$P\" {args}; echo \"status $?\" >&2; }} | true");
        let run = place.shell(&line).ended_with(0);
        assert_eq!(run.stderr, "status 0\n", "{args}");
        let run = place
            .shell(&format!("\"$P\" {args} | head -c 1"))
            .ended_with(0);
        assert_eq!(run.stderr, "", "{args}");
        assert_eq!(run.stdout.len(), 1, "{args}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_a_failure() {
    let place = Place::new();
    dump::healthy(&place, "gpu-001");
    let run = place.shell("\"$P\" logs > /dev/full").ended_with(2);
    assert!(
        run.stderr.starts_with("error: failed to write to stdout"),
        "{}",
        run.stderr
    );
}
