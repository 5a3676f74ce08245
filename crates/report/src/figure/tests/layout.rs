//! Labels, sizes, names.

use std::collections::BTreeSet;

use nccl_report_analyze::facts::Job;

use super::super::drawing::Section;
use super::super::{all, synthetic};
use super::{elements, labels, number, parse};

fn jobs() -> Vec<(&'static str, Job)> {
    vec![
        ("1 rank", synthetic::job(1, 1, synthetic::plain)),
        ("16 ranks", synthetic::job(2, 8, synthetic::plain)),
        (
            "16 ranks, hostile names",
            synthetic::job(4, 4, synthetic::hostile),
        ),
        ("128 ranks", synthetic::job(16, 8, synthetic::plain)),
        ("128 hosts", synthetic::job(128, 1, synthetic::plain)),
        ("4096 ranks", synthetic::job(512, 8, synthetic::plain)),
    ]
}

#[test]
fn every_figure_is_named_valid_xml_without_overlapping_labels() {
    for (name, job) in jobs() {
        let figures = all(&job);
        assert!(figures.len() > 10, "{name}: {} figures", figures.len());
        for figure in &figures {
            let document = parse(figure);
            let root = document.root_element();
            assert_eq!(root.attribute("role"), Some("img"));
            let id = format!("{}-title", figure.id);
            let title = elements(&document, "title").next().expect("a title");
            assert_eq!(title.attribute("id"), Some(id.as_str()));
            assert!(title.text().is_some_and(|t| !t.is_empty()));
            assert!(
                elements(&document, "desc")
                    .next()
                    .is_some_and(|d| d.text().is_some())
            );

            let (width, height) = (number(root, "width"), number(root, "height"));
            let labels = labels(&document);
            for (i, label) in labels.iter().enumerate() {
                let context = || format!("{name}, {}: {label:?}", figure.id);
                assert!(
                    label.left >= -0.5 && label.right <= width + 0.5,
                    "{}",
                    context()
                );
                assert!(label.top >= 0.0 && label.bottom <= height, "{}", context());
                for other in &labels[i + 1..] {
                    assert!(!label.overlaps(other), "{} and {other:?}", context());
                }
            }
        }
    }
}

#[test]
fn no_label_lies_on_a_mark() {
    for (name, job) in jobs() {
        for figure in all(&job) {
            let document = parse(&figure);
            let labels = labels(&document);
            for disc in elements(&document, "circle") {
                let (x, y) = (number(disc, "cx") / 10.0, number(disc, "cy") / 10.0);
                for label in &labels {
                    let inside = (label.left..label.right).contains(&x)
                        && (label.top..label.bottom).contains(&y);
                    assert!(!inside, "{name}, {}: {label:?} on ({x}, {y})", figure.id);
                }
            }
        }
    }
}

#[test]
fn ids_are_file_names_and_unique() {
    for (name, mut job) in jobs() {
        // Families of one label must not share a file.
        for family in &mut job.families {
            family.label = "../<x>".into();
        }
        let figures = all(&job);
        let ids: BTreeSet<&str> = figures.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(ids.len(), figures.len(), "{name}");
        for figure in &figures {
            assert!(
                figure
                    .id
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                figure.id
            );
            assert!(
                figure.svg.contains(&format!("id=\"{}-desc\"", figure.id)),
                "{}",
                figure.id
            );
        }
        assert!(figures.is_sorted_by_key(|f| f.section), "{name}");
    }
}

#[test]
fn sizes_stay_small() {
    for (name, job) in jobs() {
        let figures = all(&job);
        let total: usize = figures.iter().map(|f| f.svg.len()).sum();
        let largest = figures.iter().max_by_key(|f| f.svg.len()).expect("figures");
        assert!(total < 2_000_000, "{name}: {total} bytes");
        assert!(
            largest.svg.len() < 300_000,
            "{name}: {} has {} bytes",
            largest.id,
            largest.svg.len()
        );
    }
}

/// The worst that the analysis may send: as many scatters and maps as it likes, no two neighbouring cells alike.
#[test]
fn sizes_stay_small_at_worst() {
    let mut job = synthetic::job(16, 8, synthetic::plain);
    for map in &mut job.heat_maps {
        for (i, value) in map.values.iter_mut().enumerate() {
            *value = Some(map.neutral + ((i * 7_919) % 1_009) as f64);
        }
    }
    for scatter in &mut job.scatters {
        for series in &mut scatter.series {
            series.points = series.points.iter().copied().cycle().take(20_000).collect();
        }
    }
    job.scatters = job.scatters.iter().cloned().cycle().take(40).collect();
    job.heat_maps = job.heat_maps.iter().cloned().cycle().take(20).collect();
    job.timelines = job.timelines.iter().cloned().cycle().take(50).collect();
    let figures = all(&job);
    let of = |section| figures.iter().filter(move |f| f.section == section).count();
    assert_eq!(of(Section::Bandwidth), 12);
    assert_eq!(of(Section::Findings), 12);
    for figure in &figures {
        assert!(
            figure.svg.len() < 240_000,
            "{}: {} bytes",
            figure.id,
            figure.svg.len()
        );
    }
    let total: usize = figures.iter().map(|f| f.svg.len()).sum();
    assert!(total < 2_400_000, "{total} bytes");
    let last = figures
        .iter()
        .rfind(|f| f.section == Section::Bandwidth)
        .expect("scatters");
    assert!(
        last.description
            .ends_with("Not drawn: 28 more operations with less time."),
        "{}",
        last.description
    );
}

#[test]
fn hostile_names_stay_text() {
    let job = synthetic::job(4, 4, synthetic::hostile);
    for figure in all(&job) {
        let document = parse(&figure);
        assert!(elements(&document, "script").next().is_none());
        assert!(
            !figure
                .svg
                .contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{fffe}']),
            "{}",
            figure.id
        );
        assert!(figure.description.len() < 8_000 && figure.title.len() < 1_000);
        assert!(!figure.title.contains(char::is_control));
    }
}
