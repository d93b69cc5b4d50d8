//! `sluicegate init`: a configuration and a job for each host, and no file overwritten.

use crate::support::{
    Arguments, Call, PROJECT, ProgramOutput, World, json_schema::validate, orchestration_text, scratch,
};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHARED: &str = "pipelines:\n  - pipeline: a.orch.yaml\n    id: load\n";

/// For each host: its name, the file that identifies it, and the path of the job.
const HOSTS: [(&str, &str, &str); 8] = [
    (
        "github",
        ".github/workflows/other.yml",
        ".github/workflows/sluicegate.yml",
    ),
    (
        "gitea",
        ".gitea/workflows/other.yml",
        ".gitea/workflows/sluicegate.yml",
    ),
    ("gitlab", ".gitlab-ci.yml", ".gitlab/sluicegate.yml"),
    ("azure", "azure-pipelines.yml", ".azure/sluicegate.yml"),
    ("bitbucket", "bitbucket-pipelines.yml", "bitbucket-pipelines.yml"),
    ("jenkins", "Jenkinsfile", "Jenkinsfile.sluicegate"),
    ("circleci", ".circleci/config.yml", ".circleci/config.yml"),
    (
        "buildkite",
        ".buildkite/pipeline.yml",
        ".buildkite/sluicegate.yml",
    ),
];

/// Creates a pushed project with a pipeline and a shared-pipelines file.
fn small_project() -> World {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world
}

fn run_init(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("init", args))
}

fn parse_yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the uncommitted files of the repository.
fn new_files(world: &World) -> Vec<String> {
    let status = world.git("status --porcelain -uall");
    status.lines().map(|line| line[3..].to_owned()).collect()
}

#[test]
fn init_writes_job_for_every_host() {
    for (host, _, beside) in HOSTS {
        let world = small_project();
        let output = run_init(&world, format!("--host {host}")).expect(0).out;
        let path = new_files(&world)
            .into_iter()
            .find(|path| path != "sluicegate.yaml")
            .unwrap();
        assert!(
            output.contains(&format!("wrote             {path}"))
                && output.contains("wrote             sluicegate.yaml"),
            "{output}"
        );
        let job = world.read_text(&path);
        assert!(job.starts_with('#') || job.starts_with("//"), "{host}: {job}");
        assert!(!job.contains("__") && job.contains("sluicegate"), "{host}: {job}");
        if host != "jenkins" {
            assert!(parse_yaml(&job).is_object(), "{host}: {job}");
        }
        let secret = if ["github", "gitea"].contains(&host) {
            "PLATFORM_TOKEN"
        } else if host == "jenkins" {
            "sluicegate-token"
        } else {
            "SLUICEGATE_TOKEN"
        };
        assert!(output.contains(secret), "{host}: {output}");
        assert!(job.contains(secret), "{host}: {job}");
        assert!(output.contains("doctor"), "{host}: {output}");
        // A second run changes nothing and does not add a second job.
        let stdout = run_init(&world, format!("--host {host}")).expect(0).out;
        assert!(
            stdout.contains("already runs sluicegate") && !stdout.contains("wrote"),
            "{host}: {stdout}"
        );
        assert_eq!(world.read_text(&path), job);
        assert!(path == beside || !world.work().join(beside).exists(), "{host}");
    }
}

#[test]
fn jobs_have_the_keys_that_hosts_read() {
    let world = small_project();
    run_init(&world, "--host github").expect(0);
    let job = parse_yaml(&world.read_text(".github/workflows/sluicegate.yml"));
    assert_eq!(job["on"]["push"]["branches"][0], "main");
    assert_eq!(job["permissions"], serde_json::json!({ "contents": "read" }));
    let steps = &job["jobs"]["sluicegate"]["steps"];
    assert_eq!(steps[0]["with"]["fetch-depth"], 0);
    let action = parse_yaml(&fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).unwrap());
    for input in steps[1]["with"].as_object().unwrap().keys() {
        assert!(
            action["inputs"][input].is_object(),
            "{input} is no input of the action"
        );
    }
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let named = steps[1]["uses"].as_str().unwrap();
    assert!(readme.contains(&format!("uses: {named} # ")), "{named}");

    run_init(&world, "--host gitlab --source r.example/a/b:1").expect(0);
    let job = parse_yaml(&world.read_text(".gitlab-ci.yml"));
    assert_eq!(job["sluicegate"]["image"], "r.example/a/b:1");
    assert_eq!(job["sluicegate"]["variables"]["GIT_DEPTH"], "0");

    let tag = format!(":{}-ci", env!("CARGO_PKG_VERSION"));
    let digest = format!("@sha256:{}", "0".repeat(64));
    for (image, added_tag) in [
        ("r.example:5000/a/b", tag.as_str()),
        ("b", &tag),
        ("r.example/a/b:1", ""),
        (&format!("r.example/a/b{digest}"), ""),
    ] {
        let world = small_project();
        run_init(&world, format!("--host gitlab --source {image}")).expect(0);
        let job = parse_yaml(&world.read_text(".gitlab-ci.yml"));
        assert_eq!(job["sluicegate"]["image"], format!("{image}{added_tag}"));
    }

    run_init(&world, "--host azure").expect(0);
    assert_eq!(
        parse_yaml(&world.read_text("azure-pipelines.yml"))["steps"][0]["fetchDepth"],
        "0"
    );
    run_init(&world, "--host bitbucket").expect(0);
    let job = parse_yaml(&world.read_text("bitbucket-pipelines.yml"));
    assert_eq!(job["clone"]["depth"], "full");
    assert!(
        job["pipelines"]["branches"]["main"][0]["step"]["script"].is_array(),
        "{job}"
    );
    run_init(&world, "--host none").expect(0);
}

