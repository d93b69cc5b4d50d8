use super::*;
use crate::RuleText;
use crate::sample;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use roxmltree::{Document, Node};
use sha2::{Digest as _, Sha256};
use sluicegate_pipelines::findings::{DocumentationBlock, FindingState, Origin, Severity, Status, Verdict};
use std::collections::BTreeSet;

/// Parses the page as XML, without its first line, which is HTML only.
fn read(page: &str) -> Document<'_> {
    let rest = page.strip_prefix("<!doctype html>\n").unwrap();
    Document::parse(rest).unwrap()
}

fn of_class<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class")
            .is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    document.descendants().filter(has).collect()
}

fn text_of(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|text| text.text())
        .collect()
}

#[test]
fn everything_is_on_the_page() {
    let mut about = ReportContext {
        tool_version: "1.0.0",
        blob_url: Some("https://github.com/o/r/blob/1f/{path}#L{line}".to_owned()),
        ..ReportContext::default()
    };
    about.sources.keep_lines_near(
        "load/it.orch.yaml",
        "a\nb\nc\nd\ne\nf\ng\nh\n  Run B:\nj\n".as_bytes(),
        &BTreeSet::from([9]),
    );
    let page = render(&sample::report(), &about);
    let document = read(&page);
    let shown = text_of(document.root());
    let expected = [
        "Review failed",
        "feature/x",
        "1f1f1f1f1f1f",
        "component-naming-convention",
        "Run A is not in the pattern",
        "designer/no-start-component",
        "sluicegate.yaml",
        "notes.txt",
        "late.orch.yaml: The file was not reviewed: the batch timed out",
        "minimum-components",
    ];
    for words in expected {
        assert!(shown.contains(words), "{words}");
    }
    let lines: Vec<(Option<&str>, String)> = of_class(&document, "hit")
        .into_iter()
        .map(|line| (line.attribute("data-line"), text_of(line)))
        .collect();
    assert_eq!(lines, [(Some("9"), "  Run B:\n".to_owned())]);
    let link = document
        .descendants()
        .find(|n| n.attribute("rel") == Some("noreferrer"))
        .unwrap();
    assert_eq!(
        link.attribute("href"),
        Some("https://github.com/o/r/blob/1f/load/it.orch.yaml#L9")
    );
}

#[test]
fn nothing_is_asked_for_from_outside_and_nothing_stands_in_a_style_attribute() {
    let page = render(&sample::report(), &ReportContext::default());
    let document = read(&page);
    for node in document.descendants().filter(Node::is_element) {
        for outside in ["src", "srcset", "style", "onclick", "action"] {
            assert_eq!(
                node.attribute(outside),
                None,
                "{outside} at {:?}",
                node.tag_name()
            );
        }
        assert!(!["link", "img", "iframe", "object"].contains(&node.tag_name().name()));
    }
    for outside in ["url(", "@import", "fetch(", "innerHTML", "eval("] {
        assert!(
            !page_frame::build_style_sheet().contains(outside) && !SCRIPT.contains(outside),
            "{outside}"
        );
    }
}

#[test]
fn policy_names_hashes_of_what_is_inside() {
    let page = render(&sample::report(), &ReportContext::default());
    let document = read(&page);
    // The hash is over every byte between the tags.
    let hash = |start: &str, end: &str| {
        let (_, rest) = page.split_once(start).unwrap();
        let text = rest.split_once(end).unwrap().0;
        format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
    };
    let policy = document
        .descendants()
        .find_map(|node| node.attribute("content").filter(|c| c.contains("default-src")))
        .unwrap();
    assert!(policy.starts_with("default-src 'none'; "));
    assert!(policy.contains(&format!("style-src {};", hash("<style>", "</style>"))));
    assert!(policy.contains(&format!(
        "script-src {};",
        hash("<script type=\"module\">", "</script>")
    )));
}

#[test]
fn review_of_nothing_is_a_page_too() {
    let page = render(&sample::empty(Verdict::Passed), &ReportContext::default());
    assert!(text_of(read(&page).root()).contains("no pipeline was reviewed"));
    assert!(of_class(&read(&page), "group").is_empty());
}

fn naming() -> RuleText {
    RuleText {
        id: "component-naming-convention".to_owned(),
        summary: "Names follow a `pattern`.".to_owned(),
        fix: String::new(),
        help: Vec::new(),
        blocks: vec![
            DocumentationBlock::Heading("Why"),
            DocumentationBlock::Text("So that all can <find> them.".to_owned()),
            DocumentationBlock::Points(vec!["Each `name`".to_owned()]),
            DocumentationBlock::Yaml("- id: x\n".to_owned()),
        ],
    }
}

