//! Renders the facts of a job as HTML, SVG, JSON and CSV.

// Until the page takes them up.
#[allow(dead_code, unused_imports)]
mod figure;
mod svg;