#[test]
fn jobs_collect_what_program_writes() {
    let cases = [
        (
            "gitlab",
            "GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_COMMIT_BRANCH=main CI_COMMIT_SHA",
            "junit.xml",
            "junit: junit.xml",
        ),
        (
            "gitlab",
            "GITLAB_CI=true CI_PIPELINE_SOURCE=push CI_COMMIT_BRANCH=main CI_COMMIT_SHA",
            "gl-code-quality-report.json",
            "codequality: gl-code-quality-report.json",
        ),
        (
            "azure",
            "TF_BUILD=True BUILD_REASON=IndividualCI BUILD_SOURCEBRANCH=refs/heads/main BUILD_SOURCEVERSION",
            "TEST-sluicegate.xml",
            "testResultsFiles: TEST-sluicegate.xml",
        ),
        (
            "jenkins",
            "JENKINS_URL=http://j BUILD_ID=1 BRANCH_NAME=main GIT_COMMIT",
            "build/reports/sluicegate.xml",
            "'build/reports/sluicegate.xml'",
        ),
        (
            "circleci",
            "CIRCLECI=true CIRCLE_BRANCH=main CIRCLE_SHA1",
            "test-results/sluicegate/results.xml",
            "path: test-results/sluicegate/results.xml",
        ),
        (
            "buildkite",
            "BUILDKITE=true BUILDKITE_BRANCH=main BUILDKITE_COMMIT",
            "tmp/junit-sluicegate.xml",
            "tmp/junit-*.xml",
        ),
    ];
    let world = small_project();
    let head = world.git("rev-parse HEAD");
    for (host, variables, written, collected) in cases {
        let output = run_init(&world, format!("--host {host} --dry-run")).expect(0).out;
        assert!(output.contains(collected), "{host}: {output}");
        // Each download follows only encrypted redirects.
        let is_download = |line: &&str| line.contains("curl ");
        let downloads: Vec<&str> = output.lines().filter(is_download).collect();
        assert!(
            downloads
                .iter()
                .all(|line| line.contains("--proto-redir \"=https\"")),
            "{host}: {downloads:?}"
        );
        assert_eq!(downloads.is_empty(), host == "gitlab", "{host}");
        let call = variables
            .split(' ')
            .fold(Call::new(&world.work()), |call, variable| {
                let (name, value) = variable.split_once('=').unwrap_or((variable, &head));
                call.variable(name, value)
            });
        call.run("check --all --fail-on never").expect(0);
        assert!(world.work().join(written).is_file(), "{host}: {written}");
    }
}

#[test]
fn host_is_detected_by_its_files_then_by_remote() {
    for (host, sign, beside) in HOSTS {
        let world = small_project();
        world.write(sign, "# something of theirs\n");
        world.commit("theirs");
        let output = run_init(&world, "").expect(0).out;
        assert!(
            output.contains(&format!("CI host           {host}: ")),
            "{host}: {output}"
        );
        assert_eq!(world.read_text(sign), "# something of theirs\n");
        if sign == beside {
            // The host reads only one file, so the job is printed instead.
            assert!(
                output.contains("add the missing parts yourself") && output.contains("sluicegate ci"),
                "{host}: {output}"
            );
            assert_eq!(new_files(&world), ["sluicegate.yaml"]);
        } else {
            assert!(world.work().join(beside).is_file(), "{host}: {output}");
        }
    }
    let world = small_project();
    run_init(&world, "").expect(2).saying(&["--host"]);
    assert!(new_files(&world).is_empty());
    for (url, host) in [
        ("git@gitlab.example.com:team/sales.git", "gitlab"),
        ("https://me:s3cret-in-url@github.com/team/sales.git", "github"),
    ] {
        world.git(format!("remote set-url origin {url}"));
        let run_output = run_init(&world, "--dry-run").expect(0);
        assert!(
            run_output.out.contains(&format!("{host}: the remote is on ")),
            "{}",
            run_output.all()
        );
        assert!(
            !run_output.all().contains("s3cret-in-url"),
            "{}",
            run_output.all()
        );
        assert!(
            run_output.out.contains("prefix: \"sales\""),
            "{}",
            run_output.all()
        );
    }
    world.write("Jenkinsfile", "");
    world.write(".circleci/config.yml", "");
    world.git("remote set-url origin /srv/sales.git");
    run_init(&world, "")
        .expect(2)
        .saying(&["Jenkinsfile", ".circleci/config.yml", "--host"]);
}

