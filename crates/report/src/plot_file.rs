//! Names of the files under `plots/`.

/// The file of a figure: its id, which is safe already; anything else in it would be a defect and stays inside the folder.
pub(crate) fn name(figure_id: &str) -> String {
    let safe: String = figure_id
        .chars()
        .take(120)
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                c
            } else {
                '-'
            }
        })
        .collect();
    format!("{safe}.svg")
}

/// Whether [`name`] could have made it.
pub(crate) fn is_ours(file: &str) -> bool {
    file.strip_suffix(".svg")
        .is_some_and(|stem| name(stem) == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leaves_the_folder() {
        assert_eq!(name("box-dp-group-3"), "box-dp-group-3.svg");
        assert_eq!(name("../../etc/passwd"), "------etc-passwd.svg");
        assert_eq!(name("\0<é>"), "----.svg");
    }

    #[test]
    fn foreign_names_are_not_ours() {
        assert!(is_ours("box-dp-group-3.svg"));
        for foreign in [
            "../x.svg",
            "a/b.svg",
            "my plot.svg",
            "x.png",
            ".svg.",
            "/etc/passwd",
            "a.b.svg",
        ] {
            assert!(!is_ours(foreign), "{foreign}");
        }
    }
}
