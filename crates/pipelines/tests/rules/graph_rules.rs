//! The rules that follow links: reachability, branch ends, unconnected components.

use crate::support::{lines, one_rule, orchestration, outcome, single_result, texts, transformation};

const UNUSED: &str = "unused-components";
const START_AND_END: &str = "start-and-end-components";
const END_OUTPUT: &str = "end-output-components";

/// A description, the components, and the lines of the violations of the two rules under test.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static [u32],
    &'static [u32],
);

const ORCHESTRATIONS: &[Case] = &[
    (
        "a lone start is reachable and a branch end",
        &["S: {type: start}"],
        &[],
        &[4],
    ),
    (
        "a branch that ends in success",
        &[
            "S: {type: start, transitions: {unconditional: [E]}}",
            "E: {type: end-success}",
        ],
        &[],
        &[],
    ),
    (
        "each kind of transition leads on",
        &[
            "S: {type: start, transitions: {unconditional: [A]}}",
            "A: {type: if, transitions: {'true': [B], \"false\": [C]}}",
            "B: {type: x, transitions: {success: [D], failure: [E]}}",
            "C: {type: x, transitions: {true: [D], false: [E]}}",
            "D: {type: end-success}",
            "E: {type: end-failure}",
        ],
        &[],
        &[],
    ),
    (
        "booleans as keys in any spelling of YAML lead on",
        &[
            "S: {type: start, transitions: {True: [A], FALSE: [B]}}",
            "A: {type: end-success}",
            "B:",
        ],
        &[],
        &[6],
    ),
    (
        "another key of transitions is no link",
        &[
            "S: {type: start, transitions: {maybe: [A]}}",
            "A: {type: end-success}",
        ],
        &[5],
        &[4],
    ),
    (
        "sources mean nothing in an orchestration",
        &["S: {type: start}", "A: {type: end-success, sources: [S]}"],
        &[5],
        &[4],
    ),
    (
        "several branch ends, one of each",
        &[
            "S: {type: start, transitions: {unconditional: [A, B, C]}}",
            "A: {type: x}",
            "B: {type: end-failure}",
            "C: {type: and}",
        ],
        &[],
        &[5, 7],
    ),
    (
        "what is not reachable is unused and no branch end",
        &[
            "S: {type: start, transitions: {success: [E]}}",
            "A: {type: x}",
            "E: {type: end-success}",
        ],
        &[5],
        &[],
    ),
    (
        "reachable only from what is not reachable",
        &[
            "A: {type: x, transitions: {success: [B]}}",
            "B: {type: end-success}",
            "S: {type: start, transitions: {success: [E]}}",
            "E: {type: end-success}",
        ],
        &[4, 5],
        &[],
    ),
    (
        "every start component counts",
        &[
            "S: {type: start, transitions: {success: [E]}}",
            "T: {type: start, transitions: {success: [F]}}",
            "E: {type: end-success}",
            "F: {type: x}",
        ],
        &[],
        &[7],
    ),
    (
        "the start is found by its type, not its name",
        &[
            "Begin: {type: start, transitions: {success: [Start]}}",
            "Start: {type: end-success}",
        ],
        &[],
        &[],
    ),
    (
        "a dangling transition connects nothing",
        &["S: {type: start, transitions: {success: [Nobody]}}"],
        &[],
        &[4],
    ),
    (
        "a transition to itself connects nothing",
        &[
            "S: {type: start, transitions: {success: [A]}}",
            "A: {type: x, transitions: {failure: [A]}}",
        ],
        &[],
        &[5],
    ),
    (
        "a cycle has no branch end and passes",
        &[
            "S: {type: start, transitions: {success: [A]}}",
            "A: {type: x, transitions: {success: [B]}}",
            "B: {type: x, transitions: {success: [A]}}",
        ],
        &[],
        &[],
    ),
    (
        "an iteration target is reachable and no branch end",
        &[
            "S: {type: start, transitions: {success: [I]}}",
            "I: {type: grid-iterator, iterationTarget: T, transitions: {success: [E]}}",
            "T: {type: run-orchestration}",
            "E: {type: end-success}",
        ],
        &[],
        &[],
    ),
    (
        "an iterator without transitions is a branch end",
        &[
            "S: {type: start, transitions: {success: [I]}}",
            "I: {type: retry, iterationTarget: T}",
            "T: {type: run-orchestration}",
        ],
        &[],
        &[5],
    ),
    (
        "the target of an iterator that is not reachable is still no branch end",
        &[
            "S: {type: start, transitions: {success: [T]}}",
            "I: {type: loop-iterator, iterationTarget: T}",
            "T: {type: x}",
        ],
        &[5],
        &[],
    ),
    (
        "what follows an iteration target is a branch of its own",
        &[
            "S: {type: start, transitions: {success: [I]}}",
            "I: {type: retry, iterationTarget: T, transitions: {success: [E]}}",
            "T: {type: x, transitions: {success: [U]}}",
            "U: {type: x}",
            "E: {type: end-success}",
        ],
        &[],
        &[7],
    ),
    (
        "a dangling iteration target, and one that is itself, connect nothing",
        &[
            "S: {type: start, transitions: {success: [I, J]}}",
            "I: {type: retry, iterationTarget: Nobody}",
            "J: {type: retry, iterationTarget: J}",
        ],
        &[],
        &[5, 6],
    ),
    (
        "links of the wrong shape are no links",
        &[
            "S: {type: start, transitions: {success: A, failure: {B: }, unconditional: [[C], {D: }]}}",
            "A: {type: retry, iterationTarget: [B]}",
            "B: {type: x, transitions: [A]}",
        ],
        &[5, 6],
        &[4],
    ),
    (
        "one good link among bad ones counts",
        &[
            "S: {type: start, transitions: {success: [[A], A]}}",
            "A: {type: end-success}",
        ],
        &[],
        &[],
    ),
    (
        "names are compared as text, as they are written",
        &[
            "S: {type: start, transitions: {success: ['1.50', \"true\", 0x1F, ~]}}",
            "1.50: {type: end-success}",
            "true: {type: end-success}",
            "'0x1F': {type: end-success}",
            "\"~\": {type: end-success}",
            "1.5: {type: x}",
        ],
        &[9],
        &[],
    ),
    (
        "skipped plays no part",
        &[
            "S: {type: start, skipped: true, transitions: {success: [A]}}",
            "A: {type: x, skipped: true}",
            "B: {type: x, skipped: true}",
        ],
        &[6],
        &[5],
    ),
    (
        "a component without content counts and has no type and no links",
        &[
            "S: {type: start, transitions: {success: [A]}}",
            "A:",
            "B: ~",
            "C: 5",
        ],
        &[6, 7],
        &[5],
    ),
    (
        "an end that goes on is no branch end",
        &[
            "S: {type: start, transitions: {success: [E]}}",
            "E: {type: end-success, transitions: {success: [A]}}",
            "A: {type: x}",
        ],
        &[],
        &[6],
    ),
    (
        "types are compared exactly",
        &[
            "S: {type: start, transitions: {success: [E]}}",
            "E: {type: end-success-v2}",
            "T: {type: Start}",
        ],
        &[6],
        &[5],
    ),
];

