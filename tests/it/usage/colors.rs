//! Color, on and off by the variables that other programs follow.

use crate::support::{Call, bad_pipeline, change};

const ESCAPE: char = '\u{1b}';

#[test]
fn variables_turn_color_on_and_off() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let is_colored = |variables: &[(&str, &str)], arguments: &str| {
        let call = variables
            .iter()
            .fold(call.clone(), |call, (name, value)| call.variable(name, value));
        let output = call.run(arguments);
        output.out.contains(ESCAPE) || output.err.contains(ESCAPE)
    };
    for arguments in ["check --all", "check --all --show concise", "check --zzz", "lint"] {
        assert!(!is_colored(&[], arguments), "{arguments}");
        for forced in [
            ("FORCE_COLOR", "1"),
            ("CLICOLOR_FORCE", "1"),
            ("SLUICEGATE_COLOR", "always"),
        ] {
            assert!(is_colored(&[forced], arguments), "{forced:?} {arguments}");
        }
        for variables in [
            &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")][..],
            &[("FORCE_COLOR", "0")],
            &[("CLICOLOR_FORCE", "0")],
            &[("CLICOLOR", "0")],
            &[("CLICOLOR", "1")],
            &[("TERM", "dumb")],
        ] {
            assert!(!is_colored(variables, arguments), "{variables:?} {arguments}");
        }
        let flag = format!("{arguments} --color never");
        assert!(!is_colored(&[("FORCE_COLOR", "1")], &flag), "{flag}");
        assert!(is_colored(
            &[("NO_COLOR", "1")],
            &format!("{arguments} --color always")
        ));
    }
}

#[test]
fn colored_concise_line_has_same_text() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let plain = call.run("check --all --show concise").expect(1).out;
    let colored = call
        .run("check --all --show concise --color always")
        .expect(1)
        .out;
    let text: String = colored
        .split(ESCAPE)
        .enumerate()
        .map(|(index, part)| match index {
            0 => part,
            _ => part.split_once('m').unwrap().1,
        })
        .collect();
    assert_eq!(text, plain);
}

#[test]
fn path_of_finding_is_link_if_terminal_supports_links() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let root = world.work().canonicalize().unwrap();
    let start = format!(
        "{ESCAPE}]8;;file://{}/b.orch.yaml{ESCAPE}\\b.orch.yaml:",
        root.display()
    );
    for arguments in ["check --all", "check --all --show concise"] {
        let colored = format!("{arguments} --color always");
        let supporting = call.clone().variable("FORCE_HYPERLINK", "1");
        let output = supporting.run(colored.as_str()).expect(1);
        assert!(output.out.contains(&start), "{}", output.all());
        // A log, a program without colors and a terminal that shows no links get the path alone.
        for (call, arguments) in [
            (&call, colored.as_str()),
            (&supporting, arguments),
            (&call.clone().variable("FORCE_HYPERLINK", "0"), &colored),
        ] {
            let output = call.run(arguments).expect(1);
            assert!(!output.out.contains("]8;"), "{}", output.all());
        }
        let output = supporting.run(format!("{colored} --report json=-")).expect(1);
        assert!(!output.out.contains("]8;"), "{}", output.all());
        assert!(output.err.contains(&start), "{}", output.all());
    }
}
