//! `sluicegate doctor`: no problem with the local platform, and one report for each possible problem.

use crate::support::{
    Call, Job, PROJECT, Platform, ProgramOutput, RULES, RULES_FILE, ServerProcess, TOKEN, World, answer, git,
    orchestration_text, project, scratch, tls_server::TlsServer,
};
use serde_json::{Value, json};
use std::net::TcpListener;
use wiremock::ResponseTemplate;

const SHARED_FILE: &str = ".platform/shared-pipelines.yaml";

fn serve_with_role(world: &World, role: &str) -> ServerProcess {
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{TOKEN}={role}");
    ServerProcess::start(world.path(), &["--project", &project, "--token", &token])
}

fn doctor(call: &Call) -> ProgramOutput {
    call.run("doctor --json")
}

/// Returns one check of a report.
fn find_check(output: &ProgramOutput, name: &str) -> Value {
    let report = output.json();
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .find(|check| check["check"] == name)
        .unwrap_or_else(|| panic!("{name}: {report}"))
        .clone()
}

/// Asserts that only this check failed, and that its message and its hint contain these texts.
#[track_caller]
fn expect_one_failed_check(output: ProgramOutput, code: i32, name: &str, words: &[&str]) {
    let output = output.expect(code);
    let report = output.json();
    let failures: Vec<&Value> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] == "failed")
        .collect();
    assert!(
        failures.len() == 1 && failures[0]["check"] == name,
        "{failures:?}"
    );
    assert!(failures[0]["hint"].is_string(), "{failures:?}");
    let text = format!("{} {}", failures[0]["found"], failures[0]["hint"]);
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(report["ok"], false);
}

/// Returns a platform that accepts the token and has the project.
fn empty_platform() -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/projects", answer_list());
    platform.respond_to("GET", "/shared-pipelines", answer_list());
    platform
}

fn answer_list() -> ResponseTemplate {
    answer(&json!({ "results": [], "page": 0, "size": 1, "total": 0 }))
}

#[test]
fn clone_without_the_objects_of_its_commit_fails() {
    let world = project();
    git(world.path(), "clone -q --shared remote.git shared");
    let folder = world.path().join("shared");
    let call = Call::new(&folder);
    doctor(&call).expect(0);
    std::fs::rename(world.remote(), world.path().join("moved.git")).unwrap();
    expect_one_failed_check(
        doctor(&call),
        7,
        "clone-depth",
        &["could not read the commit of HEAD"],
    );
}

#[test]
fn doctor_finds_nothing_missing_on_local_platform() {
    let world = project();
    world.write(
        SHARED_FILE,
        "pipelines:\n  - { pipeline: a.orch.yaml, id: load }\n",
    );
    world.commit("share");
    let platform = serve_with_role(&world, "admin");
    let call = Call::with_platform(&world.work(), &platform.url);
    let args = [
        "init",
        "--host",
        "github",
        "--project-id",
        PROJECT,
        "--agent-version",
        "9.0.0",
    ];
    Call::new(&world.work()).run(&args).expect(0);
    // The files that `init` wrote are enough, together with address and token.
    let call = call
        .without("SLUICEGATE_PROJECT_ID")
        .without("SLUICEGATE_AGENT_VERSION");
    let output = doctor(&call).expect(0);
    let report = output.json();
    assert_eq!(
        (&report["schema"], &report["ok"]),
        (&json!("sluicegate.doctor/v1"), &json!(true))
    );
    let not_ok: Vec<&str> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] != "ok")
        .map(|check| check["check"].as_str().unwrap())
        .collect();
    // The project has neither team rules nor waivers. For a local platform, proxy, DNS and TLS do not apply.
    let not_applicable = ["team-rules", "waivers", "proxy", "dns", "tls"];
    assert_eq!(not_ok, not_applicable, "{report}");
    let text = call.run("doctor").expect(0).out;
    assert!(text.ends_with("\nall checks passed\n"), "{text}");
    assert!(text.contains("ok      token"), "{text}");
    // Doctor was right: the job of the default branch reviews and publishes.
    world.commit("set up");
    world.push();
    let job = call.run("ci --publish").expect(0);
    assert!(job.all().contains("published"), "{}", job.all());
    let document = call.run("artifacts list -o json").expect(0).json();
    assert_eq!(document["results"][0]["sharedPipelineIdPrefix"], "remote");
}

