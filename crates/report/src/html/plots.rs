//! The figures, inside the page and as files beside it.

use askama::Template;
use nccl_report_analyze::facts::{Finding, FindingKind};

use super::inline_svg;
use super::section::Section;
use super::table::Link;
use crate::figure::{self, Figure};
use crate::plot_file;

/// Bytes of all drawings inside the page; those beyond are linked. Figures are thinned already, so only odd jobs come here.
const BYTES: usize = 4_000_000;

/// A figure on the page.
pub(super) struct Plot {
    anchor: String,
    title: String,
    description: String,
    /// Already checked and prefixed; `None` when the page only links to it.
    svg: Option<String>,
    file: String,
    section: figure::Section,
    pub(super) finding: Option<String>,
    /// Back to the finding.
    finding_anchor: Option<String>,
}

#[derive(Template)]
#[template(path = "section/plots.html")]
struct View<'a> {
    chapters: Vec<Chapter<'a>>,
}

struct Chapter<'a> {
    title: &'static str,
    plots: Vec<&'a Plot>,
    /// Behind a click, so that a job with many operations doesn't bury what follows.
    more: Vec<&'a Plot>,
}

/// Plots of a chapter that are open from the start. Those of findings always are.
const OPEN: usize = 3;

impl Plot {
    /// Whether it shows what a finding says: drawn for it, or the map in which its kind shows.
    pub(super) fn shows(&self, finding: &Finding) -> bool {
        let map = match finding.kind {
            FindingKind::LateRank | FindingKind::LateHost | FindingKind::IntermittentLateRank => {
                "map-late-arrival"
            }
            FindingKind::SlowLink => "map-transfer-time",
            FindingKind::StageImbalance => "ranks-waiting",
            FindingKind::TcpRetransmits => "hosts-waiting",
            _ => return self.finding.as_ref() == Some(&finding.id),
        };
        self.finding.as_ref() == Some(&finding.id) || self.file.starts_with(map)
    }

    pub(super) fn link(&self) -> Link {
        Link {
            anchor: self.anchor.clone(),
            text: self.title.clone(),
        }
    }
}

/// The figures for the page, those of findings first so that they fit when not all do.
pub(super) fn prepare(
    figures: &[Figure],
    finding_anchor: impl Fn(&str) -> Option<String>,
) -> Vec<Plot> {
    let mut order: Vec<&Figure> = figures.iter().collect();
    order.sort_by_key(|figure| figure.section);
    let mut left = BYTES;
    order
        .into_iter()
        .enumerate()
        .map(|(index, figure)| {
            let prefix = format!("plot{}", index + 1);
            let title = super::text::sentence(&figure.title);
            let svg = (figure.svg.len() <= left)
                .then(|| inline_svg::inline(&figure.svg, &prefix, &title))
                .flatten();
            left -= svg.as_ref().map_or(0, |_| figure.svg.len());
            Plot {
                anchor: prefix,
                title,
                description: super::text::sentence(&figure.description),
                svg,
                file: plot_file::name(&figure.id),
                section: figure.section,
                finding: figure.finding.clone(),
                finding_anchor: figure.finding.as_deref().and_then(&finding_anchor),
            }
        })
        .collect()
}

/// The section.
pub(super) fn section(plots: &[Plot]) -> Result<Section, askama::Error> {
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    for plot in plots {
        let title = chapter(plot.section);
        if chapters.last().is_none_or(|last| last.title != title) {
            chapters.push(Chapter {
                title,
                plots: Vec::new(),
                more: Vec::new(),
            });
        }
        if let Some(last) = chapters.last_mut() {
            let open = plot.section == figure::Section::Findings || last.plots.len() < OPEN;
            if open {
                &mut last.plots
            } else {
                &mut last.more
            }
            .push(plot);
        }
    }
    Ok(Section::new("plots", "Plots", View { chapters }.render()?))
}

const fn chapter(of: figure::Section) -> &'static str {
    match of {
        figure::Section::Findings => "Findings",
        figure::Section::Changes => "What changed",
        figure::Section::Trend => "Over the runs",
        figure::Section::Bandwidth => "Bandwidth over time",
        figure::Section::Distribution => "Distributions",
        figure::Section::Families => "Families",
        figure::Section::Ranks => "Ranks and hosts",
        figure::Section::Pairs => "Pairs",
        figure::Section::Time => "Where the time goes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic;

    #[test]
    fn what_does_not_fit_is_linked() {
        let job = synthetic::job();
        let mut figures = figure::all(&job);
        let padding = " ".repeat(BYTES);
        figures[0].svg = figures[0]
            .svg
            .replace("</svg>", &format!("{padding}</svg>"));
        let plots = prepare(&figures, |_| None);
        assert_eq!(plots.iter().filter(|plot| plot.svg.is_none()).count(), 1);
        let html = section(&plots).expect("renders").html;
        assert!(html.len() < BYTES);
        assert!(
            html.contains(&format!("plots/{}", plot_file::name(&figures[0].id))),
            "{html}"
        );
    }
}
