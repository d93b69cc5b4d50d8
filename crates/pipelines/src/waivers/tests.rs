use super::*;
use crate::findings::{FileResults, FindingState, RuleResult, Severity, Status, Violation};
use crate::project::CheckLevels;
use jiff::civil::{Date, date};
use proptest::prelude::*;

const TODAY: Date = date(2027, 3, 31);

fn entries(text: &str) -> Vec<WaiverEntry> {
    let placed = parse_waivers_file(text.as_bytes(), &|_| true).unwrap();
    placed.into_iter().map(|placed| placed.entry).collect()
}

fn refused(text: &str) -> String {
    let knows = |rule: &str| crate::rules::find_rule(rule).is_some();
    parse_waivers_file(text.as_bytes(), &knows)
        .unwrap_err()
        .to_string()
}

fn failed(rule: &str, violations: Vec<Violation>) -> RuleResult {
    RuleResult::new(rule.to_owned(), Status::Failed(Severity::Error), None, violations)
}

fn about(name: &str) -> Violation {
    Violation {
        about: Some(name.to_owned()),
        ..Violation::new(format!("{name} is wrong"))
    }
}

fn counted(size: u64) -> Violation {
    Violation {
        size: Some(size),
        ..Violation::new(format!("{size} components"))
    }
}

fn file(path: &str, results: Vec<RuleResult>) -> FileResults {
    FileResults {
        path: path.to_owned(),
        results,
        is_reviewed: true,
    }
}

/// Returns the states of the first result of each file (an empty list if it has no waiver), and the text of its first
/// violation.
fn marked(text: &str, mut files: Vec<FileResults>) -> Vec<(Vec<Option<FindingState>>, Option<String>)> {
    Waivers::new(entries(text))
        .unwrap()
        .mark_findings(&mut files, &OldNames::default(), TODAY);
    let first = |file: &FileResults| {
        let result = &file.results[0];
        let mut states: Vec<_> = result.states().collect();
        if (0..states.len()).all(|index| result.waiver(index).is_none()) {
            states.clear();
        }
        (states, result.describe_waiver(0))
    };
    files.iter().map(first).collect()
}

#[test]
fn invalid_waiver_is_rejected_with_position_and_suggestion() {
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: r, untill: 2027-01-01 }"), @"unknown key `untill`: did you mean `until`? (line 1, column 50)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: r, zzz: 1 }"), @"unknown key `zzz`: valid keys are `rule`, `path`, `about`, `size`, `reason`, `owner`, `until` (line 1, column 50)");
    insta::assert_snapshot!(refused("- { rule: project/calls, path: a, reason: r }"), @"there is no rule `project/calls`: did you mean `project/call`? (line 1, column 11)");
    insta::assert_snapshot!(refused("# x\n- { rule: unused-component, path: a, reason: r }"), @"there is no rule `unused-component`: did you mean `unused-components`? (line 2, column 11)");
    insta::assert_snapshot!(refused("- { path: a, reason: r }"), @"the waiver has no `rule` (line 1, column 3)");
    insta::assert_snapshot!(refused("- { rule: unused-components, reason: r }"), @"the waiver has no `path` (line 1, column 3)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a }"), @"the waiver has no `reason` (line 1, column 3)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: ' ' }"), @"`reason` is empty or not a string (line 1, column 47)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: 'a[', reason: r }"), @"the glob `a[` is not valid: unclosed character class; missing ']' (line 1, column 36)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: r, until: 2027-02-30 }"), @"`2027-02-30` is not a date such as 2027-03-31 (line 1, column 57)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: r, until: 20270101 }"), @"`20270101` is not a date such as 2027-03-31 (line 1, column 57)");
    insta::assert_snapshot!(refused("- { rule: unused-components, path: a, reason: r, size: 3 }"), @"`size` is valid only for rules that compare a number with a limit (line 1, column 56)");
    insta::assert_snapshot!(refused("- { rule: maximum-components, path: a, reason: r, size: many }"), @"`size` must be a non-negative integer (line 1, column 57)");
    insta::assert_snapshot!(refused("- { rule: maximum-components, path: a, reason: r, about: x }"), @"a waiver for a rule with a limit cannot name a component: remove `about` (line 1, column 58)");
    insta::assert_snapshot!(refused("rule: unused-components"), @"the file is not a list of waivers (line 1, column 1)");
    insta::assert_snapshot!(refused("- unused-components"), @"a waiver must be a map such as `{ rule: …, path: …, reason: … }` (line 1, column 3)");
}

