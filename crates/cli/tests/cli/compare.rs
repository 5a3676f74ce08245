//! Two runs against each other: verdict, files, exit status.

use std::fs;

use serde_json::Value;

use crate::dump::Run;
use crate::program::Place;

fn compared(place: &Place, out: &str) -> Value {
    let text = fs::read_to_string(place.path(out).join("compare.json")).expect("compare.json");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn equal_runs_pass() {
    let place = Place::new();
    Run::new("a", 1).write(&place);
    Run::new("b", 2).write(&place);
    let run = place.run(&["compare", "a", "b"]).ended_with(0);
    assert_eq!(run.stderr, "");
    assert!(run.stdout.contains("unchanged"), "{}", run.stdout);
    let json = compared(&place, "b-compared");
    assert_eq!(json["schema"], "nccl-report-compare/1");
    assert_eq!(json["verdict"], "unchanged");
    assert_eq!(json["buckets"][0]["verdict"], "unchanged");
    assert_eq!(json["buckets"][0]["comm_type"], "hca-only");
    assert_eq!(json["history"], Value::Null);
    let files = place.files("b-compared");
    assert!(files.contains(&"index.html".to_owned()), "{files:?}");
    assert!(
        files.iter().any(|f| f.starts_with("plots/compare-")),
        "{files:?}"
    );
}

/// 8 % more time is 1 − 1 / 1.08 = 7.4 % less bandwidth.
#[test]
fn a_slower_run_fails_the_gate_everywhere() {
    let place = Place::new();
    Run::new("a", 1).write(&place);
    Run::new("b", 2).slower(1.08).write(&place);
    let args = [
        "compare",
        "a",
        "b",
        "--out",
        "out",
        "--summary",
        "sum.md",
        "--junit",
        "j.xml",
        "-q",
    ];
    let run = place.run(&args).ended_with(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr
            .starts_with("error: regression: AllReduce of 16 MiB"),
        "{}",
        run.stderr
    );
    let json = compared(&place, "out");
    assert_eq!(json["verdict"], "regression");
    let change = json["buckets"][0]["change"].as_f64().expect("a number");
    assert!((change + 0.074).abs() < 0.01, "{change}");
    let (low, high) = (
        &json["buckets"][0]["ci_low"],
        &json["buckets"][0]["ci_high"],
    );
    assert!(
        low.as_f64() < Some(change) && Some(change) < high.as_f64(),
        "{low} {high}"
    );
    let summary = fs::read_to_string(place.path("sum.md")).expect("a summary");
    assert!(
        summary.starts_with("## Communication: regression\n"),
        "{summary}"
    );
    let junit = fs::read_to_string(place.path("j.xml")).expect("JUnit");
    assert!(junit.contains("failures=\"2\""), "{junit}");
    // Appended, as a step summary is.
    place.run(&args).ended_with(1);
    let twice = fs::read_to_string(place.path("sum.md")).expect("a summary");
    assert_eq!(twice.matches("## Communication").count(), 2);

    let advisory = place
        .run(&[&args[..], &["--advisory"]].concat())
        .ended_with(0);
    assert!(
        advisory.stderr.starts_with("advisory: regression"),
        "{}",
        advisory.stderr
    );
    let lenient = place.run(&[
        "compare",
        "a",
        "b",
        "--threshold",
        "10",
        "--out",
        "out",
        "-q",
    ]);
    assert_eq!(lenient.ended_with(0).stderr, "");
}

#[test]
fn a_faster_run_is_an_improvement() {
    let place = Place::new();
    Run::new("a", 1).slower(1.1).write(&place);
    Run::new("b", 2).write(&place);
    place
        .run(&["compare", "a", "b", "--out", "out", "-q"])
        .ended_with(0);
    assert_eq!(compared(&place, "out")["verdict"], "improvement");
}

#[test]
fn reports_compare_as_dumps_do_and_twice_the_same() {
    let place = Place::new();
    for (folder, seed, slower) in [("a", 1, 1.0), ("b", 2, 1.08)] {
        Run::new(folder, seed).slower(slower).write(&place);
        place.run(&[folder, "-q"]).ended_with(0);
    }
    place
        .run(&["compare", "a", "b", "--out", "dumps", "-q"])
        .ended_with(1);
    place
        .run(&[
            "compare",
            "a-report",
            "b-report",
            "--out",
            "reports",
            "-q",
            "--threads",
            "1",
        ])
        .ended_with(1);
    let read =
        |out: &str| fs::read_to_string(place.path(out).join("compare.json")).expect("compare.json");
    assert_eq!(read("dumps"), read("reports"));
    let printed = place.run(&[
        "compare", "a-report", "b", "--out", "third", "--format", "json", "-q",
    ]);
    assert_eq!(
        printed.ended_with(1).stdout.trim_end(),
        read("dumps").trim_end()
    );
}
