//! Partial clones (`--filter=blob:none`): the same results as in a complete clone, with few fetches.

use crate::support::{Call, World, git, offer, orchestration_text, project};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const RULES: &str = "rules:\n  - id: unused-components\n    enabled: true\n    enforcementLevel: error\n";
const PIPELINE_COUNT: usize = 40;

/// Returns a pipeline with an unconnected component, and with a text that makes its content unique.
fn pipeline_with_finding(text: &str) -> String {
    let mut content = String::from(
        "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n    \
         Unconnected:\n      type: sql-executor\n      parameters:\n        componentName: Unconnected\n        \
         sqlQuery: |\n",
    );
    for line in 0..20 {
        let _ = writeln!(content, "          SELECT {line} FROM {text}");
    }
    content
}

/// Creates a remote whose `main` has pipelines with known findings. The branch `change` renames and edits one of them,
/// and edits all others.
fn remote_with_change() -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    for index in 0..PIPELINE_COUNT {
        world.write(
            &format!("sales/load{index}.orch.yaml"),
            pipeline_with_finding(&format!("t{index}")),
        );
    }
    world.commit("pipelines");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv sales/load0.orch.yaml sales/renamed.orch.yaml");
    world.write(
        "sales/renamed.orch.yaml",
        pipeline_with_finding("t0").replace("SELECT 3 ", "SELECT 33 "),
    );
    for index in 1..PIPELINE_COUNT {
        let content = pipeline_with_finding(&format!("t{index}")).replace("SELECT 3 ", "SELECT 33 ");
        world.write(&format!("sales/load{index}.orch.yaml"), content);
    }
    world.commit("change");
    world.push();
    git(&world.remote(), "config uploadpack.allowFilter true");
    git(&world.remote(), "config uploadpack.allowAnySHA1InWant true");
    world
}

fn clone_of_change(world: &World, name: &str, filter: &str) -> PathBuf {
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q {filter} --branch change {url} {name}"),
    );
    world.path().join(name)
}

/// Returns the number of packs: git writes one for each fetch of omitted objects.
fn count_packs(clone: &Path) -> usize {
    fs::read_dir(clone.join(".git/objects/pack"))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .path()
                .extension()
                .is_some_and(|ext| ext == "pack")
        })
        .count()
}

const CHECK: &str = "check --new-only --base origin/main";

#[test]
fn check_in_clone_without_blobs_gives_verdict_of_complete_clone() {
    let world = remote_with_change();
    let complete_clone = clone_of_change(&world, "complete", "");
    let partial_clone = clone_of_change(&world, "partial", "--filter=blob:none");
    let summary = format!("no new findings ({PIPELINE_COUNT} known)");
    for clone in [&complete_clone, &partial_clone] {
        let output = Call::new(clone).run(CHECK).expect(0);
        assert!(output.all().contains(&summary), "{}", output.all());
    }
}

#[test]
fn check_in_clone_without_blobs_fetches_missing_pipelines_together() {
    let world = remote_with_change();
    let clone = clone_of_change(&world, "partial", "--filter=blob:none");
    let pack_count = count_packs(&clone);
    Call::new(&clone).run(CHECK).expect(0);
    let fetch_count = count_packs(&clone) - pack_count;
    assert!((1..=3).contains(&fetch_count), "{fetch_count} fetches");
}

#[test]
fn check_of_all_in_clone_without_checkout_fetches_missing_pipelines_together() {
    let world = remote_with_change();
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --filter=blob:none --no-checkout --branch main {url} partial"),
    );
    let clone = world.path().join("partial");
    let pack_count = count_packs(&clone);
    Call::new(&clone).run("check --all --head HEAD").expect(1);
    let fetch_count = count_packs(&clone) - pack_count;
    assert!((1..=3).contains(&fetch_count), "{fetch_count} fetches");
}

#[test]
fn check_in_clone_without_blobs_fails_if_remote_cannot_be_reached() {
    let world = remote_with_change();
    let clone = clone_of_change(&world, "partial", "--filter=blob:none");
    git(&clone, &["remote", "set-url", "origin", "file:///nonexistent"]);
    let output = Call::new(&clone).run(CHECK).expect(7);
    output.saying(&["hint:"]);
}

