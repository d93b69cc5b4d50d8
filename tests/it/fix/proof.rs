//! Fixes that would cause another finding, and files that cannot be changed, are left.

use super::{EMPTY, HEADER, call, fix, list_findings, project, read_all, script};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn unknown_base_that_user_names_is_an_error() {
    let world = project(&[("main.orch.yaml", EMPTY)]);
    fix(&world, "--all --base no-such-branch")
        .expect(7)
        .saying(&["no-such-branch"]);
}

#[test]
fn fix_that_would_close_a_circle_is_left() {
    let world = project(&[
        ("a/main.orch.yaml", &format!("{HEADER}{}", call("Call", "B/sub"))),
        ("b/sub.orch.yaml", &format!("{HEADER}{}", call("Back", "a/main"))),
        ("c/good.orch.yaml", &format!("{HEADER}{}", call("Call", "sub"))),
    ]);
    let before = list_findings(&world);
    let output = fix(&world, "--all").expect(1);
    assert_eq!(
        output.out,
        "\
c/good.orch.yaml:8: sub -> b/sub
left: a/main.orch.yaml:8: B/sub: `project/cycle` would report a new finding in a/main.orch.yaml
fixed 1 finding in 1 file; 1 left
"
    );
    assert_eq!(list_findings(&world), before[..1]);
    assert_eq!(
        fix(&world, "--all").expect(1).out.lines().last().unwrap(),
        "no finding was fixed; 1 left"
    );
}

#[test]
fn many_fixes_that_would_close_a_circle_are_left_after_a_limited_number_of_proofs() {
    let mut called = HEADER.to_owned();
    let mut files = Vec::new();
    for number in 10..50 {
        called += &call(&format!("Call {number}"), &format!("a/main{number}"));
        let path = format!("a/main{number}.orch.yaml");
        files.push((path, format!("{HEADER}{}", call("Call", "B/sub"))));
    }
    files.push(("b/sub.orch.yaml".to_owned(), called));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let world = project(&files);
    let output = fix(&world, "--all").expect(1);
    let count_lines = |reason: &str| output.out.lines().filter(|line| line.ends_with(reason)).count();
    let circle_count = count_lines("`project/cycle` would report a new finding in a/main10.orch.yaml");
    let other_count = count_lines("too many other fixes cause new findings");
    assert!(circle_count > 0 && other_count > 0, "{}", output.all());
    assert!(
        output.out.ends_with("no finding was fixed; 40 left\n"),
        "{}",
        output.all()
    );
}

#[test]
fn fix_of_call_with_undeclared_argument_is_left() {
    let with_argument = format!(
        "{HEADER}{}        setScalarVariables:\n          - [ missing, '1' ]\n",
        call("Call", "Sales/load")
    );
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &with_argument),
    ]);
    let output = fix(&world, "--all").expect(1);
    assert_eq!(
        output.out,
        "left: main.orch.yaml:8: Sales/load: `project/argument` would report a new finding in main.orch.yaml\nno finding was fixed; 1 left\n"
    );
    assert_eq!(world.read_text("main.orch.yaml"), with_argument);
}

/// A fix that a rule would not accept is left.
#[test]
fn fix_that_violates_rule_of_the_team_is_left() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &caller),
        (
            "sluicegate-rules.yaml",
            "rules:\n  - id: short-calls\n    level: warn\n    for: component\n    when: component.parameters.orchestrationJob.contains('/')\n    message: \"`{component.name}` calls by a path\"\n",
        ),
    ]);
    let output = fix(&world, "--all");
    assert!(
        output.out.contains(
            "left: main.orch.yaml:8: load: `team/short-calls` would report a new finding in main.orch.yaml"
        ),
        "{}",
        output.all()
    );
    output.expect(1);
    assert_eq!(world.read_text("main.orch.yaml"), caller);
}

