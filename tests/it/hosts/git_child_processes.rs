//! Child processes of git get no secrets, and git starts no program from a repository's configuration except those that
//! checkout steps set.

use crate::support::{Call, Checkout, Platform, Project, World, checkout, git};
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use wiremock::ResponseTemplate;

const SECRETS: [&str; 5] = [
    "SLUICEGATE_TOKEN",
    "SLUICEGATE_CLIENT_SECRET",
    "GITHUB_TOKEN",
    "CI_JOB_TOKEN",
    "VAULT_TOKEN",
];

/// Creates a script that writes its environment to `log` and then runs its arguments.
fn spy(world: &World, name: &str) -> (String, PathBuf) {
    let (script, log) = (world.path().join(name), world.path().join(format!("{name}.log")));
    fs::write(
        &script,
        format!("#!/bin/sh\nenv >> '{}'\nexec \"$@\"\n", log.display()),
    )
    .unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    (script.display().to_string(), log)
}

/// Creates a partial clone without blobs.
fn partial(world: &World) -> PathBuf {
    world.write("a.orch.yaml", "1");
    world.commit("first");
    world.push();
    git(&world.remote(), "config uploadpack.allowFilter true");
    git(&world.remote(), "config uploadpack.allowAnySHA1InWant true");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --filter=blob:none --no-checkout {url} partial"),
    );
    world.path().join("partial")
}

fn checkout_call(folder: &Path) -> Call {
    let job = Checkout::new(folder, &SECRETS.map(|name| (name, "s3cret-value")));
    job.call()
}

const CHECK: &str = "check --all --head HEAD --deepen";

#[test]
fn fetch_of_blob_runs_no_program_of_configuration() {
    let world = World::new();
    let folder = partial(&world);
    let (script, log) = spy(&world, "upload");
    let upload = format!("{script} git-upload-pack");
    git(&folder, &["config", "remote.origin.uploadpack", &upload]);
    let (script, refs) = spy(&world, "refs");
    git(&folder, &["config", "core.alternateRefsCommand", &script]);
    let output = checkout_call(&folder).run(CHECK);
    assert!(!log.exists() && !refs.exists(), "{}", output.all());
    assert_ne!(output.code, 7, "{}", output.all());
}

/// Creates a shallow clone of one branch, which must query the remote for its default branch and fetch history to find
/// its base.
fn shallow_checkout_call(project: &Project) -> (PathBuf, Call) {
    let fetch = ["--depth=1", "+refs/heads/feature:refs/remotes/origin/feature"];
    let folder = checkout(&project.world, &fetch, &project.feature);
    let variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", project.feature.as_str()),
        ("CIRCLE_BRANCH", "feature"),
    ];
    let call = Checkout::new(&folder, &variables).call();
    (folder, call)
}

const DEEPEN: &str = "context --deepen";

#[test]
fn fetch_of_history_runs_no_program_of_configuration() {
    let project = Project::new();
    let (folder, call) = shallow_checkout_call(&project);
    let (script, log) = spy(&project.world, "upload");
    let upload = format!("{script} git-upload-pack");
    git(&folder, &["config", "remote.origin.uploadpack", &upload]);
    // An alternate repository, whose references the configured program would list.
    let other = World::new();
    other.write("other", "1");
    other.commit("other");
    let objects = format!("{}\n", other.work().join(".git/objects").display());
    fs::write(folder.join(".git/objects/info/alternates"), objects).unwrap();
    let (script, refs) = spy(&project.world, "refs");
    git(&folder, &["config", "core.alternateRefsCommand", &script]);
    let output = call.run(DEEPEN).expect(0);
    assert!(output.out.contains(&project.fork), "{}", output.all());
    assert!(!log.exists() && !refs.exists(), "{}", output.all());
}

#[test]
fn proxy_of_configuration_is_not_run() {
    let project = Project::new();
    let (folder, call) = shallow_checkout_call(&project);
    let (script, log) = spy(&project.world, "proxy");
    git(&folder, &["config", "core.gitProxy", &script]);
    git(&folder, "remote set-url origin git://127.0.0.1:9/r.git");
    let output = call.run(DEEPEN).saying(&["unable to connect"]);
    assert!(!log.exists(), "{}", output.all());
}

#[test]
fn program_of_configuration_is_not_asked_for_password() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\
                  Content-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    let project = Project::new();
    let (folder, call) = shallow_checkout_call(&project);
    let (script, log) = spy(&project.world, "ask");
    git(&folder, &["config", "core.askPass", &script]);
    let url = format!("http://{address}/r.git");
    git(&folder, format!("remote set-url origin {url}"));
    let output = call.run(DEEPEN).saying(&["could not read Username"]);
    assert!(!log.exists(), "{}", output.all());
}

