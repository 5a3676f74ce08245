//! What the exit status says.

use std::io::Write;
use std::process::ExitCode;

use nccl_report_analyze::facts::{Comparison, Finding, FindingKind, Job, Severity, Verdict};

use crate::ui::text::{counted, visible};

/// How a run ended; scripts rely on the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Done, and the gate, if there was one, passed.
    Done,
    /// A finding at or above `--fail-on`.
    GateFailed,
    /// Wrong usage, input that can't be read at all, output that can't be written.
    Unusable,
    /// The input was read, and is too little to say anything.
    TooLittleData,
    /// Stopped by Ctrl-C (128 + SIGINT, as shells count).
    Interrupted,
}

impl Status {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::GateFailed => 1,
            Self::Unusable => 2,
            Self::TooLittleData => 3,
            Self::Interrupted => 130,
        }
    }

    /// What a job comes to, with the gate at `fail_on` or without one.
    ///
    /// A slowness that fails the gate outranks a lack of data: it was seen in spite of it. A lack of data outranks
    /// the gate's other verdicts, so that a job without usable records never passes.
    pub fn of(job: &Job, fail_on: Option<Severity>) -> Self {
        let gated = |f: &Finding| fail_on.is_some_and(|least| f.severity >= least);
        let any = |holds: &dyn Fn(&Finding) -> bool| job.findings.iter().any(holds);
        if any(&|f| gated(f) && f.kind.is_performance()) {
            Self::GateFailed
        } else if any(&is_too_little) {
            Self::TooLittleData
        } else if any(&gated) {
            Self::GateFailed
        } else {
            Self::Done
        }
    }

    /// What a comparison comes to. A broken rule fails it whatever else is true. An improvement beside a regression doesn't make up for it; what can't be told doesn't pass.
    pub fn of_comparison(comparison: &Comparison) -> Self {
        if comparison.rules.iter().any(fails) {
            return Self::GateFailed;
        }
        match comparison.verdict {
            Verdict::Improvement | Verdict::Unchanged => Self::Done,
            Verdict::Regression | Verdict::Mixed => Self::GateFailed,
            Verdict::Inconclusive => Self::TooLittleData,
        }
    }

    /// Why a job that was read and analysed doesn't end with 0.
    pub fn reason(self, job: &Job, fail_on: Option<Severity>) -> Option<String> {
        let matching: Vec<&Finding> = match (self, fail_on) {
            (Self::GateFailed, Some(least)) => job
                .findings
                .iter()
                .filter(|f| f.severity >= least)
                .collect(),
            (Self::TooLittleData, _) => job.findings.iter().filter(|f| is_too_little(f)).collect(),
            _ => return None,
        };
        let first = matching.first().map_or("", |f| f.summary.as_str());
        Some(match (self, fail_on) {
            (Self::GateFailed, Some(least)) => format!(
                "the gate failed, with {} of severity {} or worse: {first}",
                counted(matching.len() as u64, "finding", "findings"),
                least.as_str(),
            ),
            _ => format!("too little data to say anything: {first}"),
        })
    }
}

/// Whether a rule is broken that isn't only good to know.
pub fn fails(rule: &Finding) -> bool {
    rule.kind == FindingKind::RuleBroken && rule.severity >= Severity::Warning
}

fn is_too_little(finding: &Finding) -> bool {
    finding.kind == FindingKind::TooLittleData && finding.severity >= Severity::Warning
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}

/// Ends the process at once, without any cleaning up: what a second Ctrl-C asks for.
#[expect(clippy::exit, reason = "the only place where the process is cut short")]
pub fn at_once(status: Status) -> ! {
    std::process::exit(i32::from(status.code()))
}

/// Makes a panic say that it is a bug of this program (status 101), and not the user's mistake.
pub fn announce_bugs() {
    std::panic::set_hook(Box::new(|panic| {
        // Nothing can be done about a closed stderr.
        let _ = writeln!(
            std::io::stderr(),
            "error: this is a bug in nccl-report {}: {}\nhint: please report it with the command line and the lines above",
            env!("CARGO_PKG_VERSION"),
            visible(&panic.to_string()),
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::fixture;

    fn status(findings: &[(FindingKind, Severity)], fail_on: Option<Severity>) -> Status {
        let mut job = fixture::job();
        job.findings = findings
            .iter()
            .map(|&(kind, severity)| fixture::finding(kind, severity))
            .collect();
        Status::of(&job, fail_on)
    }

    #[test]
    fn the_report_does_not_gate_by_default() {
        let worst = [(FindingKind::LateRank, Severity::Critical)];
        assert_eq!(status(&worst, None), Status::Done);
        assert_eq!(status(&worst, Some(Severity::Critical)), Status::GateFailed);
    }

    #[test]
    fn the_gate_counts_findings_at_or_above_its_severity() {
        let warning = [(FindingKind::SlowLink, Severity::Warning)];
        assert_eq!(
            status(&warning, Some(Severity::Warning)),
            Status::GateFailed
        );
        assert_eq!(status(&warning, Some(Severity::Critical)), Status::Done);
        let info = [(FindingKind::SampledDump, Severity::Info)];
        assert_eq!(status(&info, Some(Severity::Warning)), Status::Done);
    }

    #[test]
    fn findings_about_the_data_gate_too() {
        let lost = [(FindingKind::LostRecords, Severity::Warning)];
        assert_eq!(status(&lost, Some(Severity::Warning)), Status::GateFailed);
    }

    #[test]
    fn too_little_data_never_passes() {
        let little = (FindingKind::TooLittleData, Severity::Warning);
        let lost = (FindingKind::LostRecords, Severity::Critical);
        let late = (FindingKind::LateRank, Severity::Critical);
        let gate = Some(Severity::Warning);
        assert_eq!(status(&[little], None), Status::TooLittleData);
        assert_eq!(status(&[little, lost], gate), Status::TooLittleData);
        assert_eq!(status(&[late, little], gate), Status::GateFailed);
    }

    #[test]
    fn what_is_not_0_is_explained() {
        let mut job = fixture::job();
        job.findings = vec![fixture::finding(FindingKind::LateRank, Severity::Critical)];
        let gate = Some(Severity::Warning);
        let reason = Status::GateFailed.reason(&job, gate).expect("a reason");
        let expected = "the gate failed, with 1 finding of severity warning or worse: Rank 5";
        assert!(reason.starts_with(expected), "{reason}");
        assert_eq!(Status::Done.reason(&job, None), None);
    }
}
