//! Uncommitted changes, which a local review or publish of the checked-out commit does not include.

use crate::support::publishing::{project_to_publish, publish_platform, upload_response};
use crate::support::{Platform, one_change, orchestration_text, passed_results, respond_for_each};
use serde_json::json;

#[test]
fn local_review_notes_uncommitted_changes() {
    let world = one_change();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let output = platform.call(&world).run("review").expect(0);
    assert!(!output.err.contains("uncommitted"), "{}", output.all());
    world.write("b.orch.yaml", orchestration_text(&["Start", "Other", "Done"]));
    world.write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("notes.txt", "neither a pipeline nor a file of the platform");
    platform.call(&world).run("review").expect(0).saying(&[
        "note: uncommitted changes to 2 files are not part of this review: b.orch.yaml, new.orch.yaml",
    ]);
}

#[test]
fn local_publish_notes_uncommitted_changes_unless_it_publishes_the_working_tree() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    world.write(
        "sales/clean.tran.yaml",
        "type: transformation\npipeline: { a: 1 }\n",
    );
    let publish = "publish --prefix p --version-name 1 --dry-run";
    platform
        .call(&world)
        .run(publish)
        .expect(0)
        .saying(&["note: uncommitted changes to 1 file are not part of this publish: sales/clean.tran.yaml"]);
    let output = platform.call(&world).run((publish, "--from worktree")).expect(0);
    assert!(!output.err.contains("uncommitted"), "{}", output.all());
}

#[test]
fn local_publish_notes_uncommitted_script_of_its_plan() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    world.write("sql/it.sql", "select 2;\n");
    world.write("notes.txt", "no file of the plan");
    let publish = "publish --prefix p --version-name 1 --dry-run";
    platform
        .call(&world)
        .run(publish)
        .expect(0)
        .saying(&["note: uncommitted changes to 1 file are not part of this publish: sql/it.sql"]);
    world.write("sql/it.sql", "select 1;\r\n");
    let output = platform.call(&world).run(publish).expect(0);
    assert!(!output.err.contains("uncommitted"), "{}", output.all());
}
