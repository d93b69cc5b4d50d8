//! `--new-only` with realistic histories: the state of every finding after each edit, from `check` and from a review by
//! the local platform; and changes that try to pass their findings off as old.

use crate::support::{
    Arguments, Call, Job, PROJECT, RULES_FILE, ServerProcess, TOKEN, World, dice::Dice, orchestration_text,
    project,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

const RULES: &str = "\
rules:
- { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }
- { id: maximum-components, enabled: true, enforcementLevel: error, config: { maxComponents: 6 } }
- { id: unused-components, enabled: true, enforcementLevel: error }
- { id: start-and-end-components, enabled: true, enforcementLevel: error }
";

/// Returns an orchestration with a row of components, further unreachable ones, and a canvas that is moved by `shift`.
fn pipeline_with_loose_components(row: &[&str], alone: &[&str], shift: usize) -> String {
    let mut text = orchestration_text(row);
    for name in alone {
        let _ = write!(
            text,
            "    {name:?}:\n      type: sql-executor\n      parameters: {{ componentName: {name:?} }}\n"
        );
    }
    text.push_str(
        "  variables:\n    day:\n      metadata: { type: TEXT, scope: SHARED }\n      defaultValue: today\n",
    );
    text.push_str("design:\n  components:\n");
    for (index, name) in row.iter().chain(alone).enumerate() {
        let _ = write!(
            text,
            "    {name:?}:\n      position:\n        x: {}\n        y: {shift}\n",
            index * 160
        );
    }
    text
}

const WIDE: [&str; 8] = ["Start", "One", "Two", "Three", "Four", "Five", "Six", "Done"];

/// Creates a `main` with some years of history; `change` is checked out.
fn project_with_areas() -> World {
    let world = World::new();
    world.write(RULES_FILE, RULES);
    world.write(
        "sales/load.orch.yaml",
        pipeline_with_loose_components(&["Start", "load orders", "Load lines", "Done"], &["Leftover"], 0),
    );
    world.write(
        "sales/wide.orch.yaml",
        pipeline_with_loose_components(&WIDE, &[], 0),
    );
    world.write(
        "stock/count.orch.yaml",
        pipeline_with_loose_components(&["Start", "Count", "Compare", "Write", "Done"], &[], 0),
    );
    world.write(
        "stock/old.orch.yaml",
        pipeline_with_loose_components(&["Start", "count it", "Keep it", "Done"], &[], 0),
    );
    world.commit("some years");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

/// Returns a line for each finding with its state, and the number of fixed findings.
fn list_finding_states(report: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            let findings = result["findings"].as_array().unwrap().iter();
            for finding in findings.filter(|finding| finding["state"].is_string()) {
                let state = finding["state"].as_str().unwrap();
                let words = finding["message"].as_str().unwrap_or("-");
                let (path, rule) = (file["path"].as_str().unwrap(), result["rule"].as_str().unwrap());
                lines.push(format!("{state} {path} {rule}: {words}"));
            }
        }
    }
    lines.sort();
    lines.push(format!("fixed {}", report["findings"]["fixed"]));
    lines
}

/// A project on the local platform.
struct ServedHistory {
    world: World,
    server: ServerProcess,
}

impl ServedHistory {
    fn new(world: World) -> Self {
        let remote = format!("{PROJECT}={}", world.remote().display());
        let token = format!("{TOKEN}=member");
        let server = ServerProcess::start(world.path(), &["--project", &remote, "--token", &token]);
        Self { world, server }
    }

    fn check(&self, args: impl Arguments) -> Vec<String> {
        let call = Call::new(&self.world.work());
        let output = call.run(("check --new-only --report json=-", args));
        list_finding_states(&output.json())
    }

    /// Returns the report after this change. `check` and `review` must agree on it; the exit code depends on the new
    /// findings.
    fn compare_after(&self, label: &str) -> String {
        let (mut reviewed, checked) = self.both(label);
        // A review queries the base only for files with findings, so it knows fewer fixed findings.
        reviewed.pop();
        assert_eq!(checked[..checked.len() - 1], reviewed, "{label}");
        checked.join("\n")
    }

