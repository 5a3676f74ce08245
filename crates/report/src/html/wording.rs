//! Words for the enumerations of the facts.

use nccl_report_analyze::facts::{FindingKind, Scope, Severity, TimingSource};

/// A heading for a kind of finding.
pub(super) fn kind(of: FindingKind) -> String {
    let words = match of {
        FindingKind::LateRank => "Late rank",
        FindingKind::IntermittentLateRank => "Rank late now and then",
        FindingKind::LateHost => "Late host",
        FindingKind::SlowLink => "Slow link",
        FindingKind::StageImbalance => "Imbalanced pipeline stage",
        FindingKind::TcpRetransmits => "TCP retransmits",
        FindingKind::LostRecords => "Lost records",
        FindingKind::MissingRanks => "Missing ranks",
        FindingKind::UnreadableInput => "Unreadable input",
        FindingKind::ClockSkew => "Clocks disagree",
        FindingKind::MixedJobs => "Several runs in one folder",
        FindingKind::SampledDump => "Records are a sample",
        FindingKind::BandwidthMismatch => "Written bandwidths disagree",
        FindingKind::CpuTiming => "Not timed by the GPU",
        FindingKind::TooLittleData => "Too little data",
        other => return other.as_str().replace('_', " "),
    };
    words.to_owned()
}

/// The word beside the shape and the colour.
pub(super) const fn severity(of: Severity) -> &'static str {
    match of {
        Severity::Critical => "Critical",
        Severity::Warning => "Warning",
        Severity::Info => "Info",
    }
}

/// Which links, in words.
pub(super) const fn scope(of: Scope) -> &'static str {
    match of {
        Scope::Nvlink => "links inside one node",
        Scope::Nic => "one rank's network card",
        Scope::Host => "every network transfer of a host",
        Scope::Fabric => "every network transfer",
    }
}

/// How sure, in words; the limits are for reading only.
pub(super) fn confidence(of: f64) -> &'static str {
    if of >= 0.9 {
        "high"
    } else if of >= 0.7 {
        "good"
    } else if of >= 0.5 {
        "moderate"
    } else {
        "low"
    }
}

/// Where the times come from.
pub(super) const fn timing(of: TimingSource) -> &'static str {
    match of {
        TimingSource::KernelGpu => "the GPU's clock",
        TimingSource::Cpu => "a CPU thread",
        TimingSource::Unknown => "the dumps don't say",
    }
}
