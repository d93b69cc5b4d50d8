//! Documents that are pipelines, documents that are not, and how the parser handles real files.

use crate::support::{lines, one_rule, outcome, single_result};
use sluicegate_pipelines::pipelines::{LinkRole, Pipeline, PipelineKind, ReferenceKind, ReferenceTarget};
use sluicegate_yaml::{DocumentError, Position};

fn parse(text: &str) -> Pipeline {
    Pipeline::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

fn names(pipeline: &Pipeline) -> Vec<(&str, u32)> {
    let components = pipeline.components.iter();
    components.map(|c| (c.name.as_str(), c.position.line)).collect()
}

fn parse_error(bytes: &[u8]) -> (String, Option<(u32, u32)>) {
    let DocumentError { message, position } = Pipeline::parse(bytes).unwrap_err();
    (message, position.map(|Position { line, column }| (line, column)))
}

#[test]
fn empty_pipelines_are_read() {
    for text in [
        "type: orchestration\npipeline: {}",
        "type: orchestration\npipeline:",
        "pipeline: ~\ntype: 'transformation'",
        "type: \"transformation\"\nversion: null\npipeline: null\ndesign: null\n",
        "type: orchestration\npipeline:\n  components:\n  variables:\n",
        "type: orchestration\npipeline: {components: NULL, variables: ~}",
        "type: orchestration\npipeline: {variables: {}}",
        "{type: orchestration, pipeline: {components: {}}}",
        "---\ntype: orchestration\npipeline: {}\n...\n",
        "%YAML 1.2\n---\ntype: orchestration\npipeline: {}\n",
    ] {
        let pipeline = parse(text);
        assert!(
            pipeline.components.is_empty() && pipeline.variables.is_empty(),
            "{text}"
        );
    }
}

/// A document, its error message, and the place of the error.
const NO_PIPELINES: [(&str, &str, (u32, u32)); 31] = [
    ("", "the document is empty", (1, 1)),
    ("# only a comment\n", "the document is empty", (1, 1)),
    ("---\n", "a pipeline must be a map", (2, 1)),
    ("text", "a pipeline must be a map", (1, 1)),
    ("- type: orchestration", "a pipeline must be a map", (1, 1)),
    ("type: orchestration", "`pipeline` is missing", (1, 1)),
    ("pipeline: {}", "`type` is missing", (1, 1)),
    (
        "type: shared\npipeline: {}",
        "`type` must be `orchestration` or `transformation`, but is `shared`",
        (1, 7),
    ),
    (
        "type: Orchestration\npipeline: {}",
        "`type` must be `orchestration` or `transformation`, but is `Orchestration`",
        (1, 7),
    ),
    ("type:\npipeline: {}", "`type` must be `orchestration`", (1, 5)),
    (
        "pipeline: {}\ntype: [orchestration]",
        "`type` must be `orchestration`",
        (2, 7),
    ),
    (
        "type: orchestration\npipeline: []",
        "`pipeline` is not a map",
        (2, 11),
    ),
    (
        "type: orchestration\npipeline: 5",
        "`pipeline` is not a map",
        (2, 11),
    ),
    (
        "type: orchestration\npipeline: ''",
        "`pipeline` is not a map",
        (2, 11),
    ),
    (
        "type: orchestration\npipeline:\n  components: []",
        "`pipeline.components` is not a map",
        (3, 15),
    ),
    (
        "type: orchestration\npipeline:\n  components: no",
        "`pipeline.components` is not a map",
        (3, 15),
    ),
    (
        "type: orchestration\npipeline:\n  components:\n    A:\n    A:\n",
        "duplicate key `A`",
        (5, 5),
    ),
    (
        "type: orchestration\ntype: orchestration\npipeline:",
        "duplicate key `type`",
        (2, 1),
    ),
    (
        "type: orchestration\npipeline: {components: {A: {x: {y: 1, y: 1}}}}",
        "duplicate key `y`",
        (2, 39),
    ),
    (
        "type: orchestration\npipeline:\ndesign:\n  a: {b: 1, c: 2, b: 3}",
        "duplicate key `b`",
        (4, 19),
    ),
    (
        "type: orchestration\npipeline: {components: {1: , '1': }}",
        "duplicate key `1`",
        (2, 30),
    ),
    (
        "type: orchestration\npipeline: {x: &a 1, y: {<<: *a}}",
        "merge keys",
        (2, 25),
    ),
    (
        "type: orchestration\npipeline: {? [a, b] : c}",
        "a key that is a list or a map",
        (2, 14),
    ),
    (
        "type: orchestration\npipeline: {x: &a [], y: {*a : 1}}",
        "a key that is a list or a map",
        (2, 26),
    ),
    (
        "type: orchestration\npipeline: {}\n---\ntype: orchestration\n",
        "a second document",
        (3, 1),
    ),
    (
        "type: orchestration\npipeline: {x: &a [*a]}",
        "a node that contains it",
        (2, 19),
    ),
    (
        "type: orchestration\npipeline: {x: *a}",
        "unknown anchor",
        (2, 15),
    ),
    ("type: orchestration\npipeline: {x: [}", "not YAML", (2, 16)),
    ("type: orchestration\n\tpipeline: {}", "found a tab", (1, 7)),
    ("type: orchestration\npipeline: 'x", "not YAML", (2, 11)),
    ("type: orchestration\npipeline: {}\n x: 1", "not YAML", (3, 2)),
];

#[test]
fn document_that_is_no_pipeline_is_rejected_with_position() {
    for (text, message, place) in NO_PIPELINES {
        let (results, at) = parse_error(text.as_bytes());
        assert!(results.contains(message), "{text:?}: {results}");
        assert_eq!(at, Some(place), "{text:?}: {results}");
        let result = single_result(&one_rule("minimum-components", "minComponents: 0"), text);
        assert_eq!(outcome(&result), "designer/document-parse-error", "{text:?}");
    }
}

#[test]
fn other_encodings_are_rejected() {
    let text = "type: orchestration\npipeline: {}\n";
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(
        parse_error(&wide),
        ("the document is UTF-16: save it as UTF-8".into(), None)
    );
    assert_eq!(
        parse_error(b"type: orchestration\npipeline: {\xff: }"),
        ("the text is not UTF-8".into(), Some((2, 12)))
    );
    assert_eq!(
        parse(&format!("\u{feff}{text}")).kind,
        PipelineKind::Orchestration
    );
}

#[test]
fn windows_line_ends_do_not_move_lines() {
    let text = "type: orchestration\r\npipeline:\r\n  components:\r\n    A:\r\n      parameters:\r\n        sql: |\r\n          select 1\r\n          from x\r\n    B:\r\n";
    assert_eq!(names(&parse(text)), [("A", 4), ("B", 9)]);
    let text = text.replace("|\r\n", "|\n").replace("1\r\n", "1\r\r\n");
    assert_eq!(names(&parse(&text)).len(), 2);
}

#[test]
fn names_are_read_as_written() {
    let text = "type: orchestration
pipeline:
  components:
    true:
    1.50:
    0x1F:
    ~:
    'Load, \"it\"?':
    \"tab\\tbed\":
    a & b:
    ? explicit
    :
    Übersicht ✓:
    no:
";
    let expected = [
        ("true", 4),
        ("1.50", 5),
        ("0x1F", 6),
        ("~", 7),
        ("Load, \"it\"?", 8),
        ("tab\tbed", 9),
        ("a & b", 10),
        ("explicit", 11),
        ("Übersicht ✓", 13),
        ("no", 14),
    ];
    assert_eq!(names(&parse(text)), expected);
}

#[test]
fn null_and_unexpected_values_are_ignored() {
    let text = "type: orchestration
version: null
pipeline:
  components:
    A: {type: , skipped: , parameters: , transitions: , iterationTarget: }
    B: {type: [x], skipped: yes, parameters: [x], transitions: x, iterationTarget: {}}
    C: {type: 5, skipped: true, parameters: {componentName: , 1: 2, true: 3}}
    D: []
";
    let pipeline = parse(text);
    let kinds: Vec<_> = pipeline
        .components
        .iter()
        .map(|c| (c.kind.as_deref(), c.skipped))
        .collect();
    assert_eq!(
        kinds,
        [(None, false), (None, false), (Some("5"), true), (None, false)]
    );
}

#[test]
fn links_and_names_have_positions() {
    let text = "type: orchestration
pipeline:
  components:
    Each:
      type: grid-iterator
      transitions:
        success:
        - Load all
        failure: [Nobody]
      iterationTarget: Load all
    Load all:
  variables:
    v:
      metadata:
        scope: SHARED
";
    let pipeline = parse(text);
    let place = |line, column| Position { line, column };
    let [each, load] = pipeline.components.as_slice() else {
        panic!("two components")
    };
    assert_eq!((each.position, load.position), (place(4, 5), place(11, 5)));
    let links: Vec<_> = each
        .links
        .iter()
        .map(|l| (l.role, l.name.as_str(), l.position))
        .collect();
    assert_eq!(
        links,
        [
            (LinkRole::Transition, "Load all", place(8, 11)),
            (LinkRole::Transition, "Nobody", place(9, 19)),
            (LinkRole::IterationTarget, "Load all", place(10, 24)),
        ]
    );
    let [v] = pipeline.variables.as_slice() else {
        panic!("one variable")
    };
    assert_eq!(
        (v.name.as_str(), v.position, v.scope.as_deref()),
        ("v", place(13, 5), Some("SHARED"))
    );
}

#[test]
fn aliases_are_read_as_their_targets() {
    let text = "type: orchestration
design:
  layout: &links {success: [&b B]}
  name: &name C
pipeline:
  components:
    S: {type: start, transitions: *links}
    *b : {type: x, transitions: {success: [*name]}}
    *name : {type: end-success}
";
    assert_eq!(names(&parse(text)), [("S", 7), ("B", 8), ("C", 9)]);
    assert_eq!(lines("start-and-end-components", "", text), [0_u32; 0]);
    assert_eq!(lines("unused-components", "", text), [0_u32; 0]);
}

#[test]
fn canvas_is_checked_but_not_read() {
    let text = "type: transformation\ndesign: {notes: [1, {a: b}], components: {A: {x: 1}}}\npipeline: {components: {A: }}\n";
    assert_eq!(names(&parse(text)), [("A", 3)]);
    let components_in_design =
        "type: transformation\npipeline: {design: {A: }, components: {design: {type: x}}}\n";
    assert_eq!(names(&parse(components_in_design)), [("design", 2)]);
}

#[test]
fn references_are_pipelines_and_scripts() {
    let text = "type: orchestration
pipeline:
  components:
    A: {type: run-orchestration, parameters: {orchestrationJob: folder/a b, transformationJob: }}
    B: {type: run-transformation, skipped: true, parameters: {transformationJob: bare}}
    C: {type: run-transformation, parameters: {transformationJob: 'x/${name}'}}
    D: {type: sql-script, parameters: {scriptLocation: File, fileName: sql/x.sql}}
    E: {type: sql-script, parameters: {scriptLocation: Component, fileName: sql/y.sql}}
    F: {type: sql-script, parameters: {scriptLocation: File, fileName: ''}}
    G: {type: sql-script, parameters: {fileName: sql/z.sql}}
    H: {parameters: {orchestrationJob: [x], transformationJob: {}}}
    I: {parameters: {orchestrationJob: 2024}}
";
    let references = parse(text).list_references();
    let matches: Vec<_> = references
        .iter()
        .map(|r| (&*r.component, r.kind, r.target.clone(), r.position.line))
        .collect();
    let orchestration = ReferenceKind::Pipeline(PipelineKind::Orchestration);
    let transformation = ReferenceKind::Pipeline(PipelineKind::Transformation);
    let path = |text: &str| ReferenceTarget::Path(text.into());
    let expected = [
        ("A", orchestration, path("folder/a b"), 4),
        ("B", transformation, path("bare"), 5),
        (
            "C",
            transformation,
            ReferenceTarget::Expression("x/${name}".into()),
            6,
        ),
        ("D", ReferenceKind::Script, path("sql/x.sql"), 7),
        ("I", orchestration, path("2024"), 12),
    ];
    assert_eq!(matches, expected);
}
