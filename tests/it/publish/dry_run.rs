//! `publish --dry-run` as text, and the warnings of a publish.

use crate::support::publishing::{caller_of_files, project_to_publish, version_details};
use crate::support::{
    Arguments, Platform, ProgramOutput, Shop, answer, git, head, job_output, orchestration_text,
};
use serde_json::json;
use sluicegate_base::text;
use wiremock::{Request, ResponseTemplate};

/// Creates a project of 153 files, three of which two shared pipelines need.
fn warehouse() -> Shop {
    let shop = Shop::new();
    for number in 0..149 {
        shop.world.write(
            &format!("stock/p{number:03}.orch.yaml"),
            caller_of_files("${which}", "sql/gone.sql"),
        );
    }
    shop.world
        .write("more.orch.yaml", caller_of_files("nowhere", "sql/gone.sql"));
    shop.push();
    shop
}

fn dry_run(shop: &Shop, extra_args: impl Arguments) -> ProgramOutput {
    let args = "publish --version-name 1.0.0 --dry-run";
    shop.call().run((args, extra_args)).expect(0)
}

/// Returns whether the output has the hash of a file.
fn has_hashes(output: &ProgramOutput) -> bool {
    let is_hash = |word: &str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    output.out.split_whitespace().any(is_hash)
}

#[test]
fn dry_run_shows_shared_pipelines_and_totals_and_hashes_only_with_v() {
    let shop = warehouse();
    let output = dry_run(&shop, "");
    assert!(!has_hashes(&output), "{}", output.all());
    assert!(output.out.lines().count() < 30, "{}", output.all());
    for line in [
        "would publish 153 files",
        "2 shared pipelines:",
        "  load  load.orch.yaml",
        "    day: TEXT; required",
        "    day: TEXT; default \"x\"",
        "hint: the shared pipelines need 3 of the 153 files; to publish only these, set `publish.select: closure` (--select closure)",
    ] {
        assert!(
            output.out.lines().any(|known| known == line),
            "{line}: {}",
            output.all()
        );
    }
    let detailed = dry_run(&shop, "-v");
    assert!(has_hashes(&detailed), "{}", detailed.all());
    assert!(
        detailed.out.contains("  stock/p148.orch.yaml\n"),
        "{}",
        detailed.all()
    );
    let plan = dry_run(&shop, "--json").json();
    let files = plan["files"].as_array().unwrap();
    assert_eq!(files.len(), 153);
    assert_eq!(files[0]["sha256"].as_str().unwrap().len(), 64);
    let size: u64 = files.iter().map(|file| file["bytes"].as_u64().unwrap()).sum();
    assert_eq!(plan["bytes"], json!(size));
    let total = format!("\ntotal: 153 files ({}): ", text::format_count(size, "byte"));
    assert!(output.out.contains(&total), "{total}: {}", output.all());
    assert_eq!(
        (&plan["from"], &plan["select"]),
        (&json!("commit"), &json!("all"))
    );
    let plan = dry_run(&shop, "--json --from worktree --select closure").json();
    assert_eq!(
        (&plan["from"], &plan["select"]),
        (&json!("worktree"), &json!("closure"))
    );
}

#[test]
fn warning_about_unneeded_references_is_printed_once_with_its_setting() {
    let shop = warehouse();
    let count = |output: &ProgramOutput| output.err.matches("warning: ").count();
    let dry = dry_run(&shop, "");
    assert_eq!(count(&dry), 1, "{}", dry.all());
    let words = [
        "no shared pipeline needs these files",
        "`publish.select: closure`",
        "`publish --dry-run -o json` lists them",
    ];
    assert_eq!(
        dry.err.matches("no shared pipeline needs").count(),
        1,
        "{}",
        dry.all()
    );
    dry.saying(&words);
    let publication = shop.call().run("publish --version-name 1.0.0").expect(0);
    assert_eq!(count(&publication), 1, "{}", publication.all());
    publication.saying(&words);
    // A rerun that finds its version does not repeat the warning.
    let rerun = shop
        .call()
        .run("publish --version-name 1.0.0 --if-exists same-content")
        .expect(0);
    assert!(!rerun.err.contains(words[0]), "{}", rerun.all());
    // The setting turns the warning and the hint off.
    shop.world
        .write("sluicegate.yaml", "publish: { select: closure }\n");
    shop.push();
    let args = "publish --version-name 1.0.1";
    let dry = shop.call().run((args, "--dry-run")).expect(0);
    assert!(
        !dry.err.contains("warning: ") && !dry.out.contains("hint: "),
        "{}",
        dry.all()
    );
    assert!(dry.out.contains("would publish 3 files"), "{}", dry.all());
    let closure = shop.call().run(args).expect(0);
    assert!(!closure.err.contains("warning: "), "{}", closure.all());
}

