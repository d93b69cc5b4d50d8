//! `sluicegate serve` as a process: its first line, its signals, its durability.

use crate::support::{
    Call, PROJECT, ServerProcess, TOKEN, World, at_once, orchestration_text, project, send_signal,
    stop_signals,
};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn write_published_pipeline(world: &World) {
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
}

#[cfg(unix)]
#[test]
fn signals_end_it_at_once_with_their_code_even_with_idle_connections() {
    for (signal, code) in stop_signals() {
        let world = World::new();
        let mut server = ServerProcess::start(world.path(), "");
        let address = server.url.trim_start_matches("http://").to_owned();
        let mut idle = TcpStream::connect(&address).unwrap();
        idle.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        idle.read_exact(&mut [0; 16]).unwrap();
        let start_time = Instant::now();
        send_signal(signal, &server.child.id().to_string());
        assert_eq!(server.child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(
            start_time.elapsed() < Duration::from_secs(5),
            "{signal} took {:?}",
            start_time.elapsed()
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn server_started_with_nohup_outlives_its_terminal() {
    let world = World::new();
    let mut command = Call::new(world.path()).command_in_shell("trap '' HUP", "serve");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first_line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first_line)
        .unwrap();
    send_signal("HUP", &child.id().to_string());
    std::thread::sleep(Duration::from_millis(300));
    let state = child.try_wait().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first_line.starts_with("listening on "), "{first_line}");
    assert_eq!(state, None);
}

#[test]
fn generated_token_is_a_word_of_its_own_and_works() {
    let world = World::new();
    let mut server = ServerProcess::start(world.path(), "");
    let line = server.line();
    let token = line
        .split_whitespace()
        .max_by_key(|word| word.len())
        .unwrap()
        .to_owned();
    assert!(token.len() >= 16, "{line}");
    let call = Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_TOKEN", &token);
    call.run("shared-pipelines list").expect(0);
    call.variable("SLUICEGATE_TOKEN", "another")
        .run("shared-pipelines list")
        .expect(4);
}

#[test]
fn roles_are_kept() {
    let world = World::new();
    let server = ServerProcess::start(world.path(), &["--token", &format!("{TOKEN}=member")]);
    let call = Call::with_platform(&world.work(), &server.url);
    call.run("shared-pipelines list")
        .expect(4)
        .saying(&["403", "Admin"]);
}

#[test]
fn acknowledged_change_survives_kill() {
    let world = World::new();
    write_published_pipeline(&world);
    let token = format!("{TOKEN}=admin");
    let data = world.path().join("deep/data").display().to_string();
    let project = format!("{PROJECT}={}", world.remote().display());
    let args = ["--data", &data, "--project", &project, "--token", &token];
    let publish = "publish --prefix p --version-name 1";
    let mut server = ServerProcess::start(world.path(), &args);
    Call::with_platform(&world.work(), &server.url)
        .run(publish)
        .expect(0);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = ServerProcess::start(world.path(), &args);
    Call::with_platform(&world.work(), &server.url)
        .run(publish)
        .expect(5);
}

#[test]
fn vocabulary_gives_names() {
    let world = World::new();
    let file = world.path().join("names.yaml");
    std::fs::write(&file, "WAREHOUSE_A: alpha\n").unwrap();
    let path = file.display().to_string();
    let server = ServerProcess::start(world.path(), &["--vocabulary", &path]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream
        .write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#"["ALPHA","WAREHOUSE_B"]"#));

    let call = Call::new(world.path());
    std::fs::write(&file, "warehouse-a: alpha\n").unwrap();
    call.run(&["serve", "--vocabulary", &path]).expect(2).saying(&[
        "names.yaml",
        "`warehouse-a`",
        "WAREHOUSE_A",
    ]);
    call.run("serve --vocabulary missing.yaml")
        .expect(2)
        .saying(&["missing.yaml"]);
}

#[test]
fn serve_with_wrong_flags_exits_with_2_and_without_repository_7() {
    let world = World::new();
    let call = Call::new(world.path());
    call.run("serve --listen nowhere").expect(2);
    call.run("serve --token secret-word=king")
        .expect(2)
        .saying(&["king"]);
    call.run("serve --token x").expect(2);
    call.run("serve --project 42=.").expect(2).saying(&["42"]);
    call.run(&["serve", "--project", &format!("{PROJECT}=missing.git")])
        .expect(7)
        .saying(&["missing.git", "hint: pass the path of an existing git repository"]);
    let server = ServerProcess::start(world.path(), "");
    let address = server.url.trim_start_matches("http://").to_owned();
    call.run(format!("serve --listen {address}"))
        .expect(2)
        .saying(&[&address, "hint: choose another port, or port 0"]);
}

/// Opens as many connections as the system allows, up to `number`, and sends half of a request head on each.
fn half_open(address: &str, number: usize) -> Vec<TcpStream> {
    let mut open = Vec::new();
    while open.len() < number {
        let Ok(mut stream) = TcpStream::connect(address) else {
            // This process has no more file descriptors: the last ones are needed for other purposes.
            open.truncate(open.len() - 16);
            break;
        };
        // The server may have closed the connection already.
        let _ = stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost:");
        open.push(stream);
    }
    assert!(open.len() > 600, "{} connections", open.len());
    open
}

#[test]
fn half_open_connections_keep_nobody_out() {
    let world = World::new();
    let server = ServerProcess::start(world.path(), "");
    let address = server.url.trim_start_matches("http://").to_owned();
    for number in [1024, 4000] {
        let standing = half_open(&address, number);
        // The best of three, because other tests load the machine.
        let took = (0..3).map(|_| {
            let began = Instant::now();
            let mut good = TcpStream::connect(&address).unwrap();
            good.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            good.write_all(b"GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .unwrap();
            let mut answer = String::new();
            good.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
            began.elapsed()
        });
        let took = took.min().unwrap();
        assert!(
            took < Duration::from_secs(1),
            "{took:?} beside {} connections",
            standing.len()
        );
    }
}

#[test]
fn request_under_way_is_not_sent_away_for_others() {
    let world = World::new();
    let server = ServerProcess::start(world.path(), &["--token", &format!("{TOKEN}=super-admin")]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let mut slow = TcpStream::connect(&address).unwrap();
    let body = r#"{"name": "p", "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"}"#;
    let head = format!(
        "POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(format!("{head}{}", &body[..10]).as_bytes())
        .unwrap();
    let _standing = half_open(&address, 1024);
    slow.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = [0; 12];
    slow.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 201");
}

#[test]
fn second_server_names_owner_of_folder() {
    at_once([false, true], |is_moved_away| {
        let world = World::new();
        let folder = world.path().join("data");
        let data = folder.display().to_string();
        let first = ServerProcess::start(world.path(), &["--data", &data]);
        let holder = format!("process {}", first.child.id());
        if is_moved_away {
            std::fs::rename(folder.join("platform.db"), folder.join("moved")).unwrap();
        }
        Call::new(world.path())
            .run(&["serve", "--data", &data])
            .expect(2)
            .saying(&[&data, &holder]);
    });
}

#[test]
fn address_that_others_reach_is_warned_of() {
    let world = World::new();
    for (address, warns) in [("0.0.0.0:0", true), ("[::]:0", true), ("127.0.0.1:0", false)] {
        let mut command = Call::new(world.path()).command(format!("serve --listen {address}"));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map(Result::unwrap);
        // The last line before the server waits.
        let texts: Vec<String> = lines.take_while(|line| !line.contains("Ctrl-C")).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let texts = texts.join("\n");
        assert_eq!(texts.contains("warning: "), warns, "{address}: {texts}");
        assert_eq!(texts.contains("unencrypted"), warns, "{address}: {texts}");
    }
}

#[test]
fn serve_prints_settings_for_another_terminal_and_no_given_token() {
    let world = World::new();
    write_published_pipeline(&world);
    let project = format!("{PROJECT}={}", world.remote().display());
    let mut server = ServerProcess::start(world.path(), &["--project", &project]);
    server.line();
    let mut call = Call::new(&world.work());
    for _ in 0..4 {
        let line = server.line();
        let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
        call = call.variable(name, value);
    }
    call.run("shared-pipelines list").expect(0);
    let token = format!("{TOKEN}=admin");
    let mut server = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);
    let lines: Vec<String> = (0..3).map(|_| server.line()).collect();
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("export SLUICEGATE_") && !line.contains(TOKEN)),
        "{lines:?}"
    );
}

#[test]
fn server_with_unusable_data_names_the_file_and_the_next_step() {
    let world = World::new();
    let database = world.path().join("data/platform.db");
    std::fs::create_dir(world.path().join("data")).unwrap();
    std::fs::write(&database, "This is a text. ".repeat(100)).unwrap();
    let call = Call::new(world.path());
    let output = call.run("serve --data data").expect(2);
    let message = format!("could not open the database {}: ", database.display());
    let output = output.saying(&[&message, "\nhint: pass another directory with --data"]);
    assert_eq!(output.err.matches("not a database").count(), 1, "{}", output.err);
    // As on a full disk, the database cannot be written, so its data may be intact.
    let output = call
        .command_in_shell("trap '' XFSZ; ulimit -f 4", "serve --data full")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(log.contains("could not open the database"), "{log}");
    assert!(!log.contains("remove this one"), "{log}");
    call.run("serve --data data/platform.db").expect(2).saying(&[
        "could not create or use the data directory ",
        "it is not a directory",
    ]);
    for name in ["platform.db", "platform.lock"] {
        std::fs::create_dir_all(world.path().join("blocked").join(name)).unwrap();
        let output = call.run("serve --data blocked").expect(2);
        output.saying(&[
            "could not create or use the data directory ",
            "hint: pass a directory with --data",
        ]);
        std::fs::remove_dir_all(world.path().join("blocked")).unwrap();
    }
}

#[test]
fn second_server_for_a_directory_names_the_flag() {
    let world = World::new();
    let _server = ServerProcess::start(world.path(), &["--data", "data"]);
    let output = Call::new(world.path()).run("serve --listen 127.0.0.1:0 --data data");
    output.expect(2).saying(&[
        "is in use by another server: process ",
        "hint: stop the other server, or pass another directory with --data",
    ]);
}

/// Asserts that the server does not start, with code 2 and this text. A server that starts is stopped after a while,
/// because it would run forever.
#[cfg(unix)]
fn assert_refused_start(call: &Call, args: &str, text: &str) {
    let mut command = call.command(args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{error}");
    assert!(error.contains(text), "{error}");
}

#[cfg(unix)]
#[test]
fn server_follows_no_link_of_change() {
    use std::os::unix::fs::symlink;
    let world = project();
    let victim = world.path().join("victim.txt");
    std::fs::write(&victim, "WAREHOUSE_A: S3cret\n").unwrap();
    world.git("checkout -q -b change");
    std::fs::create_dir(world.work().join("data")).unwrap();
    symlink("../../victim.txt", world.work().join("data/platform.lock")).unwrap();
    symlink("../victim.txt", world.work().join("names.yaml")).unwrap();
    world.commit("link");
    world.push();
    let call = Call::new(&world.work()).variable("CI", "true");
    assert_refused_start(
        &call,
        "serve --listen 127.0.0.1:0 --data data",
        "`data/platform.lock` is a symbolic link in the repository",
    );
    assert_refused_start(
        &call,
        "serve --listen 127.0.0.1:0 --vocabulary names.yaml",
        "the symbolic link `names.yaml` leads out of the repository",
    );
    let text = std::fs::read_to_string(&victim).unwrap();
    assert_eq!(text, "WAREHOUSE_A: S3cret\n");
    // Counterpart: links that the job created.
    std::fs::create_dir(world.work().join("own")).unwrap();
    symlink(world.path().join("lock"), world.work().join("own/platform.lock")).unwrap();
    symlink(&victim, world.work().join("own.yaml")).unwrap();
    let args = ["--data", "own", "--vocabulary", "own.yaml"];
    let _server = ServerProcess::start(&world.work(), &args);
    assert!(world.path().join("lock").is_file());
}
