//! The few colours that are used. They are removed wherever colour isn't wanted.

use anstyle::{AnsiColor, Style};
use nccl_report_analyze::facts::Severity;

pub const HEADING: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The style of a severity's word.
pub const fn of(severity: Severity) -> Style {
    match severity {
        Severity::Info => DIM,
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Critical => ERROR,
    }
}

/// `text` in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
