//! The `git` program, for the operations that libgit2 lacks.
//!
//! The program gets the git directory explicitly, so that it does not search for one and a foreign owner does not
//! matter. It has no terminal for prompts; everything that a repository's configuration could start is switched off;
//! and it is terminated if it is silent for too long.

use super::git_environment::passed_environment;
use super::git_secrets::redact_urls;
use super::program_output::{ExpectedBlob, ProgramOutput, start_program};
use super::{BlobId, GitError};
use git2::Oid;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum time without output.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum duration of a fetch, which does not print its progress.
const FETCH_TIMEOUT: Duration = Duration::from_secs(900);
/// Maximum size of the output of a command, in bytes.
const MAX_OUTPUT_SIZE: u64 = 16 * 1024 * 1024;

/// An option of every command that contacts a remote, so that git's own program runs at the other end.
pub(super) const UPLOAD_PACK_OPTION: &str = "--upload-pack=git-upload-pack";

/// The protocols that git may use. A protocol that names a program to run (`ext::`, another helper) is not allowed.
const ALLOWED_PROTOCOLS: &str = "file:git:http:https:ssh";

/// A setting with which git reads the commits themselves, and not a file about them, which an earlier job may have
/// written.
pub(super) const NO_COMMIT_GRAPH: &str = "core.commitGraph=false";

/// The permission of a git command to use the network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NetworkAccess {
    /// The command may contact the remote.
    Allowed,
    /// The command reads only what the clone has, and fails if something is missing.
    Denied,
}

