//! Calls as real projects write them: with the extension, without it, folded over lines, by bare name, and mixed.

use crate::publish::planned_project::{
    PlanInput, call_parameter, pipeline_with_parameters, plan_world, planned_paths, refused_plan_text,
    world_to_plan,
};
use sluicegate::publish::FileSelection;

/// Returns a call whose value is folded over two lines, like long values.
fn folded_parameter(key: &str, target: &str) -> String {
    let (start, end) = target.split_at(target.len() / 2);
    format!("        {key}: \"{start}\\\n          {end}\"\n")
}

/// Returns every notation of a call of a transformation.
fn styles() -> [(&'static str, String); 6] {
    let key = "transformationJob";
    [
        ("without extension", call_parameter(key, "jobs/clean")),
        ("with extension", call_parameter(key, "jobs/clean.tran.yaml")),
        ("folded without extension", folded_parameter(key, "jobs/clean")),
        (
            "folded with extension",
            folded_parameter(key, "jobs/clean.tran.yaml"),
        ),
        ("bare name", call_parameter(key, "clean")),
        ("bare name with extension", call_parameter(key, "clean.tran.yaml")),
    ]
}

#[test]
fn project_of_each_style_is_whole() {
    for (name, written) in styles() {
        let world = world_to_plan();
        world.write(
            "load.orch.yaml",
            pipeline_with_parameters("orchestration", &[written]),
        );
        let plan = plan_world(&world);
        assert!(planned_paths(&plan).contains(&"jobs/clean.tran.yaml"), "{name}");
        let about_calls: Vec<_> = plan
            .warnings
            .iter()
            .filter(|entry| entry.contains("calls"))
            .collect();
        assert!(about_calls.is_empty(), "{name}: {about_calls:?}");
        let closure = PlanInput {
            select: FileSelection::Closure,
            ..PlanInput::default()
        };
        let plan = closure.plan(&world).unwrap();
        assert!(
            planned_paths(&plan).contains(&"jobs/clean.tran.yaml"),
            "{name}: not in the closure"
        );
    }
}

#[test]
fn project_that_mixes_styles_is_whole() {
    let world = world_to_plan();
    let mut calls: Vec<String> = styles().into_iter().map(|(_, written)| written).collect();
    calls.push(call_parameter("orchestrationJob", "deep/er/next.orch.yaml"));
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &calls),
    );
    world.write(
        "deep/er/next.orch.yaml",
        pipeline_with_parameters(
            "orchestration",
            &[call_parameter("transformationJob", "jobs/clean")],
        ),
    );
    let plan = plan_world(&world);
    assert!(planned_paths(&plan).contains(&"deep/er/next.orch.yaml"));
}

#[test]
fn call_with_extension_that_leads_nowhere_is_named_as_it_is_written() {
    let world = world_to_plan();
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters(
            "orchestration",
            &[call_parameter("transformationJob", "gone/clean.tran.yaml")],
        ),
    );
    let message = refused_plan_text(&world);
    assert!(
        message.contains("calls the transformation `gone/clean.tran.yaml`, which is not in"),
        "{message}"
    );
}
