//! The rules file.

use std::fs;
use std::path::Path;

use nccl_report_analyze::Rules;

use crate::failure::Failure;

/// A rules file is written by hand: one that is larger isn't one.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the rules, if there are any to read.
pub fn read(path: Option<&Path>) -> Result<Option<Rules>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let shown = path.display();
    let cannot =
        |e: std::io::Error| Failure::new(format_args!("failed to read the rules in {shown}: {e}"));
    if fs::metadata(path).map_err(cannot)?.len() > MOST_BYTES {
        return Err(Failure::new(format_args!(
            "failed to read the rules in {shown}: the file is larger than a megabyte"
        )));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    let rules = Rules::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|error| {
        let failure = Failure::new(format_args!(
            "failed to read the rules in {shown}, line {}: {}",
            error.line, error.message
        ));
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })?;
    Ok(Some(rules))
}
