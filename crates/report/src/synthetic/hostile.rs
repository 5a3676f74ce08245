//! The same job with names that attack: markup, formulas, control characters, other directions of writing, sheer length.

use nccl_report_analyze::facts::Job;
use serde_json::json;

/// What an attacker, or a broken plugin, may put where a name belongs.
#[must_use]
pub fn hostile_names() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".to_owned(),
        "\"><img src=x onerror=alert(2)>".to_owned(),
        "=cmd|' /C calc'!A0".to_owned(),
        "\u{0}\u{1}bell\u{7}esc\u{1b}[31m\u{7f}\u{9b}\r\n\t".to_owned(),
        "\u{202e}gnp.exe \u{2066}\u{5e2}\u{5d1}\u{5e8}\u{5d9}\u{5ea}".to_owned(),
        "x".repeat(10_000),
        "javascript:alert(3)//'><svg/onload=alert(4)>{{7*7}}${7*7}</style></title>".to_owned(),
        "+1+1".to_owned(),
        "@SUM(A1)".to_owned(),
        "-2".to_owned(),
        String::new(),
    ]
}

/// A job in which every text comes from [`hostile_names`].
#[must_use]
pub fn hostile() -> Job {
    let mut job = super::job();
    let names = hostile_names();
    let mut next = 0_usize;
    let mut name = || {
        next += 1;
        names[(next - 1) % names.len()].clone()
    };
    job.overview.title = name();
    for host in &mut job.overview.hosts {
        *host = name();
    }
    for dialect in &mut job.overview.dialects {
        dialect.version = name();
        dialect.git_revs = vec![name(), name(), name()];
    }
    for run in &mut job.runs {
        run.hosts = vec![name(), name()];
    }
    for process in &mut job.processes {
        process.host = name();
    }
    for communicator in &mut job.communicators {
        communicator.id = name();
        communicator.name = Some(name());
    }
    for family in &mut job.families {
        family.label = name();
        for operation in &mut family.operations {
            operation.operation = name();
        }
    }
    for group in &mut job.groups {
        group.key.operation = name();
    }
    for slice in &mut job.slices {
        slice.operation = name();
        if let nccl_report_analyze::facts::SliceOf::Host { host } = &mut slice.of {
            *host = name();
        }
    }
    for share in &mut job.shares {
        share.operation = name();
    }
    for finding in &mut job.findings {
        finding.id = name();
        finding.summary = format!("{} and {}", name(), name());
        finding.advice = name();
        for subject in &mut finding.subjects {
            subject.host = name();
        }
        for id in &mut finding.communicators {
            *id = name();
        }
        finding.evidence.insert(name(), json!(name()));
        finding
            .evidence
            .insert(name(), json!([{ name(): name() }, [1, [2, [name()]]]]));
    }
    job.inputs.records.insert(name(), 1);
    job.inputs.unknown_kinds.insert(name(), 1);
    for counts in [&mut job.inputs.rejected, &mut job.inputs.repaired] {
        counts.by_reason.insert(name(), 1);
        for example in &mut counts.examples {
            example.path = name();
            example.reason = name();
            example.detail = name();
        }
    }
    for file in job
        .inputs
        .files_skipped
        .iter_mut()
        .chain(&mut job.inputs.files_damaged)
    {
        file.path = name();
        file.reason = name();
    }
    let finding = job.findings[0].id.clone();
    job.traces = Some(super::traces(&finding, &name()));
    job
}
