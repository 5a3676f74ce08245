//! Renders the facts of a job as HTML, SVG, JSON and CSV.
