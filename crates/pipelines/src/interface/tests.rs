use super::interface_change_kind::EFFECTS;
use super::*;
use crate::pipelines::SharedPipelines;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn interface(yaml: &str) -> Interface {
    Interface::new(
        ".platform/shared-pipelines.yaml",
        SharedPipelines::parse(yaml.as_bytes()).unwrap(),
    )
}

fn changes(old: &str, new: &str) -> Vec<InterfaceChange> {
    compare_interfaces(&interface(old), &interface(new), &ChangedKinds::default())
}

/// Returns an entry with these lines in addition to its id, and parameters.
fn entry(id: &str, lines: &[&str], parameters: &[&str]) -> String {
    let mut yaml = format!("- id: {id}\n");
    for line in lines {
        let _ = writeln!(yaml, "  {line}");
    }
    if !lines.iter().any(|line| line.starts_with("pipeline:")) {
        yaml += "  pipeline: a.orch.yaml\n";
    }
    if !parameters.is_empty() {
        yaml += "  parameters:\n";
    }
    for parameter in parameters {
        let _ = writeln!(yaml, "    {parameter}");
    }
    yaml
}

fn file(entries: &[String]) -> String {
    format!("pipelines:\n{}", entries.concat())
}

fn one(lines: &[&str], parameters: &[&str]) -> String {
    file(&[entry("a", lines, parameters)])
}

/// Returns the rows of the table: before, after, and the expected changes.
#[expect(clippy::too_many_lines, reason = "one table")]
fn rows() -> Vec<(String, String, Vec<InterfaceChangeKind>)> {
    use InterfaceChangeKind::*;
    let a = || entry("a", &[], &[]);
    let b = || entry("b", &[], &[]);
    let p = |written: &str| one(&[], &[written]);
    let grid = |columns: &str| p(&format!("g: {{ type: GRID, columns: {{ {columns} }} }}"));
    vec![
        (file(&[a(), b()]), file(&[a()]), vec![PipelineRemoved]),
        (
            file(&[a()]),
            file(&[entry("a", &["enabled: false"], &[])]),
            vec![PipelineDisabled],
        ),
        (
            file(&[a()]),
            file(&[entry("A", &[], &[])]),
            vec![PipelineAdded, PipelineRemoved],
        ),
        (
            file(&[a()]),
            one(&["pipeline: a.tran.yaml"], &[]),
            vec![KindChanged, PathChanged],
        ),
        (
            p("x: { type: TEXT, default: 1 }"),
            one(&[], &[]),
            vec![ParameterRemoved],
        ),
        (
            p("x: { type: TEXT, default: 1 }"),
            p("X: { type: TEXT, default: 1 }"),
            vec![ParameterAdded, ParameterRemoved],
        ),
        (
            p("x: { type: TEXT }"),
            p("x: { type: NUMERIC }"),
            vec![TypeChanged],
        ),
        (p("x: { type: NUMBER }"), p("x: { type: NUMERIC }"), vec![]),
        (
            p("x: { exportAllowed: true }"),
            p("x: { exportAllowed: false }"),
            vec![ExportWithdrawn],
        ),
        (p("x: { exportAllowed: true }"), p("x: {}"), vec![ExportWithdrawn]),
        (grid("c: { columnType: TEXT }"), grid(""), vec![ColumnRemoved]),
        (
            grid("c: { columnType: TEXT }"),
            grid("d: { columnType: TEXT }"),
            vec![ColumnAdded, ColumnRemoved],
        ),
        (
            grid("c: { columnType: TEXT }"),
            grid("c: { columnType: NUMBER }"),
            vec![ColumnTypeChanged],
        ),
        (
            grid("c: { columnType: NUMERIC }"),
            grid("c: { columnType: NUMBER }"),
            vec![],
        ),
        (
            grid("c: { columnType: TEXT }"),
            p("g: { type: TEXT }"),
            vec![TypeChanged],
        ),
        (one(&[], &[]), p("x: { type: TEXT }"), vec![ParameterRequired]),
        (
            one(&[], &[]),
            p("x: { type: TEXT, default: ~ }"),
            vec![ParameterRequired],
        ),
        (
            p("x: { default: '' }"),
            p("x: { default: ~ }"),
            vec![DefaultRemoved],
        ),
        (file(&[a()]), file(&[b(), a()]), vec![PipelineAdded]),
        (
            file(&[entry("a", &["enabled: false"], &[])]),
            file(&[a()]),
            vec![PipelineAdded],
        ),
        (
            one(&[], &[]),
            p("x: { type: TEXT, default: '' }"),
            vec![ParameterAdded],
        ),
        (grid("c: {}"), grid("d: {}, c: {}"), vec![ColumnAdded]),
        (p("x: {}"), p("x: { exportAllowed: true }"), vec![ExportAllowed]),
        (p("x: { default: ~ }"), p("x: { default: 0 }"), vec![DefaultAdded]),
        (
            p("x: { default: 1 }"),
            p("x: { default: 2 }"),
            vec![DefaultChanged],
        ),
        (
            file(&[a()]),
            one(&["description: new"], &[]),
            vec![DescriptionChanged],
        ),
        (
            p("x: { description: a }"),
            p("x: { description: b }"),
            vec![ParameterDescriptionChanged],
        ),
        (file(&[a()]), one(&["displayName: A"], &[]), vec![NameChanged]),
        (
            file(&[a()]),
            one(&["pipeline: b/a.orch.yaml"], &[]),
            vec![PathChanged],
        ),
        (file(&[a()]), one(&["enabled: true"], &[]), vec![]),
        (
            file(&[a()]),
            file(&[a(), entry("c", &["enabled: false"], &[])]),
            vec![],
        ),
    ]
}