#[test]
fn second_init_beside_files_of_other_host_takes_running_host() {
    let world = small_project();
    world.write("Jenkinsfile", "// the nightly build\n");
    world.write(".circleci/config.yml", "version: 2.1\n");
    world.write(".gitlab-ci.yml", "build: { script: [make] }\n");
    for (host, path) in [
        ("gitlab", ".gitlab/sluicegate.yml"),
        ("jenkins", "Jenkinsfile.sluicegate"),
    ] {
        run_init(&world, format!("--host {host}")).expect(0);
        let second_run = run_init(&world, "").expect(0);
        assert!(
            second_run
                .out
                .contains(&format!("{host}: its CI files run sluicegate")),
            "{}",
            second_run.all()
        );
        fs::remove_file(world.work().join(path)).unwrap();
        // Nothing shows which host is meant.
        run_init(&world, "").expect(2).saying(&["--host"]);
    }
    // Two hosts run it.
    run_init(&world, "--host gitlab").expect(0);
    run_init(&world, "--host jenkins").expect(0);
    run_init(&world, "")
        .expect(2)
        .saying(&["found several CI files", "--host"]);
}

#[test]
fn dry_run_shows_what_run_writes() {
    let world = small_project();
    let output = run_init(&world, "--host gitlab --dry-run").expect(0).out;
    assert!(new_files(&world).is_empty());
    run_init(&world, "--host gitlab").expect(0);
    for path in ["sluicegate.yaml", ".gitlab-ci.yml"] {
        let indented: String = world
            .read_text(path)
            .lines()
            .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
            .collect();
        assert!(output.contains(&indented), "{path}: {output}");
    }
}

#[test]
fn configuration_is_what_was_found_and_given() {
    let world = small_project();
    let args = [
        "--host",
        "none",
        "--project-id",
        PROJECT,
        "--agent-version",
        "9.0.0",
    ];
    let output = run_init(&world, &args).expect(0).out;
    assert!(
        !output.contains("Fill in") && output.contains("rules init"),
        "{output}"
    );
    let text = world.read_text("sluicegate.yaml");
    let config = parse_yaml(&text);
    assert_eq!(config["project-id"], PROJECT);
    assert_eq!(config["publish"]["prefix"], "remote");
    assert_eq!(config["publish-on"]["branches"][0], "main");
    valid(&world, &config);
    // From now on, the file is left unchanged.
    world.write("sluicegate.yaml", "timeout: 7\n");
    let output = run_init(&world, &args).expect(0).out;
    assert!(output.contains("not changed       sluicegate.yaml"), "{output}");
    assert_eq!(world.read_text("sluicegate.yaml"), "timeout: 7\n");

    let bare = World::new();
    bare.commit("nothing yet");
    let output = run_init(&bare, "--host github").expect(0).out;
    assert!(
        output.contains("Fill in project-id and agent-version") && output.contains("your-org/sluicegate@v"),
        "{output}"
    );
    let config = parse_yaml(&bare.read_text("sluicegate.yaml"));
    assert!(
        config["publish"]["prefix"].is_null() && config["publish-on"].is_null(),
        "{config}"
    );
    valid(&bare, &config);
}

/// Checks that the schema and the program accept this configuration.
fn valid(world: &World, configuration: &Value) {
    let call = Call::new(&world.work());
    let schema = call.run("schema").expect(0).json();
    assert_eq!(validate(&schema, configuration), Ok(()));
    let output = call.run("doctor --json");
    assert_eq!(output.json()["checks"][0]["status"], "ok", "{}", output.all());
}

#[test]
fn init_keeps_odd_names_as_text_and_follows_no_links() {
    let world = small_project();
    world.git("checkout -q -b \"a'b#c\"");
    world.git("remote remove origin");
    let prefix = "sales: \"x\" # y";
    run_init(&world, &["--host", "bitbucket", "--prefix", prefix]).expect(0);
    assert_eq!(
        parse_yaml(&world.read_text("sluicegate.yaml"))["publish"]["prefix"],
        prefix
    );
    let job = parse_yaml(&world.read_text("bitbucket-pipelines.yml"));
    assert!(job["pipelines"]["branches"]["a'b#c"].is_array(), "{job}");
    for source in ["a b", "x\ny: z", "-x", "${{ secrets.X }}", ""] {
        let flag = format!("--source={source}");
        run_init(&world, &["--host", "gitlab", &flag])
            .expect(2)
            .saying(&["source"]);
    }
    let outside = world.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, world.work().join(".github")).unwrap();
    run_init(&world, "--host github")
        .expect(2)
        .saying(&["symbolic link"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // A link with a missing target is not a file that is missing.
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.join("new.yaml"), world.work().join("sluicegate.yaml")).unwrap();
    run_init(&world, "--host none")
        .expect(2)
        .saying(&["a symbolic link in its path leads to no file"]);
    assert!(!outside.join("new.yaml").exists());
}

