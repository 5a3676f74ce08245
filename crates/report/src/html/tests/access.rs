//! The page read by ear, by keyboard, and by weak eyes.

use std::collections::BTreeSet;

use scraper::{Html, Selector};

use super::{jobs, render, select, text};

#[test]
fn every_table_can_be_read_aloud() {
    for (name, job) in jobs() {
        let page = Html::parse_document(&render(&job));
        for table in select(&page, "table") {
            let inside = Selector::parse("caption").expect("a selector");
            let caption = table.select(&inside).next().map(text).unwrap_or_default();
            assert!(!caption.is_empty(), "{name}: a table without caption");
            let heads = Selector::parse("th").expect("a selector");
            for head in table.select(&heads) {
                assert!(
                    matches!(head.attr("scope"), Some("col" | "row")),
                    "{name}: {caption}: th without scope"
                );
            }
            let rows = Selector::parse("tr").expect("a selector");
            let widths: BTreeSet<usize> = table
                .select(&rows)
                .map(|row| row.child_elements().count())
                .collect();
            assert!(
                widths.len() <= 1,
                "{name}: {caption}: rows of {widths:?} cells"
            );
        }
    }
}

#[test]
fn drawings_and_landmarks_have_names() {
    for (name, job) in jobs() {
        let page = Html::parse_document(&render(&job));
        for svg in select(&page, "svg") {
            let named = svg.attr("role") == Some("img")
                && svg
                    .attr("aria-label")
                    .is_some_and(|label| !label.is_empty());
            assert!(
                named || svg.attr("aria-hidden") == Some("true"),
                "{name}: a drawing without name"
            );
        }
        for landmark in ["nav[aria-label]", "header", "main", "footer", "h1"] {
            assert_eq!(select(&page, landmark).len(), 1, "{name}: {landmark}");
        }
        for region in select(&page, "[role=region], section, article") {
            assert!(
                region
                    .attr("aria-label")
                    .or(region.attr("aria-labelledby"))
                    .is_some(),
                "{name}: a region without name"
            );
        }
        let skip = select(&page, "body > a");
        assert_eq!(
            skip[0].attr("href"),
            Some("#main"),
            "{name}: the skip link comes first"
        );
        let levels: Vec<u32> = select(&page, "h1, h2, h3, h4")
            .iter()
            .map(|heading| heading.value().name()[1..].parse().expect("a level"))
            .collect();
        assert!(
            levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{name}: heading levels {levels:?}"
        );
    }
}

/// WCAG 2: relative luminance and contrast ratio.
fn contrast(a: u32, b: u32) -> f64 {
    let luminance = |rgb: u32| {
        let part = |shift: u32| {
            let c = f64::from(rgb >> shift & 0xff) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_has_contrast_in_both_themes() {
    assert!((contrast(0x00_0000, 0xff_ffff) - 21.0).abs() < 1e-9);
    // 4.54 by WebAIM's checker.
    assert!((contrast(0x76_7676, 0xff_ffff) - 4.54).abs() < 0.01);
    let css = include_str!("../../../templates/style.css");
    let colour = |name: &str| -> [u32; 2] {
        let start = format!("--{name}: light-dark(");
        let (_, after) = css
            .split_once(&start)
            .unwrap_or_else(|| panic!("no {name}"));
        let (pair, _) = after.split_once(')').expect("closed");
        let mut shades = pair
            .split(", ")
            .map(|hex| u32::from_str_radix(&hex[1..], 16).expect("a colour"));
        [shades.next().expect("light"), shades.next().expect("dark")]
    };
    let grounds = [
        (
            "ink",
            &[
                "ground",
                "surface",
                "raised",
                "bar",
                "critical-ground",
                "warning-ground",
                "info-ground",
                "good-ground",
            ][..],
        ),
        ("muted", &["ground", "surface", "raised"]),
        ("link", &["ground", "surface", "raised"]),
        ("critical", &["surface", "critical-ground"]),
        ("warning", &["surface", "warning-ground"]),
        ("info", &["surface", "info-ground"]),
        ("good", &["surface", "good-ground"]),
    ];
    for (ink, grounds) in grounds {
        for ground in grounds {
            for (theme, (a, b)) in ["light", "dark"]
                .iter()
                .zip(colour(ink).into_iter().zip(colour(ground)))
            {
                let ratio = contrast(a, b);
                assert!(ratio >= 4.5, "{ink} on {ground}, {theme}: {ratio:.2}");
            }
        }
    }
}
