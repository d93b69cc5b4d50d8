//! Writes the parts of a step that a CI host shows in addition to its log: annotations and the step summary.

use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::Host;
use crate::job::cli::{Annotations, Command, DestinationArgs, GlobalArgs};
use crate::job::settings;
use crate::session::Session;
use crate::session::host_file::append_to_host_file;
use crate::session::signals::describe_end;
use crate::session::step_outputs::{undecided_output, write_outputs};
use crate::ui::Ui;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_base::text::escape_line;
use sluicegate_reports::{
    AnnotationStyle, MAX_SUMMARY_BYTES, render_failure_annotation, render_failure_summary,
    render_warning_annotation,
};
use std::sync::atomic::Ordering;

/// GitHub, Gitea and Forgejo: the file with markdown for the run's page.
pub(crate) const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Size of the step summary, in bytes, up to which headlines are appended instead of contents that do not fit.
const HEADLINE_LIMIT: usize = 1_020 * 1024;

/// The title of a failure caused by invalid arguments.
const USAGE_FAILED: &str = "sluicegate failed: invalid arguments";
/// The title of a failed publish.
pub(crate) const PUBLISH_FAILED: &str = "Publish failed";

/// Returns the title for a failure of this command before it has a result.
pub(crate) const fn failure_title(command: &Command) -> &'static str {
    match command {
        Command::Review(_) | Command::Ci(_) => "Review did not finish",
        Command::Check(_) => "Check did not finish",
        Command::Report(_) => "Report did not finish",
        Command::Publish(_) => PUBLISH_FAILED,
        _ => "sluicegate failed",
    }
}

/// Returns whether the command sets the step output `verdict`.
pub(crate) const fn has_verdict(command: &Command) -> bool {
    matches!(
        command,
        Command::Review(_) | Command::Ci(_) | Command::Check(_) | Command::Report(_)
    )
}

/// Returns the style of the annotations that the flags of a command or the environment request.
pub(crate) fn requested_annotations(session: &Session, command: &Command) -> Option<Annotations> {
    let destinations: Option<&DestinationArgs> = match command {
        Command::Review(args) => Some(&args.gate.destinations),
        Command::Check(args) => Some(&args.gate.destinations),
        Command::Ci(args) => Some(&args.review.gate.destinations),
        Command::Report(args) => Some(&args.destinations),
        _ => None,
    };
    settings::requested_annotation_style(
        destinations.and_then(|destinations| destinations.annotations),
        &session.env,
    )
}

/// Returns the syntax of annotations: the one that `style` names, on any host. [`Annotations::Auto`] selects the syntax
/// of the host's log, if it has one.
pub(crate) const fn choose_annotation_style(style: Annotations, host: Host) -> AnnotationStyle {
    match (style, host) {
        (Annotations::Github, _) | (Annotations::Auto, Host::GitHub | Host::Gitea) => AnnotationStyle::Github,
        (Annotations::Azure, _) | (Annotations::Auto, Host::Azure) => AnnotationStyle::Azure,
        (Annotations::None | Annotations::Auto, _) => AnnotationStyle::None,
    }
}

impl Session {
    /// Returns the CI host that `--ci` or its variable names, or else the detected host. An invalid name is ignored
    /// here, because it is reported when the workspace is opened.
    pub(crate) fn host(&self) -> Host {
        let host = settings::requested_host(&self.global, &self.env).ok().flatten();
        host.unwrap_or_else(|| Host::detect(&self.env))
    }

    /// Shows the failure that ends the command to the user and to the CI host, and returns its exit status.
    pub(crate) fn report_failure(&self, failure: &Failure) -> ExitStatus {
        self.report_failure_as(self.failure_title, failure)
    }

    /// Shows a failure with this title to the CI host, and to the user in the log unless an annotation shows it there.
    /// Returns the exit status of the failure.
    pub(crate) fn report_failure_as(&self, title: &str, failure: &Failure) -> ExitStatus {
        // After a failure, the log may never show a report that contains these warnings.
        self.print_deferred_warnings();
        self.report_delivery_failure(title, failure)
    }

