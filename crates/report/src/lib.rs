//! Renders the facts of a job as HTML, SVG, JSON and CSV.

#[cfg_attr(not(test), expect(dead_code, reason = "the page takes them up"))]
mod figure;
mod svg;