#[test]
fn check_of_shared_pipeline_that_cannot_be_fetched_fails_in_each_compat_mode() {
    let world = project();
    let shared_file = offer(&[("shared", "")]).replace("    parameters:\n", "");
    world.write(".platform/shared-pipelines.yaml", shared_file);
    world.write("shared.orch.yaml", orchestration_text(&["Start", "Load"]));
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    world.write("shared.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("edit");
    world.push();
    git(&world.remote(), "config uploadpack.allowFilter true");
    let clone = clone_of_change(&world, "partial", "--filter=blob:none");
    git(&clone, &["remote", "set-url", "origin", "file:///nonexistent"]);
    for (mode, code) in [("fail", 7), ("warn", 7), ("off", 0)] {
        let output = Call::new(&clone).run(("check --base origin/main --compat", mode));
        let output = output.expect(code);
        assert_eq!(
            output.err.contains("hint: "),
            code == 7,
            "{mode}: {}",
            output.all()
        );
    }
}

#[test]
fn hint_for_clone_without_trees_fetches_them() {
    let world = remote_with_change();
    let clone = clone_of_change(&world, "partial", "--filter=tree:0");
    let command = "fetch --refetch --no-filter";
    let output = Call::new(&clone).run(CHECK).expect(7);
    output.saying(&[&format!("`git {command}`")]);
    git(&clone, format!("{command} -q"));
    Call::new(&clone).run(CHECK).expect(0);
}

/// Other remotes do not have the omitted files, and the URL of a remote may be relative to the root.
#[test]
fn missing_pipelines_are_fetched_from_the_remote_of_the_partial_clone() {
    let world = remote_with_change();
    let clone = clone_of_change(&world, "partial", "--filter=blob:none --origin upstream");
    let remote_name = world.remote().file_name().unwrap().to_string_lossy().into_owned();
    git(&clone, format!("remote set-url upstream ../{remote_name}"));
    git(&clone, "remote add origin file:///nonexistent");
    fs::create_dir(clone.join("empty")).unwrap();
    Call::new(&clone.join("empty"))
        .run("check --new-only --base upstream/main")
        .expect(0);
}

/// A fetch in the same run does not change which files count as renamed.
#[test]
fn renamed_pipelines_keep_their_known_findings_after_deepen() {
    let world = remote_with_change();
    world.git("checkout -q change");
    world.write(
        "eu/load1.orch.yaml",
        pipeline_with_finding("a_new_table").replace("FROM", "NOT FROM"),
    );
    world.git("rm -q sales/load1.orch.yaml");
    world.commit("move and rewrite");
    world.push();
    let deepened_check = format!("{CHECK} --deepen");
    let clones = [
        ("complete", "", CHECK),
        ("shallow", "--depth=1", &deepened_check),
        ("both", "--depth=1 --filter=blob:none", &deepened_check),
    ];
    for (name, filter, command) in clones {
        let clone = clone_of_change(&world, name, filter);
        let output = Call::new(&clone).run(command).expect(0);
        let summary = format!("no new findings ({PIPELINE_COUNT} known)");
        assert!(output.all().contains(&summary), "{name}: {}", output.all());
    }
}

#[test]
fn repair_without_blobs_of_base_and_remote_goes_on_without_renames() {
    let world = remote_with_change();
    let caller = format!("{}{}", crate::fix::HEADER, crate::fix::call("Call", "load1"));
    world.write("main.orch.yaml", caller);
    world.commit("caller");
    world.push();
    let clone = clone_of_change(&world, "partial", "--filter=blob:none");
    git(&clone, "remote set-url origin file:///gone");
    let output = Call::new(&clone).run("mv --repair").expect(0);
    assert!(
        output.err.contains("it is unknown what the change renamed"),
        "{}",
        output.err
    );
    assert!(output.out.contains("repaired 1 call in 1 file"), "{}", output.out);
}
