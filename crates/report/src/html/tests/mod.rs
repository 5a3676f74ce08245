//! The page as a browser's parser sees it.

mod access;
mod safety;

use std::collections::BTreeSet;

use nccl_report_analyze::facts::Job;
use scraper::{ElementRef, Html, Selector};

use crate::figure::{self, Figure, Section};
use crate::synthetic;

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
        ("traced", synthetic::traced()),
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
fn the_page_opens_with_what_matters() {
    let html = render(&synthetic::job());
    let at = |id: &str| {
        html.find(&format!("id=\"{id}\""))
            .unwrap_or_else(|| panic!("no {id}"))
    };
    let order = [
        "findings",
        "time-budget",
        "data",
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
    let job = synthetic::job();
    let figures = [Figure {
        id: "timeline-1".to_owned(),
        section: Section::Findings,
        title: "Who arrives when".to_owned(),
        description: "A bar for each rank.".to_owned(),
        svg: "<svg viewBox=\"0 0 9 9\"><rect id=\"a\"/></svg>".to_owned(),
        findings: vec![job.findings[0].id.clone()],
    }];
    let page = Html::parse_document(&super::page(&job, &figures).expect("renders"));
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
        crate::html::kept::ROWS
    );
    assert_eq!(
        select(&page, "#rank-table a[href='#finding-1']").len(),
        3,
        "whom a finding names is always shown"
    );
}
