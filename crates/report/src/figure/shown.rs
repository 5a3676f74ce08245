//! Which findings show in which figure.

use nccl_report_analyze::facts::{
    Family, FamilyOperation, Finding, FindingKind, HeatMap, Job, MapOf, PairMatrix,
};

/// Findings whose communicators are drawn one by one.
const COMPARED: usize = 8;

fn ids(job: &Job, shows: impl Fn(&Finding) -> bool) -> Vec<String> {
    let found = job.findings.iter().filter(|f| shows(f));
    found.map(|f| f.id.clone()).collect()
}

/// Findings of a map. Where a map of their own is missing, lateness of any kind shows in the ordinary one.
pub(super) fn in_map(job: &Job, map: &HeatMap) -> Vec<String> {
    let has = |of| job.heat_maps.iter().any(|m| m.of == of);
    let (measured, pauses) = (has(MapOf::MeasuredLateness), has(MapOf::Pauses));
    ids(job, |f| match (map.of, f.kind) {
        (MapOf::Lateness, FindingKind::LateRank)
        | (MapOf::MeasuredLateness, FindingKind::LateHost)
        | (MapOf::Pauses, FindingKind::IntermittentLateRank)
        | (MapOf::Transfer, FindingKind::SlowLink | FindingKind::TcpRetransmits) => true,
        (MapOf::Lateness, FindingKind::LateHost) => !measured,
        (MapOf::Lateness, FindingKind::IntermittentLateRank) => !pauses,
        _ => false,
    })
}

/// Findings of waiting, rank by rank or host by host.
pub(super) fn in_waiting(job: &Job) -> Vec<String> {
    ids(job, |f| f.kind == FindingKind::TcpRetransmits)
}

/// Findings of pipeline stages.
pub(super) fn in_stages(job: &Job) -> Vec<String> {
    ids(job, |f| f.kind == FindingKind::StageImbalance)
}

/// Whether a slow link is one of a family's.
fn slow_in(job: &Job, finding: &Finding, family: &Family) -> bool {
    let mut members = family.communicators.iter();
    finding.kind == FindingKind::SlowLink
        && members.any(|&c| {
            let of = job.communicators.get(c as usize);
            of.is_some_and(|c| finding.communicators.contains(&c.id))
        })
}

/// Whether the finding's evidence is about this operation and size.
fn told_of(finding: &Finding, operation: &FamilyOperation) -> bool {
    let of = |key| finding.evidence.get(key);
    of("operation").and_then(|v| v.as_str()) == Some(operation.operation.as_str())
        && of("message_bytes").and_then(|v| v.as_u64()) == Some(operation.size.as_bytes())
}

/// For the slow links with the largest impact, the operation that the finding tells of, or that of each family in which the slow
/// communicators lose most against the family's median.
pub(super) fn compared_for_slow_links(job: &Job) -> Vec<(&Family, &FamilyOperation)> {
    let mut out: Vec<(&Family, &FamilyOperation)> = Vec::new();
    for finding in &job.findings {
        for family in job.families.iter().filter(|f| slow_in(job, finding, f)) {
            let loss = |o: &FamilyOperation| loss(job, finding, family, o);
            let told = |o: &FamilyOperation| told_of(finding, o);
            let most = family
                .operations
                .iter()
                .filter(|o| o.link_busbw_by_communicator.iter().flatten().count() > 1)
                .max_by(|a, b| told(a).cmp(&told(b)).then(loss(a).total_cmp(&loss(b))));
            let new = most.filter(|o| !out.iter().any(|(_, known)| std::ptr::eq(*known, *o)));
            out.extend(new.map(|o| (family, o)));
        }
    }
    out.truncate(COMPARED);
    out
}

/// Share of the job's time that an operation's slow communicators would save at the median bandwidth of the family.
fn loss(job: &Job, finding: &Finding, family: &Family, operation: &FamilyOperation) -> f64 {
    let bandwidth = |slow: bool| {
        let mut values: Vec<f64> = family
            .communicators
            .iter()
            .zip(&operation.link_busbw_by_communicator)
            .filter(|(c, _)| {
                let of = job.communicators.get(**c as usize);
                of.is_some_and(|c| finding.communicators.contains(&c.id)) == slow
            })
            .filter_map(|(_, b)| b.map(|b| b.as_gb_per_s()))
            .filter(|b| b.is_finite() && *b > 0.0)
            .collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    match (bandwidth(true), bandwidth(false)) {
        (Some(slow), Some(fast)) => operation.share_of_time * (1.0 - slow / fast).max(0.0),
        // All are slow, or none is drawn: by the time alone, and after those that can be compared.
        _ => -1.0 + operation.share_of_time.min(1.0),
    }
}

/// Findings of a comparison of a family's communicators: slow links in it, if this is where they show.
pub(super) fn in_comparison(
    job: &Job,
    family: &Family,
    operation: &FamilyOperation,
) -> Vec<String> {
    let chosen = compared_for_slow_links(job);
    if !chosen.iter().any(|(_, o)| std::ptr::eq(*o, operation)) {
        return Vec::new();
    }
    ids(job, |f| slow_in(job, f, family))
}

/// Findings of a pair matrix: slow links of communicators that send and receive messages of its size.
pub(super) fn in_pairs(job: &Job, matrix: &PairMatrix) -> Vec<String> {
    let of_size = || job.pairs.iter().filter(|p| p.size == matrix.size);
    ids(job, |f| {
        f.kind == FindingKind::SlowLink
            && of_size().any(|p| {
                let of = job.communicators.get(p.communicator as usize);
                of.is_some_and(|c| f.communicators.contains(&c.id))
            })
    })
}
