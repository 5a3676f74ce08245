//! Limits of the user's own.

use std::fs;

use serde_json::Value;

use crate::dump::Run;
use crate::program::Place;

fn place(rules: &str) -> Place {
    let place = Place::new();
    Run::new("a", 1).write(&place);
    Run::new("b", 2).write(&place);
    place.write("rules.toml", rules);
    place
}

fn findings(place: &Place, kind: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path("out/report.json")).expect("report.json");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let all = json["findings"].as_array().expect("findings").clone();
    all.into_iter().filter(|f| f["kind"] == kind).collect()
}

const REPORT: [&str; 6] = ["b", "--out", "out", "-q", "--rules", "rules.toml"];

/// 16 MiB in about 1000 µs are 16.8 GB/s.
#[test]
fn a_floor_for_bandwidth_gates_a_report() {
    let rule = "[[rule]]\nname = \"floor\"\ncheck = \"bandwidth\"\noperation = \"AllReduce\"\nmin_gbs = 20\nseverity = \"critical\"\n";
    let place = place(rule);
    place.run(&REPORT).ended_with(0);
    let run = place
        .run(&[&REPORT[..], &["--fail-on", "warning"]].concat())
        .ended_with(1);
    assert!(
        run.stderr.contains("Rule \"floor\" is broken"),
        "{}",
        run.stderr
    );
    let broken = findings(&place, "rule_broken");
    assert_eq!(broken.len(), 1);
    assert_eq!(
        (&broken[0]["severity"], &broken[0]["id"]),
        (&"critical".into(), &"rule_broken:floor".into())
    );
    let value = broken[0]["evidence"]["places"][0]["value"]
        .as_f64()
        .expect("a number");
    assert!((value - 16.8).abs() < 0.5, "{value}");
    let page = fs::read_to_string(place.path("out/index.html")).expect("a page");
    assert!(page.contains("is broken"));

    place.write("rules.toml", rule.replace("20", "15"));
    place
        .run(&[&REPORT[..], &["--fail-on", "warning"]].concat())
        .ended_with(0);
    assert!(findings(&place, "rule_broken").is_empty());
}

#[test]
fn a_comparison_fails_on_a_broken_rule() {
    let rules = "[[rule]]\nname = \"tails\"\ncheck = \"rank_p99\"\nmax_times_baseline = 1.05\n";
    let place = place(rules);
    let compare = |candidate: &str| {
        place.run(&[
            "compare",
            "a",
            candidate,
            "--out",
            "cmp",
            "-q",
            "--rules",
            "rules.toml",
            "--threshold",
            "50",
            "--junit",
            "j.xml",
            "--summary",
            "s.md",
        ])
    };
    compare("b").ended_with(0);
    Run::new("slow", 3).slower(1.2).write(&place);
    let run = compare("slow").ended_with(1);
    assert!(
        run.stderr
            .starts_with("error: a rule is broken: Rule \"tails\""),
        "{}",
        run.stderr
    );
    let text = fs::read_to_string(place.path("cmp/compare.json")).expect("compare.json");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["verdict"], "unchanged");
    assert_eq!(json["rules"][0]["kind"], "rule_broken");
    assert_eq!(
        json["rules"][0]["subjects"].as_array().map(Vec::len),
        Some(2)
    );
    for (file, text) in [
        ("j.xml", "rule_broken:tails"),
        ("s.md", "tails"),
        ("cmp/index.html", "is broken"),
    ] {
        let content = fs::read_to_string(place.path(file)).expect("a file");
        assert!(content.contains(text), "{file}");
    }
}

#[test]
fn a_rule_that_looks_at_nothing_is_said() {
    let place = place(
        "[[rule]]\nname = \"floor\"\ncheck = \"bandwidth\"\nclass = \"nvlink-only\"\nmin_gbs = 20\n\n[[rule]]\nname = \"tails\"\ncheck = \"rank_p99\"\nmax_times_baseline = 2\n",
    );
    let run = place
        .run(&[&REPORT[..], &["--fail-on", "warning"]].concat())
        .ended_with(0);
    assert!(
        run.stderr
            .contains("warning: Rule \"floor\" looked at nothing"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("needs a baseline"), "{}", run.stderr);
    assert_eq!(findings(&place, "rule_unmatched").len(), 2);
}

#[test]
fn waiting_and_findings_have_limits_too() {
    let place = place(
        "[[rule]]\nname = \"waiting\"\ncheck = \"waiting\"\nmax_share = 0.000001\n\n[[rule]]\nname = \"whole\"\ncheck = \"finding\"\nkind = \"missing_ranks\"\nseverity = \"critical\"\n",
    );
    place
        .run(&[&REPORT[..], &["--fail-on", "critical"]].concat())
        .ended_with(0);
    let broken = findings(&place, "rule_broken");
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(broken[0]["evidence"]["rule"], "waiting");
    Run {
        ranks: 1,
        ..Run::new("b", 2)
    }
    .write(&place);
    fs::remove_file(place.path("b/gpu-002-pid1.log")).expect("removed");
    place
        .run(&[&REPORT[..], &["--fail-on", "critical"]].concat())
        .ended_with(1);
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line() {
    let place = place("[[rule]]\nname = \"a\"\ncheck = \"bandwidth\"\nmin_gb = 3\n");
    for args in [
        &REPORT[..],
        &["compare", "a", "b", "--out", "cmp", "--rules", "rules.toml"],
    ] {
        let run = place.run(args).ended_with(2);
        assert_eq!(
            run.stderr,
            "error: failed to read the rules in rules.toml, line 4: unknown key \"min_gb\"\nhint: did you mean \"min_gbs\"?\n"
        );
    }
    assert!(!place.path("out/report.json").exists());
    let run = place.run(&["b", "--rules", "nowhere.toml"]).ended_with(2);
    assert!(run.stderr.contains("nowhere.toml"), "{}", run.stderr);
}