#[test]
fn wrong_token_is_exit_4() {
    let world = project();
    let platform = serve_with_role(&world, "admin");
    let call =
        Call::with_platform(&world.work(), &platform.url).variable("SLUICEGATE_TOKEN", "an0ther-token");
    let output = doctor(&call);
    assert!(!output.all().contains("an0ther-token"), "{}", output.all());
    assert_eq!(find_check(&output, "project")["status"], "not-applicable");
    expect_one_failed_check(output, 4, "token", &["401", "check the token"]);
    let missing = doctor(&call.without("SLUICEGATE_TOKEN"));
    expect_one_failed_check(missing, 2, "token", &["SLUICEGATE_TOKEN_FILE"]);
}

#[test]
fn role_that_may_not_publish_matters_if_something_is_to_be_published() {
    let world = project();
    let platform = serve_with_role(&world, "member");
    let call = Call::with_platform(&world.work(), &platform.url);
    let output = doctor(&call).expect(0);
    assert_eq!(find_check(&output, "role")["status"], "not-applicable");
    world.write(
        SHARED_FILE,
        "pipelines:\n  - { pipeline: a.orch.yaml, id: load }\n",
    );
    world.commit("share");
    let publishing = call.variable("SLUICEGATE_PREFIX", "sales");
    expect_one_failed_check(doctor(&publishing), 4, "role", &["403", "Admin"]);
}

#[test]
fn wrong_project_is_exit_3() {
    let world = project();
    let platform = serve_with_role(&world, "admin");
    let other = "00000000-0000-4000-8000-000000000009";
    let call = Call::with_platform(&world.work(), &platform.url).variable("SLUICEGATE_PROJECT_ID", other);
    expect_one_failed_check(doctor(&call), 3, "project", &["404", other, "Super Admin"]);
    let none = call.without("SLUICEGATE_PROJECT_ID");
    expect_one_failed_check(doctor(&none), 2, "project", &["SLUICEGATE_PROJECT_ID"]);
}

#[test]
fn platform_that_is_not_there_is_exit_3() {
    let world = project();
    let at = |url: &str| doctor(&Call::with_platform(&world.work(), url));
    expect_one_failed_check(
        at("https://no-such-host.invalid/dpc"),
        3,
        "dns",
        &["no-such-host.invalid"],
    );
    // A port on which no process listens anymore.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let refused = at(&format!("http://127.0.0.1:{port}"));
    assert_eq!(find_check(&refused, "token")["status"], "not-applicable");
    expect_one_failed_check(refused, 3, "connection", &["cannot connect", "base URL"]);
    // A server that is not the platform.
    let other = Platform::new();
    let call = Call::with_platform(&world.work(), &other.server.uri());
    expect_one_failed_check(doctor(&call), 3, "token", &["404", "base URL"]);
    let none = Call::with_platform(&world.work(), "").without("SLUICEGATE_BASE_URL");
    expect_one_failed_check(doctor(&none), 2, "base-url", &["SLUICEGATE_BASE_URL"]);
    // The server does not support TLS.
    let plain = at(&other.server.uri().replace("http:", "https:"));
    expect_one_failed_check(plain, 3, "connection", &["cannot connect"]);
}

#[test]
fn platform_that_does_not_answer_ends_in_time() {
    let world = project();
    // The system accepts connections, but no process answers them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let call = Call::with_platform(&world.work(), &url).variable("SLUICEGATE_TIMEOUT", "1");
    let start = std::time::Instant::now();
    expect_one_failed_check(
        doctor(&call),
        3,
        "connection",
        &["within 1 s", "--request-timeout"],
    );
    assert!(start.elapsed().as_secs() < 20);
}

