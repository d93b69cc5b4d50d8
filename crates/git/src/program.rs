//! The `git` program, for what libgit2 cannot do.
//!
//! The program gets the git directory explicitly, so that it does not search for one and a foreign owner does not
//! matter. It has no terminal for prompts; everything that a repository's configuration could start is switched off;
//! and it is terminated if it prints no output for too long.

use super::{BlobId, GitError};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Maximum time without output. The slowest command with this limit fetches one blob.
const STALL: Duration = Duration::from_secs(120);
/// Maximum duration of a fetch of history, which prints no progress.
const FETCH_LIMIT: Duration = Duration::from_secs(900);
/// Maximum size of the output that is read, in bytes.
const ANSWER_SIZE: u64 = 64 * 1024;
/// Size of one piece of a stream, in bytes, and the number of pieces that may be queued.
const PIECE: usize = 128 * 1024;
const WAITING: usize = 4;

/// Maximum size of the program's error output that is kept, in bytes.
const ERRORS_SIZE: u64 = 4096;
/// Maximum wait for the error output after the program has ended; a helper that still runs may keep it open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Environment variables that are passed to the program, and so to any program that a repository's configuration
/// makes it start (`core.sshCommand`, a credential helper): search paths, user settings, temporary directories,
/// language, access to the remote, and the variables that checkout steps set for git. Any other variable may be a
/// secret of the job.
const HANDED_ON: [&str; 44] = [
    "ALL_PROXY",
    "APPDATA",
    "COMSPEC",
    "CURL_CA_BUNDLE",
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_USER_AGENT",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOCALAPPDATA",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
];
/// Prefixes of other variables that are passed on: numbered settings.
const HANDED_ON_NUMBERED: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// An option of every command that contacts a remote, so that git's own program runs at the other end.
pub(super) const UPLOAD_PACK: &str = "--upload-pack=git-upload-pack";

/// The protocols that git may use. A protocol that names a program to run (`ext::`, another helper) is not allowed.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// Settings that override those of the repository: no hooks, no file monitor, no pager, no program that prompts or
/// lists references, no implicit bare repository, and streaming of large blobs.
const SETTINGS: [&str; 9] = [
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
pub(super) struct Program {
    git_dir: PathBuf,
    partial: bool,
    foreign: bool,
    remotes: Vec<String>,
}

impl Program {
    /// Creates the program. The repository's configuration decides what a fetch runs, so a repository that belongs
    /// to another user (`foreign`) is never fetched into.
    pub(super) const fn new(git_dir: PathBuf, partial: bool, foreign: bool, remotes: Vec<String>) -> Self {
        Self {
            git_dir,
            partial,
            foreign,
            remotes,
        }
    }

    /// Returns the repository's own git directory, even if libgit2 reads a stand-in.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns whether a missing blob may be fetched: the repository is a partial clone that belongs to this user.
    pub(super) const fn may_fetch(&self) -> bool {
        self.partial && !self.foreign
    }

    /// Runs a command that contacts the remote and returns its output. It runs in `root`, because the remote's URL
    /// may be a relative path.
    pub(super) fn talk(&self, root: &Path, arguments: &[&str]) -> Result<String, GitError> {
        if self.foreign {
            return Err(GitError::NotOurs {
                root: root.to_owned(),
            });
        }
        let mut command = self.command(arguments, true);
        read_answer(command.current_dir(root), arguments, FETCH_LIMIT)
    }

    /// Runs a local command on this working tree and returns its output. `index` is the index to use instead of the
    /// repository's own.
    pub(super) fn answer(
        &self,
        root: &Path,
        arguments: &[&str],
        index: Option<&Path>,
    ) -> Result<String, GitError> {
        let tree = root.to_string_lossy();
        let arguments = [&["--work-tree", &*tree][..], arguments].concat();
        let mut command = self.command(&arguments, false);
        command.current_dir(root).env("GIT_LITERAL_PATHSPECS", "1");
        command.envs(index.map(|file| ("GIT_INDEX_FILE", file)));
        read_answer(&mut command, &arguments, STALL)
    }

    /// Returns whether the git program is installed; a small container may not have it.
    pub(super) fn is_there(&self) -> bool {
        let mut command = self.command(&["version"], false);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Fetches a blob that the partial clone omitted, as git itself would do it, except for the program at the
    /// other end: git uses the first of several `remote.….uploadpack` settings, so only an option overrides that of the
    /// repository.
    pub(super) fn fetch_blob(&self, blob: &BlobId) -> Result<(), GitError> {
        let remote = self
            .remotes
            .iter()
            .find(|name| *name == "origin")
            .or(self.remotes.first());
        let remote = remote.map(String::as_str).unwrap_or_default();
        let id = blob.to_string();
        let arguments = [
            "-c",
            "fetch.negotiationAlgorithm=noop",
            "fetch",
            UPLOAD_PACK,
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--filter=blob:none",
            "--",
            remote,
            &id,
        ];
        let mut said = String::new();
        let output = start(&mut self.command(&arguments, true), &arguments, None, STALL)?;
        let read = output.take(ANSWER_SIZE).read_to_string(&mut said);
        read.map(drop).map_err(failed(&arguments))
    }

    /// Streams the blob's content, which must have `size` bytes.
    pub(super) fn stream_blob(&self, blob: &BlobId, size: u64) -> Result<Output, GitError> {
        self.run(&["cat-file", "blob", &blob.to_string()], Some(size))
    }

    fn run(&self, arguments: &[&str], size: Option<u64>) -> Result<Output, GitError> {
        start(&mut self.command(arguments, false), arguments, size, STALL)
    }

    fn command(&self, arguments: &[&str], may_talk: bool) -> Command {
        let mut command = Command::new("git");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .arg("--git-dir")
            .arg(&self.git_dir)
            .arg("--no-pager")
            .args(arguments);
        command
            .env_clear()
            .envs(handed_on())
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1");
        // An empty variable overrides `core.gitProxy`, a program that the configuration names.
        command
            .env("GIT_PROXY_COMMAND", "")
            .env("GIT_ALLOW_PROTOCOL", if may_talk { PROTOCOLS } else { "" });
        if !may_talk {
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program's environment is made from the real one; names and values may be no text"
)]
fn handed_on() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| {
        let Some(name) = name.to_str() else { return false };
        HANDED_ON.iter().any(|known| known.eq_ignore_ascii_case(name))
            || name.starts_with("LC_")
            || HANDED_ON_NUMBERED.iter().any(|start| name.starts_with(start))
    })
}

fn read_answer(command: &mut Command, arguments: &[&str], patience: Duration) -> Result<String, GitError> {
    let output = start(command, arguments, None, patience)?;
    let mut answer = String::new();
    let read = output.take(ANSWER_SIZE).read_to_string(&mut answer);
    read.map_err(failed(arguments))?;
    Ok(answer)
}

fn failed(arguments: &[&str]) -> impl Fn(io::Error) -> GitError + use<> {
    let arguments = arguments.join(" ");
    move |error| GitError::Program {
        arguments: arguments.clone(),
        why: error.to_string(),
    }
}

fn start(
    command: &mut Command,
    arguments: &[&str],
    size: Option<u64>,
    patience: Duration,
) -> Result<Output, GitError> {
    let failed = failed(arguments);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(&failed)?;
    let stdout = child
        .stdout
        .take()
        .ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
    let (sender, pieces) = sync_channel(WAITING);
    let errors = child.stderr.take().map(keep_start);
    std::thread::spawn(move || send_pieces(stdout, &sender));
    Ok(Output {
        child,
        pieces,
        errors,
        piece: io::Cursor::default(),
        size,
        given: 0,
        patience,
        ended: false,
    })
}

fn send_pieces(mut stdout: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        let read = stdout.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        let last = piece.is_empty() || read.is_err();
        if sender.send(read.map(|_| piece)).is_err() || last {
            return;
        }
    }
}

