//! The files that a run writes: those that flags and the environment name, as far as they are known.

use crate::delivery::input_files::list_input_files;
use crate::job::cli::{AttestationArgs, Command, DestinationArgs, EventsVerb, PublishFlags, ReportFlag};
use crate::job::settings::{self, PublishFiles};
use crate::session::Session;
use std::path::{Path, PathBuf};

/// The files that a run will write, as far as they are known.
#[derive(Default)]
pub(crate) struct OutputFiles {
    /// The requested or default reports of a review.
    pub(crate) reports: Vec<ReportFlag>,
    /// The JUnit report of a publish.
    pub(crate) publish_junit: Option<PathBuf>,
    /// The receipt of a publish, of which only the ids of its smoke runs remain.
    pub(crate) receipt: Option<PathBuf>,
    /// Statements and results, which are removed, because they have no form for an unfinished run.
    pub(crate) removed_files: Vec<PathBuf>,
    /// The file of `--out`, which is removed, too.
    pub(crate) result_file: Option<PathBuf>,
    /// The files that the run reads, which it must not replace.
    pub(crate) inputs: Vec<PathBuf>,
}

impl OutputFiles {
    /// Returns the files that the command writes and those that it reads, as flags and the environment name them.
    pub(super) fn from_command(session: &Session, command: &Command) -> Self {
        let env = &session.env;
        let publish_files = |flags: &PublishFlags| settings::requested_publish_files(flags, env);
        let mut files = match command {
            Command::Review(args) => Self::for_review(session, &args.gate.destinations)
                .with_review_statement(session, &args.attestation),
            Command::Check(args) => Self::for_review(session, &args.gate.destinations),
            Command::Ci(args) => Self::for_review(session, &args.review.gate.destinations)
                .with_review_statement(session, &args.review.attestation)
                .with_publish_files(publish_files(&args.publish)),
            Command::Publish(args) => Self::default().with_publish_files(publish_files(&args.flags)),
            Command::Report(args) => Self::for_review(session, &args.destinations)
                .with_review_statement(session, &args.attestation),
            _ => Self::default(),
        };
        files.inputs = list_input_files(session, command);
        // An export with a cursor refuses a file with the events of an earlier run, because no later run would export
        // them again.
        let is_continued_export = match command {
            Command::Events(args) => {
                let EventsVerb::Export(args) = &args.verb;
                args.cursor.is_some()
            }
            _ => false,
        };
        if !is_continued_export {
            files.result_file.clone_from(&session.global.out);
        }
        files
    }

    /// Returns the reports of a review that flags and the environment name.
    fn for_review(session: &Session, destinations: &DestinationArgs) -> Self {
        Self {
            reports: settings::requested_reports(&destinations.report, &session.env),
            ..Self::default()
        }
    }

    /// Adds the files of the review's statement, which flags and the environment name, to the files to remove.
    fn with_review_statement(mut self, session: &Session, args: &AttestationArgs) -> Self {
        let files = settings::requested_review_attestation(args, &session.env);
        self.removed_files.extend(files.list_paths().map(Path::to_owned));
        self
    }

    /// Adds the files of a publish: the receipt and the statement to be removed, and the JUnit report to be replaced.
    pub(crate) fn with_publish_files(mut self, files: PublishFiles) -> Self {
        self.receipt = files.receipt;
        self.removed_files
            .extend(files.attestation.list_paths().map(Path::to_owned));
        self.publish_junit = files.junit;
        self
    }
}
