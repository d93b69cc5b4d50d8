//! The `git` program, for what libgit2 cannot do.
//!
//! It runs with the git folder named, so it searches for nothing and a foreign owner does not matter; without a
//! terminal to ask at; with everything switched off that a repository's configuration could start; and it is ended
//! when it gives nothing for too long.

use super::{BlobId, GitError};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long the program may give nothing. A fetch of one blob is the slowest thing asked of it.
const STALL: Duration = Duration::from_secs(120);
/// How long a fetch of history may take; it is told to be quiet.
const FETCH_LIMIT: Duration = Duration::from_secs(900);
/// The most that is read of what a remote says about itself, in bytes.
const ANSWER_SIZE: u64 = 64 * 1024;
/// Bytes of one piece of a stream, and how many pieces may wait.
const PIECE: usize = 128 * 1024;
const WAITING: usize = 4;

/// The most that is kept of the program's complaints, in bytes.
const ERRORS_SIZE: u64 = 4096;
/// How long the complaints may take after the end; a helper that lives on may hold them open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What of the environment the program gets, and with it whatever a repository's configuration has it start
/// (`core.sshCommand`, a credential helper): where programs, people's settings and temporary files are, the language,
/// the way to the remote, and what checkout steps set for git. Everything else may be a secret of the job.
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
/// How the other variables begin that it gets: settings by number.
const HANDED_ON_NUMBERED: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Every command that talks to a remote has it, so that the program at the other end is git's own.
pub(super) const UPLOAD_PACK: &str = "--upload-pack=git-upload-pack";

/// The ways to a remote that git may take. One that names a program to run (`ext::`, a helper of another name) is none.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// Settings that win over the repository's own: no hook, no file monitor, no pager, no program that asks or that lists
/// references, no bare repository that lies around, large blobs streamed.
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

/// The git program, held to one repository.
pub(super) struct Program {
    git_dir: PathBuf,
    partial: bool,
    foreign: bool,
    remotes: Vec<String>,
}

impl Program {
    /// What a fetch runs is up to the repository's configuration, so one that belongs to somebody else (`foreign`)
    /// never fetches.
    pub(super) const fn new(git_dir: PathBuf, partial: bool, foreign: bool, remotes: Vec<String>) -> Self {
        Self {
            git_dir,
            partial,
            foreign,
            remotes,
        }
    }

    /// The repository's own git folder, also where libgit2 reads a stand-in.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Whether a blob that is missing may be fetched, because the repository is a partial clone of this user.
    pub(super) const fn may_fetch(&self) -> bool {
        self.partial && !self.foreign
    }

    /// Runs a command that talks to the remote, from `root`, as a remote's URL may be relative to it; gives its answer.
    pub(super) fn talk(&self, root: &Path, arguments: &[&str]) -> Result<String, GitError> {
        if self.foreign {
            return Err(GitError::NotOurs {
                root: root.to_owned(),
            });
        }
        let mut command = self.command(arguments, true);
        let output = start(command.current_dir(root), arguments, None, FETCH_LIMIT)?;
        let mut answer = String::new();
        let read = output.take(ANSWER_SIZE).read_to_string(&mut answer);
        read.map_err(failed(arguments))?;
        Ok(answer)
    }

    /// What a command that talks to nobody prints, run on this working tree.
    pub(super) fn answer(&self, root: &Path, arguments: &[&str]) -> Result<String, GitError> {
        let tree = root.to_string_lossy();
        let arguments = [&["--work-tree", &*tree][..], arguments].concat();
        let mut command = self.command(&arguments, false);
        command.current_dir(root).env("GIT_LITERAL_PATHSPECS", "1");
        let output = start(&mut command, &arguments, None, STALL)?;
        let mut answer = String::new();
        let read = output.take(ANSWER_SIZE).read_to_string(&mut answer);
        read.map_err(failed(&arguments))?;
        Ok(answer)
    }

    /// Whether the machine has the program; a small container may not.
    pub(super) fn is_there(&self) -> bool {
        let mut command = self.command(&["version"], false);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Fetches a blob that the partial clone left out, as git itself would do it, but for the program at the other end:
    /// of several settings `remote.….uploadpack` git takes the first, so only an option wins over the repository's own.
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

    /// A stream of the blob's content, which must have `size` bytes.
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
        // An empty variable goes before `core.gitProxy`, a program that the configuration names.
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

/// Reads all that the program complains about, so that it never waits for a reader, and keeps the start.
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

/// What the program prints, piece by piece; dropping it ends the program.
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
                format!("git gave nothing for {} seconds", self.patience.as_secs()),
            )),
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        }
    }

    /// The end must be a good one: the program succeeded, and gave as much as was promised.
    fn finish(&mut self) -> io::Result<()> {
        self.ended = true;
        let status = self.child.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("{status}: {}", self.own_words())));
        }
        match self.size {
            Some(size) if size != self.given => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("git gave {} of {size} bytes", self.given),
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
