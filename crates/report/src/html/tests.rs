//! The page as a browser's parser sees it.

use std::collections::BTreeSet;

use nccl_report_analyze::facts::Job;
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest as _, Sha256};

use super::page::{PAGE_HASH, PAGE_SCRIPT, THEME_HASH, THEME_SCRIPT};
use crate::{figure, synthetic};

fn render(job: &Job) -> String {
    super::page(job, &figure::all(job)).expect("renders")
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).collect()
}

fn text(of: ElementRef<'_>) -> String {
    of.text().collect::<String>().trim().to_owned()
}

fn jobs() -> Vec<(&'static str, Job)> {
    vec![
        ("ordinary", synthetic::job()),
        ("healthy", synthetic::healthy()),
        ("hostile", synthetic::hostile()),
        ("empty", synthetic::empty()),
    ]
}

/// html5ever reports whatever the standard calls a parse error: unbalanced tags, control characters, stray `<`.
#[test]
fn is_well_formed() {
    for (name, job) in jobs() {
        let page = Html::parse_document(&render(&job));
        assert_eq!(
            page.errors,
            Vec::<std::borrow::Cow<'static, str>>::new(),
            "{name}"
        );
    }
}

#[test]
fn ids_are_unique_and_links_resolve() {
    for (name, job) in jobs() {
        let page = Html::parse_document(&render(&job));
        let mut ids = BTreeSet::new();
        for element in select(&page, "[id]") {
            let id = element.attr("id").unwrap_or_default();
            assert!(!id.contains(char::is_whitespace), "{name}: {id:?}");
            assert!(ids.insert(id), "{name}: id {id} twice");
        }
        for attribute in ["href", "aria-labelledby", "aria-describedby", "for"] {
            for element in select(&page, &format!("[{attribute}]")) {
                for target in element
                    .attr(attribute)
                    .unwrap_or_default()
                    .split_whitespace()
                {
                    let target = match attribute {
                        "href" if target.starts_with("plots/") => continue,
                        "href" => target
                            .strip_prefix('#')
                            .unwrap_or_else(|| panic!("{name}: leaves the page: {target}")),
                        _ => target,
                    };
                    assert!(
                        ids.contains(target),
                        "{name}: {attribute} points at {target}, which isn't there"
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_is_loaded_and_nothing_foreign_runs() {
    for (name, job) in jobs() {
        let html = render(&job);
        let page = Html::parse_document(&html);
        for loading in [
            "src",
            "srcset",
            "action",
            "formaction",
            "data",
            "poster",
            "background",
            "ping",
        ] {
            assert!(
                select(&page, &format!("[{loading}]")).is_empty(),
                "{name}: [{loading}]"
            );
        }
        for element in [
            "link", "iframe", "object", "embed", "img", "base", "form", "video", "audio", "image",
        ] {
            assert!(select(&page, element).is_empty(), "{name}: <{element}>");
        }
        for element in page.root_element().descendent_elements() {
            for (attribute, value) in element.value().attrs() {
                assert!(!attribute.starts_with("on"), "{name}: {attribute}");
                assert!(
                    !value.contains("javascript:") || attribute == "title",
                    "{name}: {attribute}={value}"
                );
            }
        }
        let scripts: Vec<String> = select(&page, "script")
            .into_iter()
            .map(|s| s.text().collect())
            .collect();
        assert_eq!(scripts, [THEME_SCRIPT, PAGE_SCRIPT], "{name}");
        let styles: Vec<String> = select(&page, "style")
            .into_iter()
            .map(|s| s.text().collect())
            .collect();
        assert!(
            styles
                .iter()
                .all(|css| !css.contains("@import") && !css.contains("url(")),
            "{name}"
        );
        assert!(
            !html.contains("http://") && !html.contains("https://"),
            "{name}"
        );
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * index)) as usize & 63];
            text.push(if index <= chunk.len() {
                letter.into()
            } else {
                '='
            });
        }
    }
    text
}

/// The policy in the page allows these scripts by hash: after a change, put the hash that this test prints into `page.rs`.
#[test]
fn the_policy_allows_the_scripts() {
    // RFC 4648's own examples.
    assert_eq!(
        [base64(b"f"), base64(b"fo"), base64(b"foobar")],
        ["Zg==", "Zm8=", "Zm9vYmFy"]
    );
    assert_eq!(
        base64(&Sha256::digest(THEME_SCRIPT)),
        THEME_HASH,
        "theme.js"
    );
    assert_eq!(base64(&Sha256::digest(PAGE_SCRIPT)), PAGE_HASH, "page.js");
    let html = render(&synthetic::job());
    assert!(html.contains(&format!(
        "script-src 'sha256-{THEME_HASH}' 'sha256-{PAGE_HASH}'"
    )));
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn hostile_names_are_only_text() {
    let html = render(&synthetic::hostile());
    for raw in [
        "<script>alert",
        "<img",
        "onerror=alert(2)>",
        "<svg/onload",
        "\u{202e}",
        "\u{1b}",
        "\u{0}",
    ] {
        assert!(!html.contains(raw), "{raw:?} is in the page as it was");
    }
    let page = Html::parse_document(&html);
    let shown: String = page.root_element().text().collect();
    for visible in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(2)>",
        "{{7*7}}",
        "\\x1b[31m",
        "\\u{202e}gnp.exe",
        "(empty)",
    ] {
        assert!(shown.contains(visible), "{visible:?} isn't shown");
    }
    assert!(
        !shown.contains(&"x".repeat(1_300)),
        "a name of 10,000 characters is cut"
    );
    let ordinary = render(&synthetic::job()).len();
    assert!(
        html.len() < 2 * ordinary,
        "{} bytes against {ordinary}",
        html.len()
    );
}

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

#[test]
fn the_page_opens_with_what_matters() {
    let html = render(&synthetic::job());
    let at = |id: &str| {
        html.find(&format!("id=\"{id}\""))
            .unwrap_or_else(|| panic!("no {id}"))
    };
    let order = [
        "data",
        "findings",
        "time-budget",
        "families",
        "groups",
        "plots",
        "communicators",
        "hosts",
        "ranks",
        "over-time",
        "pairs",
        "inputs",
        "glossary",
    ];
    assert!(order.map(at).is_sorted());
    let page = Html::parse_document(&html);
    let linked: Vec<&str> = select(&page, "nav a")
        .iter()
        .filter_map(|a| a.attr("href"))
        .collect();
    assert_eq!(linked, order.map(|id| format!("#{id}")));
    let head = text(select(&page, "header")[0]);
    for fact in [
        "llama-70b-pretrain-1187",
        "2026-03-14T09:26:53Z",
        "42\u{a0}min",
        "v4.1",
        "gpu-001",
        "1 critical",
    ] {
        assert!(
            head.replace("1\u{a0}critical", "1 critical").contains(fact),
            "{fact} isn't in the head: {head}"
        );
    }
}

#[test]
fn findings_and_figures_point_at_each_other() {
    let page = Html::parse_document(&render(&synthetic::job()));
    let to_figure = select(&page, "#finding-1 .more a");
    let figure = to_figure[0].attr("href").expect("a link");
    let back = select(&page, &format!("{figure} figcaption a"));
    assert!(back.iter().any(|a| a.attr("href") == Some("#finding-1")));
    let accused = select(&page, "#rank-table a[href='#finding-1']");
    assert_eq!(
        accused.len(),
        3,
        "the rank's three operations lead to what it is accused of"
    );
}

#[test]
fn a_large_job_stays_a_page() {
    let job = synthetic::job_of(512);
    let html = render(&job);
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
    assert!(
        html.contains(
            "500 of 12,288 rows, those with the most time; the others are in report.json."
        )
    );
    let page = Html::parse_document(&html);
    assert_eq!(
        select(&page, "#rank-table tbody tr").len(),
        super::table::ROWS
    );
    assert_eq!(
        select(&page, "#rank-table a[href='#finding-1']").len(),
        3,
        "whom a finding names is always shown"
    );
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
    let css = include_str!("../../templates/style.css");
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
