use super::*;

const OLD_TEXT: &str = "\
type: orchestration
version: \"1.0\"
pipeline:
  components:
    Call:
      type: run-orchestration
      parameters: { orchestrationJob: load }
      transitions: { unconditional: [ Done ] }
    Done:
      type: end-success
      parameters: { note: load }
  variables:
    day: { metadata: { type: TEXT }, defaultValue: load }
design:
  components: { Done: { x: 1 } }
";

/// Returns whether a file with this text has only the new value of the call.
fn has_only_new_values(new_text: &str) -> bool {
    let facts = PipelineFacts::parse(OLD_TEXT.as_bytes()).unwrap();
    let fix = ProposedFix {
        position: Position { line: 7, column: 39 },
        old_value: "load".to_owned(),
        new_value: "sales/load".to_owned(),
    };
    let file = FixedFile {
        path: "main.orch.yaml".to_owned(),
        old_bytes: OLD_TEXT.as_bytes().to_vec(),
        new_bytes: new_text.as_bytes().to_vec(),
        values: vec![FixedValue {
            rule: "project/call".to_owned(),
            about: Some("Call".to_owned()),
            severity: Severity::Error,
            fix,
        }],
        facts,
        replacements: BTreeMap::new(),
    };
    file.has_only_new_values()
}

#[test]
fn file_with_another_difference_than_the_new_value_is_no_fix() {
    let fixed_text = OLD_TEXT.replace("Job: load", "Job: sales/load");
    assert!(has_only_new_values(&fixed_text));
    assert!(!has_only_new_values(OLD_TEXT), "nothing changed");
    for (old, new) in [
        ("x: 1", "x: 2"),
        ("version: \"1.0\"", "version: \"2.0\""),
        ("defaultValue: load", "defaultValue: sales/load"),
        ("[ Done ]", "[ ]"),
        ("[ Done ]", "[ Call ]"),
        ("note: load", "note: other"),
        ("note: load", "other: load"),
    ] {
        assert!(fixed_text.contains(old), "{old}");
        assert!(!has_only_new_values(&fixed_text.replace(old, new)), "{new}");
    }
}
