//! Runs the real program in a scrubbed environment.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::repo::path_variable;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The project that tests ask for.
pub const PROJECT: &str = "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10";
/// A token that must never be seen in any output.
pub const TOKEN: &str = "s3cret-token-0f-the-test";

/// A call of the program, with nothing in its environment but what is given.
pub struct Call {
    folder: PathBuf,
    variables: BTreeMap<String, String>,
    input: Option<PathBuf>,
}

/// How a call ended.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Call {
    /// A call in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            variables: BTreeMap::new(),
            input: None,
        }
    }

    /// A call in `folder` with everything set that a platform at `url` needs.
    pub fn with_platform(folder: &Path, url: &str) -> Self {
        Self::new(folder)
            .variable("SLUICEGATE_BASE_URL", url)
            .variable("SLUICEGATE_PROJECT_ID", PROJECT)
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
            .variable("SLUICEGATE_TOKEN", TOKEN)
    }

    /// The same call with this variable.
    pub fn variable(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.variables.insert(name.to_owned(), value.as_ref().to_owned());
        self
    }

    /// The same call without this variable.
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// The same call with this file as its standard input.
    #[allow(dead_code, reason = "only some of the suites give any")]
    pub fn input(mut self, file: &Path) -> Self {
        self.input = Some(file.to_owned());
        self
    }

    /// The command, ready to be run or changed.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluicegate"));
        command
            .args(args)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path_variable());
        // A home of its own keeps the user's git configuration out.
        command
            .env("HOME", &self.folder)
            .envs(&self.variables)
            .stdin(match &self.input {
                Some(file) => Stdio::from(File::open(file).unwrap()),
                None => Stdio::null(),
            });
        command
    }

    /// Runs the program to its end; no output may hold the token.
    pub fn run(&self, args: &[&str]) -> Ended {
        let output = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ended = Ended {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(
            !ended.out.contains(TOKEN) && !ended.err.contains(TOKEN),
            "a secret leaked: {}",
            ended.all()
        );
        assert!(
            !ended.err.contains("panicked"),
            "the program panicked: {}",
            ended.all()
        );
        ended
    }
}

impl Ended {
    /// Both streams, for a message.
    pub fn all(&self) -> String {
        format!(
            "exit {}\n--- stdout\n{}\n--- stderr\n{}",
            self.code, self.out, self.err
        )
    }

    /// Asserts the exit code and gives itself back.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.all());
        self
    }

    /// Asserts that standard error holds each of these.
    #[track_caller]
    pub fn saying(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not said: {}", self.all());
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|why| panic!("{why}: {}", self.all()))
    }
}

/// `sluicegate serve` as a child process; killed at the end.
pub struct Served {
    pub child: Child,
    pub url: String,
    lines: BufReader<ChildStdout>,
}

impl Served {
    /// Starts it with these further arguments and waits until it listens.
    pub fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = Call::new(folder).command(&["serve"]);
        let mut child = command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let Some(url) = first.trim().strip_prefix("listening on ") else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("serve did not start: {first:?} {said}");
        };
        Self {
            url: url.to_owned(),
            child,
            lines,
        }
    }

    /// The next line of its standard output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