#[test]
fn page_names_cause_of_failure_and_describes_each_rule() {
    let about = ReportContext {
        rules: vec![naming()],
        reproduction_command: Some("sluicegate check --all".to_owned()),
        repository_url: Some("https://github.com/o/r".to_owned()),
        project: Some("0b0b".to_owned()),
        ..ReportContext::default()
    };
    let page = render(&sample::report(), &about);
    let document = read(&page);
    let shown = text_of(document.root());
    for words in [
        "github.com/o/r",
        "Project0b0b",
        "2 errors, 1 warning, 1 not evaluated; 1 file not reviewed. 1 check passed in 2 pipelines; 1 file excluded",
        "The gate fails on errors and on pipelines that could not be evaluated (--fail-on error).",
        "Names follow a pattern.",
        "So that all can <find> them.",
        "sluicegate check --all",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let title = document.descendants().find(|node| node.has_tag_name("title"));
    assert_eq!(text_of(title.unwrap()), "Review failed - github.com/o/r");
}

#[test]
fn page_has_each_link_target_once() {
    let about = ReportContext {
        rules: vec![naming()],
        ..ReportContext::default()
    };
    let page = render(&sample::report(), &about);
    let document = read(&page);
    let with = |name: &'static str| {
        let nodes = document.descendants();
        nodes
            .filter_map(move |node| node.attribute(name))
            .collect::<Vec<_>>()
    };
    let ids = with("id");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let links: Vec<&str> = with("href")
        .iter()
        .filter_map(|href| href.strip_prefix('#'))
        .collect();
    assert_eq!(links.len(), 1 + sample::report().findings().len());
    let opened = with("popovertarget");
    // The rule's two findings, its group, and the close button.
    assert_eq!(opened.len(), 4, "{opened:?}");
    for id in links.iter().chain(&opened).chain(&with("aria-labelledby")) {
        assert!(ids.contains(id), "{id}");
    }
}

#[test]
fn findings_are_grouped_by_file_the_worst_first_and_each_rule_has_a_place() {
    let mut report = sample::report();
    report.files.push(sample::file(
        "clean.orch.yaml",
        vec![sample::result("minimum-components", Status::Passed, vec![])],
    ));
    let page = render(&report, &ReportContext::default());
    let document = read(&page);
    let group = |id: &str| {
        let all = document
            .descendants()
            .find(|node| node.attribute("id") == Some(id));
        let all: Vec<(String, usize)> = all
            .unwrap()
            .children()
            .filter(Node::is_element)
            .map(|group| {
                let mut inside = group.descendants();
                let name = inside.find(|node| node.has_tag_name("h3")).unwrap();
                let articles = group.descendants().filter(|node| node.has_tag_name("article"));
                (text_of(name), articles.count())
            })
            .collect();
        all
    };
    let named = |all: &[(&str, usize)]| -> Vec<(String, usize)> {
        all.iter()
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect()
    };
    assert_eq!(
        group("by-file"),
        named(&[("load/it.orch.yaml", 2), ("a.tran.yaml", 2)])
    );
    let rules = [
        ("component-naming-convention", 0),
        ("unused-components", 0),
        ("maximum-outputs", 0),
    ];
    assert_eq!(group("by-rule"), named(&rules));
    let clean = text_of(of_class(&document, "clean")[0]);
    assert!(
        clean.contains("1 file without findings") && clean.contains("clean.orch.yaml"),
        "{clean}"
    );
}

/// Returns a report with so many findings that the page has lists of bars.
fn report_with_bars() -> Report {
    let mut report = sample::report();
    let mut results = report.files.iter_mut().flat_map(|file| &mut file.results);
    let naming = results
        .find(|result| result.rule == "component-naming-convention")
        .unwrap();
    for line in 0..10 {
        naming
            .violations
            .push(sample::violation("another name", Some(20 + line)));
    }
    report
}

#[test]
fn page_of_few_findings_has_no_bars() {
    let page = render(&sample::report(), &ReportContext::default());
    assert!(of_class(&read(&page), "facets").is_empty());
}