#[test]
fn rename_is_uncertain_if_change_adds_equal_file() {
    let main = format!("{HEADER}{}", call("Call", "sales/load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &main)]);
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    world.write("sales/weekly.orch.yaml", format!("# another file\n{EMPTY}"));
    assert!(
        fix(&world, "--dry-run")
            .expect(0)
            .out
            .contains("sales/load -> sales/daily")
    );
    world.write("sales/hourly.orch.yaml", EMPTY);
    let output = fix(&world, "").expect(0);
    assert_eq!(output.out, "no finding has an automatic fix\n");
    assert_eq!(world.read_text("main.orch.yaml"), main);
}

#[test]
fn read_only_file_is_left() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &caller),
        ("next.orch.yaml", &caller),
    ]);
    let main = world.work().join("main.orch.yaml");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(
        world.work().join("next.orch.yaml"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let output = fix(&world, "--all").expect(1);
    assert_eq!(
        output.out,
        "\
next.orch.yaml:8: load -> sales/load
left: main.orch.yaml:8: load: the file is read-only
fixed 1 finding in 1 file; 1 left
"
    );
    assert_eq!(world.read_text("main.orch.yaml"), caller);
    let mode = fs::metadata(world.work().join("next.orch.yaml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn file_behind_symbolic_link_stays() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("real/main.orch.yaml", &caller)]);
    std::os::unix::fs::symlink("real/main.orch.yaml", world.work().join("main.orch.yaml")).unwrap();
    let outside = world.path().join("outside");
    fs::rename(world.work().join("real"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.work().join("real")).unwrap();
    let before = read_all(&world);
    let output = fix(&world, "--all");
    assert!(!output.out.contains("fixed"), "{}", output.all());
    assert_eq!(read_all(&world), before);
    assert_eq!(
        fs::read_to_string(outside.join("main.orch.yaml")).unwrap(),
        caller
    );
}

#[test]
fn waived_finding_is_not_fixed() {
    let caller = format!("{HEADER}{}{}", call("Call", "load"), call("Other", "load"));
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &caller),
        (
            "sluicegate-waivers.yaml",
            "- { rule: project/call, path: main.orch.yaml, about: Call, reason: the platform resolves it }\n",
        ),
    ]);
    let output = fix(&world, "--all").expect(0);
    assert_eq!(
        output.out,
        "main.orch.yaml:12: load -> sales/load\nfixed 1 finding in 1 file\n"
    );
    let finding = "main.orch.yaml project/call Call";
    assert_eq!(list_findings(&world), [finding]);
}

/// Thousands of values in one line are fixed in one pass.
#[test]
fn fixes_of_many_values_in_one_line_are_bounded() {
    let calls: Vec<String> = (0..5_000)
        .map(|number| {
            format!("C{number}: {{ type: run-orchestration, parameters: {{ orchestrationJob: load }} }}")
        })
        .collect();
    let text = format!(
        "type: orchestration\npipeline: {{ components: {{ {} }} }}\n",
        calls.join(", ")
    );
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &text)]);
    let start = std::time::Instant::now();
    let output = fix(&world, "--all").expect(0);
    assert!(
        output.out.ends_with("fixed 5,000 findings in 1 file\n"),
        "{}",
        output.err
    );
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(
        world.read_text("main.orch.yaml"),
        text.replace("Job: load", "Job: sales/load")
    );
}

#[test]
fn fix_that_names_an_empty_script_is_left() {
    let main = format!("{HEADER}{}", script("Script", "SQL/count.sql"));
    let world = project(&[("sql/Count.sql", "\n"), ("main.orch.yaml", &main)]);
    let output = fix(&world, "--all").expect(1);
    assert_eq!(
        output.out,
        "left: main.orch.yaml:9: SQL/count.sql: `project/script` would still report a finding in main.orch.yaml\nno finding was fixed; 1 left\n"
    );
    assert_eq!(world.read_text("main.orch.yaml"), main);
}

/// In one file, each fix is proven by itself if all together would cause a new finding.
#[test]
fn fix_in_file_with_rejected_fix_is_made() {
    let with_argument = format!(
        "{}        setScalarVariables:\n          - [ missing, '1' ]\n",
        call("Call", "Sales/load")
    );
    let main = format!(
        "{HEADER}{with_argument}{}{}",
        call("Bare", "load"),
        call("Other", "load")
    );
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &main)]);
    let output = fix(&world, "--all").expect(1);
    assert_eq!(
        output.out,
        "\
main.orch.yaml:14: load -> sales/load
main.orch.yaml:18: load -> sales/load
left: main.orch.yaml:8: Sales/load: `project/argument` would report a new finding in main.orch.yaml
fixed 2 findings in 1 file; 1 left
"
    );
    assert_eq!(
        world.read_text("main.orch.yaml"),
        main.replace(": load", ": sales/load")
    );
}