#[test]
fn graph_rules_check_orchestrations() {
    for (label, components, unused, ends) in ORCHESTRATIONS {
        let document = orchestration(components);
        assert_eq!(lines(UNUSED, "", &document), *unused, "{UNUSED}: {label}");
        assert_eq!(
            lines(START_AND_END, "", &document),
            *ends,
            "{START_AND_END}: {label}"
        );
    }
}

#[test]
fn missing_start_is_one_error_and_one_violation() {
    for components in [
        &[][..],
        &["A: {type: x}", "B: {type: end-success}"],
        &["Start:"],
        &["S: {type: [start]}"],
    ] {
        let document = orchestration(components);
        let unused = single_result(&one_rule(UNUSED, ""), &document);
        assert_eq!(outcome(&unused), "designer/no-start-component", "{document}");
        assert_eq!(lines(START_AND_END, "", &document), [0], "{document}");
    }
}

const TRANSFORMATIONS: &[Case] = &[
    ("an empty pipeline passes", &[], &[], &[]),
    (
        "a single component is never unused, and a branch end",
        &["A: {type: table-input}"],
        &[],
        &[4],
    ),
    ("a single output passes", &["A: {type: table-output}"], &[], &[]),
    (
        "a source and what it feeds are connected",
        &["A: {type: table-input}", "B: {type: rewrite-table, sources: [A]}"],
        &[],
        &[],
    ),
    (
        "neither a source nor fed",
        &[
            "A: {type: table-input}",
            "B: {type: rewrite-table, sources: [A]}",
            "C: {type: filter}",
        ],
        &[6],
        &[6],
    ),
    (
        "an unconnected output is unused and a good branch end",
        &[
            "A: {type: table-input}",
            "B: {type: rewrite-table, sources: [A]}",
            "C: {type: create-view}",
        ],
        &[6],
        &[],
    ),
    (
        "every branch counts",
        &[
            "A: {type: table-input}",
            "B: {type: filter, sources: [A]}",
            "C: {type: filter, sources: [A]}",
            "D: {type: rewrite-table, sources: [C]}",
        ],
        &[],
        &[5],
    ),
    (
        "an output that feeds another is no branch end",
        &["A: {type: rewrite-table}", "B: {type: filter, sources: [A]}"],
        &[],
        &[5],
    ),
    (
        "a cycle has no branch end and passes",
        &["A: {type: x, sources: [B]}", "B: {type: x, sources: [A]}"],
        &[],
        &[],
    ),
    (
        "dangling sources and those that are the component itself connect nothing",
        &["A: {type: x, sources: [A]}", "B: {type: x, sources: [Nobody]}"],
        &[4, 5],
        &[4, 5],
    ),
    (
        "sources of the wrong shape are none",
        &[
            "A: {type: x}",
            "B: {type: x, sources: A}",
            "C: {type: x, sources: {A: }}",
            "D: {sources: [[A]]}",
        ],
        &[4, 5, 6, 7],
        &[4, 5, 6, 7],
    ),
    (
        "transitions mean nothing in a transformation",
        &[
            "A: {type: x, transitions: {success: [B]}}",
            "B: {type: table-output, sources: }",
        ],
        &[4, 5],
        &[4],
    ),
    (
        "skipped plays no part",
        &[
            "A: {type: x, skipped: true}",
            "B: {type: table-output, sources: [A], skipped: true}",
            "C: {skipped: true}",
        ],
        &[6],
        &[6],
    ),
    (
        "output types, with and without a version",
        &[
            "A: {type: rewrite-table}",
            "B: {type: rewrite-table-dl}",
            "C: {type: table-output}",
            "D: {type: table-update}",
            "E: {type: create-view}",
            "F: {type: rewrite-table-v2}",
            "G: {type: rewrite-table-dl-v13}",
            "H: {type: rewrite-table-v}",
            "I: {type: rewrite-table-v2a}",
            "J: {type: rewrite-table-2}",
            "K: {type: Rewrite-Table}",
            "L: {type: rewrite-tables}",
            "M: {type: table-input}",
        ],
        &[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        &[11, 12, 13, 14, 15, 16],
    ),
];

#[test]
fn graph_rules_check_transformations() {
    for (label, components, unused, ends) in TRANSFORMATIONS {
        let document = transformation(components);
        assert_eq!(lines(UNUSED, "", &document), *unused, "{UNUSED}: {label}");
        assert_eq!(lines(END_OUTPUT, "", &document), *ends, "{END_OUTPUT}: {label}");
    }
}

#[test]
fn violations_contain_component_and_fix() {
    let document = orchestration(&[
        "S: {type: start, transitions: {success: ['it''s \"so\"']}}",
        "'it''s \"so\"': {type: x}",
        "B:",
    ]);
    insta::assert_snapshot!([texts(UNUSED, "", &document), texts(START_AND_END, "", &document)].join("\n"), @r#"
    component "B" never runs because no connection leads to it from the Start component: connect it or delete it
    component "it's "so"" is the last step of its branch: connect it to an End Success or End Failure component
    "#);
    let document = transformation(&["A: {type: x}", "B: {type: table-output}"]);
    insta::assert_snapshot!([texts(UNUSED, "", &document), texts(END_OUTPUT, "", &document)].join("\n"), @r#"
    component "A" is not connected to any other component: connect it or delete it
    component "B" is not connected to any other component: connect it or delete it
    component "A" is the last step of its branch, but does not write any output: connect it to an output component or delete it
    "#);
    let no_start = texts(START_AND_END, "", &orchestration(&[]));
    insta::assert_snapshot!(no_start, @"the pipeline has no Start component: add one and connect it to the first component");
}
