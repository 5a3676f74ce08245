//! The man page.

use std::fs;

use crate::program::Place;

#[test]
fn one_page_has_everything() {
    let page = Place::new().run(&["man"]).ended_with(0).stdout;
    let first = page
        .lines()
        .find(|l| !l.starts_with(".ie") && !l.starts_with(".el"));
    assert!(
        first.is_some_and(|l| l.starts_with(".TH nccl-report 1")),
        "{first:?}"
    );
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "\"EXIT STATUS\""] {
        assert!(page.contains(&format!("\n.SH {section}\n")), "{section}");
    }
    for subcommand in ["INGEST", "ANALYZE", "COMPLETIONS", "MAN"] {
        let heading = format!("\n.SH \"NCCL\\-REPORT {subcommand}\"\n");
        let plain = heading.replace("\\-", "-");
        assert!(
            page.contains(&heading) || page.contains(&plain),
            "{subcommand}"
        );
    }
}

#[test]
fn pages_of_their_own_go_into_a_folder() {
    let place = Place::new();
    place.run(&["man", "--dir", "man1"]).ended_with(0);
    assert_eq!(
        place.files("man1"),
        [
            "nccl-report-analyze.1",
            "nccl-report-compare.1",
            "nccl-report-completions.1",
            "nccl-report-ingest.1",
            "nccl-report-man.1",
            "nccl-report-merge.1",
            "nccl-report-slurm-script.1",
            "nccl-report.1",
        ]
    );
    let page = fs::read_to_string(place.path("man1/nccl-report-ingest.1")).expect("a page");
    assert!(page.contains(".TH nccl-report-ingest 1"), "{page}");
}