#[test]
fn each_change_kind_is_detected() {
    for (old, new, expected) in rows() {
        let found: Vec<InterfaceChangeKind> = changes(&old, &new).iter().map(|change| change.kind).collect();
        assert_eq!(found, expected, "{old}---\n{new}");
        for change in changes(&old, &new) {
            assert_eq!(change.class, change.kind.effect().class);
            let is_added = matches!(
                change.kind,
                InterfaceChangeKind::PipelineAdded
                    | InterfaceChangeKind::ParameterAdded
                    | InterfaceChangeKind::ColumnAdded
            );
            assert_eq!(change.old.is_none(), is_added, "{change:?}");
            assert_eq!(
                change.new.is_none(),
                change.kind == InterfaceChangeKind::PipelineRemoved,
                "{change:?}"
            );
        }
    }
}

#[test]
fn each_change_kind_has_one_effect_and_one_test() {
    let rows: BTreeSet<InterfaceChangeKind> = EFFECTS.iter().map(|row| row.kind).collect();
    assert_eq!(rows.len(), EFFECTS.len());
    let files = [
        InterfaceChangeKind::FileAdded,
        InterfaceChangeKind::FileModified,
        InterfaceChangeKind::FileRemoved,
    ];
    let met: BTreeSet<InterfaceChangeKind> = self::rows()
        .into_iter()
        .flat_map(|row| row.2)
        .chain(files)
        .collect();
    assert_eq!(met, rows);
}

#[test]
fn total_class_is_most_important_class() {
    let class =
        |old: &str, new: &str| Compatibility::new(ComparedVersion::default(), changes(old, new)).class;
    let plain = one(&[], &["x: { default: 1 }"]);
    let table = [
        (one(&[], &["x: { default: 1 }"]), ChangeClass::None),
        (
            one(&["description: d"], &["x: { default: 2 }"]),
            ChangeClass::Content,
        ),
        (
            one(&["description: d"], &["x: { default: 1 }", "y: { default: 2 }"]),
            ChangeClass::Addition,
        ),
        (one(&[], &["y: { default: 2 }"]), ChangeClass::Breaking),
    ];
    for (new, expected) in table {
        assert_eq!(class(&plain, &new), Some(expected), "{new}");
    }
    let content = Compatibility::new(
        ComparedVersion::default(),
        vec![InterfaceChange::for_file(InterfaceChangeKind::FileAdded, "a.sql")],
    );
    assert_eq!(content.class, Some(ChangeClass::Content));
}