#[test]
fn source_of_another_kind_than_the_host_needs_is_refused() {
    let action = "acme/gate@v1";
    let image = "reg.example/slg:1-ci";
    let image_with_digest = "reg.example/slg@sha256:0123";
    let url = "https://releases.example/slg";
    let cases = [
        (
            "github",
            "an action",
            vec![action, "acme/gate"],
            vec![image, url, "gate", "gate@v1"],
        ),
        (
            "gitea",
            "an action",
            vec![action, "https://gitea.com/acme/gate@v1"],
            vec![image, "gate"],
        ),
        (
            "gitlab",
            "an image",
            vec![image, image_with_digest, "slg"],
            vec![action, url],
        ),
        (
            "bitbucket",
            "the URL of the releases",
            vec![url],
            vec![action, image, "releases.example/slg"],
        ),
        (
            "jenkins",
            "the URL of the releases",
            vec![url],
            vec![action, image],
        ),
    ];
    for (host, kind, right_sources, wrong_sources) in cases {
        for source in wrong_sources {
            let world = small_project();
            run_init(&world, format!("--host {host} --source {source}"))
                .expect(2)
                .saying(&[&format!("the job for {host} needs {kind}"), source, "hint: pass "]);
            assert_eq!(new_files(&world), Vec::<String>::new(), "{host} {source}");
        }
        for source in right_sources {
            run_init(&small_project(), format!("--host {host} --source {source}")).expect(0);
        }
    }
}

#[test]
fn init_without_working_tree_writes_nothing() {
    let world = small_project();
    Call::new(&world.remote()).run("init --host github").expect(7);
    let nowhere = scratch::create_scratch_directory();
    Call::new(nowhere.path()).run("init").expect(7);
    assert_eq!(fs::read_dir(nowhere.path()).unwrap().count(), 0);
}

#[test]
fn prefix_from_url_of_remote_contains_no_secret() {
    for (url, prefix) in [
        ("https://host.example/o/sales.git?private_token=S3cret", "sales"),
        ("https://host.example/o/sales.git#S3cret", "sales"),
        ("https://user:S3cret@host.example/o/sales.git", "sales"),
        ("git@host.example:o/sales.git", "sales"),
        ("https://user:S3cret@host.example/", "work"),
        ("ssh://user:S3cret@host.example", "work"),
        ("S3cret@host.example:", "work"),
        ("https://user:pass/S3cret@sales.git", "work"),
    ] {
        let world = small_project();
        world.git(&["remote", "set-url", "origin", url]);
        let output = run_init(&world, "--host gitlab").expect(0);
        let config = world.read_text("sluicegate.yaml");
        assert_eq!(parse_yaml(&config)["publish"]["prefix"], prefix, "{url}");
        assert!(!(output.all() + &config).contains("S3cret"), "{url}: {config}");
    }
}

#[test]
fn prefix_that_was_given_stands_in_file() {
    let bare = World::new();
    bare.commit("nothing yet");
    let output = run_init(&bare, "--host none --prefix sales").expect(0).out;
    let config = parse_yaml(&bare.read_text("sluicegate.yaml"));
    assert_eq!(config["publish"]["prefix"], "sales");
    assert!(
        !output.contains("set `prefix`") && output.contains("set `publish-on`"),
        "{output}"
    );
    valid(&bare, &config);
}

#[test]
fn workflow_pins_actions_of_others_by_commit() {
    let source = format!("your-org/sluicegate@{}", "0123456789".repeat(4));
    for (host, path) in [
        ("github", ".github/workflows/sluicegate.yml"),
        ("gitea", ".gitea/workflows/sluicegate.yml"),
    ] {
        let world = small_project();
        run_init(&world, format!("--host {host} --source {source}")).expect(0);
        let text = world.read_text(path);
        let used: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- uses: "))
            .collect();
        assert_eq!(used.len(), 2, "{text}");
        for action in &used {
            let commit = action.split_once('@').unwrap().1.split(' ').next().unwrap();
            assert!(
                commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()),
                "{action}"
            );
        }
        assert!(
            used[0].contains(" # v"),
            "the version stands beside the commit: {}",
            used[0]
        );
        // The project's own workflows pin the same commit.
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/workflows/ci.yml");
        assert!(fs::read_to_string(own).unwrap().contains(used[0]), "{}", used[0]);
    }
}

/// Runs `init` on a terminal with this input and returns its output.
fn on_a_terminal(call: &Call, answer: &str) -> String {
    let program = call.command("");
    let mut command = Command::new("script");
    command
        .args([
            "-qec",
            &format!("'{}' init --host none", program.get_program().display()),
        ])
        .arg("/dev/null")
        .current_dir(program.get_current_dir().unwrap())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    let process_output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(process_output.stdout).unwrap();
    assert!(process_output.status.success(), "{stdout}");
    stdout
}

#[test]
fn platforms_folder_is_asked_for_on_terminal_and_never_in_job() {
    let world = World::new();
    world.write(".acme/notes.yaml", "a: 1\n");
    world.write("a.orch.yaml", "type: orchestration\n");
    world.commit("first");
    let text = on_a_terminal(&Call::new(&world.work()).variable("CI", "true"), "1\n");
    assert!(!text.contains("Which hidden directory"), "{text}");
    assert!(
        world.read_text("sluicegate.yaml").contains("# config-dir: "),
        "{text}"
    );
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    let text = on_a_terminal(&Call::new(&world.work()), "1\n");
    assert!(
        text.contains("Which hidden directory") && text.contains(".acme"),
        "{text}"
    );
    let file = world.read_text("sluicegate.yaml");
    assert!(file.contains("\nconfig-dir: \".acme\"\n"), "{file}");
}

