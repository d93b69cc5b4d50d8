use super::*;
use sluicegate_pipelines::diff::{PipelineVersions, compare_versions};

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
fn is_fixed_text(new_text: &str) -> bool {
    let fix = ProposedFix {
        position: Position { line: 7, column: 39 },
        old_value: "load".to_owned(),
        new_value: "sales/load".to_owned(),
    };
    let value = FixedValue {
        rule: "project/call".to_owned(),
        about: Some("Call".to_owned()),
        severity: Severity::Error,
        fix,
    };
    let diff = compare_versions(&PipelineVersions {
        path: "main.orch.yaml",
        previous_path: None,
        base: Some(Ok(OLD_TEXT.as_bytes())),
        head: Some(Ok(new_text.as_bytes())),
    });
    has_only_new_values(&diff, &[value])
}

#[test]
fn file_with_another_difference_than_the_new_value_is_no_fix() {
    let fixed_text = OLD_TEXT.replace("Job: load", "Job: sales/load");
    assert!(is_fixed_text(&fixed_text));
    assert!(!is_fixed_text(OLD_TEXT), "nothing changed");
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
        assert!(!is_fixed_text(&fixed_text.replace(old, new)), "{new}");
    }
}
