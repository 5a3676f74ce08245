//! A run against the runs before it.

use std::fs;

use serde_json::Value;

use crate::dump::Run;
use crate::program::Place;

/// Reports of `nights/night-0` and so on, each so many times as slow, a day apart; and the candidate.
fn nights(slower: &[f64], candidate: f64) -> Place {
    let place = Place::new();
    for (k, slower) in slower.iter().enumerate() {
        let run = Run::new("logs", k as u64 + 1).slower(*slower).day(k as u64);
        run.write(&place);
        let out = format!("nights/night-{k}");
        place.run(&["logs", "--out", &out, "-q"]).ended_with(0);
        fs::remove_dir_all(place.path("logs")).expect("removed");
    }
    Run::new("tonight", 99)
        .slower(candidate)
        .day(100)
        .write(&place);
    place
}

fn history(place: &Place) -> Value {
    let text = fs::read_to_string(place.path("out/compare.json")).expect("compare.json");
    serde_json::from_str(&text).expect("JSON")
}

const COMPARE: [&str; 7] = [
    "compare",
    "tonight",
    "--out",
    "out",
    "-q",
    "--history",
    "nights",
];

#[test]
fn a_run_within_what_the_earlier_ones_vary_by_passes() {
    let place = nights(&[1.0, 1.004, 0.997, 1.002], 1.001);
    let run = place.run(&COMPARE).ended_with(0);
    assert_eq!(run.stderr, "");
    let json = history(&place);
    assert_eq!(json["verdict"], "unchanged");
    // Without a baseline it is the latest run of the history.
    assert_eq!(json["baseline"]["title"], "night-3");
    assert_eq!(json["history"]["verdict"], "unchanged");
    let titles: Vec<&Value> = json["history"]["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|r| &r["title"])
        .collect();
    assert_eq!(
        titles,
        ["night-0", "night-1", "night-2", "night-3", "tonight"]
    );
    let bucket = &json["history"]["buckets"][0];
    assert_eq!(bucket["values"].as_array().map(Vec::len), Some(5));
    assert_eq!(bucket["change_point"], Value::Null);
}

#[test]
fn a_slower_run_fails_and_the_shift_is_its_own() {
    let place = nights(&[1.0, 1.004, 0.997, 1.002], 1.08);
    place.run(&COMPARE).ended_with(1);
    let json = history(&place);
    assert_eq!(json["history"]["verdict"], "regression");
    assert_eq!(
        json["history"]["buckets"][0]["change_point"]["title"],
        "tonight"
    );
    let page = fs::read_to_string(place.path("out/index.html")).expect("a page");
    assert!(page.contains("Trend over the runs"));
    assert!(
        place
            .files("out")
            .iter()
            .any(|f| f.starts_with("plots/trend-"))
    );
}

#[test]
fn a_shift_some_runs_ago_is_dated() {
    let place = nights(&[1.0, 1.003, 0.998, 1.002, 1.0, 1.08, 1.082], 1.08);
    place.run(&COMPARE).ended_with(1);
    let json = history(&place);
    assert_eq!(json["history"]["verdict"], "regression");
    let bucket = &json["history"]["buckets"][0];
    assert_eq!(bucket["change_point"]["run"], 5);
    assert_eq!(bucket["change_point"]["title"], "night-5");
    assert_eq!(
        bucket["reference"]["runs"],
        serde_json::json!([0, 1, 2, 3, 4])
    );
}

/// Against the fast one of two kinds of night it is slower, but such nights are ordinary.
#[test]
fn what_the_earlier_runs_vary_by_is_no_regression() {
    let place = nights(&[1.0, 1.07, 1.01, 1.06, 1.0, 1.08, 1.0], 1.06);
    place
        .run(&[
            "compare",
            "nights/night-6",
            "tonight",
            "--out",
            "alone",
            "-q",
        ])
        .ended_with(1);
    place
        .run(&[
            "compare",
            "nights/night-6",
            "tonight",
            "--out",
            "out",
            "-q",
            "--history",
            "nights",
        ])
        .ended_with(0);
    let note = history(&place)["buckets"][0]["note"]
        .as_str()
        .expect("a note")
        .to_owned();
    assert!(
        note.contains("within what 7 earlier runs vary by"),
        "{note}"
    );
}

#[test]
fn runs_that_cannot_be_used_are_named() {
    let place = nights(&[1.0, 1.004, 0.997, 1.002], 1.001);
    fs::create_dir(place.path("empty")).expect("a folder");
    fs::write(place.path("nights/night-1/parquet/manifest.json"), "{").expect("written");
    Run {
        ranks: 1,
        ..Run::new("half", 50)
    }
    .write(&place);
    let more = ["empty", "nowhere", "half", "tonight", "nights/night-0"];
    let run = place.run(&[&COMPARE[..], &more].concat()).ended_with(0);
    for name in [
        "empty",
        "nowhere",
        "night-1",
        "half",
        "tonight",
        "nights/night-0",
    ] {
        let said = run
            .stderr
            .lines()
            .any(|l| l.starts_with("warning: ") && l.contains(name) && l.contains("left out"));
        assert!(said, "{name}: {}", run.stderr);
    }
    let json = history(&place);
    assert_eq!(
        json["history"]["left_out"].as_array().map(Vec::len),
        Some(6)
    );
    assert_eq!(json["history"]["runs"].as_array().map(Vec::len), Some(4));
}

#[test]
fn too_short_a_history_does_not_pass() {
    let place = nights(&[1.0, 1.004], 1.001);
    let run = place.run(&COMPARE).ended_with(3);
    assert!(run.stderr.contains("2 earlier runs"), "{}", run.stderr);
    fs::create_dir(place.path("empty")).expect("a folder");
    let run = place
        .run(&[
            "compare",
            "tonight",
            "--out",
            "out",
            "-q",
            "--history",
            "empty",
        ])
        .ended_with(2);
    assert!(
        run.stderr.contains("failed to find a run in the history"),
        "{}",
        run.stderr
    );
}

#[test]
fn runs_after_the_candidate_are_left_out() {
    let place = nights(&[1.0, 1.004, 0.997, 1.002], 1.001);
    Run::new("tomorrow", 70).day(200).write(&place);
    let run = place
        .run(&[&COMPARE[..], &["tomorrow"]].concat())
        .ended_with(0);
    assert!(
        run.stderr
            .contains("tomorrow is left out of the history: it ran after"),
        "{}",
        run.stderr
    );
}

#[test]
fn neither_baseline_nor_history_is_wrong_usage() {
    let run = Place::new().run(&["compare", "tonight"]).ended_with(2);
    assert!(run.stderr.contains("BASELINE"), "{}", run.stderr);
}
