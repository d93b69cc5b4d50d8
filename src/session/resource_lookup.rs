//! A resource that a command looks up by name, and the failure of its request.

use crate::error::Failure;
use sluicegate_base::text::{did_you_mean, find_nearest_word, quote_shell_word};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};
use std::fmt;
use uuid::Uuid;

/// The extensions of pipeline files.
const PIPELINE_EXTENSIONS: [&str; 2] = [".orch.yaml", ".tran.yaml"];

/// A kind of resource on the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    Environment,
    Execution,
    /// An override of a variable, which has the name of its environment.
    Override,
    /// An artifact prefix.
    Prefix,
    Project,
    /// A pipeline that `pipelines run` starts. Its name is a path without the extension.
    PublishedPipeline,
    StreamingPipeline,
    Task,
    Variable,
    Version,
}

impl fmt::Display for ResourceKind {
    /// Writes the words for messages, which the name of the resource follows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "environment",
            Self::Execution => "execution",
            Self::Override => "override of this variable in",
            Self::Prefix => "prefix",
            Self::Project => "project",
            Self::PublishedPipeline => "published pipeline",
            Self::StreamingPipeline => "streaming pipeline",
            Self::Task => "task",
            Self::Variable => "variable",
            Self::Version => "version",
        })
    }
}

/// A resource that a command looks up by name.
#[derive(Clone, Copy)]
pub(crate) struct ResourceLookup<'a> {
    pub(crate) kind: ResourceKind,
    pub(crate) name: &'a str,
    /// The command that lists all resources of this kind, if there is one.
    pub(crate) list_command: Option<&'a str>,
    /// The command that shows a single resource, if there is one.
    pub(crate) show_command: Option<&'a str>,
}

impl ResourceLookup<'_> {
    /// Returns the failure of a request for this resource. For a 404, requests the existing names and suggests the most
    /// similar one. If the response to a change was lost, the hint says how to check the result.
    pub(crate) async fn request_failure(
        self,
        error: HttpError,
        names: impl Future<Output = Result<Vec<String>, HttpError>>,
    ) -> Failure {
        let names = match error.kind() {
            ErrorKind::NotFound => request_for_hint(names).await,
            _ => None,
        };
        self.request_failure_with_names(error, names)
    }

    /// Returns the failure as [`Self::request_failure`] does. `names` are the existing names, or `None` if they could
    /// not be listed. If they contain the name, the failure does not say that it is missing: the 404 has another cause.
    pub(crate) fn request_failure_with_names(self, error: HttpError, names: Option<Vec<String>>) -> Failure {
        if error.kind() != ErrorKind::NotFound {
            return change_failure(error, self.kind, &self.format_check_instruction());
        }
        if names.as_ref().is_some_and(|names| self.is_listed(names)) {
            return error.into();
        }
        let fact = format!("the platform has no {} {:?}", self.kind, self.name);
        let hint = match names {
            Some(names) => self.hint(&names),
            None => "check the base URL and the project id, because the existing names could not be listed"
                .to_owned(),
        };
        Failure::from(error).context(fact).with_hint(hint)
    }

    /// Returns the failure as [`Self::request_failure_with_names`] does, for a kind of resource that the platform finds
    /// only by its id. If the platform rejected the text because it is no id, and no id is similar, `id_hint` says
    /// where to find the id.
    pub(crate) fn request_failure_by_id(
        self,
        error: HttpError,
        ids: Option<Vec<String>>,
        id_hint: &str,
    ) -> Failure {
        let is_rejected = is_rejected_id(self.name, &error);
        let is_missing = error.kind() == ErrorKind::NotFound;
        let has_near_id = ids
            .as_deref()
            .is_some_and(|ids| self.is_listed(ids) || self.find_nearest_name(ids).is_some());
        let mut failure = self.request_failure_with_names(error, ids);
        if is_rejected && !is_missing {
            failure = failure.context(format!("the platform has no {} {:?}", self.kind, self.name));
        }
        if is_rejected && !has_near_id {
            failure = failure.with_hint(id_hint);
        }
        failure
    }

    /// Returns whether the existing names contain that of the resource.
    fn is_listed(self, names: &[String]) -> bool {
        names.iter().any(|name| name == self.name)
    }

    /// Returns an instruction to check the resource on the platform, for a hint.
    fn format_check_instruction(self) -> String {
        match (self.show_command, self.list_command) {
            (Some(command), _) => {
                format!(
                    "run `sluicegate {command} {}` to check",
                    quote_shell_word(self.name)
                )
            }
            (None, Some(command)) => format!("run `sluicegate {command}` to check"),
            (None, None) => "check the result in the platform's web interface".to_owned(),
        }
    }

    /// Returns the most similar of these names; `None` if no name is similar or the resource's name is one of them.
    pub(crate) fn find_nearest_name(self, names: &[String]) -> Option<&str> {
        let known_names: Vec<&str> = names.iter().map(String::as_str).collect();
        let near = match self.kind {
            ResourceKind::PublishedPipeline => find_nearest_pipeline(self.name, &known_names),
            _ => find_nearest_word(self.name, &known_names),
        };
        near.filter(|near| *near != self.name)
    }

    /// Returns the hint for a missing resource: the most similar of these names, if any, and how to list them.
    pub(crate) fn hint(self, names: &[String]) -> String {
        let list_instruction = match self.list_command {
            Some(list) => format!("run `sluicegate {list}` to list the existing names"),
            None => "check the name, the project id and the base URL".to_owned(),
        };
        match self.find_nearest_name(names) {
            Some(near) => format!("{} {list_instruction}", did_you_mean(near)),
            None => list_instruction,
        }
    }
}

