//! Replaces the files that an earlier run, or the change, left at the destinations of a run. If the run does not
//! finish, no report of another run remains that could be taken for its own.

use crate::atomic_file;
use crate::delivery::output_files::OutputFiles;
use crate::delivery::unfinished_run::{describe_unfinished_run, find_existing_file};
use crate::delivery::{host_results, list_default_reports};
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::cli::{
    AttestationArgs, Command, DestinationArgs, Format, PublishArgs, PublishFlags, ReportFlag,
};
use crate::job::policy;
use crate::job::settings;
use crate::session::{Session, UnfinishedResults};
use crate::workspace::Workspace;
use jiff::Timestamp;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_base::text::format_path;
use sluicegate_pipelines::findings::{
    UNFINISHED_NOTE, Verdict, format_reason_with_step, format_unfinished_note,
};
use sluicegate_reports::{PublishRun, write_publish_junit};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Replaces each report that does not have a result yet with an undecided one that contains the reason why the run
/// failed. If no report of this run reached the CI host, replaces the results of earlier runs there, too.
pub(crate) fn record_failure_in_reports(session: &Session, failure: &Failure) {
    let results = mem::take(&mut *session.lock_unfinished_results());
    let mut details = failure.describe_on_one_line();
    if let Some(hint) = failure.own_hint() {
        details = format_reason_with_step(&details, hint);
    }
    let is_first_result = !results.is_dry && !session.has_reported.load(Ordering::Relaxed);
    if let Some(report) = results.description.as_ref().filter(|_| is_first_result) {
        // The failure may contain text that only the readers of the log may see.
        let reason = format!(
            "{UNFINISHED_NOTE} (exit code {}): the log of the job contains the reason",
            failure.status().code()
        );
        host_results::replace_results_of_earlier_runs(session, report, results.has_comment, &reason);
    }
    let reason = format_unfinished_note(&details);
    let mut report = results.description.unwrap_or_default();
    if !results.reports.is_empty() {
        report.context.existing_file = find_existing_file(session);
    }
    for (format, path) in results.reports {
        session.update_unfinished_file(&path, |writer| report.write(format, &reason, writer));
    }
    if let Some(path) = results.publish_junit {
        session.update_unfinished_file(&path, |writer| write_unfinished_publish(&reason, writer));
    }
}

/// Replaces or removes the old files at the paths that flags and the environment name. This happens before anything can
/// fail, so that no result of an earlier run remains. `other_inputs` are files that the command may read in addition to
/// those that its arguments name.
pub(crate) fn replace_files_named_by_flags(
    session: &Session,
    command: &Command,
    other_inputs: Vec<PathBuf>,
) -> Result<(), Failure> {
    let mut files = OutputFiles::from_command(session, command);
    files.inputs.extend(other_inputs);
    {
        let mut results = session.lock_unfinished_results();
        describe_unfinished_run(session, command, &mut results);
        results.inputs.clone_from(&files.inputs);
    }
    session.replace_old_files(&files)
}

/// A file of an earlier run: reports are replaced, the others are removed.
#[derive(Clone, Copy)]
enum OldFile {
    Report(Format),
    Junit,
    Removed,
    Output,
    Receipt,
}

impl Session {
    /// Writes an undecided result to each report file, and removes old receipts, statements and results, so that no
    /// result of an earlier run remains. Remembers the report files for [`record_failure_in_reports`]. A dry run does
    /// not write reports, so it removes old ones, which would be taken for its own, and statements, because the change
    /// may have added one, and a later step would sign it. A file that the run also reads, or that is part of the
    /// project, stays unchanged: the method then fails with the first such file, after it has replaced the other files.
    pub(crate) fn replace_old_files(&self, files: &OutputFiles) -> Result<(), Failure> {
        let full_path = |path: &PathBuf| self.env.current_dir().join(path);
        let (description, is_dry, inputs) = {
            let results = self.lock_unfinished_results();
            let inputs = files.inputs.iter().chain(&results.inputs);
            let inputs: Vec<PathBuf> = inputs.map(full_path).collect();
            (results.description.clone(), results.is_dry, inputs)
        };
        let guard = self.guard_outputs(&inputs);
        let report = description.unwrap_or_default();
        let mut old_files: Vec<(&PathBuf, OldFile)> = Vec::new();
        for ReportFlag { format, path } in &files.reports {
            old_files.extend(path.iter().map(|path| (path, OldFile::Report(*format))));
        }
        old_files.extend(files.publish_junit.iter().map(|path| (path, OldFile::Junit)));
        old_files.extend(files.removed_files.iter().map(|path| (path, OldFile::Removed)));
        old_files.extend(files.result_file.iter().map(|path| (path, OldFile::Output)));
        old_files.extend(files.receipt.iter().map(|path| (path, OldFile::Receipt)));
        let mut first_failure = None;
        for (path, old_file) in old_files {
            let path = full_path(path);
            let rejection = match old_file {
                // The path of `--out` is not in conflict with itself.
                OldFile::Output => guard.reject_protected_output(&path),
                _ => guard.reject_output_path(&path),
            };
            if let Err(failure) = rejection {
                first_failure.get_or_insert(failure);
                continue;
            }
            match old_file {
                OldFile::Report(_) | OldFile::Junit if is_dry => self.remove_old_file(&path),
                OldFile::Report(format) => {
                    self.replace_old_file(&path, |writer| report.write(format, UNFINISHED_NOTE, writer));
                    self.lock_unfinished_results().reports.push((format, path));
                }
                OldFile::Junit => {
                    self.replace_old_file(&path, |writer| write_unfinished_publish(UNFINISHED_NOTE, writer));
                    self.lock_unfinished_results().publish_junit = Some(path);
                }
                OldFile::Removed | OldFile::Output => self.remove_old_file(&path),
                OldFile::Receipt => self.discard_old_receipt(&path),
            }
        }
        first_failure.map_or(Ok(()), Err)
    }

