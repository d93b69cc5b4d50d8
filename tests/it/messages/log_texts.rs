//! The messages that a user sees, for reading from top to bottom: each consists of complete sentences, and each cause
//! is reported once.

use crate::support::publishing;
use crate::support::{
    Arguments, Call, Platform, ProgramOutput, RULES, RULES_FILE, World, change, orchestration_text,
    passed_results, project, respond_for_each,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use wiremock::ResponseTemplate;

/// The scenes as text, without the parts that differ between runs.
#[derive(Default)]
struct Book(String);

impl Book {
    fn scene(&mut self, title: &str, world: &World, call: &Call, args: impl Arguments) -> ProgramOutput {
        let args = args.into_list();
        let output = call.run(&args);
        let mut text = format!("{}{}", output.err, output.out);
        for (name, revision) in [("HEAD", "HEAD"), ("BASE", "origin/main")] {
            let id = world.git(format!("rev-parse {revision}"));
            for length in [40, 12, 10, 8, 7] {
                text = text.replace(&id[..length], name);
            }
        }
        let folder = world.path().canonicalize().unwrap().display().to_string();
        text = text
            .replace(&folder, "/tmp")
            .replace('\u{1b}', "ESC")
            .replace('\r', "CR");
        let code = output.code;
        let (line, args) = ("-".repeat(3), args.join(" "));
        let _ = writeln!(
            self.0,
            "{line} {title}\n$ sluicegate {args}\n{}\n[exit {code}]\n",
            text.trim_end()
        );
        assert!(
            code != 0 || !text.lines().any(|line| line.starts_with("error:")),
            "{text}"
        );
        output
    }

    /// Runs the program with a platform and adds the scene.
    fn remote(
        &mut self,
        title: &str,
        world: &World,
        platform: &Platform,
        args: impl Arguments,
    ) -> ProgramOutput {
        let start = self.0.len();
        let output = self.scene(title, world, &platform.call(world), args);
        let text = self
            .0
            .split_off(start)
            .replace(&platform.server.uri(), "https://platform");
        self.0.push_str(&text);
        output
    }
}

/// Creates a change of `n` pipelines in two directories, each with a badly named component.
fn change_with_bad_pipelines(n: usize) -> World {
    let names: Vec<String> = (0..n)
        .map(|index| format!("{}/p{index:02}.orch.yaml", ["sales", "stock/daily"][index % 2]))
        .collect();
    let content = orchestration_text(&["Start", "load it", "Sum", "Done"]);
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), content.as_str()))
        .collect();
    change(&files)
}

fn good() -> World {
    change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))])
}

fn without_rules(rules: Option<&str>) -> World {
    let world = change_with_bad_pipelines(6);
    match rules {
        Some(rules) => world.write(RULES_FILE, rules),
        None => std::fs::remove_file(world.work().join(RULES_FILE)).unwrap(),
    }
    world.commit("rules");
    world
}

fn checks(book: &mut Book) {
    let world = good();
    book.scene("a check that passes", &world, &Call::new(&world.work()), "check");
    let world = project();
    book.scene("nothing changed", &world, &Call::new(&world.work()), "check");
    book.scene(
        "a glob that matches nothing",
        &world,
        &Call::new(&world.work()),
        "check --include sale/**",
    );
    book.scene(
        "a path that is not there",
        &world,
        &Call::new(&world.work()),
        "check sale",
    );
    let world = change_with_bad_pipelines(1);
    book.scene("one file", &world, &Call::new(&world.work()), "check");
    let world = change_with_bad_pipelines(4);
    book.scene(
        "several files, two listed",
        &world,
        &Call::new(&world.work()),
        "check --show 2",
    );
    book.scene(
        "the overview alone",
        &world,
        &Call::new(&world.work()),
        "check --show none",
    );
    book.scene(
        "findings and the verdict alone",
        &world,
        &Call::new(&world.work()),
        "check -q",
    );
    let world = without_rules(None);
    book.scene("no rules file", &world, &Call::new(&world.work()), "check");
    let world = without_rules(Some("rules: [\n"));
    book.scene(
        "a rules file that is no YAML",
        &world,
        &Call::new(&world.work()),
        "check",
    );
    let world = without_rules(Some(&RULES.replace("maximum-components", "maximum-component")));
    book.scene(
        "a rule that is unknown",
        &world,
        &Call::new(&world.work()),
        "check --show 1",
    );
}

fn jobs(book: &mut Book) {
    let world = change_with_bad_pipelines(2);
    for host in ["gitea", "gitlab", "azure"] {
        let head = world.git("rev-parse HEAD");
        let call = Call::new(&world.work())
            .variable("SLUICEGATE_CI", host)
            .variable("GITHUB_SHA", &head)
            .variable("GITHUB_REF", "refs/heads/change")
            .variable("GITHUB_EVENT_NAME", "push")
            .variable("CI_COMMIT_SHA", &head)
            .variable("CI_COMMIT_BRANCH", "change")
            .variable("BUILD_SOURCEVERSION", &head)
            .variable("BUILD_SOURCEBRANCH", "refs/heads/change")
            .variable("BUILD_REASON", "IndividualCI");
        let args = "check --base origin/main --report junit=out/junit.xml";
        let output = book.scene(&format!("a job on {host}"), &world, &call, args);
        let base = &world.git("rev-parse origin/main")[..12];
        let command = format!("sluicegate check --base {base} --head {}", &head[..12]);
        assert!(output.out.contains(&command), "{}", output.out);
        Call::new(&world.work())
            .run(&command.split(' ').skip(1).collect::<Vec<_>>())
            .expect(1);
    }
}