#[test]
fn source_with_a_password_is_refused_without_printing_it() {
    for (host, source) in [
        ("azure", "https://bot:s3cret@files.example.com/r"),
        ("azure", "https://bot:a/s3cret@files.example.com/r"),
        ("jenkins", "https://s3cret@files.example.com/r"),
        ("gitlab", "bot:s3cret@registry.example.com:5000/sluicegate"),
        ("gitea", "https://bot:s3cret@gitea.example.com/org/sluicegate@v1"),
        (
            "gitea",
            "https://bot:a/s3cret@gitea.example.com/org/sluicegate@v1",
        ),
        ("github", "bot:s3cret@github.com/org/sluicegate"),
        ("none", "https://bot:s3cret@files.example.com/r"),
    ] {
        let world = small_project();
        let output = run_init(&world, format!("--host {host} --source {source}"))
            .expect(2)
            .saying(&[
                "contains a user or a password",
                "hint: pass the source without them",
            ]);
        assert!(!output.all().contains("s3cret"), "{}", output.all());
        assert_eq!(new_files(&world), Vec::<String>::new(), "{host} {source}");
    }
    let digest = format!("registry.example.com:5000/sluicegate@sha256:{}", "0".repeat(64));
    for (host, source) in [
        ("gitea", "https://gitea.example.com:3000/org/sluicegate@v1"),
        ("gitlab", &digest),
        ("github", "org/sluicegate@release/1"),
    ] {
        run_init(&small_project(), format!("--host {host} --source {source}")).expect(0);
    }
}

#[test]
fn guessed_default_branch_is_printed_with_its_source_and_a_warning() {
    let world = small_project();
    world.git("checkout -q -b wip");
    let check = |line: &str, is_guess: bool| {
        let output = run_init(&world, "--host none --dry-run").expect(0);
        assert!(output.out.contains(line), "{line}: {}", output.all());
        let warning = "the default branch may be a branch other than";
        assert_eq!(output.err.contains(warning), is_guess, "{line}: {}", output.all());
        output.err.contains("git remote set-head origin --auto")
    };
    check("default branch    main: found origin/main\n", false);
    world.git("update-ref refs/remotes/origin/master HEAD");
    assert!(check("default branch    main: found origin/main\n", true));
    world.git("remote set-head origin master");
    check("default branch    master: recorded in origin/HEAD\n", false);
    world.git("remote remove origin");
    assert!(!check("default branch    wip: the checked-out branch\n", true));
    world.git("remote add upstream https://git.example/o/p");
    run_init(&world, "--host none --dry-run")
        .expect(0)
        .saying(&["run `git remote set-head upstream --auto`"]);
    world.git("remote remove upstream");
    world.git("checkout -q main");
    check("default branch    main: the checked-out branch\n", false);
}

#[test]
fn dry_run_lists_all_that_is_missing_at_once() {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    let missing = [
        "set the CI host with --host",
        "--adopt new-only --config-dir <directory>",
    ];
    let output = run_init(&world, "--dry-run --adopt new-only").expect(0).out;
    for words in [
        &missing[..],
        &["CI host           unknown", "would write       sluicegate.yaml"],
    ]
    .concat()
    {
        assert!(output.contains(words), "{words}: {output}");
    }
    run_init(&world, "--adopt new-only").expect(2).saying(&missing);
    // The command in the hint reads the same repository.
    let root = world.work().display().to_string();
    let args = ["init", "--dry-run", "--adopt", "strict", "--repo", &root];
    let outside = Call::new(world.path()).run(&args).expect(0).out;
    assert!(
        outside.contains(&format!("sluicegate init --repo {root} --adopt strict")),
        "{outside}"
    );
    run_init(&world, "--dry-run").expect(0);
    run_init(&world, "").expect(2).saying(&missing[..1]);
    assert_eq!(new_files(&world), Vec::<String>::new());
    run_init(&world, "--adopt new-only --host none --config-dir .acme").expect(0);
    assert!(
        world
            .work()
            .join(".acme/config/pipeline_quality_rules.yaml")
            .is_file()
    );
}

/// The output of the released program in the next tests.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its test runs on Linux"))]
const FETCHED: &str = concat!("sluicegate ", env!("CARGO_PKG_VERSION"));

/// Returns the script of the step that downloads the program, as the host's shell gets it.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its test runs on Linux"))]
fn fetch_script(host: &str) -> String {
    let world = small_project();
    run_init(
        &world,
        format!("--host {host} --source https://releases.example/sluicegate/"),
    )
    .expect(0);
    let script = match host {
        "azure" => parse_yaml(&world.read_text("azure-pipelines.yml"))["steps"][1]["bash"].clone(),
        "bitbucket" => {
            let job = parse_yaml(&world.read_text("bitbucket-pipelines.yml"));
            job["definitions"]["steps"][0]["step"]["script"][0].clone()
        }
        "circleci" => {
            let job = parse_yaml(&world.read_text(".circleci/config.yml"));
            job["jobs"]["sluicegate"]["steps"][1]["run"]["command"].clone()
        }
        "buildkite" => {
            let job = parse_yaml(&world.read_text(".buildkite/pipeline.yml"));
            let command = job["steps"][0]["command"].as_str().unwrap();
            json!(command.replace("$$", "$").replace("\nsluicegate ci\n", "\n"))
        }
        _ => json!(world.read_text("Jenkinsfile").split("'''").nth(1).unwrap()),
    };
    let script = script.as_str().unwrap().to_owned();
    assert!(
        script.contains(" https://releases.example/sluicegate/v"),
        "{script}"
    );
    assert!(
        script.contains("--from https://releases.example/sluicegate "),
        "{script}"
    );
    script
}