/// Reads the program's complete error output, so that the program never blocks, and keeps the start.
fn keep_start(mut errors: ChildStderr) -> Receiver<Vec<u8>> {
    let (sender, kept) = sync_channel(1);
    std::thread::spawn(move || {
        let mut words = Vec::new();
        let _ = errors.by_ref().take(ERRORS_SIZE).read_to_end(&mut words);
        let _ = io::copy(&mut errors, &mut io::sink());
        let _ = sender.send(words);
    });
    kept
}

/// A reader of the program's output; dropping it terminates the program.
pub(super) struct Output {
    child: Child,
    pieces: Receiver<io::Result<Vec<u8>>>,
    errors: Option<Receiver<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
    size: Option<u64>,
    given: u64,
    patience: Duration,
    ended: bool,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        let read = self.piece.read(buffer)?;
        if read > 0 {
            self.given += read as u64;
            return Ok(read);
        }
        let piece = self.next_piece()?;
        if piece.is_empty() {
            self.finish()?;
            return Ok(0);
        }
        self.piece = io::Cursor::new(piece);
        self.read(buffer)
    }
}

impl Output {
    fn next_piece(&mut self) -> io::Result<Vec<u8>> {
        match self.pieces.recv_timeout(self.patience) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("git printed no output for {} seconds", self.patience.as_secs()),
            )),
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        }
    }

    /// Checks that the program succeeded and printed the expected number of bytes.
    fn finish(&mut self) -> io::Result<()> {
        self.ended = true;
        let status = self.child.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("{status}: {}", self.own_words())));
        }
        match self.size {
            Some(size) if size != self.given => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("git printed {} of {size} bytes", self.given),
            )),
            _ => Ok(()),
        }
    }

    fn own_words(&self) -> String {
        let words = self
            .errors
            .as_ref()
            .and_then(|errors| errors.recv_timeout(LAST_WORDS).ok());
        String::from_utf8_lossy(&words.unwrap_or_default())
            .trim()
            .to_owned()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