#[test]
fn certificate_that_is_not_trusted_is_exit_3() {
    let world = project();
    let server = TlsServer::start(&["localhost"]);
    let url = format!("https://localhost:{}", server.port());
    let call = Call::with_platform(&world.work(), &url);
    let output = doctor(&call);
    // The token was not sent.
    assert_eq!(server.connection_count(), 1);
    assert_eq!(find_check(&output, "connection")["status"], "ok");
    expect_one_failed_check(output, 3, "tls", &["UnknownIssuer", "--ca-cert"]);
    let trusting = call.variable(
        "SLUICEGATE_CA_CERT",
        server.root_certificate_path().display().to_string(),
    );
    let output = doctor(&trusting).expect(0);
    assert_eq!(find_check(&output, "tls")["status"], "ok");
    assert_eq!(find_check(&output, "dns")["status"], "ok");
    // The server sends no `Date` header.
    assert_eq!(find_check(&output, "clock")["status"], "not-applicable");
    let old = TlsServer::start_until(&["127.0.0.1"], 2020);
    let call = Call::with_platform(&world.work(), &old.url());
    let trusting = call.variable(
        "SLUICEGATE_CA_CERT",
        old.root_certificate_path().display().to_string(),
    );
    expect_one_failed_check(doctor(&trusting), 3, "tls", &["clock"]);
    let unreadable = trusting.variable("SLUICEGATE_CA_CERT", "gone.pem");
    expect_one_failed_check(doctor(&unreadable), 2, "connection", &["gone.pem"]);
}

/// On other systems, the program uses the system's certificate store instead of these variables.
#[cfg(target_os = "linux")]
#[test]
fn roots_of_machine_are_trusted_and_without_any_those_of_program() {
    let world = project();
    let server = TlsServer::start(&["127.0.0.1"]);
    let call = Call::with_platform(&world.work(), &server.url());
    let trusting = call.variable(
        "SSL_CERT_FILE",
        server.root_certificate_path().display().to_string(),
    );
    assert_eq!(find_check(&doctor(&trusting).expect(0), "tls")["status"], "ok");
    let rootless = trusting
        .variable("SSL_CERT_FILE", "gone.pem")
        .variable("SSL_CERT_DIR", "gone");
    expect_one_failed_check(doctor(&rootless), 3, "tls", &["UnknownIssuer", "--ca-cert"]);
}

#[test]
fn proxy_is_shown_without_its_password() {
    let world = project();
    let proxy = empty_platform();
    let with_password = proxy.server.uri().replace("http://", "http://me:pr0xy-secret@");
    let call = Call::with_platform(&world.work(), "http://platform.invalid/dpc")
        .variable("HTTP_PROXY", &with_password);
    let output = doctor(&call).expect(0);
    assert!(!output.all().contains("pr0xy-secret"), "{}", output.all());
    assert_eq!(find_check(&output, "proxy")["status"], "ok");
    assert!(
        find_check(&output, "proxy")["found"]
            .as_str()
            .unwrap()
            .contains(&proxy.server.uri())
    );
    assert_eq!(find_check(&output, "dns")["status"], "not-applicable");
    // The token would be sent unencrypted.
    assert!(find_check(&output, "tls")["hint"].is_string());
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let gone = call.variable("HTTP_PROXY", format!("http://127.0.0.1:{port}"));
    expect_one_failed_check(doctor(&gone), 3, "proxy", &["NO_PROXY"]);
    let refusing = Platform::new();
    refusing.respond_to("GET", "/", ResponseTemplate::new(407));
    let refused = gone.variable("HTTP_PROXY", refusing.server.uri());
    let output = doctor(&refused);
    // The proxy's response is not that of the platform.
    assert_eq!(find_check(&output, "connection")["status"], "not-applicable");
    assert_eq!(find_check(&output, "clock")["status"], "not-applicable");
    expect_one_failed_check(output, 3, "proxy", &["credentials", "user:password"]);
}

