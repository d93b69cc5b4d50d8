//! Calls as real projects write them: with the extension, without it, folded over lines, by bare name, and mixed.

use crate::publish::planned_project::{Asked, call, paths, pipeline, planned, refused, world};
use sluicegate::publish::FileSelection;

/// Returns a call whose value is folded over two lines, like long values.
fn folded(key: &str, target: &str) -> String {
    let (start, end) = target.split_at(target.len() / 2);
    format!("        {key}: \"{start}\\\n          {end}\"\n")
}

/// Returns every notation of a call of a transformation.
fn styles() -> [(&'static str, String); 6] {
    let key = "transformationJob";
    [
        ("without extension", call(key, "jobs/clean")),
        ("with extension", call(key, "jobs/clean.tran.yaml")),
        ("folded without extension", folded(key, "jobs/clean")),
        ("folded with extension", folded(key, "jobs/clean.tran.yaml")),
        ("bare name", call(key, "clean")),
        ("bare name with extension", call(key, "clean.tran.yaml")),
    ]
}

#[test]
fn project_of_each_style_is_whole() {
    for (name, written) in styles() {
        let world = world();
        world.write("load.orch.yaml", pipeline("orchestration", &[written]));
        let plan = planned(&world);
        assert!(paths(&plan).contains(&"jobs/clean.tran.yaml"), "{name}");
        let about_calls: Vec<_> = plan.warnings.iter().filter(|it| it.contains("calls")).collect();
        assert!(about_calls.is_empty(), "{name}: {about_calls:?}");
        let closure = Asked {
            select: FileSelection::Closure,
            ..Asked::default()
        };
        let plan = closure.plan(&world).unwrap();
        assert!(
            paths(&plan).contains(&"jobs/clean.tran.yaml"),
            "{name}: not in the closure"
        );
    }
}

#[test]
fn project_that_mixes_styles_is_whole() {
    let world = world();
    let mut calls: Vec<String> = styles().into_iter().map(|(_, written)| written).collect();
    calls.push(call("orchestrationJob", "deep/er/next.orch.yaml"));
    world.write("load.orch.yaml", pipeline("orchestration", &calls));
    world.write(
        "deep/er/next.orch.yaml",
        pipeline("orchestration", &[call("transformationJob", "jobs/clean")]),
    );
    let plan = planned(&world);
    assert!(paths(&plan).contains(&"deep/er/next.orch.yaml"));
}

#[test]
fn call_with_extension_that_leads_nowhere_is_named_as_it_is_written() {
    let world = world();
    world.write(
        "load.orch.yaml",
        pipeline(
            "orchestration",
            &[call("transformationJob", "gone/clean.tran.yaml")],
        ),
    );
    let said = refused(&world);
    assert!(
        said.contains("calls the transformation `gone/clean.tran.yaml`, which is not in"),
        "{said}"
    );
}
