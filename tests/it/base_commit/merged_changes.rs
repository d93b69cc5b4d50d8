//! Jobs of a change that run again after its merge, when the target branch already contains the change.

use crate::support::{Call, HOSTS, bad_pipeline, change, head};

#[test]
fn check_of_trial_merge_fails_before_and_after_the_merge_of_the_change() {
    for (name, host) in HOSTS {
        let world = change(&[("b.orch.yaml", &bad_pipeline())]);
        let call = host(&world, Call::new(&world.work()));
        let change = head(&world);
        world.git("checkout -q main");
        world.write("other.txt", "more");
        world.commit("more");
        world.push();
        world.git("checkout -q --detach");
        world.git(format!("merge -q --no-ff -m trial {change}"));
        let output = call.run("check");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        let tree = world.git("rev-parse HEAD^{tree}");
        let merge = world.git(&["commit-tree", "-p", "main", "-p", &change, "-m", "merged", &tree]);
        world.git(format!("push -q origin {merge}:main"));
        let (check, diff) = (call.run("check"), call.run("diff"));
        // These hosts name a commit of the target before the merge.
        if ["github", "gitea", "gitlab"].contains(&name) {
            assert_eq!(check.code, 1, "{name}: {}", check.all());
            diff.expect(0).logging(&["b.orch.yaml: new pipeline"]);
        } else {
            let text = format!("the change has no commits of its own: {change} is already in");
            check.expect(7).saying(&[&text]);
            diff.expect(7).saying(&[&text]);
        }
        let text = format!("{change} is already in `origin/main`, as requested");
        call.run("check --base origin/main").expect(7).saying(&[&text]);
        // With `--all`, too, the hint leads to a command that works.
        let output = call.run("check --all --new-only --base origin/main").expect(7);
        output.saying(&["pass another --base (SLUICEGATE_BASE), or none and select all pipelines"]);
        let output = call.run("check --all --new-only");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
    }
}