#[test]
fn clock_that_is_off_is_found_by_date_of_answer() {
    let world = project();
    let dated = |offset: i64| {
        let platform = Platform::new();
        let now = jiff::Timestamp::now();
        let there = now.checked_add(jiff::SignedDuration::from_secs(offset)).unwrap();
        let date = there.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        platform.respond_to(
            "GET",
            "/projects",
            answer_list().insert_header("date", date.as_str()),
        );
        platform.respond_to("GET", "/shared-pipelines", answer_list());
        doctor(&platform.call(&world))
    };
    expect_one_failed_check(dated(3600), 2, "clock", &["behind", "NTP"]);
    expect_one_failed_check(dated(-3600), 2, "clock", &["ahead of", "NTP"]);
    assert_eq!(find_check(&dated(-30).expect(0), "clock")["status"], "ok");
}

#[test]
fn shallow_clone_is_exit_7() {
    let world = project();
    world.commit("second");
    world.push();
    let remote = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q --depth 1 {remote} shallow"));
    let platform = empty_platform();
    let call = Call::with_platform(&world.path().join("shallow"), &platform.server.uri());
    expect_one_failed_check(doctor(&call), 7, "clone-depth", &["git fetch --unshallow"]);
    let on_gitlab = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", &world.git("rev-parse HEAD")),
        ("CI_COMMIT_BRANCH", "main"),
        ("CI_PIPELINE_SOURCE", "push"),
    ];
    let job = on_gitlab
        .iter()
        .fold(call, |call, (name, value)| call.variable(name, value));
    expect_one_failed_check(doctor(&job), 7, "clone-depth", &["GIT_DEPTH"]);
    doctor(&job.variable("SLUICEGATE_DEEPEN", "true")).expect(0);
}

#[test]
fn clone_without_remote_is_exit_7_like_its_review() {
    let world = project();
    let platform = empty_platform();
    let call = Call::with_platform(&world.work(), &platform.server.uri());
    assert_eq!(find_check(&doctor(&call).expect(0), "remote")["status"], "ok");
    world.git("remote remove origin");
    call.run("review").expect(7);
    expect_one_failed_check(
        doctor(&call),
        7,
        "remote",
        &["no remote", "git remote add origin URL"],
    );
    // A local check needs no remote.
    doctor(&Call::new(&world.work())).expect(0);
}

#[test]
fn platforms_files_are_checked_as_they_are_on_disk() {
    let world = project();
    let platform = empty_platform();
    let call = platform.call(&world);
    doctor(&call).expect(0);
    world.write(
        RULES_FILE,
        "rules:\n  - { id: unused-component, enabled: true, enforcementLevel: warn }\n",
    );
    expect_one_failed_check(
        doctor(&call),
        2,
        "rules-file",
        &[RULES_FILE, ":2", "unused-component", "rules lint"],
    );
    std::fs::remove_file(world.work().join(RULES_FILE)).unwrap();
    expect_one_failed_check(doctor(&call), 2, "rules-file", &["restore the file with"]);
    world.write(RULES_FILE, RULES);

    assert_eq!(
        find_check(&doctor(&call).expect(0), "shared-pipelines")["status"],
        "not-applicable"
    );
    let publishing = call.variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main");
    expect_one_failed_check(
        doctor(&publishing),
        2,
        "shared-pipelines",
        &["shared-pipelines.yaml"],
    );
    world.write(
        SHARED_FILE,
        "pipelines:\n  - { pipeline: gone.orch.yaml, id: load }\n",
    );
    expect_one_failed_check(
        doctor(&publishing),
        2,
        "shared-pipelines",
        &["gone.orch.yaml", "line 2"],
    );
    world.write(SHARED_FILE, "pipelines:\n  - { id: load }\n");
    expect_one_failed_check(
        doctor(&publishing),
        2,
        "shared-pipelines",
        &[SHARED_FILE, "pipeline"],
    );
    world.write(
        SHARED_FILE,
        "pipelines:\n  - { pipeline: gone.orch.yaml, id: load, enabled: false }\n",
    );
    world.commit("share");
    doctor(&publishing).expect(0);
    world.write(".other/shared-pipelines.yaml", "pipelines: []\n");
    expect_one_failed_check(doctor(&publishing), 2, "rules-file", &[".other", "--config-dir"]);
}