#[test]
fn empty_file_has_no_waivers() {
    for text in ["", "# none yet\n", "---\n\n"] {
        assert_eq!(entries(text), [], "{text:?}");
    }
}

#[test]
fn waiver_matches_finding_by_rule_path_and_name() {
    let text = "- { rule: r, path: 'sales/*.yaml', about: A b, reason: old }\n";
    let found = marked(
        text,
        vec![
            file("sales/a.yaml", vec![failed("r", vec![about("A b"), about("A")])]),
            file("sales/x/a.yaml", vec![failed("r", vec![about("A b")])]),
            file("sales/b.yaml", vec![failed("s", vec![about("A b")])]),
        ],
    );
    assert_eq!(
        found,
        [
            (
                vec![Some(FindingState::Waived), None],
                Some("waived: old".to_owned())
            ),
            (vec![], None),
            (vec![], None)
        ]
    );
}

#[test]
fn waiver_with_size_allows_sizes_up_to_it() {
    let text = "- { rule: maximum-components, path: '*', size: 7, reason: r }\n- { rule: minimum-components, path: '*', size: 7, reason: r }\n";
    for (rule, size, is_waived) in [
        ("maximum-components", 7, true),
        ("maximum-components", 8, false),
        ("minimum-components", 7, true),
        ("minimum-components", 6, false),
    ] {
        let found = marked(text, vec![file("a", vec![failed(rule, vec![counted(size)])])]);
        assert_eq!(
            found[0].0 == [Some(FindingState::Waived)],
            is_waived,
            "{rule} {size}"
        );
    }
    let unknown = marked(
        text,
        vec![file(
            "a",
            vec![failed("maximum-components", vec![Violation::new("many")])],
        )],
    );
    assert_eq!(unknown[0].0, []);
}

#[test]
fn waiver_is_valid_on_its_last_day_and_not_after() {
    let of = |until: &str| {
        let text = format!("- {{ rule: r, path: a, reason: old, until: {until} }}\n");
        marked(&text, vec![file("a", vec![failed("r", vec![about("x")])])]).remove(0)
    };
    assert_eq!(
        of("2027-03-31"),
        (
            vec![Some(FindingState::Waived)],
            Some("waived until 2027-03-31: old".to_owned())
        )
    );
    assert_eq!(
        of("2027-03-30"),
        (
            vec![None],
            Some("no longer waived since 2027-03-31: old".to_owned())
        )
    );
    // A valid waiver takes precedence over an expired one.
    let both =
        "- { rule: r, path: a, reason: old, until: 2027-03-30 }\n- { rule: r, path: a, reason: again }\n";
    let found = marked(both, vec![file("a", vec![failed("r", vec![about("x")])])]);
    assert_eq!(found[0].1.as_deref(), Some("waived: again"));
    // Of several valid waivers, the first one is shown.
    let valid = "- { rule: r, path: a, reason: first }\n- { rule: r, path: '**', reason: second }\n";
    let found = marked(valid, vec![file("a", vec![failed("r", vec![about("x")])])]);
    assert_eq!(found[0].1.as_deref(), Some("waived: first"));
}

#[test]
fn evaluation_error_is_waived_only_if_pipeline_causes_it() {
    for (error_type, is_waived) in [
        (Some("designer/no-start-component"), true),
        (Some("designer/document-parse-error"), false),
        (None, false),
    ] {
        let result = RuleResult {
            status: Status::Error(error_type.map(str::to_owned)),
            ..failed("r", vec![])
        };
        let found = marked(
            "- { rule: r, path: a, reason: old }",
            vec![file("a", vec![result])],
        );
        assert_eq!(
            found[0].0 == [Some(FindingState::Waived)],
            is_waived,
            "{error_type:?}"
        );
    }
}