#[test]
fn unclear_reference_of_shared_pipeline_has_its_own_warning() {
    let shop = Shop::new();
    let text = caller_of_files("${which}", "sql/it.sql") + "  variables:\n    day: {}\n";
    shop.world.write("load.orch.yaml", text);
    shop.world.write("sql/it.sql", "select 1");
    shop.push();
    let dry = dry_run(&shop, "");
    assert!(!dry.err.contains("publish.select"), "{}", dry.all());
    dry.saying(&["load.orch.yaml", "it is unknown whether its file is sent"]);
}

#[test]
fn dry_run_advises_fewer_files_if_at_most_half_of_them_are_needed() {
    let shop = Shop::new();
    let advice = "the shared pipelines need 3 of the";
    for (path, is_advised) in [("one.orch.yaml", false), ("two.orch.yaml", true)] {
        shop.world.write(path, orchestration_text(&["Start", "Done"]));
        shop.push();
        let output = dry_run(&shop, "");
        assert_eq!(output.out.contains(advice), is_advised, "{}", output.all());
    }
}

#[test]
fn dry_run_counts_scripts_among_the_needed_files() {
    let shop = Shop::new();
    let text = caller_of_files("${which}", "sql/it.sql") + "  variables:\n    day: {}\n";
    shop.world.write("load.orch.yaml", text);
    shop.world.write("sql/it.sql", "select 1");
    for path in ["one.orch.yaml", "two.orch.yaml", "three.orch.yaml"] {
        shop.world.write(path, orchestration_text(&["Start", "Done"]));
    }
    shop.push();
    // Two pipelines, the script and the shared-pipelines file.
    dry_run(&shop, "").assert_logged(&["the shared pipelines need 4 of the 8 files"]);
}

/// A dry run needs no commit of the latest version, but says that the comparison is missing.
#[test]
fn dry_run_without_commit_of_latest_version_names_that_commit() {
    let world = project_to_publish();
    let short = world.git("rev-parse --short=7 HEAD");
    for commit in ["7".repeat(40), short] {
        let mut details = version_details(&world);
        details["artifactDetails"]["commitHash"] = json!(commit);
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
            if request.url.query_pairs().any(|(_, value)| value == "2") {
                return ResponseTemplate::new(404);
            }
            answer(&details)
        });
        let output = platform
            .call(&world)
            .run("publish --prefix p --version-name 2 --compat off --dry-run");
        output.assert_logged(&[&format!("the clone does not have commit {commit}")]);
    }
}

#[test]
fn incomplete_plan_is_printed_by_dry_run_and_not_by_publish() {
    let shop = Shop::new();
    shop.world.write(
        "load.orch.yaml",
        caller_of_files("gone.tran.yaml", "sql/gone.sql"),
    );
    shop.push();
    let args = "publish --version-name 1.0.0 --json";
    let plan = shop.call().run((args, "--dry-run")).expect(2).json();
    assert!(plan["refused"].to_string().contains("gone.tran.yaml"), "{plan}");
    let output = shop.call().run(args).expect(2);
    assert_eq!(output.out, "", "{}", output.all());
    assert!(!output.err.contains("sluicegate.plan"), "{}", output.all());
    output.saying(&["gone.tran.yaml"]);
}

#[test]
fn refusal_for_missing_shared_pipeline_has_help_of_finding() {
    let shop = Shop::new();
    let shared_file = ".platform/shared-pipelines.yaml";
    let text = shop.world.read_text(shared_file);
    for (path, help) in [
        (
            "Load.orch.yaml",
            "the name of `load.orch.yaml` differs only in letter case",
        ),
        ("./load.orch.yaml", "`load.orch.yaml` has that name"),
    ] {
        shop.world
            .write(shared_file, text.replace("load.orch.yaml", path));
        shop.push();
        let output = shop.call().run("publish --version-name 1.0.0").expect(2);
        assert!(!output.all().contains("mv --repair"), "{}", output.all());
        output.saying(&[help]);
        shop.call().run("check --all").expect(0).assert_logged(&[help]);
    }
}