fn reviews(book: &mut Book) {
    let world = change_with_bad_pipelines(6);
    let refused = |status: u16, title: &str| {
        let body =
            json!({ "title": title, "error": title, "detail": format!("{title}: the token is not known") });
        ResponseTemplate::new(status)
            .set_body_json(body)
            .append_header("x-request-id", "r-1")
    };
    let batches = "review --batch-size 2";
    let platform = Platform::new();
    platform.reviews(refused(401, "Unauthorized"));
    let output = book.remote("a token that is rejected", &world, &platform, batches);
    assert_eq!(
        output.err.matches("401 Unauthorized").count(),
        1,
        "{}",
        output.err
    );
    let platform = Platform::new();
    platform.reviews(refused(503, "Service Unavailable"));
    platform.is_down();
    book.remote("a platform that is down", &world, &platform, batches);
    let pass = "review --on-unavailable pass";
    book.remote("the same, and the change must not pass", &world, &platform, pass);
    book.remote("the same, and the change passes", &good(), &platform, pass);
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(200).set_body_json(json!({ "results": {} })));
    book.remote("an answer without a status", &world, &platform, "review");
    let world = good();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    book.remote("a review that passes", &world, &platform, "review");
    book.remote("a dry run", &world, &platform, "review --dry-run");
    let world = change(&[("note.txt", "no pipeline")]);
    book.remote("nothing to review", &world, &platform, "review");
    book.remote(
        "nothing to review in a dry run",
        &world,
        &platform,
        "review --dry-run",
    );
}

const PUBLISH: [&str; 5] = ["publish", "--prefix", "p", "--version-name", "1"];

/// Creates the project of a publish, with twenty calls whose names are expressions.
fn vague() -> World {
    let world = publishing::project_to_publish();
    let call = |index: usize| publishing::caller_of_files(&format!("${{job{index}}}"), "sql/it.sql");
    for index in 0..20 {
        world.write(&format!("stock/p{index:02}.orch.yaml"), call(index));
    }
    world.commit("vague");
    world.push();
    world
}

fn publishes(book: &mut Book) {
    let world = publishing::project_to_publish();
    let taken = || publishing::publish_platform(&world, publishing::upload_response(&json!([])));
    let dry: Vec<&str> = PUBLISH.iter().copied().chain(["--dry-run"]).collect();
    book.remote("the plan of a publish", &world, &taken(), &dry);
    book.remote("a publish", &world, &taken(), &PUBLISH);
    let conflict = || {
        let body = json!({ "title": "Conflict", "detail": "the version 1 exists" });
        ResponseTemplate::new(409).set_body_json(body)
    };
    let platform = publishing::publish_platform(&world, conflict());
    book.remote("a version that exists", &world, &platform, &PUBLISH);
    let ignored = publishing::upload_response(&json!([{ "name": "sql/it.sql", "reason": "unsupported" }]));
    let platform = publishing::publish_platform(&world, ignored);
    book.remote(
        "a publish of which something was ignored",
        &world,
        &platform,
        &PUBLISH,
    );
    let vague = vague();
    let platform = publishing::publish_platform(&vague, publishing::upload_response(&json!([])));
    let output = book.remote("a publish with warnings", &vague, &platform, &PUBLISH);
    assert_eq!(output.err.matches("warning: ").count(), 1, "{}", output.err);
    let platform = publishing::publish_platform(&vague, conflict());
    let output = book.remote("the same where it exists", &vague, &platform, &PUBLISH);
    assert!(!output.err.contains("warning: "), "{}", output.err);
    std::fs::remove_file(world.work().join("sql/it.sql")).unwrap();
    world.commit("without the script");
    world.push();
    book.remote("shared pipelines that are not whole", &world, &taken(), &PUBLISH);
}

fn cis(book: &mut Book) {
    let world = publishing::project_to_publish();
    let reviewed = |status: &str, rule: Value| {
        let platform = publishing::publish_platform(&world, publishing::upload_response(&json!([])));
        let other = json!({ "ruleName": "maximum-components", "status": "PASSED" });
        platform.reviews(respond_for_each(status, json!([rule, other])));
        platform
    };
    let ci = [
        "ci",
        "--publish",
        "--prefix",
        "p",
        "--version-name",
        "1",
        "--publish-on-branch",
    ];
    let on = |branch| ci.iter().copied().chain([branch]).collect::<Vec<_>>();
    let passed = || {
        reviewed(
            "PASSED",
            json!({ "ruleName": "component-naming-convention", "status": "PASSED" }),
        )
    };
    book.remote("a job that passes and publishes", &world, &passed(), &on("main"));
    book.remote("a job with nothing to publish", &world, &passed(), &on("release"));
    let document = json!({ "ruleName": "component-naming-convention", "status": "FAILED", "violations": ["component \"Run\" is wrong"] });
    let platform = reviewed("FAILED", document);
    book.remote(
        "a job that fails and publishes nothing",
        &world,
        &platform,
        &on("main"),
    );
    let silent = reviewed(
        "FAILED",
        json!({ "ruleName": "component-naming-convention", "status": "ERROR" }),
    );
    book.remote(
        "a rule that ended without a word",
        &world,
        &silent,
        "review --show 1",
    );
}

#[test]
fn log_of_common_failures_matches_snapshot() {
    let mut book = Book::default();
    checks(&mut book);
    jobs(&mut book);
    reviews(&mut book);
    publishes(&mut book);
    cis(&mut book);
    insta::assert_snapshot!(book.0);
}
