//! A figure of the report.

/// The part of the report that a figure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Section {
    /// What illustrates a finding.
    Findings,
    /// What changed between two runs.
    Changes,
    /// A series of runs.
    Trend,
    /// Where the time goes.
    Time,
    /// Bandwidth over time.
    Bandwidth,
    /// How bandwidth is spread.
    Distribution,
    /// Families and the communicators in them.
    Families,
    /// Ranks and hosts.
    Ranks,
    /// Senders and receivers.
    Pairs,
}

/// A drawing and what the page says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Safe as a file name and as an XML id, unique in a report, the same in every run on the same data.
    pub(crate) id: String,
    /// Where it belongs.
    pub(crate) section: Section,
    /// What is drawn, in a few words.
    pub(crate) title: String,
    /// What is drawn and what to look for, for captions and screen readers.
    pub(crate) description: String,
    /// A complete SVG document.
    pub(crate) svg: String,
    /// [`nccl_report_analyze::facts::Finding::id`] of the finding that it illustrates.
    pub(crate) finding: Option<String>,
}

/// A part of an id: lower-case ASCII letters, digits and single dashes, at most 60 characters.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() >= 60 {
            break;
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() {
        "unnamed".to_owned()
    } else {
        out.to_owned()
    }
}

/// Makes ids unique by numbering repeats in their order.
pub(crate) fn number_repeats(figures: &mut [Figure]) {
    let mut taken = std::collections::BTreeSet::new();
    for figure in figures {
        let base = figure.id.clone();
        let mut n = 2;
        while !taken.insert(figure.id.clone()) {
            figure.id = format!("{base}-{n}");
            n += 1;
        }
        if figure.id != base {
            // The id is also inside the drawing, as that of its title and description.
            for part in ["title", "desc"] {
                figure.svg = figure.svg.replacen(
                    &format!("{base}-{part}"),
                    &format!("{}-{part}", figure.id),
                    2,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_file_names() {
        assert_eq!(slug("DP Group 3"), "dp-group-3");
        assert_eq!(slug("../../etc/passwd\0"), "etc-passwd");
        assert_eq!(slug("<>\u{1}…"), "unnamed");
        assert_eq!(slug(&"x".repeat(10_000)).len(), 60);
    }
}