#[test]
fn doctor_counts_missing_shared_pipelines_that_it_does_not_name() {
    let world = project();
    let platform = empty_platform();
    let call = platform.call(&world);
    let share = |count: usize| {
        let entries = (1..=count).map(|n| format!("  - {{ pipeline: gone-{n}.orch.yaml, id: load-{n} }}\n"));
        world.write(
            SHARED_FILE,
            format!("pipelines:\n{}", entries.collect::<String>()),
        );
    };
    share(7);
    expect_one_failed_check(
        doctor(&call),
        2,
        "shared-pipelines",
        &["7 pipelines", "gone-5.orch.yaml (line 6) and 2 more"],
    );
    share(5);
    let all = doctor(&call).expect(2);
    let message = find_check(&all, "shared-pipelines")["found"].to_string();
    assert!(
        message.contains("gone-5.orch.yaml (line 6)") && !message.contains("more"),
        "{message}"
    );
}

#[test]
fn doctor_with_damaged_index_does_not_ask_for_hidden_directory() {
    let world = project();
    let platform = empty_platform();
    world.write(".git/index", "damaged");
    let output = doctor(&platform.call(&world));
    assert_eq!(
        find_check(&output, "rules-file")["status"],
        "failed",
        "{}",
        output.all()
    );
    let check = find_check(&output, "shared-pipelines").to_string();
    assert!(
        check.contains("not checked because") && !check.contains("config-dir"),
        "{check}"
    );
}

#[test]
fn doctor_leaves_rest_unchecked_after_unreadable_file() {
    let world = project();
    let platform = empty_platform();
    let call = platform.call(&world);
    world.write("sluicegate.yaml", "review:\n  fail_on: warn\n");
    let broken = doctor(&call);
    assert_eq!(find_check(&broken, "repository")["status"], "ok");
    assert_eq!(find_check(&broken, "token")["status"], "not-applicable");
    expect_one_failed_check(broken, 2, "settings", &["sluicegate.yaml:2:3", "fail-on"]);
    assert!(platform.requests().is_empty());
    std::fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    let wrong = platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "platform.example");
    expect_one_failed_check(
        doctor(&wrong),
        2,
        "settings",
        &["no scheme", "write https:// before the host"],
    );
    let nowhere = scratch::create_scratch_directory();
    let outside = Call::with_platform(nowhere.path(), &platform.server.uri());
    let output = doctor(&outside);
    assert_eq!(find_check(&output, "token")["status"], "ok");
    expect_one_failed_check(output, 7, "repository", &["repository"]);
    let strange = platform.call(&world).variable("SLUICEGATE_CI", "github");
    expect_one_failed_check(doctor(&strange), 7, "ci-host", &["GITHUB_EVENT_NAME"]);
    let agentless = platform.call(&world).without("SLUICEGATE_AGENT_VERSION");
    expect_one_failed_check(
        doctor(&agentless),
        2,
        "agent-version",
        &["SLUICEGATE_AGENT_VERSION"],
    );
}

