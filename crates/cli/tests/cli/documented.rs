//! The commands of `docs/ci.md` do what it says.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::dump::Run;
use crate::program::{PROGRAM, Place};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    fs::read_to_string(path).expect("docs/ci.md")
}

/// The fenced block of a section, by the section's heading.
fn block(heading: &str) -> String {
    let page = page();
    let section = page
        .split(&format!("\n## {heading}\n"))
        .nth(1)
        .expect("the section");
    let section = section.split("\n## ").next().expect("its text");
    let inside = section.split("```").nth(1).expect("a fenced block");
    let (_, text) = inside.split_once('\n').expect("a language");
    text.to_owned()
}

/// The lines of a workflow that are commands of ours, as a script.
fn commands(yaml: &str) -> String {
    let lines = yaml.lines().map(|l| l.trim().trim_start_matches("- "));
    let ours: Vec<&str> = lines.filter(|l| l.starts_with("nccl-report ")).collect();
    assert!(ours.len() >= 2, "{yaml}");
    ours.join("\n")
}

/// A place with what the examples expect, and the program on the search path.
fn workspace(candidate: f64) -> Place {
    let place = Place::new();
    Run::new("dumps", 1).slower(candidate).write(&place);
    Run::new("logs", 2).write(&place);
    place
        .run(&["logs", "--out", "baseline", "-q"])
        .ended_with(0);
    fs::remove_dir_all(place.path("logs")).expect("removed");
    place.write("rules.toml", block("Limits of your own"));
    place
}

/// Runs a script as a step of a CI system does: it ends at the first command that fails.
#[track_caller]
fn step(place: &Place, script: &str, status: i32) {
    let folder = Path::new(PROGRAM)
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let line =
        format!("export PATH=\"{folder}:$PATH\" GITHUB_STEP_SUMMARY=summary.md\nset -e\n{script}");
    place.shell(&line).ended_with(status);
}

#[test]
fn the_workflow_for_github() {
    let script = commands(&block("GitHub Actions"));
    let place = workspace(1.0);
    step(&place, &script, 0);
    for file in ["report/index.html", "cmp/compare.json", "summary.md"] {
        assert!(place.path(file).is_file(), "{file}");
    }
    step(&workspace(1.1), &script, 1);
}

#[test]
fn the_job_for_gitlab() {
    let script = commands(&block("GitLab CI"));
    let place = workspace(1.0);
    step(&place, &script, 0);
    assert!(place.path("cmp.xml").is_file());
    step(&workspace(1.1), &script, 1);
}

#[test]
fn the_epilog_for_slurm() {
    let script = block("SLURM epilog");
    let place = Place::new();
    let slower = [1.0, 1.003, 0.998, 1.001, 1.1];
    for (k, slower) in slower.iter().enumerate() {
        let run = Run::new(&format!("nccl/train/{k}/dumps"), k as u64 + 1);
        run.slower(*slower).day(k as u64).write(&place);
        let head = format!(
            "HOME=$PWD SLURM_JOB_NAME=train SLURM_JOB_ID={k}\nexport HOME SLURM_JOB_NAME SLURM_JOB_ID"
        );
        step(&place, &format!("{head}\n{script}"), 0);
    }
    let log = fs::read_to_string(place.path("nccl/train/history.log")).expect("a log");
    let statuses: Vec<&str> = log.lines().filter_map(|l| l.rsplit(' ').next()).collect();
    assert_eq!(statuses, ["2", "3", "3", "0", "1"], "{log}");
}

/// Every other command of the page, indented by four, in order.
#[test]
fn the_commands_between_the_examples() {
    let place = workspace(1.0);
    fs::create_dir(place.path("reports")).expect("a folder");
    for k in 0..3 {
        Run::new("logs", 10 + k).write(&place);
        place
            .run(&["logs", "--out", &format!("reports/{k}"), "-q"])
            .ended_with(0);
        fs::remove_dir_all(place.path("logs")).expect("removed");
    }
    let page = page();
    let ours = page
        .lines()
        .filter_map(|l| l.strip_prefix("    "))
        .filter(|l| l.starts_with("nccl-report "));
    // Of a pipeline the part that is ours: jq needn't be there.
    let commands: Vec<&str> = ours.filter_map(|l| l.split(" | ").next()).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        step(&place, &format!("{command} > printed"), 0);
    }
}
