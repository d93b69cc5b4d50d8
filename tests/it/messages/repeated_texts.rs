//! Each text of a run is once in its log and once in its step summary: notes, gate changes, reasons and the verdict.

use crate::policy::stricter_target::world_with_stricter_target;
use crate::support::{
    Call, HOSTS, Host, Platform, ProgramOutput, RULES, RULES_FILE, World, change, orchestration_text,
    passed_results, project, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use wiremock::ResponseTemplate;

/// Minimum length of a line that must not occur twice, in bytes; shorter lines are labels and parts of tables.
const PARAGRAPH: usize = 30;

const GOOD: [&str; 3] = ["Start", "Load", "Done"];

#[test]
fn warning_is_shown_once_if_a_report_cannot_be_written() {
    let world = change(&[("b.orch.yml", &orchestration_text(&GOOD))]);
    let output = Call::new(&world.work())
        .run("check --all --report json=/dev/full")
        .expect(2);
    let text = "names that only look like names of pipelines";
    let count = output.all().matches(text).count().max(
        output
            .all()
            .matches("a name that only looks like the name of a pipeline")
            .count(),
    );
    assert_eq!(count, 1, "{}", output.all());
}

#[test]
fn reason_for_missing_base_is_once_in_log_with_warning_and_in_note_without_it() {
    let world = project();
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\npipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.commit("offer");
    world.git("push -q origin main:refs/heads/trunk");
    world.git("remote set-head origin --delete");
    world.git("update-ref -d refs/remotes/origin/main");
    let note = "could not determine the changes for consumers, because there is no base";
    let reason = "this clone does not know the remote's default branch";
    let job = Call::new(&world.work())
        .variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("BRANCH_NAME", "change");
    let log = job.run("check --compat fail").all();
    assert!(log.contains(note), "{log}");
    assert_eq!(log.matches(reason).count(), 1, "{log}");
    let log = Call::new(&world.work()).run("check --compat fail").all();
    assert!(log.contains(&format!("{note}: {reason}")), "{log}");
}

/// A run in a situation with many texts.
struct Scene {
    name: &'static str,
    world: World,
    platform: Option<Platform>,
    args: &'static [&'static str],
    variable: Option<(&'static str, &'static str)>,
    /// A text that shows on every CI host that the situation is the intended one.
    expected: &'static str,
}

impl Scene {
    fn new(name: &'static str, world: World, args: &'static [&'static str], expected: &'static str) -> Self {
        Self {
            name,
            world,
            platform: None,
            args,
            variable: None,
            expected,
        }
    }

    fn with_platform(self, platform: Platform) -> Self {
        let platform = Some(platform);
        Self { platform, ..self }
    }

    fn with_variable(self, name: &'static str, value: &'static str) -> Self {
        let variable = Some((name, value));
        Self { variable, ..self }
    }

    /// Runs the program on a host.
    fn run(&self, host: Host) -> Texts {
        let folder = self.world.path();
        let (report, summary) = (folder.join("report.json"), folder.join("summary.md"));
        for file in [&report, &summary] {
            let _ = fs::remove_file(file);
        }
        let call = match &self.platform {
            Some(platform) => platform.call(&self.world),
            None => Call::new(&self.world.work()),
        };
        let mut call = host(&self.world, call).variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
        if let Some((name, value)) = self.variable {
            call = call.variable(name, value);
        }
        let flag = format!("json={}", report.display());
        let output = call.run((self.args, &["--report", &flag]));
        let report = fs::read_to_string(report).unwrap_or_else(|_| "null".to_owned());
        Texts {
            log: unescape_text(&format!("{}\n{}", output.err, output.out)),
            summary: unescape_text(&fs::read_to_string(summary).unwrap()),
            report: serde_json::from_str(&report).unwrap(),
            output,
        }
    }
}

/// What a run printed and wrote.
struct Texts {
    log: String,
    summary: String,
    report: Value,
    output: ProgramOutput,
}

impl Texts {
    /// Asserts that each text of the report is in the log once, and in the summary once.
    fn are_reported_once(&self, scene: &str) {
        let list = |key: &str| {
            let values = self.report[key].as_array().cloned().unwrap_or_default();
            values.into_iter().map(|entry| entry.as_str().unwrap().to_owned())
        };
        let mut texts: Vec<String> = list("notes").collect();
        let words = self.report["gateChangesInWords"].as_object().unwrap();
        texts.extend(words.values().map(|words| {
            let words = words.as_array().unwrap().iter();
            words
                .map(|entry| entry.as_str().unwrap())
                .collect::<Vec<_>>()
                .join("; ")
        }));
        let reasons = self.report["unreviewedReasons"].as_object().unwrap();
        let mut reasons: Vec<String> = reasons
            .values()
            .map(|entry| entry.as_str().unwrap().to_owned())
            .collect();
        reasons.dedup();
        texts.extend(reasons);
        let verdict = self.report["verdict"].as_str().unwrap();
        // A line about the results begins "1 check passed in".
        texts.push(match self.report["engine"].as_str().unwrap() {
            "local" => format!("check {verdict}:"),
            _ => format!("review {verdict}"),
        });
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let text = unescape_text(text);
            let text = text.trim_end_matches(['.', '\n']);
            for (place, shown) in [("log", &self.log), ("summary", &self.summary)] {
                let count = shown.matches(text).count();
                assert_eq!(
                    count,
                    1,
                    "{scene}: {place}: {text:?}: {shown}\n{}",
                    self.output.all()
                );
            }
        }
        self.have_no_paragraph_twice(scene);
    }