/// Runs the step against a release whose program prints its version; returns whether it succeeded, and the program's
/// output.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its test runs on Linux"))]
fn run_fetch_script(host: &str, is_whole: bool) -> (bool, String) {
    let world = World::new();
    let [release, bin, temporary] = ["release", "bin", "temporary"].map(|name| world.path().join(name));
    for folder in [&release, &bin, &temporary] {
        fs::create_dir(folder).unwrap();
    }
    let shell = |script: &str, folder: &Path| {
        let script = format!("PATH={}:$PATH; {script}", bin.display());
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder);
        let profile = temporary.join("profile");
        let place = [
            ("AGENT_TEMPDIRECTORY", &temporary),
            ("WORKSPACE_TMP", &temporary),
            ("TMPDIR", &temporary),
            ("BITBUCKET_CLONE_DIR", &temporary),
            ("BUILDKITE_BUILD_CHECKOUT_PATH", &temporary),
            ("BASH_ENV", &profile),
        ];
        command.envs(place).output().unwrap()
    };
    let name = format!(
        "sluicegate-{}-`uname -m`-unknown-linux-musl",
        env!("CARGO_PKG_VERSION")
    );
    let release_of = format!(
        "set -e; name={name}; mkdir $name; printf '#!/bin/sh\\necho sluicegate {}\\n' > $name/sluicegate; chmod +x $name/sluicegate; \
         tar -czf $name.tar.gz $name; sha256sum $name.tar.gz > SHA256SUMS; echo {}  other.tar.gz >> SHA256SUMS",
        env!("CARGO_PKG_VERSION"),
        "0".repeat(64)
    );
    let done = shell(&release_of, &release);
    assert!(done.status.success(), "{done:?}");
    if !is_whole {
        shell("for one in *.tar.gz; do printf x >> $one; done", &release);
    }
    let installer = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh")).unwrap();
    fs::write(release.join("install.sh"), installer).unwrap();
    // Each URL is mapped to a file of the release.
    let curl = format!(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" != --output ] || file=$2; shift; done\ncp \"{}/${{1##*/}}\" \"${{file:-.}}\"\n",
        release.display()
    );
    fs::write(bin.join("curl"), curl).unwrap();
    shell("chmod +x curl", &bin);
    // The hosts with a path of their own run the program by its name.
    let by_name = match host {
        "bitbucket" | "buildkite" => "sluicegate",
        "circleci" => ". \"$BASH_ENV\"; sluicegate",
        _ => "",
    };
    let output = shell(&format!("{}\n{by_name}", fetch_script(host)), &temporary);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let prepended = stdout
        .lines()
        .find_map(|line| line.strip_prefix("##vso[task.prependpath]"));
    let folder = prepended.map_or_else(|| temporary.join("sluicegate"), PathBuf::from);
    let ran = Command::new(folder.join("sluicegate")).output();
    let text = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned());
    let by_path = text.unwrap_or_default();
    let text = if by_name.is_empty() {
        by_path
    } else {
        stdout
            .lines()
            .filter(|line| *line == FETCHED)
            .fold(String::new(), |all, line| all + line + "\n")
    };
    (output.status.success(), text)
}

#[cfg(target_os = "linux")]
#[test]
fn jobs_fetch_the_release_and_refuse_one_with_another_hash() {
    for host in ["azure", "bitbucket", "circleci", "buildkite", "jenkins"] {
        assert_eq!(
            run_fetch_script(host, true),
            (true, format!("{FETCHED}\n")),
            "{host}"
        );
        assert_eq!(run_fetch_script(host, false), (false, String::new()), "{host}");
    }
}

#[test]
fn second_init_still_lists_values_to_fill_in() {
    let world = small_project();
    let args = "--host github";
    for _ in 0..2 {
        let output = run_init(&world, args).expect(0).out;
        assert!(
            output.contains("Fill in project-id and agent-version"),
            "{output}"
        );
    }
    let text = format!("project-id: {PROJECT}\nagent-version: 9.0.0\n");
    world.write("sluicegate.yaml", text);
    let output = run_init(&world, args).expect(0).out;
    assert!(!output.contains("Fill in"), "{output}");
}

#[test]
fn init_with_source_reports_job_that_it_does_not_change() {
    let world = small_project();
    let unchanged = "--source does not change it";
    let output = run_init(&world, "--host github --source acme/gate@v1")
        .expect(0)
        .out;
    assert!(!output.contains(unchanged), "{output}");
    let output = run_init(&world, "--host github --source acme/other@v2")
        .expect(0)
        .out;
    assert!(output.contains(unchanged), "{output}");
    // The job has this source already.
    let output = run_init(&world, "--host github --source acme/gate@v1")
        .expect(0)
        .out;
    assert!(
        output.contains("already runs sluicegate") && !output.contains(unchanged),
        "{output}"
    );
}

