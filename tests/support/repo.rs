//! Real git repositories for tests, made with the git program in a scrubbed environment, with fixed names and dates.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder with a bare remote and a clone of it, on branch `main`.
pub struct World {
    folder: TempDir,
}

impl World {
    /// A bare `remote.git`, and a clone `work` whose `origin` it is; no commit yet.
    pub fn new() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        git(
            world.folder.path(),
            &["init", "-q", "--bare", "-b", "main", "remote.git"],
        );
        git(world.folder.path(), &["clone", "-q", "remote.git", "work"]);
        git(&world.work(), &["symbolic-ref", "HEAD", "refs/heads/main"]);
        world
    }

    /// The folder that holds everything.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The bare remote.
    pub fn remote(&self) -> PathBuf {
        self.folder.path().join("remote.git")
    }

    /// The clone.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Runs git in the clone and gives its trimmed output.
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.work(), args)
    }

    /// Writes a file of the clone, making its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let target = self.work().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, content).unwrap();
    }

    /// Commits everything in the clone and gives the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Pushes the current branch to `origin` and remembers it as upstream.
    pub fn push(&self) {
        self.git(&["push", "-q", "-u", "origin", "HEAD"]);
    }
}

/// Runs git in `folder` and gives its trimmed output; a failure of git fails the test.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "core.autocrlf=false",
            "-c",
            "protocol.file.allow=always",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", path_variable())
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_AUTHOR_NAME", "A Tester"),
            ("GIT_AUTHOR_EMAIL", "tester@example.invalid"),
            ("GIT_AUTHOR_DATE", "2026-11-20T09:30:00Z"),
            ("GIT_COMMITTER_NAME", "A Tester"),
            ("GIT_COMMITTER_EMAIL", "tester@example.invalid"),
            ("GIT_COMMITTER_DATE", "2026-11-20T09:30:00Z"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// The search path, so that `git` is found in an otherwise empty environment.
#[expect(
    clippy::disallowed_methods,
    reason = "a test finds programs as the shell does"
)]
pub fn path_variable() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Gives these files and folders to another user, as a container's checkout is; tells whether it could. Only root can
/// give files away, and libgit2 knows no pretence of it (it ignores git's `GIT_TEST_ASSUME_DIFFERENT_OWNER`), so without
/// root such a test proves nothing; it says so where the test run shows it, past the capture of its output.
pub fn give_away(paths: &[&Path]) -> bool {
    use std::io::Write as _;
    for path in paths {
        match std::os::unix::fs::chown(path, Some(12_345), Some(12_345)) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{error}");
                let test = std::thread::current().name().unwrap_or("a test").to_owned();
                let _ = writeln!(std::io::stderr(), "NOT TESTED without root: {test}");
                return false;
            }
        }
    }
    true
}