    /// Asserts that no paragraph of the log or of the summary is in another place of it, too.
    fn have_no_paragraph_twice(&self, scene: &str) {
        // The code of a drawing repeats its styles.
        let summary = self.summary.split("```").step_by(2).collect::<String>();
        for shown in [&self.log, &summary] {
            for line in shown.lines().filter(|line| is_paragraph(line)) {
                let text = without_label(line).trim_end_matches('.');
                if text.len() >= PARAGRAPH {
                    let count = shown.matches(text).count();
                    assert_eq!(count, 1, "{scene}: {text:?}: {}\n{shown}", self.output.all());
                }
            }
        }
    }
}

/// Returns the text as a person reads it: without the escapes of commands and of Markdown, in lower case.
fn unescape_text(text: &str) -> String {
    let mut text = text.to_owned();
    for (escaped, character) in [
        ("%0A", "\n"),
        ("%3B", ";"),
        ("%5D", "]"),
        ("%25", "%"),
        ("%AZP25", "%"),
        ("<code>", "`"),
        ("</code>", "`"),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ] {
        text = text.replace(escaped, character);
    }
    for code in 32_u8..127 {
        text = text.replace(&format!("&#{code};"), &char::from(code).to_string());
    }
    text.to_lowercase()
}

/// Returns whether the line is a sentence about the run, and neither about a finding nor a mark at a file.
fn is_paragraph(line: &str) -> bool {
    let is_finding = |prefix| line.starts_with(prefix) && RULES.contains(title(line));
    let is_mark =
        line.ends_with("::the file was not reviewed.") || line.ends_with("]the file was not reviewed.");
    let is_source = line.trim_start().starts_with(['|', '-']) || line.contains(" | ");
    let is_finding = is_finding("::") || is_finding("##vso[task.logissue");
    !(is_mark || is_source || is_finding || line.contains("setvariable"))
}

/// Returns the title of an annotation, which is the rule if it is about a finding.
fn title(line: &str) -> &str {
    let start = line.split_once("title=").or_else(|| line.split_once("code="));
    let rest = start.map_or("(none)", |(_, rest)| rest);
    rest.split([':', ';']).next().unwrap_or(rest)
}