    /// Returns the reports of `review` and `check` after this change.
    fn both(&self, label: &str) -> (Vec<String>, Vec<String>) {
        self.world.commit(label);
        self.world.git("push -q -f -u origin HEAD");
        let call = Call::with_platform(&self.world.work(), &self.server.url);
        let output = call.run("review --new-only --report json=-");
        let reviewed = list_finding_states(&output.json());
        let code = i32::from(reviewed.iter().any(|line| line.starts_with("new ")));
        output.expect(code);
        (reviewed, self.check(""))
    }
}

#[test]
fn edits_moves_and_renames_keep_what_is_known() {
    let judged = ServedHistory::new(project_with_areas());
    let world = &judged.world;
    let load = ["Start", "load orders", "Load lines", "Done"];

    // Only the layout of two files changes.
    world.write(
        "sales/load.orch.yaml",
        pipeline_with_loose_components(&load, &["Leftover"], 320),
    );
    world.write(
        "sales/wide.orch.yaml",
        pipeline_with_loose_components(&WIDE, &[], 320),
    );
    insta::assert_snapshot!(judged.compare_after("layout"), @r#"
    known sales/load.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z].*: rename it
    known sales/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    fixed 0
    "#);

    // Lines move because a component is added before the others; it has a new finding.
    let extra_variables = ["Start", "check it", "load orders", "Load lines", "Done"];
    world.write(
        "sales/load.orch.yaml",
        pipeline_with_loose_components(&extra_variables, &["Leftover"], 320),
    );
    insta::assert_snapshot!(judged.compare_after("one more"), @r#"
    known sales/load.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z].*: rename it
    known sales/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    new sales/load.orch.yaml component-naming-convention: component "check it" does not match the naming convention [A-Z].*: rename it
    fixed 0
    "#);

    // The file is moved, with an edit that fixes the new finding: its history is kept, also before the commit.
    world.git("mv sales/load.orch.yaml stock/load.orch.yaml");
    let mended = ["Start", "Check it", "load orders", "Load lines", "Done"];
    world.write(
        "stock/load.orch.yaml",
        pipeline_with_loose_components(&mended, &["Leftover"], 320),
    );
    let before = judged.check("").join("\n");
    assert!(
        !before.contains("new ") && before.contains("known stock/load"),
        "{before}"
    );
    insta::assert_snapshot!(judged.compare_after("moved and mended"), @r#"
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    known stock/load.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z].*: rename it
    known stock/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    fixed 0
    "#);

    // A component with a finding is renamed, and the new name violates the rule as well.
    let renamed = ["Start", "Check it", "load the orders", "Load lines", "Done"];
    world.write(
        "stock/load.orch.yaml",
        pipeline_with_loose_components(&renamed, &["Leftover"], 320),
    );
    insta::assert_snapshot!(judged.compare_after("component renamed"), @r#"
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    known stock/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    new stock/load.orch.yaml component-naming-convention: component "load the orders" does not match the naming convention [A-Z].*: rename it
    fixed 1
    "#);

    // It gets a valid name, and the unreachable component is removed.
    let good = ["Start", "Check it", "Load orders", "Load lines", "Done"];
    world.write(
        "stock/load.orch.yaml",
        pipeline_with_loose_components(&good, &[], 320),
    );
    insta::assert_snapshot!(judged.compare_after("all mended"), @"
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    fixed 2
    ");
}

#[test]
fn counted_finding_is_known_until_its_number_gets_worse() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    world.write(
        "sales/wide.orch.yaml",
        pipeline_with_loose_components(&WIDE, &["Seven"], 0),
    );
    insta::assert_snapshot!(history.compare_after("wider"), @r#"
    new sales/wide.orch.yaml maximum-components: the pipeline has 9 components, more than the maximum of 6: move some to another pipeline and call it from here
    new sales/wide.orch.yaml unused-components: component "Seven" never runs because no connection leads to it from the Start component: connect it or delete it
    fixed 0
    "#);
    world.write(
        "sales/wide.orch.yaml",
        pipeline_with_loose_components(&WIDE[..7], &[], 0),
    );
    insta::assert_snapshot!(history.compare_after("less wide"), @"
    known sales/wide.orch.yaml maximum-components: the pipeline has 7 components, more than the maximum of 6: move some to another pipeline and call it from here
    fixed 0
    ");
    world.write(
        "sales/wide.orch.yaml",
        pipeline_with_loose_components(&WIDE[..6], &[], 0),
    );
    insta::assert_snapshot!(history.compare_after("narrow"), @"fixed 1");
}

#[test]
fn tightened_rules_and_a_base_that_moves_on_bring_nothing_new() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    world.write(
        RULES_FILE,
        RULES
            .replace("maxComponents: 6", "maxComponents: 4")
            .replace("[A-Z].*", "[A-Z][a-z ]*"),
    );
    world.write(
        "stock/count.orch.yaml",
        pipeline_with_loose_components(&["Start", "Count", "Compare", "Write it", "Done"], &[], 0),
    );
    insta::assert_snapshot!(history.compare_after("tightened"), @r#"
    known sales/load.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z][a-z ]*: rename it
    known sales/load.orch.yaml maximum-components: the pipeline has 5 components, more than the maximum of 4: move some to another pipeline and call it from here
    known sales/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 4: move some to another pipeline and call it from here
    known stock/count.orch.yaml maximum-components: the pipeline has 5 components, more than the maximum of 4: move some to another pipeline and call it from here
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z][a-z ]*: rename it
    fixed 0
    "#);

    // A finding from another change is merged into `main`, and from there into the change.
    world.git("checkout -q main");
    world.write(
        "stock/new.orch.yaml",
        pipeline_with_loose_components(&["Start", "of others", "Done"], &[], 0),
    );
    world.commit("of others");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-ff -m merge main");
    insta::assert_snapshot!(history.compare_after("merged"), @r#"
    known sales/load.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z][a-z ]*: rename it
    known sales/load.orch.yaml maximum-components: the pipeline has 5 components, more than the maximum of 4: move some to another pipeline and call it from here
    known sales/load.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    known sales/wide.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 4: move some to another pipeline and call it from here
    known stock/count.orch.yaml maximum-components: the pipeline has 5 components, more than the maximum of 4: move some to another pipeline and call it from here
    known stock/new.orch.yaml component-naming-convention: component "of others" does not match the naming convention [A-Z][a-z ]*: rename it
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z][a-z ]*: rename it
    fixed 0
    "#);
}

