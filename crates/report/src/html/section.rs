//! A part of the page with a heading and a place in the navigation.

/// A section, rendered.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// Already HTML, from a template.
    pub(super) html: String,
}

impl Section {
    pub(super) const fn new(id: &'static str, title: &'static str, html: String) -> Self {
        Self { id, title, html }
    }
}