fn without_label(line: &str) -> &str {
    if let Some(command) = line.strip_prefix("::") {
        return command.split_once("::").map_or(command, |(_, text)| text);
    }
    if let Some(command) = line.strip_prefix("##vso[") {
        return command.split_once(']').map_or(command, |(_, text)| text);
    }
    let labels = ["warning: ", "error: ", "note: ", "hint: ", "to do: ", "- ", "## "];
    let stripped = labels.iter().find_map(|label| line.strip_prefix(label));
    stripped.unwrap_or(line)
}

fn unchanged_call(_: &World, call: Call) -> Call {
    call
}

/// Creates a change that edits the gate configuration of `main`.
fn gate_change() -> World {
    let world = project();
    world.write("sluicegate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "sluicegate.yaml",
        "exclude: ['old/**']\nreview: { fail-on: warn }\n",
    );
    world.write("b.orch.yaml", orchestration_text(&GOOD));
    world.commit("change");
    world.push();
    world
}

fn two_files() -> World {
    change(&[
        ("b.orch.yaml", &orchestration_text(&GOOD)),
        ("c.orch.yaml", &orchestration_text(&GOOD)),
    ])
}

fn platform_that_fails_after_review(response: ResponseTemplate) -> Platform {
    let platform = Platform::new();
    platform.reviews(response);
    platform.is_down();
    platform
}

fn unavailable(title: &str, status: u16) -> Platform {
    let detail = format!("the platform rests for a while because of {title}");
    let body = json!({ "title": title, "detail": detail });
    platform_that_fails_after_review(ResponseTemplate::new(status).set_body_json(body))
}

fn without_status() -> Platform {
    platform_that_fails_after_review(ResponseTemplate::new(200).set_body_json(json!({ "results": {} })))
}

fn known_findings() -> World {
    let world = project();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Two", "Done"]),
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Three", "Done"]),
    );
    world.commit("change");
    world.push();
    world
}

fn first_gate() -> World {
    let file = "exclude: ['old/**']\nreview: { fail-on: warn }\n";
    change(&[
        ("sluicegate.yaml", file),
        ("b.orch.yaml", &orchestration_text(&GOOD)),
    ])
}

fn scenes_of_gate_changes() -> Vec<Scene> {
    let rules = RULES.replace("maxComponents: 3", "maxComponents: 30");
    vec![
        Scene::new(
            "first gate",
            first_gate(),
            &["check"],
            "has no sluicegate.yaml yet",
        ),
        Scene::new(
            "first gate that is refused",
            first_gate(),
            &["check", "--gate-changes", "fail"],
            "in a separate change",
        ),
        Scene::new("gate change", gate_change(), &["check"], "review.fail-on: "),
        Scene::new(
            "gate change that is refused",
            gate_change(),
            &["check", "--gate-changes", "fail"],
            "in a separate change",
        ),
        Scene::new(
            "change of the rules",
            change(&[(RULES_FILE, &rules), ("b.orch.yaml", &orchestration_text(&GOOD))]),
            &["check"],
            "maximum-components",
        ),
    ]
}

fn scenes_of_checks() -> Vec<Scene> {
    vec![
        Scene::new(
            "stricter target",
            world_with_stricter_target(&GOOD),
            &["check"],
            "has a stricter",
        ),
        Scene::new(
            "stricter target that is required",
            world_with_stricter_target(&GOOD),
            &["check", "--gate-changes", "fail"],
            "merge the target branch",
        ),
        Scene::new(
            "stricter target with finding",
            world_with_stricter_target(&["Start", "bad name", "Done"]),
            &["check"],
            "has a stricter",
        ),
        Scene::new(
            "known findings",
            known_findings(),
            &["check", "--new-only", "--max-known", "0"],
            "but the limit is 0",
        ),
        Scene::new(
            "warnings that fail",
            known_findings(),
            &["check", "--fail-on", "warn"],
            "maximum-components",
        ),
        Scene::new(
            "nothing selected",
            change(&[("note.txt", "no pipeline")]),
            &["check"],
            "nothing to check",
        ),
        Scene::new(
            "excluded file",
            two_files(),
            &["check", "--exclude", "c.orch.yaml"],
            "excluded: 1 file",
        ),
    ]
}