#[test]
fn change_has_locations_on_both_sides() {
    let old = file(&[
        entry("b", &[], &[]),
        entry("a", &[], &["x: { type: TEXT }", "y: { type: TEXT }"]),
    ]);
    let new = file(&[entry("a", &[], &["y: { type: GRID }", "z: { type: TEXT }"])]);
    let against = ComparedVersion {
        version: Some("1.0.0".to_owned()),
        commit: None,
    };
    let compat = Compatibility::new(against, changes(&old, &new));
    insta::assert_snapshot!(list_changes(&compat).join("\n"), @"
    breaks:
      .platform/shared-pipelines.yaml:5: `a`: the type of the parameter `y` changed from `TEXT` to `GRID`; consumers: set a value of the new type (before: .platform/shared-pipelines.yaml:8 in version 1.0.0)
      .platform/shared-pipelines.yaml:6: `a`: the parameter `z` is new and has no default; consumers: set the parameter (before: .platform/shared-pipelines.yaml:4 in version 1.0.0)
      .platform/shared-pipelines.yaml:2: `a`: the parameter `x` was removed; consumers: stop setting the parameter, or set its replacement (before: .platform/shared-pipelines.yaml:7 in version 1.0.0)
      .platform/shared-pipelines.yaml:2 in version 1.0.0: `b`: the shared pipeline is no longer offered; consumers: run another shared pipeline, or request a version that still offers this pipeline
    ");
    assert_eq!(summarize_changes(&compat), "4 breaks");
}

#[test]
fn values_from_outside_stay_text() {
    let evil = "\\e[31m\\n::error::{after}##[x]";
    let old = one(&[], &[&format!("\"{evil}\": {{ type: TEXT }}")]);
    let compat = Compatibility::new(ComparedVersion::default(), changes(&old, &one(&[], &[])));
    let told = list_changes(&compat).join("\n");
    assert!(told.contains("{after}"), "a name is no placeholder: {told}");
    assert!(!told.contains('\u{1b}') && !told.contains("##["), "{told}");
    assert!(
        told.lines().all(|line| !line.trim_start().starts_with("::")),
        "{told}"
    );
}

#[test]
fn recorded_change_is_read_back_and_other_text_is_rejected() {
    let compat = Compatibility::new(
        ComparedVersion::default(),
        changes(&one(&[], &["x: {}"]), &one(&[], &[])),
    );
    let json = serde_json::to_string(&compat).unwrap();
    assert_eq!(serde_json::from_str::<Compatibility>(&json).unwrap(), compat);
    for (from, to) in [
        ("parameter-removed", "parameter-lost"),
        ("breaking", "broken"),
        ("\"against\"", "\"other\""),
    ] {
        assert!(
            serde_json::from_str::<Compatibility>(&json.replace(from, to)).is_err(),
            "{to}"
        );
    }
}

#[test]
fn comparison_of_ids_reports_only_removed_ids() {
    let found = |old: &[&str], new: &[&str]| {
        let old: Vec<String> = old.iter().map(|id| (*id).to_owned()).collect();
        let compat = Compatibility::from_ids(ComparedVersion::default(), &old, &new.iter().copied());
        assert!(compat.ids_only);
        (compat.class, summarize_changes(&compat))
    };
    let rest = "the parameters were not compared";
    assert_eq!(
        found(&["a", "b"], &["a"]),
        (Some(ChangeClass::Breaking), format!("1 break; {rest}"))
    );
    assert_eq!(found(&["a"], &["a", "b"]), (None, format!("1 addition; {rest}")));
    assert_eq!(
        found(&["a"], &["a"]),
        (None, format!("no id was removed; {rest}"))
    );
}

#[test]
fn addition_has_no_old_location_and_removal_has_old_one() {
    let old = file(&[
        entry("a", &[], &["g: { type: GRID, columns: { c: {} } }"]),
        entry("gone", &[], &[]),
    ]);
    let new = file(&[
        entry(
            "a",
            &[],
            &[
                "g: { type: GRID, columns: { c: {}, d: {} } }",
                "p: { default: 1 }",
                "q: {}",
            ],
        ),
        entry("b", &[], &[]),
    ]);
    let lines: Vec<String> = changes(&old, &new)
        .iter()
        .map(|it| it.format_line("version 1"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    .platform/shared-pipelines.yaml:5: `a`: the column `d` of the parameter `g` is new; consumers: the grid can contain the column
    .platform/shared-pipelines.yaml:6: `a`: the parameter `p` is new, with a default; consumers: the parameter can be set
    .platform/shared-pipelines.yaml:7: `a`: the parameter `q` is new and has no default; consumers: set the parameter (before: .platform/shared-pipelines.yaml:2 in version 1)
    .platform/shared-pipelines.yaml:8: `b`: the shared pipeline is new; consumers: the shared pipeline can be run
    .platform/shared-pipelines.yaml:6 in version 1: `gone`: the shared pipeline is no longer offered; consumers: run another shared pipeline, or request a version that still offers this pipeline
    ");
}

/// One parameter: type, default, export, columns.
type P = (u8, Option<u8>, bool, Vec<u8>);

fn written(entries: &[(u8, Vec<(u8, P)>)], turned: bool) -> String {
    let turn = |mut lines: Vec<String>| {
        if turned {
            lines.reverse();
        }
        lines
    };
    let entries = entries.iter().map(|(id, parameters)| {
        let parameters = parameters.iter().map(|(name, (kind, default, export, columns))| {
            let columns = columns
                .iter()
                .map(|c| format!("c{c}: {{ columnType: T{} }}", c % 3));
            let columns = turn(columns.collect()).join(", ");
            let default = default.map(|d| format!(", default: {d}")).unwrap_or_default();
            format!(
                "p{name}: {{ type: T{kind}, exportAllowed: {export}{default}, columns: {{ {columns} }} }}"
            )
        });
        entry(
            &format!("i{id}"),
            &[],
            &turn(parameters.collect())
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )
    });
    let entries = turn(entries.collect());
    if entries.is_empty() {
        return "pipelines: []\n".to_owned();
    }
    file(&entries)
}

fn any_entries() -> impl Strategy<Value = Vec<(u8, Vec<(u8, P)>)>> {
    let columns = proptest::collection::btree_set(0..5_u8, 0..4).prop_map(|set| set.into_iter().collect());
    let parameter = (0..3_u8, proptest::option::of(0..3_u8), any::<bool>(), columns);
    let parameters = proptest::collection::btree_map(0..4_u8, parameter, 0..4);
    proptest::collection::btree_map(
        0..5_u8,
        parameters.prop_map(|map| map.into_iter().collect()),
        0..5,
    )
    .prop_map(|map| map.into_iter().collect())
}

proptest! {
    #[test]
    fn reordered_file_has_no_changes(entries in any_entries()) {
        let (one, other) = (written(&entries, false), written(&entries, true));
        prop_assert_eq!(changes(&one, &other), vec![]);
        let meaning = |yaml: &str| SharedPipelines::parse_canonical_text(yaml.as_bytes()).unwrap();
        prop_assert_eq!(meaning(&one), meaning(&other));
    }

    #[test]
    fn reversed_addition_is_break(a in any_entries(), b in any_entries()) {
        let (a, b) = (written(&a, false), written(&b, false));
        let classes = |old, new| changes(old, new).into_iter().map(|it| it.class).collect::<Vec<_>>();
        let (there, back) = (classes(&a, &b), classes(&b, &a));
        if there.contains(&ChangeClass::Addition) {
            prop_assert!(back.contains(&ChangeClass::Breaking));
        }
        prop_assert_eq!(there.is_empty(), back.is_empty());
    }
}

#[test]
fn empty_default_is_described() {
    let default = |value: &str| one(&[], &[&format!("x: {{ type: TEXT, default: '{value}' }}")]);
    for (old, new, description) in [
        ("", "80", "changed from an empty text to `80`"),
        ("80", "", "changed from `80` to an empty text"),
        ("80", "90", "changed from `80` to `90`"),
    ] {
        let changes = changes(&default(old), &default(new));
        assert!(
            changes[0].describe().ends_with(description),
            "{}",
            changes[0].describe()
        );
    }
}
