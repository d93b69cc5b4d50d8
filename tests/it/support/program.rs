//! Runs the real program in a clean environment.

use super::{Arguments, path_variable, scratch};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The project in the tests' requests.
pub const PROJECT: &str = "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10";
/// A token that no output may contain.
pub const TOKEN: &str = "s3cret-token-0f-the-test";

/// Sends this signal to a process, or to a process group with the number `-group`. The shell's own `kill` is used,
/// because a machine with only Rust, a C compiler and git has no other.
#[track_caller]
pub fn send_signal(signal: &str, process: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$0\" -- \"$1\"", signal, process]);
    assert!(command.status().unwrap().success(), "{signal} to {process}");
}

/// Creates a `git` in this folder that runs the real one and, if its arguments contain `subcommand`, then sends SIGTERM
/// to the program that called it. Returns the search path with this folder.
pub fn interrupting_git(folder: &Path, subcommand: &str) -> String {
    // The program receives the signal before git ends.
    wrap_git(
        folder,
        &format!(
            "\"$git\" \"$@\" || exit\ncase \" $* \" in *' {subcommand} '*) kill -s TERM $PPID; sleep 0.5 ;; esac\n"
        ),
    )
}

/// Creates a `git` in this folder that runs the real one and adds a line to `calls` in the folder. Returns the search
/// path with this folder.
pub fn recording_git(folder: &Path) -> String {
    let calls = folder.join("calls");
    wrap_git(
        folder,
        &format!("echo \"$*\" >>'{}'\nexec \"$git\" \"$@\"\n", calls.display()),
    )
}

/// Creates a `git` in this folder with this script, in which `$git` is the real one. Returns the search path with the
/// folder.
fn wrap_git(folder: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let git = sluicegate_test_support::repository::find_program("git").unwrap();
    let path = folder.join("git");
    std::fs::write(&path, format!("#!/bin/sh\ngit='{}'\n{script}", git.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), path_variable().display())
}

/// Returns the signals that end a run, each with its exit code. SIGHUP is missing if this process ignores it, for
/// example because of `nohup`: the programs that it starts then ignore it, too.
pub fn stop_signals() -> Vec<(&'static str, i32)> {
    let mut signals = vec![("INT", 130), ("TERM", 143)];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored_signals = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored_signals.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if mask.is_some_and(|mask| mask & 1 == 0) {
        signals.push(("HUP", 143));
    }
    signals
}

/// A call of the program that gets only the given environment variables.
#[derive(Clone)]
pub struct Call {
    folder: PathBuf,
    variables: BTreeMap<String, String>,
    input: Option<PathBuf>,
}

/// The result of a call.
pub struct ProgramOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Call {
    /// Creates a call in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            variables: BTreeMap::new(),
            input: None,
        }
    }

    /// Creates a call in `folder` with all settings for a platform at `url`.
    pub fn with_platform(folder: &Path, url: &str) -> Self {
        Self::new(folder)
            .variable("SLUICEGATE_BASE_URL", url)
            .variable("SLUICEGATE_PROJECT_ID", PROJECT)
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
            .variable("SLUICEGATE_TOKEN", TOKEN)
    }

    /// Sets a variable.
    pub fn variable(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.variables.insert(name.to_owned(), value.as_ref().to_owned());
        self
    }

    /// Removes a variable.
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// Uses this file as standard input.
    #[allow(dead_code, reason = "only some of the suites give any")]
    pub fn input(mut self, file: &Path) -> Self {
        self.input = Some(file.to_owned());
        self
    }

    /// Returns the command, which can be run or changed.
    pub fn command(&self, args: impl Arguments) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
        command
            .args(args.into_list())
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path_variable());
        // A separate home directory hides the user's git configuration.
        command
            .env("HOME", &self.folder)
            .envs(&self.variables)
            .stdin(match &self.input {
                Some(file) => Stdio::from(File::open(file).unwrap()),
                None => Stdio::null(),
            });
        command
    }

    /// Returns the command with a limit of 20 kB for each file that the program writes.
    pub fn command_with_small_files(&self, args: impl Arguments) -> Command {
        self.command_in_shell("trap '' XFSZ; ulimit -f 40", args)
    }

    /// Returns the command, which is executed by a shell after these shell commands.
    pub fn command_in_shell(&self, setup: &str, args: impl Arguments) -> Command {
        let program = self.command(args);
        let variables = program
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{setup}; exec \"$@\""), "sh"])
            .arg(program.get_program())
            .args(program.get_args())
            .env_clear()
            .envs(variables)
            .current_dir(&self.folder);
        command
    }

    /// Runs the program to its end; checks that no output contains the token.
    pub fn run(&self, args: impl Arguments) -> ProgramOutput {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let run_output = ProgramOutput {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(
            !run_output.out.contains(TOKEN) && !run_output.err.contains(TOKEN),
            "a secret leaked: {}",
            run_output.all()
        );
        assert!(
            !run_output.err.contains("panicked"),
            "the program panicked: {}",
            run_output.all()
        );
        run_output
    }
}

impl ProgramOutput {
    /// Returns both output streams, for a failure message.
    pub fn all(&self) -> String {
        format!(
            "exit {}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.out, self.err
        )
    }

    /// Asserts the exit code and returns itself.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.all());
        self
    }

    /// Asserts that standard error contains each of these texts.
    #[track_caller]
    pub fn saying(self, words: &[&str]) -> Self {
        for word in words {
            assert!(!word.is_empty(), "every output contains an empty text");
            assert!(self.err.contains(word), "{word:?} is not said: {}", self.all());
        }
        self
    }

    /// Asserts that the log, which is both streams, contains each of these texts.
    #[track_caller]
    pub fn logging(self, texts: &[&str]) -> Self {
        self.assert_logged(texts);
        self
    }

    /// Asserts that the log contains each of these texts.
    #[track_caller]
    pub fn assert_logged(&self, texts: &[&str]) {
        for text in texts {
            assert!(!text.is_empty(), "every log contains an empty text");
            let is_logged = self.err.contains(text) || self.out.contains(text);
            assert!(is_logged, "{text:?} is not in the log: {}", self.all());
        }
    }

    /// Returns the lines of the log that contain a warning.
    pub fn warnings(&self) -> Vec<&str> {
        let lines = self.err.lines();
        lines.filter(|line| line.contains("warning: ")).collect()
    }

    /// Parses standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }
}

/// Returns a schema that the program prints.
#[track_caller]
pub fn load_schema(name: &str) -> serde_json::Value {
    let folder = scratch::create_scratch_directory();
    Call::new(folder.path())
        .run(format!("schema {name}"))
        .expect(0)
        .json()
}

/// Runs the cases at the same time, for commands that mostly wait.
pub fn at_once<T: Send>(cases: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    let test = &test;
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || test(case));
        }
    });
}

/// `sluicegate serve` as a child process; killed when dropped.
pub struct ServerProcess {
    pub child: Child,
    pub url: String,
    lines: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts the server with these additional arguments and waits until it listens.
    pub fn start(folder: &Path, args: impl Arguments) -> Self {
        let mut command = Call::new(folder).command(("serve", args));
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let Some(url) = first.trim().strip_prefix("listening on ") else {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("serve did not start: {first:?} {text}");
        };
        Self {
            url: url.to_owned(),
            child,
            lines,
        }
    }

    /// Returns the next line of its standard output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