    /// Shows a failure with this title as [`Self::report_failure_as`] does, but the run continues and shows its report,
    /// which contains the deferred warnings.
    pub(crate) fn report_delivery_failure(&self, title: &str, failure: &Failure) -> ExitStatus {
        let status = failure.status();
        if self.annotation_style() == AnnotationStyle::None {
            self.ui.print_failure(failure);
        }
        self.annotate_failure(title, status, &failure.describe());
        status
    }

    /// Shows the failure of a result, if it has one, with this title, and returns the exit status of the result.
    pub(crate) fn report_result_as(&self, title: &str, result: Result<(), Failure>) -> ExitStatus {
        match result {
            Ok(()) => ExitStatus::Success,
            Err(failure) => self.report_failure_as(title, &failure),
        }
    }

    /// Shows a warning with this title to the CI host, and to the user in the log unless an annotation shows it there.
    pub(crate) fn report_warning_as(&self, title: &str, message: &str, hint: Option<&str>) {
        let hint_line = hint.map_or_else(String::new, |hint| format!("\nhint: {}", escape_line(hint)));
        let lines = escape_line(message) + &hint_line;
        match render_warning_annotation(self.annotation_style(), title, &lines) {
            // If standard error is closed, the warning cannot be shown anywhere.
            Some(command) => {
                let _ = Ui::print_to_stderr(&(command + "\n"));
            }
            None => match hint {
                Some(hint) => self.ui.warn_with_hint(message, hint),
                None => self.ui.warn(message),
            },
        }
    }

    /// Shows a failure in the log: as an annotation, whose text the host shows in the log, too, or as an error. A run
    /// that passes despite the failure shows a warning.
    pub(crate) fn print_failure(
        &self,
        title: &str,
        failure: &Failure,
        is_passing: bool,
    ) -> Result<(), Failure> {
        let message = failure.describe();
        match render_failure_annotation(self.annotation_style(), title, &message) {
            Some(command) if !is_passing => {
                self.annotated_error_count.fetch_add(1, Ordering::Relaxed);
                return Ui::print_to_stderr(&(command + "\n"));
            }
            _ if is_passing => self.ui.warn_of_failure("", failure),
            _ => {
                self.ui.print_failure(failure);
            }
        }
        Ok(())
    }

    /// Returns the syntax of annotations in the log.
    fn annotation_style(&self) -> AnnotationStyle {
        choose_annotation_style(self.chosen_annotations(), self.host())
    }

    /// Returns the style of annotations that the job requests, or else that of the policy.
    pub(crate) fn chosen_annotations(&self) -> Annotations {
        let style = self.annotations.or_else(|| *lock_mutex(&self.policy_annotations));
        style.unwrap_or_default()
    }

    /// Records the style of annotations that the job requests, if any.
    pub(crate) fn set_job_annotations(&mut self, style: Option<Annotations>) {
        self.annotations = style;
        self.signals.set_annotation_style(self.annotation_style());
    }

    /// Records the style of annotations that the policy requests. It is used unless the job requests a style.
    pub(crate) fn set_policy_annotations(&self, style: Annotations) {
        *lock_mutex(&self.policy_annotations) = Some(style);
        self.signals.set_annotation_style(self.annotation_style());
    }

    /// Shows a failure on the CI host as an annotation and in the step summary, because the user may never open the
    /// log.
    pub(crate) fn annotate_failure(&self, title: &str, status: ExitStatus, message: &str) {
        self.has_reported.store(true, Ordering::Relaxed);
        let style = self.annotation_style();
        if style != AnnotationStyle::None {
            self.annotated_error_count.fetch_add(1, Ordering::Relaxed);
        }
        let result = write_annotation(style, title, message)
            .and_then(|_| append_failure(&self.env, title, status, message));
        if let Err(failure) = result {
            self.ui.warn_of_failure("", &failure);
        }
    }

    /// Shows on the CI host why the command ends with this exit status, if the command has already printed the reason.
    pub(crate) fn annotate_printed_failure(&self, status: ExitStatus, reason: &str) {
        self.annotate_failure(self.failure_title, status, reason);
    }

