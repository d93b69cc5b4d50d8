//! The book's page about existing repositories: its figures and messages come from real runs, over a repository like
//! that of a data team after some years.

use super::hold;
use crate::support::{Arguments, Call, ProgramOutput, World, dice::Dice};
use serde_json::Value;
use std::fmt::Write as _;

const PAGE: &str = "docs/book/adopting.md";
const AREAS: [&str; 6] = ["sales", "stock", "finance", "customers", "web", "shared"];
const SUBJECTS: [&str; 7] = [
    "orders", "prices", "stores", "returns", "budget", "visits", "items",
];

/// Returns a size: most pipelines are small, some are not, and a few are very large.
fn size(dice: &mut Dice) -> usize {
    let (least, spread) = match dice.roll(100) {
        0..56 => (3, 5),
        56..82 => (7, 5),
        82..96 => (11, 9),
        _ => (20, 23),
    };
    usize::try_from(least + dice.roll(spread)).unwrap()
}

/// Returns a row of steps from the start to the end, sometimes with an unconnected one.
fn orchestration(size: usize, dice: &mut Dice) -> String {
    let mut text = String::from("type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n");
    let has_end = dice.roll(12) > 0;
    for index in 0..size {
        let kind = match index {
            0 => "start",
            _ if index + 1 == size && has_end => "end-success",
            _ => "sql-executor",
        };
        let _ = write!(
            text,
            "    Step {index}:\n      type: {kind}\n      parameters: {{ componentName: Step {index} }}\n"
        );
        if index + 1 < size {
            let _ = writeln!(
                text,
                "      transitions: {{ unconditional: [Step {}] }}",
                index + 1
            );
        }
    }
    if dice.roll(7) == 0 {
        text.push_str(
            "    Old check:\n      type: sql-executor\n      parameters: { componentName: Old check }\n",
        );
    }
    text
}

/// Returns a table that passes through some steps into one table, sometimes into two.
fn transformation(size: usize, dice: &mut Dice) -> String {
    let mut text = String::from("type: transformation\nversion: \"1.0\"\npipeline:\n  components:\n");
    let outputs = 1 + usize::from(dice.roll(9) == 0);
    for index in 0..size {
        let kind = match index {
            0 => "table-input",
            _ if index + outputs >= size => "rewrite-table",
            _ => "filter",
        };
        let _ = write!(
            text,
            "    Step {index}:\n      type: {kind}\n      parameters: {{ componentName: Step {index} }}\n"
        );
        if index > 0 {
            let source = (index - 1).min(size - outputs - 1);
            let _ = writeln!(text, "      sources: [Step {source}]");
        }
    }
    text
}

/// Creates 152 pipelines without a gate.
fn existing_project() -> World {
    let world = World::new();
    let mut dice = Dice(15);
    world.write(".platform/shared-pipelines.yaml", "pipelines: []\n");
    world.write(".github/workflows/build.yml", "on: push\n");
    for number in 0..152 {
        let (area, subject) = (AREAS[number % 6], SUBJECTS[number / 6 % 7]);
        let size = size(&mut dice);
        let (kind, text) = if number % 3 == 0 {
            ("tran", transformation(size, &mut dice))
        } else {
            ("orch", orchestration(size, &mut dice))
        };
        world.write(&format!("{area}/{subject} {number}.{kind}.yaml"), text);
    }
    world.commit("some years");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b gate");
    world
}

fn run_in_clone(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(args)
}

/// Checks that a block of the page matches the output of a run.
fn check_page_output(mark: &str, text: &str) {
    hold(PAGE, mark, &format!("```text\n{}\n```\n", text.trim_end()));
}

/// Returns the last line of a check.
fn ending(output: &ProgramOutput) -> &str {
    let value = output.out.lines().rfind(|line| !line.is_empty());
    value.unwrap_or_else(|| panic!("{}", output.all()))
}

/// Returns the path of the first orchestration that is too large.
fn large(world: &World) -> String {
    let report = run_in_clone(world, "check --all --report json=-").json();
    let files = report["files"].as_array().unwrap();
    let is_large = |result: &Value| result["rule"] == "maximum-components" && result["status"] == "FAILED";
    let matches = files
        .iter()
        .filter(|file| file["path"].as_str().unwrap().ends_with(".orch.yaml"))
        .find(|file| file["results"].as_array().unwrap().iter().any(is_large));
    matches.unwrap()["path"].as_str().unwrap().to_owned()
}

#[test]
fn page_about_past_shows_real_runs() {
    let world = existing_project();
    let first = run_in_clone(&world, "init --dry-run").expect(0).out;
    let (_, table) = first.split_once("findings today").unwrap();
    let table = table.split("\nwould write").next().unwrap();
    check_page_output("past look", &format!("findings today{table}"));

    let output = run_in_clone(&world, "init --adopt new-only").expect(0).out;
    let (_, rest) = output.split_once("\nwrote ").unwrap();
    check_page_output(
        "past adopt",
        &format!("wrote {}", rest.split("\n\nNext:").next().unwrap()),
    );
    world.commit("gate");
    check_page_output("past first", ending(&run_in_clone(&world, "check").expect(0)));
    let all = run_in_clone(&world, "check --all --fail-on never").expect(0);
    check_page_output("past all", ending(&all));
    world.git("checkout -q main");
    world.git("merge -q gate");
    world.push();

    // A change of a pipeline with findings, then one more component in it.
    world.git("checkout -q -b change");
    let large = large(&world);
    let text = std::fs::read_to_string(world.work().join(&large)).unwrap();
    world.write(&large, text.replace("version: \"1.0\"", "version: \"1.1\""));
    check_page_output("past edit", ending(&run_in_clone(&world, "check").expect(0)));
    let lost = "    Lost:\n      type: sql-executor\n      parameters: { componentName: Lost }\n";
    world.write(&large, text + lost);
    check_page_output("past worse", ending(&run_in_clone(&world, "check").expect(1)));
}