    /// Removes the statements at the paths that the configuration file names.
    pub(crate) fn remove_statements_named_by_policy(
        &self,
        workspace: &Workspace<'_>,
        args: &AttestationArgs,
        publish: Option<&PublishFlags>,
    ) -> Result<(), Failure> {
        let sources = &workspace.sources;
        // An invalid setting is reported where the settings are read.
        let review_files = sources.resolve_review_attestation(args).unwrap_or_default();
        let publish_files = publish
            .and_then(|flags| sources.resolve_publish_files(flags).ok())
            .unwrap_or_default();
        let paths = review_files
            .list_paths()
            .chain(publish_files.attestation.list_paths());
        self.replace_old_files(&OutputFiles {
            removed_files: paths.map(Path::to_owned).collect(),
            ..OutputFiles::default()
        })
    }

    /// Replaces the reports at the paths that the configuration file names, otherwise at the paths where the host looks
    /// for them, and the files of a publish. Also records the resolved style of annotations, in which failures of this
    /// run are shown.
    pub(crate) fn replace_files_named_by_policy(
        &self,
        workspace: &Workspace<'_>,
        destinations: &DestinationArgs,
        publish: Option<&PublishFlags>,
    ) -> Result<(), Failure> {
        let sources = &workspace.sources;
        let mut files = OutputFiles::default();
        // An unusable configuration file is treated as missing in CI. An error is reported where the settings are read.
        let mut usable_sources = sources.clone();
        let resolved_destinations =
            usable_sources.resolve_or_drop_file(|sources| sources.resolve_report_destinations(destinations));
        // An invalid setting of the job does not change these settings.
        if let Some(report) = &mut self.lock_unfinished_results().description {
            report.context.category = usable_sources.resolve_category(destinations).unwrap_or_default();
            report.file_fail_on = usable_sources.file_fail_on();
        }
        if let Ok(destinations) = resolved_destinations {
            self.set_policy_annotations(destinations.annotations);
            self.lock_unfinished_results().has_comment = destinations.comment;
            files.reports = destinations.reports;
            if files.reports.is_empty() {
                files.reports = list_default_reports(self, workspace.ci.host);
            }
        }
        if let Some(Ok(publish)) = publish.map(|flags| sources.resolve_publish_files(flags)) {
            files = files.with_publish_files(publish);
        }
        self.replace_old_files(&files)
    }

    /// Replaces or removes the files that an earlier publish left at the paths that the configuration file names. Fails
    /// if one of them is the review report that this publish requires and therefore reads. Also records the resolved
    /// style of annotations, in which failures of this run are shown.
    pub(crate) fn replace_publish_files_named_by_policy(
        &self,
        workspace: &Workspace<'_>,
        args: &PublishArgs,
    ) -> Result<(), Failure> {
        let sources = &workspace.sources;
        // This command has no flag for the style.
        if let Ok(style) = sources.resolve_annotations(None) {
            self.set_policy_annotations(style);
        }
        // An invalid setting is reported where the settings are read.
        let Ok(files) = sources.resolve_publish_files(&args.flags) else {
            return Ok(());
        };
        let mut files = OutputFiles::default().with_publish_files(files);
        files
            .inputs
            .extend(sources.resolve_required_review_file(args).ok().flatten());
        self.replace_old_files(&files)
    }