#[test]
fn doctor_with_several_failures_has_documented_exit_code() {
    let world = project();
    world.write(RULES_FILE, "rules: [");
    let platform = Platform::new();
    platform.respond_to(
        "GET",
        "/projects",
        ResponseTemplate::new(401).set_body_string(format!("bad token {TOKEN}")),
    );
    let output = doctor(&platform.call(&world)).expect(4);
    assert_eq!(find_check(&output, "rules-file")["status"], "failed");
    let text = platform.call(&world).run("doctor").expect(4).out;
    assert!(
        text.ends_with("\n2 checks failed\n") && text.contains("hint: "),
        "{text}"
    );
    // The first request has no token.
    let first = &platform.requests()[0];
    assert!(!first.headers.contains_key("authorization"));
    let hostile = Platform::new();
    let words = "::error::x\u{1b}[2J\n::set-output name=a::b\n##[error]y";
    hostile.respond_to(
        "GET",
        "/projects",
        ResponseTemplate::new(500).set_body_string(words),
    );
    let text = hostile.call(&world).run("doctor").expect(3).out;
    assert!(!text.contains('\u{1b}') && !text.contains("##["), "{text}");
    assert!(
        text.lines().all(|line| !line.trim_start().starts_with("::")),
        "{text}"
    );
}

/// Missing settings, and the texts that tell users where to find their values.
const FOUND_WHERE: [(&str, &str, &str); 4] = [
    ("base-url", "SLUICEGATE_BASE_URL", "https://platform.example.com"),
    ("project", "SLUICEGATE_PROJECT_ID", "`sluicegate projects list`"),
    (
        "agent-version",
        "SLUICEGATE_AGENT_VERSION",
        "lists it with the agent",
    ),
    (
        "token",
        "SLUICEGATE_TOKEN",
        "an administrator of the account on the platform",
    ),
];

#[test]
fn doctor_finds_settings_with_which_no_publish_can_succeed() {
    let world = project();
    let call = Call::new(&world.work());
    for (settings, words) in [
        ("publish: { prefix: ü }", "the prefix `ü` contains 'ü'"),
        (
            "publish: { version-name: '{nope}' }",
            "the unknown placeholder `{nope}`",
        ),
        (
            "publish: { version-name: '$(Build.Id)' }",
            "that was not replaced with its value",
        ),
        (
            "publish: { smoke: [sales/load] }",
            "the smoke runs need a value for --smoke-project",
        ),
        (
            "publish: { smoke-timeout: 0 }",
            "the smoke timeout 0 is not in the range",
        ),
        ("poll-interval: .inf", "the poll interval inf is not in the range"),
    ] {
        world.write("sluicegate.yaml", settings.to_owned() + "\n");
        let check = find_check(&doctor(&call).expect(2), "settings");
        let reason = check["found"].as_str().unwrap();
        assert!(reason.contains(words), "{settings}: {reason}");
        if reason.contains("range") {
            let hint = check["hint"].as_str().unwrap();
            assert!(
                hint.starts_with("correct `") && hint.contains("configuration file"),
                "{hint}"
            );
        }
    }
    world.write(
        "sluicegate.yaml",
        "publish: { prefix: sales, version-name: auto }\npoll-interval: 2\n",
    );
    assert_eq!(find_check(&doctor(&call), "settings")["status"], "ok");
}

#[test]
fn doctor_finds_invalid_shard() {
    let world = project();
    let call = Call::new(&world.work());
    let invalid = call.clone().variable("SLUICEGATE_SHARD", "3/2");
    let check = find_check(&doctor(&invalid).expect(2), "settings");
    assert_eq!(
        check["found"],
        "invalid shard \"3/2\" (--shard, SLUICEGATE_SHARD): expected I/N: two integers, with I from 1 to N"
    );
    let valid = call.variable("SLUICEGATE_SHARD", "2/3");
    assert_eq!(find_check(&doctor(&valid).expect(0), "settings")["status"], "ok");
}

