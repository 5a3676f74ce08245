//! Nothing is loaded, nothing foreign runs, names are only text.

use scraper::Html;
use sha2::{Digest as _, Sha256};

use super::{jobs, render, select};
use crate::html::page::{PAGE_HASH, PAGE_SCRIPT, THEME_HASH, THEME_SCRIPT};
use crate::synthetic;

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
                    !attribute.ends_with("href")
                        || value.starts_with('#')
                        || value.starts_with("plots/"),
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