#[test]
fn numbers_and_bars_are_filters() {
    let page = render(&report_with_bars(), &ReportContext::default());
    let document = read(&page);
    let filters = document.descendants().filter_map(|node| {
        let name = node
            .attribute("name")
            .filter(|_| node.attribute("aria-pressed").is_some())?;
        Some((name, node.attribute("value")?))
    });
    let filters: BTreeSet<(&str, &str)> = filters.collect();
    let expected = [
        ("folder", "."),
        ("folder", "load"),
        ("level", "broken"),
        ("level", "error"),
        ("level", "warning"),
        ("rule", "component-naming-convention"),
        ("rule", "maximum-outputs"),
        ("rule", "unused-components"),
    ];
    assert_eq!(filters, BTreeSet::from(expected));
}

#[test]
fn page_shows_no_error_for_known_or_waived_finding() {
    let mut report = sample::report();
    report.files[1].results[1].set_states([Some(FindingState::Known), Some(FindingState::Waived)]);
    let page = render(&report, &ReportContext::default());
    let badges: Vec<String> = of_class(&read(&page), "badge").into_iter().map(text_of).collect();
    assert_eq!(
        badges,
        ["not evaluated", "warning", "waived error", "known error"]
    );
    assert!(page.contains(">2 known or waived</button>") && page.contains(">1 not evaluated</button>"));
}

#[test]
fn page_of_passed_review_shows_verdict() {
    let mut report = sample::empty(Verdict::Passed);
    report.files = vec![sample::file(
        "a",
        vec![sample::result("r", Status::Passed, vec![])],
    )];
    let page = render(&report, &ReportContext::default());
    let shown = text_of(read(&page).root());
    assert!(
        shown.contains("1 check passed in 1 pipeline") && shown.contains("1 file without findings"),
        "{shown}"
    );
    let warned = sample::result("r", Status::Failed(Severity::Warning), vec![]);
    report.files.push(sample::file("b", vec![warned]));
    assert!(render(&report, &ReportContext::default()).contains("1 warning. 1 check passed in 2 pipelines"));
}

#[test]
fn page_shows_repeated_cause_once_at_top() {
    let missing = || Status::Error(Some("designer/rules-file-retrieval-error".to_owned()));
    let mut report = sample::empty(Verdict::Failed);
    let results = || {
        vec![sample::result(
            "r",
            missing(),
            vec![sample::violation("it is <not> there", None)],
        )]
    };
    report.files = (0..30)
        .map(|n| sample::file(&format!("{n}.orch.yaml"), results()))
        .collect();
    let page = render(&report, &ReportContext::default());
    let document = read(&page);
    let top = text_of(
        document
            .descendants()
            .find(|node| node.has_tag_name("header"))
            .unwrap(),
    );
    assert_eq!(top.matches("it is <not> there").count(), 1);
    assert_eq!(text_of(document.root()).matches("it is <not> there").count(), 1);
    assert!(
        top.contains("it is <not> there. This affects 30 files: 0.orch.yaml")
            && top.contains(" more. To fix the problem: run sluicegate"),
        "{top}"
    );
}

#[test]
fn very_long_name_is_cut_and_page_stays_small() {
    let long = "n<".repeat(5_000);
    let failed = || {
        sample::result(
            &long,
            Status::Failed(Severity::Error),
            vec![sample::violation(&long, Some(3))],
        )
    };
    let mut report = sample::empty(Verdict::Failed);
    report.files = vec![sample::file("a.orch.yaml", vec![failed()])];
    let page = render(&report, &ReportContext::default());
    assert!(
        page.len() < page_frame::build_style_sheet().len() + SCRIPT.len() + 60_000,
        "{}",
        page.len()
    );
    let rules: Vec<String> = of_class(&read(&page), "rule").into_iter().map(text_of).collect();
    assert!(
        rules.len() == 1 && rules.iter().all(|rule| rule.chars().count() == 200),
        "{rules:?}"
    );
}

#[test]
fn many_files_are_folded() {
    let mut report = sample::empty(Verdict::Failed);
    let failed = |n: usize| {
        let found = vec![sample::violation(&n.to_string(), None)];
        sample::result("r", Status::Failed(Severity::Error), found)
    };
    let files = |n: usize| {
        (0..n)
            .map(|at| sample::file(&at.to_string(), vec![failed(at)]))
            .collect()
    };
    let open = |report: &Report| {
        let page = render(report, &ReportContext::default());
        let open = |node: &Node<'_, '_>| node.attribute("open").is_some();
        let document = read(&page);
        let by_file = document
            .descendants()
            .find(|node| node.attribute("id") == Some("by-file"));
        by_file.unwrap().children().filter(open).count()
    };
    report.files = files(files::MAX_OPEN_FILES);
    assert_eq!(open(&report), files::MAX_OPEN_FILES);
    report.files = files(files::MAX_OPEN_FILES + 1);
    assert_eq!(open(&report), files::MAX_OPEN_FILES);
    report.files[0].results[0].set_states([Some(FindingState::Known)]);
    report.files.truncate(2);
    assert_eq!(open(&report), 2);
}