#[test]
fn doctor_lists_all_missing_settings_with_their_source() {
    let world = project();
    let job = Call::new(&world.work()).variable("SLUICEGATE_PREFIX", "sales");
    let output = doctor(&job).expect(2);
    let platform = empty_platform();
    for (name, variable, words) in FOUND_WHERE {
        let check = find_check(&output, name);
        let hint = check["hint"].as_str().unwrap();
        assert_eq!(check["status"], "failed", "{check}");
        assert!(hint.contains(variable) && hint.contains(words), "{check}");
        // A review prints the same message.
        let call = platform.call(&world).without(variable);
        call.run("review --all")
            .expect(2)
            .saying(&[check["found"].as_str().unwrap(), hint]);
    }
}

#[test]
fn unidentified_folder_is_listed_as_possible_folder() {
    let world = World::new();
    world.write(".acme/notes.yaml", "a: 1\n");
    world.write(".github/workflows/build.yml", "on: push\n");
    world.commit("first");
    world.push();
    let platform = empty_platform();
    let call = platform.call(&world);
    let output = doctor(&call);
    let value = find_check(&output, "rules-file")["found"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(value.ends_with("hidden directories: .acme"), "{value}");
    expect_one_failed_check(
        output,
        2,
        "rules-file",
        &["`sluicegate rules init --config-dir .acme`"],
    );
    let outside = world.work().with_extension("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::rename(world.work().join(".acme"), outside.join("acme")).unwrap();
    std::os::unix::fs::symlink(outside.join("acme"), world.work().join(".acme")).unwrap();
    call.run("rules init --config-dir .acme")
        .expect(2)
        .saying(&["is a symbolic link"]);
    std::fs::remove_file(world.work().join(".acme")).unwrap();
    std::fs::rename(outside.join("acme"), world.work().join(".acme")).unwrap();
    call.run("rules init --config-dir .acme").expect(0);
    world.commit("rules");
    assert_eq!(find_check(&doctor(&call).expect(0), "rules-file")["status"], "ok");
}

#[test]
fn platform_is_expected_only_if_the_named_host_is_a_ci_host() {
    let world = project();
    let local = Call::new(&world.work());
    let ci = local.clone().variable("CI", "true");
    for (call, host, is_expected) in [
        (&ci, "none", false),
        (&ci, "unknown", true),
        (&local, "unknown", true),
        (&local, "none", false),
    ] {
        let output = call.run(format!("doctor --ci {host} --json"));
        let has_check = output.json()["checks"]
            .as_array()
            .unwrap()
            .iter()
            .any(|check| check["found"] == "not configured; `sluicegate check` needs no platform");
        assert_eq!(has_check, !is_expected, "{host}: {}", output.out);
    }
}

#[test]
fn team_rules_and_waivers_that_stop_each_check_are_found() {
    let world = project();
    let call = Call::new(&world.work());
    let local = |words: &str| call.run(words);
    world.write(
        "sluicegate-rules.yaml",
        "rules:\n  - { id: x, level: nonsense }\n",
    );
    world.commit("rules");
    expect_one_failed_check(
        local("doctor --ci none --json"),
        2,
        "team-rules",
        &["sluicegate-rules.yaml:2", "rules lint"],
    );
    local("check --all").expect(2);
    world.write(
        "sluicegate-rules.yaml",
        "rules:\n  - { id: x, level: warn, for: pipeline, when: 'false', message: m }\n",
    );
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: nope, path: a, reason: r }\n",
    );
    world.commit("waivers");
    expect_one_failed_check(
        local("doctor --ci none --json"),
        2,
        "waivers",
        &["sluicegate-waivers.yaml:1", "nope"],
    );
    local("check --all").expect(2);
    // In a job, the files of the target apply.
    world.push();
    world.git("checkout -q -b change");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    let job = Job::github().pull_request().call(&world);
    let waivers = find_check(&job.run("doctor --json"), "waivers");
    // Such waivers do not fail a run in CI.
    job.run("check").expect(0);
    assert_eq!(waivers["status"], "not-applicable", "{waivers}");
    assert!(waivers["found"].to_string().contains("nope"), "{waivers}");
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: team/x, path: a, reason: r }\n",
    );
    world.commit("repair");
    let output = local("doctor --ci none --json").expect(0);
    assert_eq!(find_check(&output, "team-rules")["status"], "ok");
    assert_eq!(find_check(&output, "waivers")["status"], "ok");
}

