//! Real git repositories for tests, with fixed names and dates. What a test does to them is done by the git program in
//! a clean environment; empty repositories are created by libgit2, because there are hundreds and each start costs
//! time.

use crate::{Arguments, library_git, orchestration_text, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A directory with a bare remote and a clone of it, on branch `main`.
pub struct World {
    directory: TempDir,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// Creates the bare repository `remote.git` and its clone `work`. Both have no commits yet.
    pub fn new() -> Self {
        let world = Self {
            directory: scratch::create_scratch_directory(),
        };
        let mut empty = git2::RepositoryInitOptions::new();
        empty.initial_head("main").external_template(false).bare(true);
        let remote = git2::Repository::init_opts(world.remote(), &empty).unwrap();
        // A push then does not start a second process that collects garbage.
        remote
            .config()
            .unwrap()
            .set_bool("receive.autogc", false)
            .unwrap();
        let work = git2::Repository::init_opts(world.work(), empty.bare(false)).unwrap();
        work.remote("origin", world.remote().to_str().unwrap()).unwrap();
        let mut config = work.config().unwrap();
        config.set_str("branch.main.remote", "origin").unwrap();
        config.set_str("branch.main.merge", "refs/heads/main").unwrap();
        world
    }

    /// Returns the directory that contains the remote and the clone.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the path of the bare remote.
    pub fn remote(&self) -> PathBuf {
        self.directory.path().join("remote.git")
    }

    /// Returns the path of the clone.
    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Runs git in the clone and returns its trimmed output.
    pub fn git(&self, args: impl Arguments) -> String {
        git(&self.work(), args)
    }

    /// Writes a file in the clone, creating missing directories.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let target = self.work().join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, content).unwrap();
    }

    /// Writes a file in the clone and returns the repositories, for a chain of calls.
    #[must_use]
    pub fn with_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Writes an orchestration with these components, each connected to the next, and returns the repositories, for a
    /// chain of calls.
    #[must_use]
    pub fn with_pipeline(self, path: &str, components: &[&str]) -> Self {
        self.with_file(path, orchestration_text(components))
    }

    /// Reads a text file in the clone.
    pub fn read_text(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Commits all changes in the clone and returns the commit's ID, which is read from git's files to save time.
    pub fn commit(&self, message: &str) -> String {
        if let Some(commit) = library_git::commit_all(&self.work(), message) {
            return commit;
        }
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        let git_dir = self.work().join(".git");
        let head = fs::read_to_string(git_dir.join("HEAD")).unwrap();
        // A branch with a new commit is stored in its own file. If HEAD is detached, it is the commit ID itself.
        let branch = head.trim_end().strip_prefix("ref: ");
        let commit = branch.map_or(head.clone(), |branch| {
            fs::read_to_string(git_dir.join(branch)).unwrap()
        });
        commit.trim_end().to_owned()
    }

    /// Pushes the current branch to `origin` and sets it as upstream.
    pub fn push(&self) {
        if library_git::push_branch(&self.work(), &self.remote()).is_none() {
            self.git(["push", "-q", "-u", "origin", "HEAD"]);
        }
    }
}

/// Runs git in `directory`, with a fixed configuration and a clean environment, and returns its trimmed output. Panics
/// if git fails.
pub fn git(directory: &Path, args: impl Arguments) -> String {
    // With the path of git instead of its name, the standard library need not copy the memory of the tests' process.
    static GIT: LazyLock<PathBuf> = LazyLock::new(|| find_program("git").unwrap());
    let args = args.into_list();
    if let Some(output) = library_git::run_command(directory, &args) {
        return output;
    }
    let output = Command::new(&*GIT)
        .args([
            "-c",
            "core.autocrlf=false",
            "-c",
            "protocol.file.allow=always",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "maintenance.auto=false",
        ])
        .args(&args)
        .current_dir(directory)
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

/// Changes a new repository so that it stores its references in a reftable (<https://git-scm.com/docs/reftable>). Git
/// can create such repositories only since version 2.45.
pub fn store_references_as_reftable(directory: &Path) {
    git(directory, ["config", "core.repositoryFormatVersion", "1"]);
    git(directory, ["config", "extensions.refStorage", "reftable"]);
    let git_dir = directory.join(".git");
    fs::remove_dir_all(git_dir.join("refs")).unwrap();
    for part in ["refs", "reftable"] {
        fs::create_dir(git_dir.join(part)).unwrap();
    }
    fs::write(git_dir.join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    fs::write(
        git_dir.join("refs/heads"),
        "this repository uses the reftable format\n",
    )
    .unwrap();
    fs::write(git_dir.join("reftable/tables.list"), "").unwrap();
}

/// Returns the search path, so that `git` is found in an otherwise empty environment.
#[expect(
    clippy::disallowed_methods,
    reason = "tests find programs in the same way as the shell"
)]
pub fn path_variable() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Returns the path of the program with this name, or `None` if it is not installed.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let directories = path_variable();
    let mut paths = std::env::split_paths(&directories).map(|directory| directory.join(name));
    paths.find(|path| path.is_file())
}

/// Gives these files and directories to another owner, as in a container's checkout. Returns false if that is not
/// possible, because only root can change owners; then prints a note that the test was skipped, even if the test output
/// is captured. libgit2 ignores git's `GIT_TEST_ASSUME_DIFFERENT_OWNER`, so the owner must really change.
pub fn change_owner(paths: &[&Path]) -> bool {
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

/// Commits a tree with the raw bytes `raw`, which git would not create itself. Returns the commit's ID.
pub fn commit_raw_tree(world: &World, raw: &[u8]) -> String {
    use std::io::Write as _;
    let mut child = Command::new("git")
        .args(["hash-object", "-t", "tree", "-w", "--literally", "--stdin"])
        .current_dir(world.work())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(raw).unwrap();
    let tree = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    world.git(["commit-tree", "-m", "raw", tree.trim()])
}

/// Returns an entry of a tree in git's binary format; `id` is the entry's SHA-1 object ID in hexadecimal.
pub fn raw_tree_entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let bytes = (0..20).map(|n| u8::from_str_radix(&id[2 * n..2 * n + 2], 16).unwrap());
    format!("{mode} {name}\0")
        .into_bytes()
        .into_iter()
        .chain(bytes)
        .collect()
}

/// Returns invalid trees in which programs may find different files at the path `p.orch.yaml`: two files have the path,
/// a file and a directory have it, or the entries are in a wrong order. The files `a/b` and `x` must be committed.
pub fn trees_with_ambiguous_path(world: &World) -> [Vec<u8>; 3] {
    let [blob, second_blob, tree] =
        ["a/b", "x", "a"].map(|path| world.git(["rev-parse", &format!("HEAD:{path}")]));
    let name = "p.orch.yaml";
    [
        [
            raw_tree_entry("100644", name, &blob),
            raw_tree_entry("100644", name, &second_blob),
        ]
        .concat(),
        [
            raw_tree_entry("100644", name, &blob),
            raw_tree_entry("100644", "p.orch.yaml-", &second_blob),
            raw_tree_entry("40000", name, &tree),
        ]
        .concat(),
        [
            raw_tree_entry("100644", "z", &blob),
            raw_tree_entry("100644", name, &second_blob),
        ]
        .concat(),
    ]
}