#[test]
fn waiver_is_unneeded_only_if_all_its_files_were_evaluated() {
    let text = "- { rule: r, path: a, reason: x }\n- { rule: r, path: '*', reason: x }\n- { rule: r, path: gone, reason: x }\n- { rule: s, path: a, reason: x }\n- { rule: project/call, path: a, reason: x }\n";
    let waivers = Waivers::new(entries(text)).unwrap();
    let passed = RuleResult {
        status: Status::Passed,
        ..failed("r", vec![])
    };
    let mut files = vec![file("a", vec![passed])];
    let met = waivers.mark_findings(&mut files, &OldNames::default(), TODAY);
    let vain = |there: &[&str], is_whole, checked| -> Vec<bool> {
        let there = ExistingFiles {
            pipelines: there.iter().map(|path| (*path).to_owned()).collect(),
            other_files: vec!["other".to_owned()],
            is_complete: is_whole,
            check_levels: checked,
        };
        let standings = waivers.compute_statuses(&met, &files, &there, TODAY);
        standings.into_iter().map(WaiverStatus::is_unneeded).collect()
    };
    assert_eq!(
        vain(&["a", "b"], false, CheckLevels::default()),
        [true, false, false, false, true]
    );
    assert_eq!(
        vain(&["a"], true, CheckLevels::ALL_OFF),
        [true, true, true, false, false]
    );
}

#[test]
fn waiver_of_rule_that_was_not_evaluated_is_not_unneeded() {
    let waivers = Waivers::new(entries("- { rule: r, path: a, about: x, reason: y }\n")).unwrap();
    for (status, is_unneeded) in [(Status::Passed, true), (Status::Error(None), false)] {
        let result = RuleResult {
            status: status.clone(),
            ..failed("r", vec![])
        };
        let mut files = vec![file("a", vec![result])];
        let matches = waivers.mark_findings(&mut files, &OldNames::default(), TODAY);
        let existing_files = ExistingFiles {
            pipelines: vec!["a".to_owned()],
            other_files: Vec::new(),
            is_complete: true,
            check_levels: CheckLevels::ALL_OFF,
        };
        let statuses = waivers.compute_statuses(&matches, &files, &existing_files, TODAY);
        assert_eq!(statuses[0].is_unneeded(), is_unneeded, "{status:?}");
    }
}