/// Returns whether the platform rejected this id because it is no id, such as the name of the resource.
pub(crate) fn is_rejected_id(id: &str, error: &HttpError) -> bool {
    Uuid::parse_str(id).is_err() && matches!(error.status(), Some(400 | 404 | 422))
}

/// Returns the failure of a creation. If the response was lost, the hint contains `check_instruction`, which says how
/// to check the result.
pub(crate) fn creation_failure(error: HttpError, check_instruction: &str) -> Failure {
    if error.is_maybe_processed() {
        let hint = error.hint_with_check(check_instruction);
        Failure::from(error).with_hint(hint)
    } else {
        error.into()
    }
}

/// Returns the failure of a change to an existing resource of this kind, as [`creation_failure`] does. A conflict is
/// not about its name but about another operation.
pub(crate) fn change_failure(error: HttpError, kind: ResourceKind, check_instruction: &str) -> Failure {
    if error.kind() == ErrorKind::Conflict && !error.has_specific_hint() {
        let hint = format!("{check_instruction}; try again when no other operation changes the {kind}");
        return Failure::from(error).with_hint(hint);
    }
    creation_failure(error, check_instruction)
}

/// Returns the published pipeline that `text` probably means: the path of its file, the end of its name if no other
/// pipeline has the same, or a similar name. A name that differs only in its case comes first.
fn find_nearest_pipeline<'a>(text: &str, names: &[&'a str]) -> Option<&'a str> {
    let name = PIPELINE_EXTENSIONS
        .iter()
        .find_map(|extension| text.strip_suffix(extension))
        .unwrap_or(text);
    let mut longer_names = names.iter().filter(|known_name| {
        let folder = known_name.strip_suffix(name).unwrap_or_default();
        !name.is_empty() && folder.ends_with('/')
    });
    let only_name = longer_names.next().filter(|_| longer_names.next().is_none());
    if names
        .iter()
        .any(|known_name| known_name.eq_ignore_ascii_case(name))
    {
        return find_nearest_word(name, names);
    }
    only_name.copied().or_else(|| find_nearest_word(name, names))
}
