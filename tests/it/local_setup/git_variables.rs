//! The variables that git sets for its hooks.

use crate::support::{Call, bad_pipeline, project};
use std::fs;

/// `git commit -a` passes the full path of its index to the hook, which may check another repository.
#[test]
fn index_of_hook_is_read_only_for_its_own_repository() {
    let (hook_world, world) = (project(), project());
    world.write("b.orch.yaml", bad_pipeline());
    world.git("add b.orch.yaml");
    for (indexed_world, code) in [(&hook_world, 1), (&world, 0)] {
        let index = indexed_world.work().join(".git/next-index");
        fs::copy(hook_world.work().join(".git/index"), &index).unwrap();
        let call = Call::new(&world.work()).variable("GIT_INDEX_FILE", index.display().to_string());
        call.run("check --staged").expect(code);
        let output = call.run("diff --staged").expect(0);
        assert_eq!(output.out.contains("b.orch.yaml"), code == 1, "{}", output.all());
    }
}