/// Settings that override those of the repository: no hooks, no file monitor, no pager, no program that prompts or
/// lists references, no implicit bare repository, and streaming of large blobs.
const OVERRIDING_SETTINGS: [&str; 9] = [
    "safe.bareRepository=explicit",
    "core.askPass=",
    "core.alternateRefsCommand=:",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.bigFileThreshold=4m",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The git program, limited to one repository.
pub(super) struct GitProgram {
    git_dir: PathBuf,
    partial: bool,
    foreign: bool,
    /// The remote with the blobs that a partial clone omits.
    promisor_remote: String,
}

impl GitProgram {
    /// Creates the git program for a repository. A repository that belongs to another user (`is_foreign`) is never
    /// fetched into, because its configuration decides which programs a fetch runs.
    pub(super) const fn new(
        git_dir: PathBuf,
        is_partial: bool,
        is_foreign: bool,
        promisor_remote: String,
    ) -> Self {
        Self {
            git_dir,
            partial: is_partial,
            foreign: is_foreign,
            promisor_remote,
        }
    }

    /// Returns the repository's own git directory, even if libgit2 reads a stand-in.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns whether a missing blob may be fetched: the repository is a partial clone that belongs to this user.
    pub(super) const fn can_fetch(&self) -> bool {
        self.partial && !self.foreign
    }

    /// Records that the user has declared the repository safe, although it belongs to another user.
    pub(super) const fn set_safe(&mut self) {
        self.foreign = false;
    }

    /// Runs a command that contacts the remote and returns its output. It runs in `root`, because the remote's URL
    /// may be a relative path. Fails in a repository of another user, whose settings could make git run programs.
    pub(super) fn run_with_remote(&self, root: &Path, arguments: &[&str]) -> Result<String, GitError> {
        if self.foreign {
            return Err(GitError::ForeignRepository {
                root: root.to_owned(),
            });
        }
        let mut command = self.build_command(arguments, NetworkAccess::Allowed);
        self.read_output(command.current_dir(root), arguments, FETCH_TIMEOUT)
    }

    /// Runs a local command on this working tree and returns its output. Paths in the arguments are literal, so that no
    /// file name is read as a pattern. `index_path` is the index to use instead of the repository's own.
    pub(super) fn run_locally(
        &self,
        root: &Path,
        arguments: &[&str],
        index_path: Option<&Path>,
    ) -> Result<String, GitError> {
        self.run_with_input(root, arguments, Stdio::null(), index_path)
    }

    /// Writes these entries to the index. Each has a mode, a blob and a path, in the form of `git update-index
    /// --index-info -z`. They are passed in a file, because each call of git writes the complete index.
    pub(super) fn update_index(
        &self,
        root: &Path,
        entries: &[u8],
        index_path: Option<&Path>,
    ) -> Result<(), GitError> {
        let arguments = ["update-index", "-z", "--index-info"];
        let file = write_input(entries).map_err(program_error(&arguments))?;
        self.run_with_input(root, &arguments, file.into(), index_path)
            .map(drop)
    }

    /// Returns the commits that `git rev-list` with these options finds in the histories of `tips`, without
    /// `excluded_tips` and their ancestors. The ids are passed in a file, because a clone may have thousands of branches.
    pub(super) fn list_commits(
        &self,
        root: &Path,
        options: &[&str],
        tips: &[Oid],
        excluded_tips: &[Oid],
    ) -> Result<Vec<Oid>, GitError> {
        let arguments = [&["-c", NO_COMMIT_GRAPH, "rev-list", "--stdin"], options].concat();
        let mut lines = Vec::new();
        for tip in tips {
            lines.extend_from_slice(format!("{tip}\n").as_bytes());
        }
        for tip in excluded_tips {
            lines.extend_from_slice(format!("^{tip}\n").as_bytes());
        }
        let ids = write_input(&lines).map_err(program_error(&arguments))?;
        let output = self.run_with_input(root, &arguments, ids.into(), None)?;
        let commits: Result<Vec<Oid>, git2::Error> = output.lines().map(Oid::from_str).collect();
        commits.map_err(GitError::library("read a list of commits"))
    }

    /// Runs a local command on this working tree with this standard input, and returns its output.
    fn run_with_input(
        &self,
        root: &Path,
        arguments: &[&str],
        input: Stdio,
        index_path: Option<&Path>,
    ) -> Result<String, GitError> {
        let mut all_arguments = vec![OsStr::new("--work-tree"), root.as_os_str()];
        all_arguments.extend(arguments.iter().map(OsStr::new));
        let mut command = self.build_command(&all_arguments, NetworkAccess::Denied);
        command
            .current_dir(root)
            .env("GIT_LITERAL_PATHSPECS", "1")
            .stdin(input);
        command.envs(index_path.map(|path| ("GIT_INDEX_FILE", path)));
        // Ctrl-C goes to the process group of the terminal, and would interrupt git in the middle of a change that the
        // program finishes or undoes.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let work_tree = root.to_string_lossy();
        let described_arguments = [&["--work-tree", &*work_tree][..], arguments].concat();
        self.read_output(&mut command, &described_arguments, OUTPUT_TIMEOUT)
    }

    /// Returns whether the git program is installed; a small container may not have it.
    pub(super) fn is_installed(&self) -> bool {
        let mut command = self.build_command(&["version"], NetworkAccess::Denied);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Fetches blobs that the partial clone omitted. The command runs in `root`, because the URL of the remote may be a
    /// relative path. Git does not fetch the blobs itself here, because it would then run the program that the
    /// repository's `uploadpack` setting names; only an option of `git fetch` overrides that setting. The ids are
    /// passed in a file, because there may be more than fit on a command line.
    pub(super) fn fetch_blobs(&self, root: &Path, blobs: &[BlobId]) -> Result<(), GitError> {
        // The options with which git itself fetches missing objects.
        let arguments = [
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            UPLOAD_PACK_OPTION,
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--filter=blob:none",
            "--stdin",
            "--",
            &self.promisor_remote,
        ];
        // Errors name the first blob.
        let first_id = blobs.first().map(BlobId::to_string).unwrap_or_default();
        let described_arguments = [&arguments[..], &[&first_id]].concat();
        let mut lines = Vec::new();
        for blob in blobs {
            lines.extend_from_slice(format!("{blob}\n").as_bytes());
        }
        let ids = write_input(&lines).map_err(program_error(&described_arguments))?;
        let mut command = self.build_command(&arguments, NetworkAccess::Allowed);
        command.current_dir(root).stdin(ids);
        self.read_output(&mut command, &described_arguments, FETCH_TIMEOUT)
            .map(drop)
    }

    /// Stores this content as a blob, without any conversion.
    pub(super) fn store_blob(&self, content: &[u8]) -> Result<(), GitError> {
        let arguments = ["hash-object", "-w", "--stdin"];
        let file = write_input(content).map_err(program_error(&arguments))?;
        let mut command = self.build_command(&arguments, NetworkAccess::Denied);
        self.read_output(command.stdin(file), &arguments, OUTPUT_TIMEOUT)
            .map(drop)
    }

    /// Returns a reader of the blob's content. Reading fails at the end if the content does not have `size` bytes, or
    /// does not match the id.
    pub(super) fn stream_blob(&self, blob: &BlobId, size: u64) -> Result<ProgramOutput, GitError> {
        let id = blob.to_string();
        let arguments = ["cat-file", "blob", &id];
        let mut command = self.build_command(&arguments, NetworkAccess::Denied);
        start_program(
            &mut command,
            self.list_settings_command(),
            Some(ExpectedBlob { id: *blob, size }),
            OUTPUT_TIMEOUT,
        )
        .map_err(program_error(&arguments))
    }

    /// Returns the command that lists git's configuration, to find the secrets that an error must not show.
    fn list_settings_command(&self) -> Command {
        self.build_command(&["config", "--null", "--list"], NetworkAccess::Denied)
    }

    /// Runs the command and returns its output. Fails if git fails, if it prints nothing for the time `timeout`, or if
    /// it prints more than [`MAX_OUTPUT_SIZE`] bytes: a part of the output could look like all of it, and the command
    /// would be stopped before its end.
    fn read_output(
        &self,
        command: &mut Command,
        arguments: &[&str],
        timeout: Duration,
    ) -> Result<String, GitError> {
        let mut text = String::new();
        start_program(command, self.list_settings_command(), None, timeout)
            .map_err(program_error(arguments))?
            .take(MAX_OUTPUT_SIZE + 1)
            .read_to_string(&mut text)
            .map_err(program_error(arguments))?;
        if text.len() as u64 > MAX_OUTPUT_SIZE {
            let message = format!("git printed more than {MAX_OUTPUT_SIZE} bytes");
            return Err(program_error(arguments)(io::Error::other(message)));
        }
        Ok(text)
    }

    /// Creates a git command for which the repository's settings that could run programs are overridden, and which uses
    /// the network only if `network` allows it.
    fn build_command(&self, arguments: &[impl AsRef<OsStr>], network: NetworkAccess) -> Command {
        let mut command = Command::new("git");
        for setting in OVERRIDING_SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .arg("--git-dir")
            .arg(&self.git_dir)
            .arg("--no-pager")
            .args(arguments);
        // Git must not ask the user, must not refresh the index, and must read the same objects as libgit2, which does
        // not know replacements.
        command
            .env_clear()
            .envs(passed_environment())
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1");
        // An empty variable overrides `core.gitProxy`, a program that the configuration names.
        command.env("GIT_PROXY_COMMAND", "").env(
            "GIT_ALLOW_PROTOCOL",
            match network {
                NetworkAccess::Allowed => ALLOWED_PROTOCOLS,
                NetworkAccess::Denied => "",
            },
        );
        if network == NetworkAccess::Denied {
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }
}

/// Writes the content to a temporary file, and returns the file with its position at the start.
fn write_input(content: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

/// Returns a function that converts an I/O error to the error that git with these arguments failed.
fn program_error(arguments: &[&str]) -> impl Fn(io::Error) -> GitError + use<> {
    // The name of a remote may be its URL.
    let arguments = redact_urls(&arguments.join(" "));
    move |error| GitError::Program {
        arguments: arguments.clone(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the output of a program that prints this number of bytes.
    fn read_bytes(count: u64) -> Result<usize, GitError> {
        let mut command = Command::new("head");
        command.args(["-c", &count.to_string(), "/dev/zero"]);
        let program = GitProgram::new(PathBuf::new(), false, false, String::new());
        program
            .read_output(&mut command, &["ls-remote"], OUTPUT_TIMEOUT)
            .map(|text| text.len())
    }

    #[test]
    fn output_beyond_the_limit_is_an_error() {
        assert_eq!(read_bytes(MAX_OUTPUT_SIZE).unwrap() as u64, MAX_OUTPUT_SIZE);
        let error = read_bytes(MAX_OUTPUT_SIZE + 1).unwrap_err().to_string();
        assert!(
            error.contains("git ls-remote") && error.contains("more than"),
            "{error}"
        );
    }
}