#[test]
fn team_rules_of_the_target_fail_the_check_unless_the_change_repairs_them() {
    let world = project();
    let broken = "rules:\n  - { id: x, level: nonsense }\n";
    world.write("sluicegate-rules.yaml", broken);
    world.commit("broken");
    world.push();
    world.git("checkout -q -b change");
    let check_in_job = |text: &str, status: &str, code: i32| {
        world.write("sluicegate-rules.yaml", text);
        world.write(
            "a.orch.yaml",
            format!("{}# {text:?}\n", orchestration_text(&["Start", "Load", "Done"])),
        );
        world.commit("change");
        world.push();
        let job = Job::github().pull_request().call(&world);
        let check = find_check(&job.run("doctor --json"), "team-rules");
        assert_eq!(check["status"], status, "{text}: {check}");
        job.run("check").expect(code);
    };
    check_in_job(broken, "failed", 1);
    check_in_job("rules: 7\n", "failed", 1);
    let rule = "  - { id: x, level: warn, for: pipeline, when: 'false', message: m }\n";
    check_in_job(&format!("rules:\n{rule}"), "ok", 0);
}

#[test]
fn shared_pipelines_file_in_other_hidden_directory_is_named() {
    let world = project();
    let call = Call::new(&world.work());
    let text = find_check(&doctor(&call), "shared-pipelines").to_string();
    assert!(!text.contains("exists"), "{text}");
    world.write(".other/shared-pipelines.yaml", "pipelines: []\n");
    world.commit("other directory");
    let call = call.variable("SLUICEGATE_CONFIG_DIR", ".platform");
    let text = find_check(&doctor(&call), "shared-pipelines").to_string();
    assert!(
        text.contains(", but `.other/shared-pipelines.yaml` exists"),
        "{text}"
    );
}

#[test]
fn settings_check_names_missing_version_name_and_no_unknown_variable() {
    let world = project();
    let call = Call::new(&world.work());
    let valid = "flags, variables and configuration file are valid";
    let plain = find_check(&doctor(&call).expect(0), "settings");
    assert_eq!((&plain["found"], &plain["hint"]), (&json!(valid), &Value::Null));
    // The warning of each command names an unknown variable, with the similar one.
    let warning = "the variable SLUICEGATE_TOKNE is unknown; did you mean `SLUICEGATE_TOKEN`?";
    let misspelled = call.clone().variable("SLUICEGATE_TOKNE", "x");
    let output = doctor(&misspelled).expect(0).saying(&[warning]);
    assert_eq!(
        output.all().matches("SLUICEGATE_TOKNE").count(),
        1,
        "{}",
        output.all()
    );
    // Publishing is configured by either of these settings.
    for (file, facts) in [
        (
            "publish: { prefix: sales }\n",
            ", but the version name of a publish is missing",
        ),
        (
            "publish-on: { branches: [main] }\npublish: { version-name: auto }\n",
            ", but the prefix of a publish is missing",
        ),
        ("publish: { prefix: sales, version-name: auto }\n", ""),
    ] {
        world.write("sluicegate.yaml", file);
        let check = find_check(&doctor(&call), "settings");
        assert_eq!(
            (&check["found"], &check["status"]),
            (&json!(format!("{valid}{facts}")), &json!("ok"))
        );
        assert_eq!(check["hint"].is_null(), facts.is_empty(), "{check}");
    }
    world.write("sluicegate.yaml", "publish: { prefix: sales }\n");
    let named = call.variable("SLUICEGATE_VERSION_NAME", "{next}");
    assert_eq!(find_check(&doctor(&named), "settings")["found"], valid);
}