#[test]
fn second_init_lists_default_source_until_the_job_has_another_one() {
    let world = small_project();
    let job = ".github/workflows/sluicegate.yml";
    let default_source = concat!("your-org/sluicegate@v", env!("CARGO_PKG_VERSION"));
    for args in ["--host github", "--host github --source acme/gate@v1"] {
        let output = run_init(&world, args).expect(0).out;
        assert!(
            output.contains(&format!("In the job, replace {default_source} with")),
            "{output}"
        );
        assert!(!output.contains("again with --source"), "{output}");
    }
    let text = world.read_text(job).replace(default_source, "acme/gate@v1");
    world.write(job, text);
    let output = run_init(&world, "--host github").expect(0).out;
    assert!(!output.contains("In the job, replace"), "{output}");
}

#[test]
fn file_that_only_mentions_the_program_does_not_run_it() {
    for text in [
        "# TODO: add sluicegate\njobs: {}\n",
        "jobs: { a: { run: make } } # sluicegate\n",
        "jobs: { a: { run: cat sluicegate.yaml } }\n",
    ] {
        let world = small_project();
        world.write(".github/workflows/build.yml", text);
        let output = run_init(&world, "--host github").expect(0).out;
        assert!(
            output.contains("wrote             .github/workflows/sluicegate.yml"),
            "{output}"
        );
    }
    for text in [
        "jobs: { a: { steps: [{ run: sluicegate ci }] } }\n",
        "jobs: { a: { steps: [{ uses: acme/sluicegate@v1 }] } }\n",
    ] {
        let world = small_project();
        world.write(".github/workflows/build.yml", text);
        let output = run_init(&world, "--host github").expect(0).out;
        assert!(
            output.contains("build.yml: the file already runs sluicegate"),
            "{output}"
        );
    }
}

#[test]
fn second_init_lists_inclusion_until_the_main_file_has_it() {
    let world = small_project();
    world.write(".gitlab-ci.yml", "stages: [build]\n");
    for _ in 0..2 {
        let output = run_init(&world, "--host gitlab").expect(0).out;
        assert!(output.contains("Include the file in .gitlab-ci.yml"), "{output}");
        assert!(
            output.contains("Set `stage` in .gitlab/sluicegate.yml"),
            "{output}"
        );
    }
    let inclusion = "include: [{ local: .gitlab/sluicegate.yml }]\n";
    world.write(".gitlab-ci.yml", inclusion);
    let output = run_init(&world, "--host gitlab").expect(0).out;
    assert!(!output.contains("Include the file"), "{output}");
    // The file that the main file includes is missing.
    let world = small_project();
    world.write(".gitlab-ci.yml", inclusion);
    let output = run_init(&world, "--host gitlab").expect(0).out;
    assert!(
        output.contains("wrote             .gitlab/sluicegate.yml"),
        "{output}"
    );
    assert!(!output.contains("Include the file"), "{output}");
}

#[test]
fn init_that_cannot_create_a_directory_writes_nothing() {
    let world = small_project();
    world.write(".github/workflows", "");
    let files = new_files(&world);
    run_init(&world, "--host github")
        .expect(2)
        .saying(&[".github/workflows is not a directory", "hint: move or remove it"]);
    assert_eq!(new_files(&world), files);
}

#[test]
fn included_job_whose_default_stage_is_missing_needs_a_stage() {
    for (text, stages) in [
        ("stages: [build, deploy]\n", Some("build, deploy")),
        (
            ".base: &base\n  image: a\nbuild:\n  <<: *base\n  script: !reference [.base, image]\nstages:\n  - build\n",
            Some("build"),
        ),
        ("stages: [build, test]\n", None),
        ("build:\n  script: make\n", None),
        ("stages: [build\n", None),
    ] {
        let world = small_project();
        world.write(".gitlab-ci.yml", text);
        let output = run_init(&world, "--host gitlab").expect(0).out;
        assert!(output.contains("Include the file in .gitlab-ci.yml"), "{output}");
        let step = stages.map(|stages| {
            format!("Set `stage` in .gitlab/sluicegate.yml to one of the stages of .gitlab-ci.yml: {stages}.")
        });
        match step {
            Some(step) => assert!(output.contains(&step), "{text}: {output}"),
            None => assert!(!output.contains("Set `stage`"), "{text}: {output}"),
        }
    }
}

