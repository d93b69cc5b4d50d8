//! Files that are not what their name says: Git LFS pointers, encrypted and empty files, unfinished merges.

use crate::support::publishing::calling;
use crate::support::release::{call, stage, versions};
use crate::support::{Arguments, Ended, RULES, World};
use std::fs;

const SCRIPT: &str = "select 1;\n";

/// The pointer of [`SCRIPT`].
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:4a45092ccf992ea92250053a80b931b787924ba61648f420555511b84f10ab6c\nsize 10\n";

const DEFECTS: [(&str, &[u8]); 4] = [
    ("is a Git LFS pointer, not the file itself", POINTER.as_bytes()),
    ("is encrypted by git-crypt", b"\0GITCRYPT\0\x01\x02"),
    ("is empty", b"\n"),
    (
        "contains the conflict markers of a merge",
        b"select 1;\n<<<<<<< HEAD\nselect 2;\n=======\nselect 3;\n>>>>>>> change\n",
    ),
];

/// Creates a pushed project whose shared pipeline runs the script.
fn project(world: &World, script: &[u8]) {
    world.write("sales/load.orch.yaml", calling("sales/clean", "sql/it.sql"));
    world.write("sales/clean.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write("sql/it.sql", script);
    world.commit("scripts");
    world.push();
}

fn publish(world: &World, url: &str, args: impl Arguments) -> Ended {
    let call = crate::support::Call::with_platform(&world.work(), url).variable("SLUICEGATE_PREFIX", "sales");
    call.run(("publish --version-name 1", args))
}

/// Returns the findings of `project/script` in a check of all pipelines.
fn script_findings(world: &World) -> Vec<String> {
    let ended = crate::support::Call::new(&world.work()).run("check --all --report json=-");
    let report = ended.json();
    let files = report["files"].as_array().unwrap().iter();
    let results = files.flat_map(|file| file["results"].as_array().unwrap());
    let scripts = results.filter(|result| result["rule"] == "project/script");
    scripts.map(ToString::to_string).collect()
}

#[test]
fn script_with_defect_is_finding_and_is_not_published() {
    let (world, served) = stage();
    for (reason, content) in DEFECTS {
        project(&world, content);
        let findings = script_findings(&world);
        assert!(
            findings.len() == 1 && findings[0].contains(reason),
            "{reason}: {findings:?}"
        );
        for args in [&[][..], &["--from", "worktree"], &["--dry-run"]] {
            let ended = publish(&world, &served.url, args);
            assert_eq!(ended.code, 2, "{reason} {args:?}: {}", ended.all());
            ended.saying(&[
                "component `Script` names the script `sql/it.sql`",
                reason,
                "hint: ",
            ]);
        }
    }
    assert_eq!(versions(&world, &served), []);
    project(&world, SCRIPT.as_bytes());
    assert_eq!(script_findings(&world), Vec::<String>::new());
    publish(&world, &served.url, "").expect(0);
}

#[test]
fn script_with_defect_is_refused_outside_of_shared_pipelines() {
    let (world, served) = stage();
    world.write("other.orch.yaml", calling("sales/load", "sql/it.sql"));
    project(&world, POINTER.as_bytes());
    world.write(
        "sales/load.orch.yaml",
        crate::support::pipeline(&["Start", "Done"]),
    );
    world.commit("unused");
    world.push();
    publish(&world, &served.url, "").expect(2).saying(&[
        "other.orch.yaml",
        "`git lfs pull`",
        "`--from worktree`",
    ]);
    // Without that pipeline, the script is not part of the version.
    publish(&world, &served.url, "--exclude other.orch.yaml").expect(0);
}

#[test]
fn pipeline_that_is_pointer_is_named_as_such() {
    let (world, served) = stage();
    let pointer = "is a Git LFS pointer, not the file itself";
    world.write("a.orch.yaml", POINTER);
    world.commit("pointer");
    world.push();
    call(&world, &served)
        .run("publish --version-name 1")
        .expect(2)
        .saying(&["a.orch.yaml", pointer]);
    let ended = call(&world, &served).run("check a.orch.yaml");
    assert!(
        ended.code != 0 && ended.all().contains(pointer),
        "{}",
        ended.all()
    );
    world.git("rm -q a.orch.yaml");
    world.write(".platform/shared-pipelines.yaml", POINTER);
    world.commit("pointer of the shared pipelines");
    world.push();
    call(&world, &served)
        .run("publish --version-name 1")
        .expect(2)
        .saying(&[".platform/shared-pipelines.yaml", pointer]);
}

#[test]
fn file_of_pointer_is_published_from_worktree() {
    let (world, served) = stage();
    // The clean filter of Git LFS stores the pointer of the file on disk.
    let pointer = world.path().join("pointer");
    fs::write(&pointer, POINTER).unwrap();
    let clean = format!("cat > /dev/null; cat '{}'", pointer.display());
    world.git(&["config", "filter.lfs.clean", &clean]);
    world.write(".gitattributes", "*.sql filter=lfs\n");
    project(&world, SCRIPT.as_bytes());
    assert!(
        world
            .git(&["show", "HEAD:sql/it.sql"])
            .starts_with("version https")
    );
    publish(&world, &served.url, "")
        .expect(2)
        .saying(&["`git lfs pull`"]);
    publish(&world, &served.url, "--from worktree --receipt receipt.json").expect(0);
    let receipt = fs::read_to_string(world.work().join("receipt.json")).unwrap();
    let sent = "4a45092ccf992ea92250053a80b931b787924ba61648f420555511b84f10ab6c";
    assert!(receipt.contains(sent), "{receipt}");
}

#[test]
fn change_that_spoils_script_alone_is_found() {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    project(&world, SCRIPT.as_bytes());
    world.git("remote set-head origin main");
    let check = || {
        let call = crate::support::Call::new(&world.work());
        call.variable("SLUICEGATE_CI", "none").run("check --fail-on warn")
    };
    world.git("checkout -q -b change");
    world.write("sql/it.sql", "select 2;\n");
    world.write("note.txt", "");
    world.commit("harmless");
    let ended = check();
    assert!(ended.code == 0, "{}", ended.all());
    world.write("sql/it.sql", POINTER);
    world.commit("spoiled");
    let ended = check();
    assert!(
        ended.code == 1 && ended.all().contains("which is a Git LFS pointer"),
        "{}",
        ended.all()
    );
}
