//! The output of the git program, read while the program runs.

use super::git_secrets::redact_message;
use super::{BlobId, GitError};
use sha1::{Digest as _, Sha1};
use std::io::{self, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Size of one piece of a stream, in bytes, and the number of pieces that may be queued.
const CHUNK_SIZE: usize = 128 * 1024;
const MAX_QUEUED_CHUNKS: usize = 4;

/// Maximum size of the program's error output that is kept, in bytes.
const MAX_ERROR_OUTPUT_SIZE: u64 = 64 * 1024;
/// Maximum length of the part of it that an error shows, in characters.
const MAX_SHOWN_ERROR_LENGTH: usize = 4096;
/// Maximum wait for the error output after the program has ended; a helper that still runs may keep it open.
const ERROR_OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// The blob whose content is the output.
pub(super) struct ExpectedBlob {
    pub id: BlobId,
    /// The size of the content in bytes.
    pub size: u64,
}

impl ExpectedBlob {
    /// Returns a hasher for the content. The id of a blob is the hash of a header and the content
    /// (<https://git-scm.com/book/en/v2/Git-Internals-Git-Objects>).
    fn create_hasher(&self) -> Sha1 {
        Sha1::new_with_prefix(format!("blob {}\0", self.size))
    }
}

/// Starts the command and returns its output as a reader. `expected_blob` is the blob that the output must be, if any.
/// `timeout` limits the wait for each chunk of the output.
/// `settings_command` lists git's configuration, whose secrets an error does not show.
pub(super) fn start_program(
    command: &mut Command,
    settings_command: Command,
    expected_blob: Option<ExpectedBlob>,
    timeout: Duration,
) -> io::Result<ProgramOutput> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sender, chunks) = sync_channel(MAX_QUEUED_CHUNKS);
    let error_output = child.stderr.take().map(read_error_output);
    let hasher = expected_blob.as_ref().map(ExpectedBlob::create_hasher);
    let hash_thread = thread::spawn(move || send_chunks(stdout, &sender, hasher));
    Ok(ProgramOutput {
        child,
        chunks,
        hash_thread: Some(hash_thread),
        error_output,
        settings_command,
        chunk: io::Cursor::default(),
        expected_blob,
        received_size: 0,
        timeout,
        is_finished: false,
    })
}

/// Sends the output in chunks, so that a reader on another thread can stop waiting. The last chunk is empty or an
/// error. Returns the hasher with the output added to it: the hash takes about as long as the work of the reader.
fn send_chunks(
    mut stdout: impl Read,
    sender: &SyncSender<io::Result<Vec<u8>>>,
    mut hasher: Option<Sha1>,
) -> Option<Sha1> {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK_SIZE);
        let result = stdout.by_ref().take(CHUNK_SIZE as u64).read_to_end(&mut chunk);
        let is_last = chunk.is_empty() || result.is_err();
        if let Some(hasher) = &mut hasher {
            hasher.update(&chunk);
        }
        if sender.send(result.map(|_| chunk)).is_err() || is_last {
            return hasher;
        }
    }
}

/// Reads the program's complete error output on a thread, so that the program never blocks. The receiver gets the start
/// of the output when the output ends.
fn read_error_output(mut stderr: ChildStderr) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        let mut start = Vec::new();
        let _ = stderr
            .by_ref()
            .take(MAX_ERROR_OUTPUT_SIZE)
            .read_to_end(&mut start);
        let _ = io::copy(&mut stderr, &mut io::sink());
        let _ = sender.send(start);
    });
    receiver
}

/// A reader of the program's output; dropping it terminates the program.
pub(super) struct ProgramOutput {
    child: Child,
    chunks: Receiver<io::Result<Vec<u8>>>,
    hash_thread: Option<JoinHandle<Option<Sha1>>>,
    error_output: Option<Receiver<Vec<u8>>>,
    settings_command: Command,
    chunk: io::Cursor<Vec<u8>>,
    expected_blob: Option<ExpectedBlob>,
    received_size: u64,
    timeout: Duration,
    is_finished: bool,
}

impl Read for ProgramOutput {
    /// Reads from the output. At its end, fails if git failed or the output is not the expected blob.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.is_finished {
            return Ok(0);
        }
        let read_size = self.chunk.read(buffer)?;
        if read_size > 0 {
            self.received_size += read_size as u64;
            return Ok(read_size);
        }
        let chunk = self.next_chunk()?;
        if chunk.is_empty() {
            self.check_exit()?;
            return Ok(0);
        }
        self.chunk = io::Cursor::new(chunk);
        self.read(buffer)
    }
}

impl ProgramOutput {
    /// Waits for the next chunk, which is empty at the end of the output. Fails if git prints nothing for too long.
    fn next_chunk(&mut self) -> io::Result<Vec<u8>> {
        match self.chunks.recv_timeout(self.timeout) {
            Ok(chunk) => chunk,
            Err(RecvTimeoutError::Timeout) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("git printed no output for {} seconds", self.timeout.as_secs()),
            )),
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        }
    }

    /// Checks that the program succeeded and printed the expected blob.
    fn check_exit(&mut self) -> io::Result<()> {
        self.is_finished = true;
        let status = self.child.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("{status}: {}", self.error_text())));
        }
        match self.expected_blob.take() {
            Some(blob) if blob.size != self.received_size => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("git printed only {} of {} bytes", self.received_size, blob.size),
            )),
            Some(blob) => self.check_hash(blob.id),
            None => Ok(()),
        }
    }

    /// Checks that the output has the hash of the blob: git does not compare the content of a large blob with its id.
    fn check_hash(&mut self, blob: BlobId) -> io::Result<()> {
        let hasher = self.hash_thread.take().and_then(|thread| thread.join().ok());
        let hash = hasher.flatten().map(Sha1::finalize);
        if hash.is_some_and(|hash| hash.as_slice() == blob.oid().as_bytes()) {
            return Ok(());
        }
        Err(io::Error::other(GitError::content_mismatch(blob)))
    }

    /// Returns the start of what git printed to standard error, without secrets, or an empty text if it cannot be read
    /// in time.
    fn error_text(&mut self) -> String {
        let bytes = self
            .error_output
            .as_ref()
            .and_then(|receiver| receiver.recv_timeout(ERROR_OUTPUT_TIMEOUT).ok())
            .unwrap_or_default();
        let settings = self
            .settings_command
            .output()
            .map(|output| output.stdout)
            .unwrap_or_default();
        let text = redact_message(
            &String::from_utf8_lossy(&bytes),
            &String::from_utf8_lossy(&settings),
        );
        // Redacted before truncated: half a secret would not be found.
        text.trim().chars().take(MAX_SHOWN_ERROR_LENGTH).collect()
    }
}

impl Drop for ProgramOutput {
    /// Ends git if the output was not read to its end.
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