    /// Shows on the CI host that the command failed, unless a report or a failure of the run was already shown there.
    pub(crate) fn report_unexplained_failure(&self, status: ExitStatus) {
        if status != ExitStatus::Success && !self.has_reported.load(Ordering::Relaxed) {
            self.annotate_failure(
                self.failure_title,
                status,
                "the log of this step contains the reason",
            );
        }
    }

    /// Appends the content, which begins with its headline, to the step summary, if the host has one.
    pub(crate) fn append_summary(&self, content: impl FnOnce() -> String) -> Result<(), Failure> {
        append_to_host_file(&self.env, STEP_SUMMARY, |length| {
            shorten_summary(content(), length)
        })
    }

    /// Returns whether the host has a step summary.
    pub(crate) fn has_step_summary(&self) -> bool {
        self.env.get(STEP_SUMMARY).is_some()
    }
}

/// Reports to the CI host that the command was not run because its arguments are invalid. Later steps read the verdict
/// of a command that has one (`has_verdict`), so it is set to "undecided". Returns whether the message was written to
/// the log as an annotation, so that the caller does not print it again.
pub(crate) fn report_usage_error(env: &Env, message: &str, has_verdict: bool) -> bool {
    let requested_style = settings::requested_annotation_style(None, env).unwrap_or_default();
    // The variable names the host; a flag of the invalid call is not known.
    let requested_host = settings::requested_host(&GlobalArgs::default(), env).unwrap_or_default();
    let host = requested_host.unwrap_or_else(|| Host::detect(env));
    let style = choose_annotation_style(requested_style, host);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    // Errors are ignored: the usage error matters more, and the caller reports it.
    if has_verdict {
        let _ = write_outputs(env, host, &undecided_output());
    }
    let _ = append_failure(env, USAGE_FAILED, ExitStatus::Usage, message);
    write_annotation(style, USAGE_FAILED, message).unwrap_or(false)
}

/// Reports to the CI host that a signal ended the command, and what the command may have changed. Returns whether the
/// message was written to the log as an annotation.
pub(crate) fn report_interruption(
    env: &Env,
    style: AnnotationStyle,
    status: ExitStatus,
    message: &str,
) -> bool {
    let title = format!("sluicegate was {}", describe_end(status));
    // Errors are ignored: the command ends, and the caller prints a message that is no annotation.
    let _ = append_failure(env, &title, status, message);
    write_annotation(style, &title, message).unwrap_or(false)
}

/// Writes a failure with its title as an annotation, and returns true, if the style is a syntax of annotations.
fn write_annotation(style: AnnotationStyle, title: &str, message: &str) -> Result<bool, Failure> {
    let Some(command) = render_failure_annotation(style, title, message) else {
        return Ok(false);
    };
    // Standard output may be a document. Hosts read commands on both streams.
    Ui::print_to_stderr(&(command + "\n"))?;
    Ok(true)
}

/// Appends a failure with its title to the step summary, if the host has one.
fn append_failure(env: &Env, title: &str, status: ExitStatus, message: &str) -> Result<(), Failure> {
    let is_undecided = status == ExitStatus::Undecided;
    let title = format!("{title} (exit code {})", status.code());
    append_to_host_file(env, STEP_SUMMARY, |length| {
        shorten_summary(render_failure_summary(&title, is_undecided, message), length)
    })
}

/// Returns the content for a step summary that already has `length` bytes, because the commands of a step share it: the
/// content itself, only its headline if it does not fit, or nothing if the summary is full.
fn shorten_summary(content: String, length: u64) -> String {
    let fits = |text: &str, limit: usize| length.saturating_add(text.len() as u64) <= limit as u64;
    if fits(&content, MAX_SUMMARY_BYTES) {
        return content;
    }
    let headline = content.lines().next().unwrap_or_default();
    let short_content = format!(
        "{headline}\n\n> The rest of this summary was omitted, because the summary of this step is full: see the log.\n\n"
    );
    if fits(&short_content, HEADLINE_LIMIT) {
        short_content
    } else {
        String::new()
    }
}