#[test]
fn fix_in_file_with_fix_that_rule_rejects_is_made() {
    let main = format!(
        "{HEADER}{}{}{}",
        call("One", "load"),
        call("Short", "load"),
        call("Two", "load")
    );
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &main),
        (
            "sluicegate-rules.yaml",
            "rules:\n  - id: short-calls\n    level: warn\n    for: component\n    when: component.name == 'Short' && component.parameters.orchestrationJob.contains('/')\n    message: \"`{component.name}` calls by a path\"\n",
        ),
    ]);
    let output = fix(&world, "--all").expect(1);
    assert!(
        output.out.contains(
            "left: main.orch.yaml:12: load: `team/short-calls` would report a new finding in main.orch.yaml"
        ) && output.out.ends_with("fixed 2 findings in 1 file; 1 left\n"),
        "{}",
        output.all()
    );
}

/// A group of fixes is not tried further after the maximum number of attempts. The reason of such a group is not that
/// of one of its fixes.
#[test]
fn fixes_that_were_not_tried_apart_do_not_name_a_finding_of_another_one() {
    let mut main = HEADER.to_owned();
    for number in 10..74 {
        let name = if number % 8 == 0 { "Short" } else { "Call" };
        main += &call(&format!("{name}{number}"), "load");
    }
    let world = project(&[
        ("sales/load.orch.yaml", EMPTY),
        ("main.orch.yaml", &main),
        (
            "sluicegate-rules.yaml",
            "rules:\n  - id: short-calls\n    level: warn\n    for: component\n    when: component.name.startsWith('Short') && component.parameters.orchestrationJob.contains('/')\n    message: \"`{component.name}` calls by a path\"\n",
        ),
    ]);
    let mut untried_counts = Vec::new();
    loop {
        let output = fix(&world, "--all").expect(1);
        let names_by_line: Vec<&str> = main.lines().collect();
        let mut untried_count = 0;
        for line in output.out.lines().filter(|line| line.starts_with("left: ")) {
            let number: usize = line.split(':').nth(2).unwrap().parse().unwrap();
            let is_short = names_by_line[number - 4].contains("Short");
            if line.ends_with("too many other fixes cause new findings") {
                untried_count += 1;
            } else {
                assert!(is_short && line.contains("`team/short-calls`"), "{line}");
            }
        }
        untried_counts.push(untried_count);
        if output.out.contains("no finding ") {
            break;
        }
    }
    assert!(untried_counts[0] > 0, "{untried_counts:?}");
    assert_eq!(untried_counts.last(), Some(&0), "{untried_counts:?}");
    assert_eq!(world.read_text("main.orch.yaml").matches(": load").count(), 8);
}

/// The twin for files: a file in a group that was not tried further is not left for the finding of another file.
#[test]
fn files_that_were_not_tried_apart_do_not_name_a_finding_of_another_one() {
    let mut files = vec![("b/sub.orch.yaml".to_owned(), String::new())];
    let mut circle_text = HEADER.to_owned();
    for number in 10..50 {
        let path = format!("a/main{number}");
        if number % 5 == 0 {
            circle_text += &call(&format!("Call {number}"), &path);
        }
        let caller = format!("{HEADER}{}", call("Call", "B/sub"));
        files.push((format!("{path}.orch.yaml"), caller));
    }
    files[0].1 = circle_text;
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let world = project(&files);
    let output = fix(&world, "--all").expect(1);
    let mut circle_count = 0;
    for line in output.out.lines().filter(|line| line.contains("`project/cycle`")) {
        let number: usize = line["left: a/main".len()..][..2].parse().unwrap();
        assert_eq!(number % 5, 0, "{line}");
        circle_count += 1;
    }
    assert!(circle_count > 0, "{}", output.all());
    assert!(
        output.out.contains("too many other fixes cause new findings"),
        "{}",
        output.all()
    );
}
