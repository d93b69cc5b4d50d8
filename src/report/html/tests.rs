use super::*;
use crate::findings::{Severity, Status};
use crate::report::sample;
use proptest::prelude::*;
use roxmltree::{Document, Node};
use std::collections::BTreeSet;

/// The page without its first line, which is HTML's alone: well-formed XML.
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
    let mut about = About {
        tool_version: "1.0.0",
        blob_url: Some("https://github.com/o/r/blob/1f".to_owned()),
        ..About::default()
    };
    about.sources.add(
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
        "`Run A` is not in the pattern",
        "designer/no-start-component",
        "sluicegate.yaml",
        "notes.txt",
        "late.orch.yaml: The file was not reviewed: the batch timed out",
        "minimum-components",
    ];
    for words in expected {
        assert!(shown.contains(words), "{words}");
    }
    let lines: Vec<String> = of_class(&document, "hit").into_iter().map(text_of).collect();
    assert_eq!(lines, ["9  Run B:"]);
    let link = document
        .descendants()
        .find(|n| n.attribute("rel") == Some("noreferrer"))
        .unwrap();
    assert_eq!(
        link.attribute("href"),
        Some("https://github.com/o/r/blob/1f/a.tran.yaml#L1")
    );
}

#[test]
fn nothing_is_asked_for_from_outside_and_nothing_stands_in_a_style_attribute() {
    let page = render(&sample::report(), &About::default());
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
        assert!(!STYLE.contains(outside) && !SCRIPT.contains(outside), "{outside}");
    }
}

#[test]
fn the_policy_names_the_hashes_of_what_is_inside() {
    let page = render(&sample::report(), &About::default());
    let document = read(&page);
    let hash = |tag: &str| {
        let node = document
            .descendants()
            .find(|node| node.has_tag_name(tag))
            .unwrap();
        format!(
            "'sha256-{}'",
            STANDARD.encode(Sha256::digest(text_of(node).as_bytes()))
        )
    };
    let policy = document
        .descendants()
        .find_map(|node| node.attribute("content").filter(|c| c.contains("default-src")))
        .unwrap();
    assert!(policy.starts_with("default-src 'none'; "));
    assert!(policy.contains(&format!("style-src {};", hash("style"))));
    assert!(policy.contains(&format!("script-src {};", hash("script"))));
}

#[test]
fn a_review_of_nothing_is_a_page_too() {
    let page = render(&sample::empty(Verdict::Passed), &About::default());
    assert!(text_of(read(&page).root()).contains("no pipeline was reviewed"));
    assert!(of_class(&read(&page), "file").is_empty());
}

#[test]
fn the_page_says_what_fails_the_gate_and_each_rule_in_words() {
    let about = About {
        rules: vec![crate::report::RuleText {
            id: "component-naming-convention".to_owned(),
            summary: "Names follow a pattern.".to_owned(),
            help: vec!["So that all can <find> them.".to_owned()],
        }],
        reproduce: Some("sluicegate check --all".to_owned()),
        repository_url: Some("https://github.com/o/r".to_owned()),
        ..About::default()
    };
    let page = render(&sample::report(), &about);
    let document = read(&page);
    let shown = text_of(document.root());
    for words in [
        "The gate failed: findings of level error, and what could not be evaluated, fail the gate (--fail-on error).",
        "2 findings in 1 file",
        "Names follow a pattern.",
        "So that all can <find> them.",
        "sluicegate check --all",
        "github.com/o/r",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let ids: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("id"))
        .collect();
    let links = document
        .descendants()
        .filter_map(|node| node.attribute("href")?.strip_prefix('#'));
    assert!(links.clone().count() > 4 && links.clone().all(|id| ids.contains(&id)));
}

#[test]
fn many_files_are_folded() {
    let mut report = sample::empty(Verdict::Failed);
    let failed = || sample::result("r", Status::Failed(Severity::Error), vec![]);
    let files = |n: usize| {
        (0..n)
            .map(|at| sample::file(&at.to_string(), vec![failed()]))
            .collect()
    };
    let open = |report: &Report| {
        let page = render(report, &About::default());
        let open = |node: &Node<'_, '_>| node.attribute("open").is_some();
        of_class(&read(&page), "file")
            .iter()
            .filter(|node| open(node))
            .count()
    };
    report.files = files(MOST_OPEN);
    assert_eq!(open(&report), MOST_OPEN);
    report.files = files(MOST_OPEN + 1);
    assert_eq!(open(&report), 0);
}

#[test]
fn a_link_is_made_only_to_a_web_address() {
    let about = About {
        blob_url: Some("javascript:alert(1)//".to_owned()),
        ..About::default()
    };
    assert!(!render(&sample::report(), &about).contains("javascript:"));
}

#[test]
fn a_host_command_in_a_text_reads_as_it_was_written() {
    let raw = "##vso[task.complete] ##[error] ::error::x";
    let mut report = sample::report();
    report.notes = vec![raw.to_owned()];
    let page = render(&report, &About::default());
    assert!(text_of(read(&page).root()).contains(raw), "{page}");
    assert!(!page.contains("##"), "{page}");
}

#[test]
fn a_machine_without_a_host_is_said_in_words() {
    let mut report = sample::report();
    report.context.ci = "none".to_owned();
    report.context.event = "local".to_owned();
    let page = render(&report, &About::default());
    let text = text_of(read(&page).root());
    assert!(text.contains("somebody's own machine"), "{text}");
    assert!(!text.contains("none, local"), "{text}");
}

/// What a reader sees of a text.
fn seen(raw: &str) -> String {
    crate::text::visible(raw)
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
        raw in "(\\PC|[\\x00-\\x20<>&\"'`]|</script>|<script>|-->|\\]\\]>|##\\[|##vso\\[|\n::|\u{fffe}|\u{202e}){0,20}"
    ) {
        let mut report = sample::report();
        let failed = sample::result(&raw, Status::Failed(Severity::Error), vec![sample::violation(&raw, Some(2))]);
        report.files = vec![sample::file(&raw, vec![failed, sample::result(&raw, Status::Passed, vec![])])];
        report.notes = vec![raw.clone()];
        report.excluded = vec![sample::excluded(&raw)];
        report.context.branch = Some(raw.clone());
        let mut about = About { blob_url: Some("https://h".to_owned()), ..About::default() };
        about.sources.add(&raw, format!("x\n{}\n", raw.replace(['\n', '\r'], " ")).as_bytes(), &BTreeSet::from([2]));
        let page = render(&report, &about);
        prop_assert!(!page.contains("##[") && !page.contains("##vso["));
        prop_assert!(page.lines().all(|line| !line.trim_start().starts_with("::")));
        prop_assert_eq!(page.matches("<script").count(), 1);
        let document = read(&page);
        let message = of_class(&document, "message");
        prop_assert_eq!(text_of(message[0]), seen(&raw));
        prop_assert_eq!(text_of(document.descendants().find(|n| n.has_tag_name("h3") && n.attribute("class") == Some("mono")).unwrap()), seen(&raw));
    }
}
