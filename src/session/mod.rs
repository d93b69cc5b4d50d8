//! One call of the program: its environment, arguments and terminal, the client of the platform, results, failures and
//! signals.

pub(crate) mod artifact_versions;
pub(crate) mod client;
mod earlier_receipts;
pub(crate) mod failure_conversion;
mod host_file;
pub(crate) mod linked_paths;
pub(crate) mod request_timeouts;
pub(crate) mod resource;
pub(crate) mod resource_lookup;
pub(crate) mod response_output;
mod secret_value;
mod shown_warnings;
pub(crate) mod signals;
pub(crate) mod statement_output;
mod step_outputs;
pub(crate) mod step_report;
pub(crate) mod text_table;
pub(crate) mod user_file;
pub(crate) mod watched_execution;
pub(crate) mod worker_threads;

use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci;
use crate::job::cli::{Annotations, GlobalArgs};
use crate::job::settings;
use crate::ui::Ui;
use jiff::Timestamp;
use signals::Signals;
use sluicegate_git::skip_object_checks;
use sluicegate_reports::{Format, UnfinishedReport};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use tokio::runtime::Runtime;

/// One call of the program: the context of a command.
pub(crate) struct Session {
    pub(crate) env: Env,
    pub(crate) global: GlobalArgs,
    pub(crate) ui: Ui,
    pub(crate) signals: Signals,
    pub(crate) runtime: Arc<OnceLock<Runtime>>,
    /// Set when the platform responds to a request.
    pub(crate) has_platform_responded: Arc<AtomicBool>,
    /// The style of annotations that the job requests.
    pub(crate) annotations: Option<Annotations>,
    /// The style of annotations that the policy requests, once it is read.
    pub(crate) policy_annotations: Mutex<Option<Annotations>>,
    /// The report files that do not contain a result yet.
    pub(crate) unfinished_results: Mutex<UnfinishedResults>,
    /// The receipts of earlier publishes that this run has replaced, by their paths.
    pub(crate) earlier_receipts: Mutex<BTreeMap<PathBuf, Result<Vec<u8>, String>>>,
    /// The warnings that the report will contain as notes.
    pub(crate) deferred_warnings: Mutex<Vec<String>>,
    /// The warnings and causes of failures that the log has shown.
    pub(crate) shown_texts: Mutex<Vec<String>>,
    /// The reasons why there is no base that warnings in the log contain.
    pub(crate) shown_reasons: Mutex<Vec<String>>,
    /// The title of a failure that ends the run before it has a report.
    pub(crate) failure_title: &'static str,
    /// Set when the CI host got a report or a failure of this run.
    pub(crate) has_reported: AtomicBool,
    /// Number of failures that the log has shown as annotations of level error.
    pub(crate) annotated_error_count: AtomicUsize,
    pub(crate) started_at: Timestamp,
    /// The start, from which the duration is measured.
    pub(crate) clock: Instant,
}

impl Session {
    /// Creates the context of a command. The caller sets the style of annotations that the job requests, if any.
    pub(crate) fn new(
        env: Env,
        global: GlobalArgs,
        ui: Ui,
        signals: Signals,
        failure_title: &'static str,
    ) -> Self {
        let session = Self {
            env,
            global,
            ui,
            signals,
            runtime: Arc::default(),
            has_platform_responded: Arc::default(),
            annotations: None,
            policy_annotations: Mutex::default(),
            unfinished_results: Mutex::default(),
            earlier_receipts: Mutex::default(),
            deferred_warnings: Mutex::default(),
            shown_texts: Mutex::default(),
            shown_reasons: Mutex::default(),
            failure_title,
            has_reported: AtomicBool::default(),
            annotated_error_count: AtomicUsize::default(),
            started_at: Timestamp::now(),
            clock: Instant::now(),
        };
        if !session.is_ci() {
            skip_object_checks();
        }
        session
    }

    /// Returns whether the run is in CI: on the host that the job names or, without one, on any detected host. A host
    /// whose name or context cannot be read is treated as CI.
    pub(crate) fn is_ci(&self) -> bool {
        let Ok(host) = settings::requested_host(&self.global, &self.env) else {
            return true;
        };
        !matches!(ci::detect_context(&self.env, host), Ok(context) if context.host.is_local())
    }
}

/// The reports of this run that do not contain a result yet, so they say that the run is undecided, and the facts that a
/// failure writes into them and sends to the CI host.
#[derive(Default)]
pub(crate) struct UnfinishedResults {
    /// The facts about this run that are known so far; `None` for a command without the reports of a review.
    pub(crate) description: Option<UnfinishedReport>,
    pub(crate) reports: Vec<(Format, PathBuf)>,
    pub(crate) publish_junit: Option<PathBuf>,
    /// The files that the run reads because its arguments name them, so that it must not replace them.
    pub(crate) inputs: Vec<PathBuf>,
    /// A dry run does not write reports, and does not send results to the CI host.
    pub(crate) is_dry: bool,
    /// True if the run keeps a comment on the pull or merge request.
    pub(crate) has_comment: bool,
}

pub(crate) type CommandResult = Result<ExitStatus, Failure>;

/// Returns whether the variables of this environment are those of a CI job, on any host, even if the context of the
/// host cannot be read. Only the style of messages depends on it, because a job can name another host.
pub(crate) fn has_ci_variables(env: &Env) -> bool {
    !matches!(ci::detect_context(env, None), Ok(context) if context.host.is_local())
}