#[test]
fn added_entry_is_in_order_and_other_lines_stay() {
    let text = "# Waivers of the gate.\n- { rule: b, path: p, reason: r } # why\n\n# about d\n- rule: d\n  path: p\n  # in it\n  reason: r\n# the end\n";
    let more = entries(
        "- { rule: c, path: '**/x y.yaml', about: 'it: \"is\"', reason: r, owner: o, until: 2027-01-02 }\n- { rule: e, path: p, reason: r }\n- { rule: a, path: p, reason: r }",
    );
    insta::assert_snapshot!(add_entries(text, &more).unwrap(), @r#"
    # Waivers of the gate.
    - { rule: a, path: p, reason: r }
    - { rule: b, path: p, reason: r } # why

    - { rule: c, path: "**/x y.yaml", about: "it: \"is\"", reason: r, owner: o, until: 2027-01-02 }
    # about d
    - rule: d
      path: p
      # in it
      reason: r
    - { rule: e, path: p, reason: r }
    # the end
    "#);
    insta::assert_snapshot!(remove_entries(text, &[false, true]).unwrap(), @"
    # Waivers of the gate.
    - { rule: b, path: p, reason: r } # why

    # about d
    # the end
    ");
    assert_eq!(
        add_entries("", &entries("- { rule: a, path: p, reason: r }")).unwrap(),
        "- { rule: a, path: p, reason: r }\n"
    );
}

#[test]
fn entry_is_added_after_byte_order_mark() {
    let old = "- { rule: b, path: p, reason: r }\n";
    let new = "- { rule: a, path: p, reason: r }\n";
    let edited = add_entries(&format!("\u{feff}{old}"), &entries(new)).unwrap();
    assert_eq!(edited, format!("\u{feff}{new}{old}"));
    let removed = remove_entries(&edited, &[true, false]).unwrap();
    assert_eq!(removed, format!("\u{feff}{old}"));
}

#[test]
fn entry_replaces_empty_brackets() {
    let new = "- { rule: a, path: p, reason: r }\n";
    for (text, edited) in [
        ("[]\n", new.to_owned()),
        ("# none\n---\n[] # yet\n", format!("# none\n---\n# yet\n{new}")),
        ("--- []\n", format!("---\n{new}")),
        ("&a [ ]\n", format!("&a\n{new}")),
        ("\u{feff}[\n]\n", format!("\u{feff}{new}")),
    ] {
        assert_eq!(add_entries(text, &entries(new)).unwrap(), edited);
    }
}

#[test]
fn line_of_reason_that_looks_like_comment_stays_in_its_entry() {
    let first = "- rule: a\n  path: p\n  reason: |\n    old jobs\n    #12 replaces them\n";
    let last = "# about z\n- { rule: z, path: p, reason: r }\n";
    let more = entries("- { rule: m, path: p, reason: r }");
    assert_eq!(
        add_entries(&format!("{first}{last}"), &more).unwrap(),
        format!("{first}- {}\n{last}", more[0])
    );
    assert_eq!(
        add_entries(first, &more).unwrap(),
        format!("{first}- {}\n", more[0])
    );
    assert_eq!(
        remove_entries(&format!("{first}{last}"), &[true, false]).unwrap(),
        last
    );
    // A comment may be indented like the entry above it.
    let comment = "  # about z\n";
    assert_eq!(
        remove_entries(&format!("{first}\n{comment}{last}"), &[true, false]).unwrap(),
        format!("\n{comment}{last}")
    );
    assert_eq!(
        remove_entries(&format!("{first}{comment}{last}{comment}"), &[true, true]).unwrap(),
        format!("{comment}# about z\n{comment}")
    );
}

#[test]
fn file_without_entries_on_separate_lines_is_not_edited() {
    let one = entries("- { rule: a, path: p, reason: r }");
    for text in [
        "[{ rule: a, path: p, reason: r }]\n",
        "---\n[{ rule: b, path: p, reason: r }, { rule: c, path: p, reason: r }]\n",
        "---\n[\n{ rule: b, path: p, reason: r },\n{ rule: c, path: p, reason: r }]\n",
        "[ # none\n]\n",
    ] {
        assert_eq!(
            add_entries(text, &one),
            Err(EditError::UnsupportedForm),
            "{text:?}"
        );
    }
    assert_eq!(
        remove_entries("[{ rule: a, path: p, reason: r }]\n", &[true]),
        Err(EditError::UnsupportedForm)
    );
    assert!(matches!(add_entries("- {", &one), Err(EditError::Unreadable(_))));
}

fn any_entry() -> impl Strategy<Value = WaiverEntry> {
    let word = || "[a-z]{1,3}|\\PC{1,12}|[ '\"#:,{}\\[\\]&*!|>%@`~?-]{1,6}|null|1.5|[\\x00-\\x1f\u{85}\u{2028}a]{1,4}";
    let text = move || word().prop_filter("a text", |text: &String| !text.trim().is_empty());
    let about = proptest::option::of(text());
    let until = proptest::option::of((1..28_i8).prop_map(|day| date(2027, 1, day)));
    (
        text(),
        "[a-z*/.]{1,6}",
        about,
        text(),
        proptest::option::of(text()),
        until,
    )
        .prop_map(|(rule, path, about, reason, owner, until)| WaiverEntry {
            rule,
            path,
            about,
            size: None,
            reason,
            owner,
            last_day: until,
        })
        .prop_filter("a glob", |entry| {
            sluicegate_base::globs::parse_glob(&entry.path).is_ok() && !entry.path.trim().is_empty()
        })
}

proptest! {
    #[test]
    fn written_entry_is_read_back_unchanged(entry in any_entry()) {
        let text = format!("- {entry}\n");
        prop_assert_eq!(text.lines().count(), 1);
        prop_assert_eq!(entries(&text), [entry]);
    }

    #[test]
    fn edit_keeps_bytes_of_other_entries(
        had in proptest::collection::vec((any_entry(), "(# [a-z]{0,5}\n|\n){0,2}"), 0..6),
        more in proptest::collection::vec(any_entry(), 1..4),
        goes in proptest::collection::vec(any::<bool>(), 6),
        indent in " {0,2}",
    ) {
        let lines = |(entry, comment): &(WaiverEntry, String)| format!("{comment}{indent}- {entry}\n");
        let text = had.iter().map(lines).collect::<Vec<_>>().concat();
        let added = add_entries(&text, &more).unwrap();
        let new: Vec<String> = more.iter().map(|entry| format!("{indent}- {entry}")).collect();
        let plain: Vec<String> = more.iter().map(|entry| format!("- {entry}")).collect();
        let left: Vec<&str> = added.lines().filter(|line| !new.iter().chain(&plain).any(|new| new == line)).collect();
        let was: Vec<&str> = text.lines().filter(|line| !new.iter().chain(&plain).any(|new| new == line)).collect();
        prop_assert_eq!(left, was);
        let removed = remove_entries(&text, &goes).unwrap();
        let left = had.iter().zip(&goes).map(|(item, goes)| if *goes { item.1.clone() } else { lines(item) });
        prop_assert_eq!(removed, left.collect::<Vec<_>>().concat());
    }

    #[test]
    fn reading_and_editing_of_any_text_never_panic(text in "\\PC{0,60}|(- \\{ ?|rule: a|, |path: b|reason: c| \\}|\n|#){0,12}") {
        let _ = parse_waivers_file(text.as_bytes(), &|_| true);
        let _ = add_entries(&text, &[]);
        let _ = remove_entries(&text, &[true, false]);
    }
}

#[test]
fn waiver_is_unneeded_if_its_removal_certainly_changes_nothing() {
    let is_unneeded = |is_matched: bool, is_expired: bool, is_conclusive: bool| {
        WaiverStatus {
            effect: is_matched.then_some(WaiverEffect::Allowed),
            is_expired,
            is_conclusive,
        }
        .is_unneeded()
    };
    let exceeded = |is_expired| WaiverStatus {
        effect: Some(WaiverEffect::Exceeded),
        is_expired,
        is_conclusive: true,
    };
    assert!(!exceeded(false).is_unneeded());
    assert!(exceeded(true).is_unneeded());
    assert!(is_unneeded(false, false, true));
    assert!(!is_unneeded(true, false, true));
    assert!(!is_unneeded(false, false, false));
    assert!(!is_unneeded(true, false, false));
    // An expired waiver that matches a finding does not allow it, whatever else was evaluated.
    assert!(is_unneeded(true, true, false));
    assert!(is_unneeded(false, true, true));
    assert!(is_unneeded(true, true, true));
    assert!(!is_unneeded(false, true, false));
}

#[test]
fn added_entry_is_after_those_about_the_same_subject() {
    let text = "- { rule: b, path: p, reason: older }\n- { rule: c, path: p, reason: r }\n";
    let more = entries("- { rule: b, path: p, reason: newer }");
    assert_eq!(
        add_entries(text, &more).unwrap(),
        "- { rule: b, path: p, reason: older }\n- { rule: b, path: p, reason: newer }\n- { rule: c, path: p, reason: r }\n"
    );
}

#[test]
fn waivers_keep_their_entries_and_match_only_their_paths() {
    let waivers = Waivers::new(entries("- { rule: r, path: 'sales/**', reason: y }\n")).unwrap();
    assert_eq!(waivers.entries().len(), 1);
    assert!(waivers.matches_path("sales/load.orch.yaml"));
    assert!(!waivers.matches_path("stock/load.orch.yaml"));
}