#[test]
fn dry_run_of_existing_version_predicts_the_publish() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let same_content = "--if-exists same-content";
    let refusal = "publishing would fail: the version `1.0.0` of `sales` already exists";
    let refused_dry_run = |extra_args: &str| {
        let args = "publish --version-name 1.0.0 --dry-run";
        shop.call().run((args, extra_args)).expect(5)
    };
    let hint = "hint: publish under another version name";
    let headline = "would fail to publish ";
    let output = refused_dry_run("");
    output.assert_logged(&[refusal, hint]);
    assert!(output.out.starts_with(headline), "{}", output.all());
    let plan = refused_dry_run("-o json").json();
    let hint_text = plan["refused"][0]["hint"].as_str().unwrap();
    assert!(hint_text.contains("--if-exists same-content"), "{plan}");
    let output = dry_run(&shop, (same_content, "--receipt r.json"));
    output.assert_logged(&[
        "would publish nothing: version 1.0.0 of sales is already published",
        "cannot check whether files were ignored",
    ]);
    assert!(!output.out.contains("would fail"), "{}", output.all());
    // A prediction is no evidence that the version is published.
    let receipt = shop.world.read_text("r.json");
    assert!(receipt.contains("\"planned\""), "{receipt}");
    shop.world
        .write("more.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    refused_dry_run(same_content).assert_logged(&[refusal, "the version is from commit", hint]);
}

#[test]
fn dry_run_of_existing_version_writes_no_statement_and_no_version_outputs() {
    let shop = Shop::new();
    shop.publish("{short-sha}").expect(0);
    let version = shop.versions().remove(0);
    let args = "--if-exists same-content --dry-run --attestation st.json";
    for name in ["{short-sha}", &version] {
        let output = shop.publish((name, args)).expect(0);
        output.assert_logged(&["no statement about the publication is written: a dry run publishes nothing"]);
        assert!(!shop.world.work().join("st.json").exists(), "{name}");
        assert_eq!(job_output(&shop.outputs(), "version-name"), "", "{name}");
    }
}

/// A template name leads to the decision before the planned version is looked up.
#[test]
fn dry_run_of_existing_disabled_version_names_no_failure() {
    let shop = Shop::new();
    shop.publish("{short-sha}").expect(0);
    let version = shop.versions().remove(0);
    shop.call()
        .run(format!(
            "artifacts disable --prefix sales --version-name {version} --force"
        ))
        .expect(0);
    let output = shop.publish("{short-sha} --dry-run").expect(0);
    output.assert_logged(&["would publish nothing: this commit is already published"]);
    assert!(!output.out.contains("would fail"), "{}", output.all());
}

#[test]
fn dry_run_of_older_commit_lists_the_files_that_consumers_lose() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let old_commit = head(&shop.world);
    shop.world
        .write("extra.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    shop.publish("1.1.0").expect(0);
    let latest_commit = head(&shop.world);
    let plan = shop
        .call()
        .run("publish --version-name 2.0.0 --dry-run --head HEAD~1 -o json")
        .expect(0)
        .json();
    assert_eq!(plan["commitHash"], old_commit.as_str());
    assert_eq!(
        plan["changes"],
        json!({ "since": latest_commit, "added": [], "modified": [], "removed": ["extra.orch.yaml"] })
    );
    // A commit of another branch is not compared.
    shop.world.git("checkout -q -b other HEAD~1");
    shop.world.write("notes.md", "text");
    shop.world.commit("other");
    let plan = shop
        .call()
        .run("publish --version-name 2.0.0 --dry-run -o json")
        .expect(0)
        .json();
    assert!(plan["changes"].is_null(), "{plan}");
}