#[test]
fn init_with_values_for_existing_configuration_lists_lines_to_set() {
    let world = small_project();
    run_init(&world, "--host none").expect(0);
    let before = world.read_text("sluicegate.yaml");
    let given = [
        &[
            "--host",
            "none",
            "--project-id",
            PROJECT,
            "--agent-version",
            "9.0.0",
        ][..],
        &["--prefix", "sales"],
    ]
    .concat();
    let output = run_init(&world, &given).expect(0).out;
    let project_line = format!("project-id: \"{PROJECT}\"");
    for line in [
        "sluicegate.yaml exists and was not changed; set the given values in it:",
        project_line.as_str(),
        "agent-version: \"9.0.0\"",
        "prefix: \"sales\" (under `publish`)",
    ] {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert_eq!(world.read_text("sluicegate.yaml"), before);
    let steps = run_init(&world, (&given[..], "-o json")).expect(0).json();
    assert!(
        steps["next"].to_string().contains("set the given values"),
        "{steps}"
    );
    // The file has these values already.
    let settings = format!("{project_line}\nagent-version: \"9.0.0\"\npublish: {{ prefix: sales }}\n");
    world.write("sluicegate.yaml", settings);
    let output = run_init(&world, &given).expect(0).out;
    assert!(!output.contains("set the given values"), "{output}");
}

#[test]
fn init_with_source_but_without_job_reports_that_source_has_no_effect() {
    let world = small_project();
    let source = ["--source", "acme/gate@v1"];
    let output = run_init(&world, ("--host none", &source)).expect(0).out;
    assert!(output.contains("so `--source` has no effect"), "{output}");
    let output = run_init(&world, ("--host github", &source)).expect(0).out;
    assert!(!output.contains("has no effect"), "{output}");
}

#[test]
fn adoption_with_one_hidden_directory_uses_it() {
    let world = World::new();
    world.write(".acme/README.md", "notes\n");
    world.write(".github/workflows/other.yml", "on: push\n");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    let output = run_init(&world, "--adopt new-only --dry-run").expect(0).out;
    let stdout = run_init(&world, "--adopt new-only").expect(0).out;
    for text in [&output, &stdout] {
        assert!(
            text.contains("hidden directory  .acme: the only candidate"),
            "{text}"
        );
    }
    let rules = ".acme/config/pipeline_quality_rules.yaml";
    assert!(output.contains(&format!("would write       {rules}")), "{output}");
    assert!(world.work().join(rules).is_file());
    let settings = world.read_text("sluicegate.yaml");
    assert!(settings.contains("\nconfig-dir: \".acme\"\n"), "{settings}");
}

#[test]
fn adoption_with_several_or_doubtful_hidden_directories_needs_name() {
    for folders in [
        &[".acme/README.md", ".other/README.md"][..],
        &[".archive/old.orch.yaml"],
    ] {
        let world = World::new();
        for path in folders {
            world.write(path, orchestration_text(&["Start", "Done"]));
        }
        world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
        world.commit("first");
        let folder = folders[0].split('/').next().unwrap();
        let command =
            format!("`sluicegate init --host gitlab --prefix 'a b' --adopt strict --config-dir {folder}`");
        run_init(&world, "--adopt strict --host gitlab --prefix 'a b'")
            .expect(2)
            .saying(&[&command]);
        let command = format!(
            "`sluicegate init --project-id 42 --host github --adopt strict --sign --config-dir {folder}`"
        );
        run_init(&world, "--adopt strict --host github --sign --project-id 42")
            .expect(2)
            .saying(&[&command]);
        assert!(new_files(&world).is_empty());
    }
}

#[test]
fn init_with_ci_of_job_that_does_not_run_hints_at_host() {
    let world = small_project();
    for host in ["github", "gitlab"] {
        run_init(&world, format!("--ci {host}"))
            .expect(7)
            .saying(&[&format!("`sluicegate init --host {host}`")]);
        let by_variable = Call::new(&world.work()).variable("SLUICEGATE_CI", host);
        by_variable
            .run("init")
            .expect(7)
            .saying(&[&format!("`sluicegate init --host {host}`")]);
    }
    assert!(new_files(&world).is_empty());
    run_init(&world, "--ci none --host github").expect(0);
}

#[test]
fn steps_of_init_in_their_order_lead_to_passing_rules_check() {
    let world = small_project();
    let output = run_init(&world, "--host none --adopt new-only").expect(0).out;
    let places = ["Commit the files", "sluicegate doctor", "Push, and open"]
        .map(|step| output.find(step).unwrap_or_else(|| panic!("{step}: {output}")));
    assert!(places.is_sorted(), "{output}");
    let unfinished = "the rules file is not in the checked-out commit";
    let call = Call::new(&world.work());
    assert!(call.run(&["doctor"]).all().contains(unfinished));
    world.commit("gate");
    let log = call.run("doctor").all();
    assert!(!log.contains(unfinished), "{log}");
}

/// `+` and a leading `!` have a meaning in the patterns of the hosts that run workflows.
#[test]
fn special_characters_of_default_branch_are_escaped_in_workflows() {
    for (branch, pattern) in [
        ("release+hotfix", r"release\+hotfix"),
        ("!main", r"\!main"),
        ("main!", "main!"),
    ] {
        for (host, path) in [
            ("github", ".github/workflows/sluicegate.yml"),
            ("gitea", ".gitea/workflows/sluicegate.yml"),
            ("azure", "azure-pipelines.yml"),
        ] {
            let world = small_project();
            world.git(&["push", "-q", "origin", &format!("HEAD:refs/heads/{branch}")]);
            world.git(&["fetch", "-q"]);
            world.git(&["remote", "set-head", "origin", branch]);
            run_init(&world, &["--host", host]).expect(0);
            let job = parse_yaml(&world.read_text(path));
            let (branches, expected) = match host {
                "azure" => (&job["trigger"]["branches"]["include"], branch),
                _ => (&job["on"]["push"]["branches"], pattern),
            };
            assert_eq!(*branches, json!([expected]), "{host}: {job}");
            let settings = parse_yaml(&world.read_text("sluicegate.yaml"));
            assert_eq!(settings["publish-on"]["branches"], json!([branch]), "{host}");
        }
    }
}
