//! Input that is empty, unreadable or partial never passes a gate: status 2 or 3, with the reason.

use std::fs;

use crate::dump::Run;
use crate::program::Place;

/// Two good runs to spoil.
fn runs() -> Place {
    let place = Place::new();
    Run::new("good", 1).write(&place);
    Run::new("other", 2).write(&place);
    place
}

/// Spoils as a candidate and as a baseline, and how both are told.
#[track_caller]
fn never_passes(place: &Place, spoilt: &str, status: i32, why: &str) {
    for args in [["compare", "good", spoilt], ["compare", spoilt, "good"]] {
        let run = place
            .run(&[&args[..], &["--out", "out", "-q"]].concat())
            .ended_with(status);
        assert!(run.stderr.contains(why), "{args:?}: {}", run.stderr);
        // Nor does it where regressions are only told.
        let advisory = [&args[..], &["--out", "out", "-q", "--advisory"]].concat();
        place.run(&advisory).ended_with(status);
    }
}

#[test]
fn an_empty_folder() {
    let place = runs();
    fs::create_dir(place.path("empty")).expect("a folder");
    never_passes(&place, "empty", 2, "no file there");
    assert!(!place.path("out/compare.json").exists());
}

#[test]
fn a_missing_folder() {
    never_passes(&runs(), "nowhere", 2, "nowhere");
}

#[test]
fn a_run_and_itself() {
    let place = runs();
    let run = place
        .run(&["compare", "good", "good", "--out", "out"])
        .ended_with(2);
    assert!(run.stderr.contains("are the same"), "{}", run.stderr);
    let run = place
        .run(&["compare", "good", "./other/../good/.", "--out", "out"])
        .ended_with(2);
    assert!(run.stderr.contains("are the same"), "{}", run.stderr);
    let run = place
        .run(&["compare", ".", "good", "--out", "out"])
        .ended_with(2);
    assert!(
        run.stderr.contains("one inside the other"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_copy_of_the_same_run() {
    let place = runs();
    Run::new("copy", 1).write(&place);
    never_passes(&place, "copy", 3, "same run");
}

#[test]
fn one_rank_of_two() {
    let place = runs();
    let half = Run {
        ranks: 1,
        ..Run::new("half", 3)
    };
    half.write(&place);
    never_passes(&place, "half", 3, "2 ranks left no records");
}

#[test]
fn only_broken_lines() {
    let place = runs();
    place.write(
        "broken/gpu-001-pid1.log",
        "{\"header\":{\"id\":\"0x1\"},\"coll_perf\":{}}\n".repeat(500),
    );
    never_passes(&place, "broken", 2, "failed to find an Inspector record");
}

#[test]
fn many_broken_lines_among_good_ones() {
    let place = runs();
    Run::new("mixed", 3).write(&place);
    let file = place.path("mixed/gpu-001-pid0.log");
    let text = fs::read_to_string(&file).expect("a file");
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, l)| {
            if i % 5 == 0 {
                l[..l.len() / 2].to_owned()
            } else {
                l.to_owned()
            }
        })
        .collect();
    fs::write(&file, lines.join("\n")).expect("a file");
    never_passes(&place, "mixed", 3, "lines couldn't be read");
}

#[test]
fn a_run_that_is_too_short() {
    let place = runs();
    let short = Run {
        collectives: 5,
        ..Run::new("short", 3)
    };
    short.write(&place);
    never_passes(&place, "short", 3, "too little data to say anything");
}

#[test]
fn another_clock() {
    let place = runs();
    let cpu = Run {
        timing: "kernel_cpu",
        ..Run::new("cpu", 3)
    };
    cpu.write(&place);
    never_passes(&place, "cpu", 3, "timed by");
}

#[test]
fn a_report_whose_tables_are_cut() {
    let place = runs();
    place.run(&["other", "--out", "report", "-q"]).ended_with(0);
    let tables = place.files("report/parquet/collectives");
    let file = place.path("report/parquet/collectives").join(&tables[0]);
    let bytes = fs::read(&file).expect("a table");
    fs::write(&file, &bytes[..bytes.len() / 2]).expect("a table");
    never_passes(&place, "report", 2, &tables[0]);
}

#[test]
fn a_report_whose_tables_are_gone() {
    let place = runs();
    place.run(&["other", "--out", "report", "-q"]).ended_with(0);
    fs::remove_dir_all(place.path("report/parquet/collectives")).expect("removed");
    never_passes(&place, "report", 2, "can't be read");
}

#[test]
fn a_report_that_was_never_finished() {
    let place = runs();
    place.run(&["other", "--out", "report", "-q"]).ended_with(0);
    fs::remove_file(place.path("report/parquet/manifest.json")).expect("removed");
    never_passes(&place, "report", 2, "failed to find an Inspector record");
}

#[test]
fn a_file_that_was_cut() {
    let place = runs();
    Run::new("cut", 3).write(&place);
    let file = place.path("cut/gpu-002-pid1.log");
    let text = fs::read_to_string(&file).expect("a file");
    // A third of it: the other rank's collectives aren't complete any more.
    fs::write(&file, &text[..text.len() / 3]).expect("a file");
    never_passes(&place, "cut", 3, "of its records, the baseline");
}

#[test]
fn a_job_of_another_shape() {
    let place = Place::new();
    Run::new("good", 1).write(&place);
    crate::dump::healthy(&place, "gpu-001");
    never_passes(&place, "logs", 3, "both runs have and that could be judged");
}