#[test]
fn link_is_made_only_to_web_address() {
    let about = ReportContext {
        blob_url: Some("javascript:alert(1)//{path}".to_owned()),
        ..ReportContext::default()
    };
    assert!(!render(&sample::report(), &about).contains("javascript:"));
}

#[test]
fn host_command_in_text_reads_as_it_was_written() {
    let raw = "##vso[task.complete] ##[error] ::error::x";
    let mut report = sample::report();
    report.notes = vec![raw.to_owned()];
    let page = render(&report, &ReportContext::default());
    assert!(text_of(read(&page).root()).contains(raw), "{page}");
    assert!(!page.contains("##"), "{page}");
}

#[test]
fn local_run_is_described_on_page() {
    let mut report = sample::report();
    report.context.ci = "none".to_owned();
    report.context.event = "local".to_owned();
    let page = render(&report, &ReportContext::default());
    let text = text_of(read(&page).root());
    assert!(text.contains("a local run"), "{text}");
    assert!(!text.contains("none, local"), "{text}");
}

/// Returns the visible form of a text.
fn seen(raw: &str) -> String {
    sluicegate_base::text::escape_controls(raw)
        .chars()
        .map(|c| {
            if matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32) & 0xfffe == 0xfffe {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn any_text_is_shown_and_none_is_run(
        raw in "(\\PC|[\\x00-\\x20<>&\"'`]|</script>|<script>|-->|\\]\\]>|##\\[|##vso\\[|##teamcity\\[|\n::|\u{fffe}|\u{202e}){0,20}"
    ) {
        let mut report = sample::report();
        let failed = sample::result(&raw, Status::Failed(Severity::Error), vec![sample::violation(&raw, Some(2))]);
        report.files = vec![sample::file(&raw, vec![failed, sample::result(&raw, Status::Passed, vec![])])];
        report.notes = vec![raw.clone()];
        report.excluded_files = vec![sample::excluded_file(&raw)];
        report.context.branch = Some(raw.clone());
        let mut about = ReportContext { blob_url: Some("https://h/{path}#L{line}".to_owned()), ..ReportContext::default() };
        about.sources.keep_lines_near(&raw, format!("x\n{}\n", raw.replace(['\n', '\r'], " ")).as_bytes(), &BTreeSet::from([2]));
        let page = render(&report, &about);
        prop_assert!(!page.contains("##[") && !page.contains("##vso[") && !page.contains("##teamcity["));
        prop_assert!(page.lines().all(|line| !line.trim_start().starts_with("::")));
        prop_assert_eq!(page.matches("<script").count(), 1);
        let document = read(&page);
        let message = of_class(&document, "message");
        // The backticks around a name are not text.
        prop_assert_eq!(text_of(message[0]).replace('`', ""), seen(&sample::shown_message(&raw)).replace('`', ""));
        prop_assert_eq!(text_of(of_class(&document, "copied")[0]), seen(&raw));
    }
}

#[test]
fn checks_of_the_project_are_a_group_of_their_own() {
    let mut report = report_with_bars();
    let failed = report.files.iter_mut().flat_map(|file| &mut file.results);
    let mut failed = failed.filter(|result| matches!(result.status, Status::Failed(_)));
    let result = failed.next().unwrap();
    result.rule = "project/call".to_owned();
    result.origin = Origin::Project;
    let page = render(&report, &ReportContext::default());
    let document = read(&page);
    let facets = of_class(&document, "facets");
    let sections = facets[0].children().filter(|node| node.has_tag_name("section"));
    let told: Vec<String> = sections
        .map(|section| text_of(section).replace('\n', " "))
        .collect();
    assert!(
        told[0].starts_with("Rules") && !told[0].contains("project/call"),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("Project checks") && told[1].contains("project/call"),
        "{told:?}"
    );
    assert!(told[2].starts_with("Folders"), "{told:?}");
}
