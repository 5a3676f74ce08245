//! STAND-IN: the real module draws the figures. This one returns a single simple SVG so that the rest compiles and can be seen.

use nccl_report_analyze::facts::Job;

/// Where on the page a figure belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code, reason = "the stand-in constructs few of them")]
pub(crate) enum Section {
    /// It shows a finding.
    Findings,
    /// Bandwidth over time.
    Bandwidth,
    /// How bandwidth and time are spread.
    Distribution,
    /// Family beside family.
    Families,
    /// Rank beside rank.
    Ranks,
    /// Pair beside pair.
    Pairs,
    /// Over time.
    Time,
}

/// A finished drawing.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// File-name safe, unique, stable.
    pub id: String,
    /// Where it belongs.
    pub section: Section,
    /// Its title.
    pub title: String,
    /// One sentence: what is drawn, what to look for.
    pub description: String,
    /// A complete standalone `<svg …>`.
    pub svg: String,
    /// The finding that it illustrates ([`nccl_report_analyze::facts::Finding::id`]).
    pub finding: Option<String>,
}

/// The figures of a job.
pub(crate) fn all(job: &Job) -> Vec<Figure> {
    let svg = concat!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 240" role="img" aria-labelledby="t d">"##,
        r##"<title id="t">Stand-in figure</title><desc id="d">A line.</desc>"##,
        r##"<defs><linearGradient id="g"><stop offset="0" stop-color="#2563eb"/><stop offset="1" stop-color="#d97706"/></linearGradient></defs>"##,
        r##"<rect width="640" height="240" fill="#ffffff"/><path d="M20 200 L200 120 L380 160 L620 30" fill="none" stroke="url(#g)" stroke-width="4"/>"##,
        r##"<text x="20" y="30" font-family="sans-serif" font-size="16">stand-in</text></svg>"##
    );
    let figure = |id: &str, section, finding: Option<String>| Figure {
        id: id.to_owned(),
        section,
        title: "Stand-in figure".to_owned(),
        description: "A line that stands where a drawing will be.".to_owned(),
        svg: svg.to_owned(),
        finding,
    };
    let mut figures = vec![figure("stand-in", Section::Bandwidth, None)];
    if let Some(first) = job.findings.first() {
        figures.push(figure(
            "stand-in-finding",
            Section::Findings,
            Some(first.id.clone()),
        ));
    }
    figures
}