#[test]
fn remote_that_is_a_program_is_not_run() {
    let world = World::new();
    let folder = partial(&world);
    let (script, log) = spy(&world, "ext");
    let url = format!("ext::{script} git-upload-pack {}", world.remote().display());
    git(&folder, &["config", "remote.origin.url", &url]);
    git(&folder, "config protocol.ext.allow always");
    let output = checkout_call(&folder).run(CHECK);
    assert!(!log.exists(), "{}", output.all());
    assert_ne!(output.code, 0, "{}", output.all());
}

/// A checkout step sets this program, so it may run.
#[test]
fn ssh_command_of_configuration_gets_no_secret() {
    let world = World::new();
    let folder = partial(&world);
    let log = world.path().join("ssh.log");
    let script = format!("env > '{}'; false", log.display());
    git(&folder, "config remote.origin.url ssh://git@host.invalid/r.git");
    git(&folder, &["config", "core.sshCommand", &script]);
    let output = checkout_call(&folder).run(CHECK);
    let text = fs::read_to_string(&log).unwrap_or_else(|_| panic!("it did not run: {}", output.all()));
    assert!(text.contains("PATH="), "{text}");
    assert!(!text.contains("s3cret-value"), "{text}");
}

/// Git prefers lowercase variables, and ignores `HTTP_PROXY`.
#[test]
fn git_uses_the_same_proxy_as_other_requests() {
    let cases = [
        (
            "http://upper.invalid",
            "http://lower.invalid",
            "http://upper.invalid",
        ),
        ("", "http://lower.invalid", "http://lower.invalid"),
    ];
    for (upper, lower, used) in cases {
        let world = World::new();
        let folder = partial(&world);
        let log = world.path().join("ssh.log");
        let script = format!("env > '{}'; false", log.display());
        git(&folder, "config remote.origin.url ssh://git@host.invalid/r.git");
        git(&folder, &["config", "core.sshCommand", &script]);
        let mut call = checkout_call(&folder);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            call = call
                .variable(name, upper)
                .variable(&name.to_ascii_lowercase(), lower);
        }
        let output = call.run(CHECK);
        let text = fs::read_to_string(&log).unwrap_or_else(|_| panic!("it did not run: {}", output.all()));
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            assert!(
                text.lines().any(|line| line == format!("{name}={used}")),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn error_of_git_shows_no_secret_of_its_configuration() {
    let platform = Platform::new();
    let repeated_header = "denied: authorization: basic S3cretToken";
    let response = ResponseTemplate::new(403).set_body_string(repeated_header);
    platform.respond_to("GET", "/o/r.git/info/refs", response);
    let echo_url = format!("{}/o/r.git", platform.server.uri());
    let response = ResponseTemplate::new(403).set_body_string("denied for S3cretToken");
    platform.respond_to("GET", "/o/user.git/info/refs", response);
    let user_echo_url = format!("{}/o/user.git", platform.server.uri());
    let header = "AUTHORIZATION: basic S3cretToken";
    // The token is the user: `S3cretToken:x-oauth-basic`.
    let user_header = "AUTHORIZATION: basic UzNjcmV0VG9rZW46eC1vYXV0aC1iYXNpYw==";
    for (header, url, shown_text) in [
        (user_header, user_echo_url.as_str(), "denied for ***"),
        (
            header,
            "https://127.0.0.1:9/o/r.git?private_token=S3cretToken",
            "'127.0.0.1:9/o/r'",
        ),
        (
            header,
            "https://127.0.0.1:9/o/r.git#S3cretToken",
            "'127.0.0.1:9/o/r'",
        ),
        (
            header,
            "https://user:S3cretToken@127.0.0.1:9/o/r.git",
            "127.0.0.1",
        ),
        (
            header,
            "https://user:pass/S3cretToken@127.0.0.1:9/o/r.git",
            "'127.0.0.1:9/o/r'",
        ),
        (
            header,
            "https://127.0.0.1:9/o/r.git",
            "'https://127.0.0.1:9/o/r.git/'",
        ),
        (header, echo_url.as_str(), "denied: authorization: ***"),
    ] {
        let world = World::new();
        let folder = partial(&world);
        git(&folder, &["remote", "set-url", "origin", url]);
        git(&folder, &["config", "http.extraHeader", header]);
        let reports = "--report json=r.json --report markdown=r.md --report html=r.html";
        let output = checkout_call(&folder).run(format!("{CHECK} -vv {reports}"));
        let mut texts = output.expect(7).saying(&[shown_text]).all();
        for report in ["r.json", "r.md", "r.html"] {
            texts.push_str(&fs::read_to_string(folder.join(report)).unwrap());
        }
        assert!(!texts.contains("S3cret"), "{texts}");
    }
}
