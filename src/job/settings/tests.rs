//! Tests of the report of a changed configuration file, with the table of settings.

use super::find_known_setting;
use crate::job::policy::{ChangeDescription, GateFileVersion, compare_config_files};

fn of_settings(old: &GateFileVersion, new: &GateFileVersion) -> Vec<String> {
    ChangeDescription::from_differences(compare_config_files(old, new, &find_known_setting)).sentences
}

fn text(text: &str) -> GateFileVersion {
    GateFileVersion::Text(text.as_bytes().to_vec())
}

fn said(old: &str, new: &str) -> String {
    of_settings(&text(old), &text(new)).join("\n")
}

#[test]
fn change_of_setting_is_described_with_values_and_direction() {
    insta::assert_snapshot!(said(
        "review: { fail-on: error, comment: true }\nretries: 4\n",
        "review: { fail-on: never }\nretries: 1\n",
    ), @"
    retries: 4 → 1 (changed)
    review.comment: true → false (changed)
    review.fail-on: error → never (relaxed)
    ");
    insta::assert_snapshot!(said("", "review: { fail-on: WARN }"), @"review.fail-on: error → warn (tightened)");
    insta::assert_snapshot!(said("review: { on-unavailable: pass }", "{}"), @"review.on-unavailable: pass → fail (tightened)");
    insta::assert_snapshot!(said("publish: { require-review: r.json }", "{}"), @"publish.require-review: r.json → not set (relaxed)");
    insta::assert_snapshot!(said("{}", "publish: { require-review: r.json }"), @"publish.require-review: not set → r.json (tightened)");
    insta::assert_snapshot!(said("publish: { require-review: r.json }", "publish: { require-review: s.json }"), @"publish.require-review: r.json → s.json (changed)");
    insta::assert_snapshot!(said("publish: { on-ignored: disable }", "{}"), @"publish.on-ignored: disable → fail (relaxed)");
    insta::assert_snapshot!(said("publish: { smoke: [load] }", "{}"), @"publish.smoke: - load (relaxed)");
    insta::assert_snapshot!(said("{}", "publish: { on-smoke-failure: keep }"), @"publish.on-smoke-failure: disable → keep (relaxed)");
    insta::assert_snapshot!(said("publish: { on-ignored: disable }", "publish: { on-ignored: warn }"), @"publish.on-ignored: disable → warn (relaxed)");
}

#[test]
fn change_of_list_setting_is_described_by_its_entries() {
    insta::assert_snapshot!(said("exclude: [a]", "exclude: [a, old/**]"), @"exclude: + old/** (relaxed)");
    insta::assert_snapshot!(said("exclude: [a, b]", "exclude: [b]"), @"exclude: - a (tightened)");
    insta::assert_snapshot!(said("", "include: ['sales/**']"), @"include: + sales/**, - **/*.orch.yaml, - **/*.tran.yaml (relaxed)");
    insta::assert_snapshot!(said("include: ['sales/**']", ""), @"include: + **/*.orch.yaml, + **/*.tran.yaml, - sales/** (tightened)");
    insta::assert_snapshot!(said("include: ['**/*']", ""), @"include: + **/*.orch.yaml, + **/*.tran.yaml, - **/* (changed)");
    insta::assert_snapshot!(said("include: ['**/*.{orch,tran}.yaml']", "include: ['**/*']"), @"include: + **/*, - **/*.{orch,tran}.yaml (changed)");
    insta::assert_snapshot!(said("include: ['**/*']", "include: ['*/**']"), @"include: + */**, - **/* (relaxed)");
    insta::assert_snapshot!(said("", "include: ['**/*.orch.yaml']"), @"include: - **/*.tran.yaml (relaxed)");
    insta::assert_snapshot!(said("exclude: [a]", "exclude: [a]\nreview: { exclude: [a, b] }"), @"review.exclude: + b (relaxed)");
    insta::assert_snapshot!(said("exclude: [a]", "exclude: [a]\nreview: { exclude: [] }"), @"review.exclude: - a (tightened)");
    insta::assert_snapshot!(said("include: ['**']", "include: ['**']\nreview: { include: ['**', a] }"), @"review.include: + a (changed)");
    insta::assert_snapshot!(said("publish: { exclude: [a] }", "publish: {}"), @"publish.exclude: - a (changed)");
    insta::assert_snapshot!(said("review: { report: [json=a] }", "review: { report: [json=b] }"), @"review.report: + json=b, - json=a (changed)");
}

#[test]
fn equal_settings_are_reported_as_equal() {
    for (old, new) in [
        ("# words\nretries: 4\n", "retries: 4"),
        ("", "review: { fail-on: error }"),
        ("exclude: []", ""),
        ("", "review: \n"),
    ] {
        assert_eq!(said(old, new), "no setting has changed", "{old:?} {new:?}");
    }
}

#[test]
fn added_removed_or_unreadable_file_is_described() {
    let some = text("exclude: [a]");
    insta::assert_snapshot!(of_settings(&GateFileVersion::Missing, &some).join("\n"), @"
    the file is new
    exclude: + a (relaxed)
    ");
    insta::assert_snapshot!(of_settings(&some, &GateFileVersion::Missing).join("\n"), @"
    the file was removed
    exclude: - a (tightened)
    ");
    let broken = text("a: [\u{1b}");
    let said = of_settings(&some, &broken).join("\n");
    assert!(
        said.starts_with("the version of the change cannot be read: "),
        "{said}"
    );
    let link = GateFileVersion::Unreadable("it is a symbolic link\n::error::x".to_owned());
    insta::assert_snapshot!(of_settings(&link, &some).join("\n"), @"the version of the base cannot be read: it is a symbolic link ::error::x");
}

#[test]
fn text_of_file_is_escaped_and_bounded_without_secret() {
    let hostile = format!("exclude: [\"\\e[31m\\n::error::{}\"]", "x".repeat(5_000));
    let said_of = said("", &hostile);
    assert!(
        said_of.len() < 500 && !said_of.contains(['\u{1b}', '\n']),
        "{said_of}"
    );
    let many = (0..500).fold(String::new(), |text, n| text + &format!("k{n}: 1\n"));
    let said_of = of_settings(&GateFileVersion::Missing, &text(&many));
    assert_eq!(said_of.len(), 51);
    assert_eq!(said_of.last().unwrap(), "and 451 more");
    assert!(!said("", "token: hunter2").contains("hunter2"));
}