#[test]
fn dry_run_without_platform_shows_latest_version_as_unknown() {
    let shop = Shop::new();
    let output = shop.publish("1.0.0 --dry-run").expect(0);
    assert!(output.out.contains("  latest   (none)\n"), "{}", output.all());
    shop.publish("1.0.0").expect(0);
    let output = shop
        .call()
        .without("SLUICEGATE_TOKEN")
        .run("publish --version-name 1.0.1 --dry-run")
        .expect(0);
    assert!(output.out.contains("  latest   (unknown)\n"), "{}", output.all());
    output.assert_logged(&["could not list the changes: the latest version is unknown"]);
}

#[test]
fn dry_run_in_shallow_clone_does_not_deny_unknown_history() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let published_commit = head(&shop.world);
    shop.world
        .write("more.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    let url = format!("file://{}", shop.world.remote().display());
    git(shop.world.path(), format!("clone -q --depth 1 {url} shallow"));
    let folder = shop.world.path().join("shallow");
    git(&folder, format!("fetch -q --depth 1 origin {published_commit}"));
    let output = shop
        .call_in(&folder)
        .run("publish --version-name 1.0.1 --dry-run")
        .expect(0);
    output.assert_logged(&["this shallow clone does not show whether commit"]);
}

#[test]
fn dry_run_continues_if_platform_does_not_show_latest_version() {
    let world = project_to_publish();
    let mut entry = version_details(&world)["artifactDetails"].clone();
    entry["commitHash"] = json!("7".repeat(40));
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [entry] })));
    platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(503));
    let output = platform
        .call(&world)
        .run("publish --prefix p --version-name {short-sha} --compat off --dry-run")
        .expect(0);
    output.assert_logged(&["could not determine the latest version", "would publish 4 files"]);
}

#[test]
fn publish_of_commit_with_impossible_time_needs_name_without_date() {
    let shop = Shop::new();
    let world = &shop.world;
    world.write("notes.md", "more");
    world.commit("more");
    let commit = world.git("cat-file commit HEAD");
    let (lines, message) = commit.split_once("\n\n").unwrap();
    let (before, _) = lines.rsplit_once("> ").unwrap();
    let file = world.path().join("commit");
    std::fs::write(&file, format!("{before}> 253402300800 +0000\n\n{message}\n")).unwrap();
    let commit = world.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    world.git(format!("reset -q --hard {commit}"));
    world.push();
    let run = |name: &str| shop.call().run(("publish --dry-run --version-name", name));
    run("auto")
        .expect(2)
        .saying(&["the time of the commit is out of range"]);
    run("1.0.0").expect(0);
}

#[test]
fn dry_run_with_only_disabled_versions_names_them_as_the_cause() {
    let shop = Shop::new();
    let output = shop.publish("1.0.0 --dry-run").expect(0);
    output.assert_logged(&["could not list the changes: no version of sales is published"]);
    shop.publish("1.0.0").expect(0);
    shop.call()
        .run("artifacts disable --prefix sales --version-name 1.0.0 --force")
        .expect(0);
    let output = shop.publish("1.0.1 --dry-run").expect(0);
    output.assert_logged(&["could not list the changes: every version of sales is disabled"]);
}

#[test]
fn dry_run_reports_skipped_submodule_without_gitmodules() {
    let shop = Shop::new();
    let skipped = "lib: a submodule, whose files are not part of this repository, is skipped";
    assert!(!dry_run(&shop, "").all().contains(skipped));
    // `git add` of a repository writes no `.gitmodules`.
    shop.world.git(format!(
        "update-index --add --cacheinfo 160000,{},lib",
        head(&shop.world)
    ));
    shop.world.git("commit -q -m submodule");
    shop.world.push();
    dry_run(&shop, "").saying(&[skipped]);
}

#[cfg(unix)]
#[test]
fn dry_run_names_files_that_keep_the_latest_version_from_being_compared() {
    let shop = Shop::new();
    let link = shop.world.work().join("link.orch.yaml");
    std::os::unix::fs::symlink("more.orch.yaml", &link).unwrap();
    shop.push();
    shop.call()
        .run("publish --version-name 1.0.0 --exclude link.orch.yaml")
        .expect(0);
    std::fs::remove_file(link).unwrap();
    shop.push();
    let output = shop
        .call()
        .run("publish --version-name 1.0.1 --dry-run")
        .expect(0);
    let reason =
        "could not be compared with the commit to publish: symbolic links are not published: link.orch.yaml";
    output.logging(&[reason]);
}