fn remote_scenes() -> Vec<Scene> {
    let passing = Platform::new();
    passing.reviews(respond_for_each("PASSED", passed_results()));
    vec![
        Scene::new(
            "platform is down",
            two_files(),
            &["review"],
            "gave no usable response",
        )
        .with_platform(unavailable("Service Unavailable", 503)),
        Scene::new(
            "platform is down and run passes",
            two_files(),
            &["review", "--on-unavailable", "pass"],
            "the change passes regardless",
        )
        .with_platform(unavailable("Service Unavailable", 503)),
        Scene::new(
            "platform is down for base",
            known_findings(),
            &["review", "--new-only"],
            "gave no usable response",
        )
        .with_platform(unavailable("Service Unavailable", 503)),
        Scene::new("rejected token", two_files(), &["review"], "check the token")
            .with_platform(unavailable("Unauthorized", 401)),
        Scene::new(
            "response without status",
            two_files(),
            &["review"],
            "no reviewstatus",
        )
        .with_platform(without_status()),
        Scene::new(
            "response without status for one file",
            change(&[("b.orch.yaml", &orchestration_text(&GOOD))]),
            &["review"],
            "no reviewstatus",
        )
        .with_platform(without_status()),
        Scene::new(
            "first gate",
            first_gate(),
            &["review"],
            "has no sluicegate.yaml yet",
        )
        .with_platform(passing),
    ]
}

#[test]
fn texts_of_finished_run_are_once_in_log_and_once_in_summary() {
    let logs = ["github", "gitlab", "jenkins", "azure"];
    let scenes = scenes_of_gate_changes().into_iter().chain(scenes_of_checks());
    for scene in scenes.chain(remote_scenes()) {
        for (name, host) in HOSTS.iter().filter(|(name, _)| logs.contains(name)) {
            let title = format!("{} on {name}", scene.name);
            let texts = scene.run(*host);
            assert!(
                texts.log.contains(scene.expected),
                "{title}: {:?}: {}",
                scene.expected,
                texts.output.all()
            );
            texts.are_reported_once(&title);
        }
        scene
            .run(unchanged_call)
            .are_reported_once(&format!("{} locally", scene.name));
    }
}

#[test]
fn reason_of_early_end_is_once_in_log_and_once_in_summary() {
    let unknown = ("SLUICEGATE_HEAD", "0123456789012345678901234567890123456789");
    let early = |args, (name, value), expected| {
        Scene::new("early end", first_gate(), args, expected)
            .with_platform(without_status())
            .with_variable(name, value)
    };
    for scene in [
        early(&["review"], ("SLUICEGATE_TIMEOUT", "0"), "timeout"),
        early(&["review"], unknown, "0123456789012345678901234567890123456789"),
        early(&["check"], ("SLUICEGATE_FAIL_ON", "sometimes"), "sometimes"),
        early(&["check", "--bogus"], ("SLUICEGATE_COLOR", "never"), "--bogus"),
    ] {
        for (name, host) in HOSTS.iter().chain(&[("a terminal", unchanged_call as Host)]) {
            let texts = scene.run(*host);
            assert!(
                [2, 7].contains(&texts.output.code) && texts.log.contains(scene.expected),
                "{name}: {}",
                texts.output.all()
            );
            texts.have_no_paragraph_twice(&format!("{:?} on {name}", scene.args));
        }
    }
}

/// If the log would not show a note of the report, a warning does.
#[test]
fn quiet_or_aborted_run_warns_of_file_not_in_force() {
    let world = first_gate();
    for (name, host) in HOSTS {
        for args in [
            &["check", "-q"][..],
            &["check", "--head", "no-such-commit"],
            &["check"],
        ] {
            let output = host(&world, Call::new(&world.work())).run(args);
            let log = output.all();
            assert_eq!(
                log.matches("has no sluicegate.yaml yet").count(),
                1,
                "{name} {args:?}: {log}"
            );
        }
    }
}