    /// Replaces the old reports at the paths where the host looks for them, for a run that ends before the
    /// configuration file is known. Does nothing if flags or the environment name reports, or where there is no old
    /// report.
    pub(crate) fn replace_default_reports(&self, destinations: &DestinationArgs) {
        let is_named = !settings::requested_reports(&destinations.report, &self.env).is_empty();
        let host = settings::requested_host(&self.global, &self.env).ok();
        let Some(host) = host.filter(|_| !is_named) else {
            return;
        };
        let host = host.unwrap_or_else(|| Host::detect(&self.env));
        let mut reports = list_default_reports(self, host);
        reports.retain(|report| report.path.as_deref().is_some_and(Path::is_file));
        // The paths are fixed, so none is that of an input or of a pipeline.
        let _ = self.replace_old_files(&OutputFiles {
            reports,
            ..OutputFiles::default()
        });
    }

    /// Returns what is needed to write a result if the run fails: the reports without a result, and facts about the run.
    fn lock_unfinished_results(&self) -> MutexGuard<'_, UnfinishedResults> {
        lock_mutex(&self.unfinished_results)
    }

    /// Marks the reports of the review as finished, so that a later failure does not replace them.
    pub(crate) fn finish_reports(&self) {
        self.lock_unfinished_results().reports.clear();
    }

    /// Marks the JUnit report of the publish as finished, so that a later failure does not replace it.
    pub(crate) fn finish_publish_report(&self) {
        self.lock_unfinished_results().publish_junit = None;
    }

    /// Removes the undecided JUnit report at this path, because the publish did not take place.
    pub(crate) fn discard_publish_report(&self, path: Option<&Path>) {
        self.finish_publish_report();
        if let Some(path) = path {
            self.remove_old_file(path);
        }
    }

    /// Writes to a path where an earlier run may have left a file, if this run may replace it. If that fails, for example
    /// because the disk is full, removes the old file with a warning, because its result would be taken for that of this
    /// run.
    pub(crate) fn replace_old_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) {
        let Err(error) = self.write_unfinished_file(path, write) else {
            return;
        };
        if !path.is_file() {
            return;
        }
        if atomic_file::remove_file(path).is_err() {
            self.warn_of_old_file(path, &error);
        } else {
            self.ui.warn(&format!(
                "removed {}, which an earlier run wrote, because it could not be replaced: {error}",
                format_path(path)
            ));
        }
    }

    /// Adds the reason of a failure to the unfinished file that this run wrote to the path. If that fails, the file
    /// stays, because it shows that the run did not finish.
    pub(crate) fn update_unfinished_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) {
        if let Err(error) = self.write_unfinished_file(path, write)
            && path.is_file()
        {
            self.ui.warn(&format!(
                "could not add the reason of the failure to {}: {error}",
                format_path(path)
            ));
        }
    }

    /// Writes a file without a result to the path, if this run may replace the file there.
    pub(super) fn write_unfinished_file(
        &self,
        path: &Path,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.may_replace(path) {
            atomic_file::write_file_with(path, write)
        } else {
            Ok(())
        }
    }

    /// Removes a file of an earlier run, if this run may replace it. Warns if that fails.
    pub(super) fn remove_old_file(&self, path: &Path) {
        if path.is_file()
            && self.may_replace(path)
            && let Err(error) = atomic_file::remove_file(path)
        {
            self.warn_of_old_file(path, &error);
        }
    }

    /// Warns that the result of an earlier run remains at this path.
    fn warn_of_old_file(&self, path: &Path, error: &io::Error) {
        self.ui.warn(&format!(
            "could not replace {}, which an earlier run wrote: {error}",
            format_path(path)
        ));
    }

    /// Returns whether this run may replace or remove the file at the path. Returns false for YAML files, which may be
    /// inputs of the run, for pipes and devices, which contain no old report, and for paths behind a link that the
    /// change may control, which are rejected later. Without a repository, every link is treated as such a link.
    pub(super) fn may_replace(&self, path: &Path) -> bool {
        let is_yaml = path.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
        });
        if is_yaml || path.is_dir() || atomic_file::is_stream(path) {
            return false;
        }
        if !policy::contains_link(path) {
            return true;
        }
        let repo = self.find_repository().ok().flatten();
        repo.is_some_and(|repo| self.reject_linked_paths(&repo, std::iter::once(path)).is_ok())
    }
}

/// Writes the JUnit report of a publish that has not ended, with the verdict "undecided". The test case of the version
/// is called `version`, because the version's name is not known here.
fn write_unfinished_publish(reason: &str, writer: &mut dyn io::Write) -> io::Result<()> {
    let run = PublishRun {
        version: "version".to_owned(),
        verdict: Verdict::Undecided,
        problems: vec![reason.to_owned()],
        notes: Vec::new(),
        breaks: Vec::new(),
        smoke_runs: Vec::new(),
        started_at: Timestamp::now(),
        duration: Duration::ZERO,
    };
    write_publish_junit(&run, writer)
}