#[test]
fn unevaluated_finding_is_neither_known_nor_fixed() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    // No start component: the rules that need one cannot be evaluated anymore, and the pipeline itself is the cause.
    let headless = pipeline_with_loose_components(&["Start", "count it", "Keep it", "Done"], &[], 0)
        .replace("type: start", "type: sql-executor");
    world.write("stock/old.orch.yaml", &headless);
    insta::assert_snapshot!(history.compare_after("no start"), @r#"
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml start-and-end-components: the pipeline has no Start component: add one and connect it to the first component
    new stock/old.orch.yaml unused-components: the pipeline has no start component, so reachability cannot be determined: add a start component
    fixed 0
    "#);
    world.write("stock/old.orch.yaml", "type: orchestration\npipeline: [");
    insta::assert_snapshot!(history.compare_after("broken"), @"
    new stock/old.orch.yaml component-naming-convention: the pipeline cannot be read: not YAML: while parsing a node, did not find expected node content (line 3, column 1)
    new stock/old.orch.yaml maximum-components: the pipeline cannot be read: not YAML: while parsing a node, did not find expected node content (line 3, column 1)
    new stock/old.orch.yaml start-and-end-components: the pipeline cannot be read: not YAML: while parsing a node, did not find expected node content (line 3, column 1)
    new stock/old.orch.yaml unused-components: the pipeline cannot be read: not YAML: while parsing a node, did not find expected node content (line 3, column 1)
    fixed 0
    ");
    // If the base has this error too, the error is known.
    world.write("stock/old.orch.yaml", &headless);
    world.commit("no start");
    world.git("push -q -f origin HEAD:main");
    world.git("fetch -q");
    world.write("stock/old.orch.yaml", headless.replace("Keep it", "Hold it"));
    insta::assert_snapshot!(history.compare_after("still no start"), @r#"
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    known stock/old.orch.yaml start-and-end-components: the pipeline has no Start component: add one and connect it to the first component
    known stock/old.orch.yaml unused-components: the pipeline has no start component, so reachability cannot be determined: add a start component
    fixed 0
    "#);
}

/// Changes that try to make their findings look old.
#[test]
fn no_file_borrows_the_past_of_another() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    let old = pipeline_with_loose_components(&["Start", "count it", "Keep it", "Done"], &[], 0);

    // A copy of the file, and another copy with an edit.
    world.write("stock/twin.orch.yaml", &old);
    world.write(
        "stock/other.orch.yaml",
        pipeline_with_loose_components(&["Start", "count it", "Keep it", "Do it", "Done"], &[], 0),
    );
    insta::assert_snapshot!(history.compare_after("twins"), @r#"
    new stock/other.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/twin.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    fixed 0
    "#);

    // The original is removed and the copies stay: only one of them inherits its findings.
    world.git("rm -q stock/old.orch.yaml");
    insta::assert_snapshot!(history.compare_after("moved to one twin"), @r#"
    known stock/twin.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/other.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    fixed 0
    "#);

    // It is deleted, and the new file has only the component names in common with it.
    world.git("rm -q stock/twin.orch.yaml stock/other.orch.yaml");
    let unlike = "type: orchestration\nversion: \"2.0\"\npipeline:\n  components:\n    Begin: { type: start, transitions: { unconditional: [count it] } }\n    count it: { type: end-success }\n";
    world.write("stock/unlike.orch.yaml", unlike);
    insta::assert_snapshot!(history.compare_after("only the names"), @r#"
    new stock/unlike.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    fixed 0
    "#);

    // A worse file replaces it while it is moved; two files swap their paths.
    world.git("rm -q stock/unlike.orch.yaml");
    world.write("stock/moved.orch.yaml", &old);
    world.write(
        "stock/old.orch.yaml",
        pipeline_with_loose_components(&["Start", "count it", "count more", "Done"], &[], 0),
    );
    world.git("mv sales/load.orch.yaml sales/place");
    world.git("mv sales/wide.orch.yaml sales/load.orch.yaml");
    world.git("mv sales/place sales/wide.orch.yaml");
    insta::assert_snapshot!(history.compare_after("places taken"), @r#"
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new sales/load.orch.yaml maximum-components: the pipeline has 8 components, more than the maximum of 6: move some to another pipeline and call it from here
    new sales/wide.orch.yaml component-naming-convention: component "load orders" does not match the naming convention [A-Z].*: rename it
    new sales/wide.orch.yaml unused-components: component "Leftover" never runs because no connection leads to it from the Start component: connect it or delete it
    new stock/moved.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml component-naming-convention: component "count more" does not match the naming convention [A-Z].*: rename it
    fixed 3
    "#);
}

#[test]
fn no_component_borrows_the_past_of_another() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    // A component name that contains the name of another one with a finding, quoted as in a message.
    let names = [
        "Start",
        "count it",
        "component \"count it\" breaks",
        "count",
        "it",
        "Done",
    ];
    world.write(
        "stock/old.orch.yaml",
        pipeline_with_loose_components(&names, &[], 0),
    );
    // With such a name, messages do not identify components unambiguously, so a review treats no finding as known.
    let (reviewed, checked) = history.both("names in names");
    assert!(
        reviewed[..4].iter().all(|line| line.starts_with("new ")),
        "{reviewed:?}"
    );
    insta::assert_snapshot!(checked.join("\n"), @r#"
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml component-naming-convention: component "component "count it" breaks" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml component-naming-convention: component "count" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml component-naming-convention: component "it" does not match the naming convention [A-Z].*: rename it
    fixed 0
    "#);
    // The component with the old finding is fixed, and its name is reused neither for another rule nor for another
    // file.
    world.write(
        "stock/old.orch.yaml",
        pipeline_with_loose_components(&["Start", "Count it", "Keep it", "Done"], &["count it"], 0),
    );
    world.write(
        "stock/count.orch.yaml",
        pipeline_with_loose_components(&["Start", "count it", "Compare", "Write", "Done"], &[], 0),
    );
    insta::assert_snapshot!(history.compare_after("the name elsewhere"), @r#"
    known stock/old.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/count.orch.yaml component-naming-convention: component "count it" does not match the naming convention [A-Z].*: rename it
    new stock/old.orch.yaml unused-components: component "count it" never runs because no connection leads to it from the Start component: connect it or delete it
    fixed 0
    "#);
}

const NAMES: [&str; 6] = ["load it", "count it", "Keep it", "Write it", "Compare", "check"];

/// Returns a pipeline with some of the names, possibly with an unreachable one.
fn any_job(dice: &mut Dice) -> String {
    let mut names = NAMES.to_vec();
    names.rotate_left(usize::try_from(dice.roll(6)).unwrap());
    let size = usize::try_from(1 + dice.roll(4)).unwrap();
    let (row, rest) = names.split_at(size);
    let row = [&["Start"], row, &["Done"]].concat();
    let alone = usize::try_from(dice.roll(2)).unwrap();
    pipeline_with_loose_components(&row, &rest[..alone], 0)
}

/// Counts the findings by rule and subject; `state` limits them, `None` counts all.
fn kinds(report: &Value, state: Option<&str>) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            let findings = result["findings"].as_array().unwrap().iter();
            for finding in findings.filter(|finding| finding["message"].is_string()) {
                if state.is_none_or(|state| finding["state"] == state) {
                    let about = finding["message"].as_str().unwrap().split('"').nth(1);
                    *kinds.entry(format!("{} {about:?}", result["rule"])).or_insert(0) += 1;
                }
            }
        }
    }
    kinds
}

/// Copies, moves, edits, deletes and swaps pipelines.
fn edit_random_file(world: &World, dice: &mut Dice) {
    let git_output = world.git("ls-files -- *.orch.yaml");
    let files: Vec<&str> = git_output.lines().collect();
    let (one, other) = (dice.pick(&files), dice.pick(&files));
    let new = format!("area{}/new {}.orch.yaml", dice.roll(3), dice.roll(1000));
    let text = |path: &str| fs::read_to_string(world.work().join(path)).unwrap();
    let (first, second) = (text(one), text(other));
    let (name, another) = (dice.pick(&NAMES), dice.pick(&NAMES));
    match dice.roll(6) {
        0 => world.write(&new, &first),
        1 => {
            world.write(&new, first.replace("sql-executor", "print-variables"));
            world.git(&["rm", "-q", "-f", one]);
        }
        2 => world.write(one, any_job(dice)),
        3 if files.len() > 4 => drop(world.git(&["rm", "-q", "-f", one])),
        4 => {
            world.write(one, second);
            world.write(other, first);
        }
        _ => world.write(one, first.replace(name, another)),
    }
    world.git("add -A");
}

#[test]
fn no_history_makes_more_known_than_the_base_has() {
    let (mut known_args, mut new) = (0, 0);
    for seed in 0..8 {
        let (world, mut dice) = (World::new(), Dice(seed));
        world.write(RULES_FILE, RULES);
        for number in 0..10 {
            world.write(
                &format!("area{}/{number}.orch.yaml", number % 3),
                any_job(&mut dice),
            );
        }
        world.commit("base");
        world.push();
        world.git("remote set-head origin main");
        let call = Call::new(&world.work());
        let base = kinds(&call.run("check --all --report json=-").json(), None);
        world.git("checkout -q -b change");
        for _ in 0..12 {
            edit_random_file(&world, &mut dice);
        }
        world.commit("change");
        let report = call.run("check --new-only --report json=-").json();
        for (kind, number) in kinds(&report, Some("known")) {
            let had = base.get(&kind).copied().unwrap_or_default();
            assert!(number <= had, "seed {seed}: {number} of {had} {kind}");
            known_args += number;
        }
        new += kinds(&report, Some("new")).values().sum::<usize>();
    }
    assert!(
        known_args > 20 && new > 20,
        "the changes show too little: {known_args} known, {new} new"
    );
}

#[test]
fn base_is_not_moved_by_what_change_can_write() {
    let history = ServedHistory::new(project_with_areas());
    let world = &history.world;
    world.write(
        "stock/count.orch.yaml",
        pipeline_with_loose_components(&["Start", "mine", "Compare", "Done"], &[], 0),
    );
    let first = world.commit("brings it");
    world.write(
        "stock/count.orch.yaml",
        pipeline_with_loose_components(&["Start", "mine", "Compare", "Done"], &[], 160),
    );
    // Refs with the names that the base is resolved from, a setting, and a waiver.
    for name in ["main", "origin/main", "refs/remotes/origin/main"] {
        world.git(format!("tag {name} {first}"));
    }
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: '**', reason: mine }\n",
    );
    world.write("sluicegate.yaml", "review: { new-only: true }\n");
    world.commit("moves it");
    world.git("push -q -u origin refs/heads/change");
    let head = world.git("rev-parse HEAD");
    let side = |branch: &str, sha: &str| json!({ "ref": branch, "sha": sha, "repo": { "full_name": "o/p" } });
    let repository = json!({ "default_branch": "main", "full_name": "o/p" });
    let main = world.git("rev-parse refs/heads/main");
    let pull = json!({ "repository": repository,
        "pull_request": { "number": 7, "head": side("change", &head), "base": side("main", &main) } });
    // The second push: the findings of the first push existed before it.
    let push =
        json!({ "repository": repository, "ref": "refs/heads/change", "before": first, "after": head });
    for (event, reference, payload) in [
        ("pull_request", "refs/pull/7/merge", &pull),
        ("push", "refs/heads/change", &push),
    ] {
        for verb in ["check", "review"] {
            let call = Call::with_platform(&world.work(), &history.server.url);
            let output = Job::github()
                .event(event, reference, payload)
                .extend(world, call)
                .run(&[verb, "--report", "json=-"]);
            let output = output.expect(1);
            assert_eq!(
                list_finding_states(&output.json())[0],
                "new stock/count.orch.yaml component-naming-convention: component \"mine\" does not match the naming convention [A-Z].*: rename it",
                "{event} {verb}: {}",
                output.all()
            );
        }
    }
    // The file cannot set a base at all.
    world.write("sluicegate.yaml", "review: { new-only: true }\nbase: HEAD~1\n");
    world.commit("base");
    Call::new(&world.work())
        .run("check")
        .expect(2)
        .saying(&["SLUICEGATE_BASE"]);
}

#[test]
fn change_with_too_many_files_to_compare_has_note_about_renames() {
    // The twin: files that keep their names are compared.
    for (new_name, is_limited) in [("new", true), ("old", false)] {
        let world = project();
        let write_all = |folder: &str, name: &str, text: &str| {
            for number in 0..1001 {
                let path = format!("{folder}/{name}{number}.orch.yaml");
                world.write(
                    &path,
                    format!("# {number}{text}\n# {number} of the pipelines\ntype: orchestration\n"),
                );
            }
        };
        write_all("a", "old", "");
        world.commit("past");
        world.push();
        world.git("checkout -q -b change");
        world.git("rm -qr a");
        write_all("b", new_name, " edited");
        world.commit("move");
        let args = "check --new-only --fail-on never --show none -o json";
        let report = Call::new(&world.work()).run(args).json();
        let notes = report["notes"].to_string();
        let text = "A file that was renamed and edited may be listed as new";
        assert_eq!(notes.matches(text).count(), usize::from(is_limited), "{notes}");
    }
}
