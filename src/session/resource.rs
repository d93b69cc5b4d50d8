//! Shared code of the commands for the platform's resources: the project, the output of responses, and messages if it
//! is unknown whether a resource was created.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::output;
use crate::session::{CommandResult, Run};
use serde_json::{Value, json};
use sluicegate_base::text::{did_you_mean, find_nearest};
use sluicegate_platform::api::{self, ApiValue, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError, read_for_hint};
use std::io;
use uuid::Uuid;

pub(crate) struct RemoteProject {
    pub(crate) platform: Platform,
    pub(crate) id: Uuid,
}

impl Run {
    /// Returns the platform and the configured project.
    pub(crate) fn project(&self) -> Result<RemoteProject, Failure> {
        let connection = self.sources()?.connection(&self.global)?;
        Ok(RemoteProject {
            platform: self.platform(&connection)?,
            id: connection.project_id()?,
        })
    }

    /// Prints a response: as raw JSON or as text.
    pub(crate) fn show(
        &self,
        output: OutputArgs,
        raw: &Value,
        words: impl FnOnce() -> String,
    ) -> CommandResult {
        self.show_in_pieces(output, raw, |out| out.write_all(words().as_bytes()))
    }

    /// Shows text that is written in pieces, like [`Self::show`].
    pub(crate) fn show_in_pieces(
        &self,
        output: OutputArgs,
        raw: &Value,
        words: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> CommandResult {
        match output.output {
            OutputFormat::Json => self.ui.print_result_with(|out| output::write_json(raw, out)),
            OutputFormat::Text => self.ui.print_result_with(words),
        }?;
        Ok(ExitStatus::Success)
    }

    /// Prints a list: in the platform's envelope, or as a table with these columns and the other fields of the entries.
    pub(crate) fn show_list<T>(
        &self,
        output: OutputArgs,
        entries: Vec<ApiValue<T>>,
        columns: &[(&str, &str)],
        none: &str,
    ) -> CommandResult {
        let items = entries.into_iter().map(|entry| entry.raw);
        self.show_items(output, ("results", items), columns, none)
    }

    /// Shows raw entries like [`Self::show_list`]; the envelope stores them in the field `name`.
    pub(crate) fn show_items(
        &self,
        output: OutputArgs,
        (name, items): (&str, impl Iterator<Item = Value>),
        columns: &[(&str, &str)],
        none: &str,
    ) -> CommandResult {
        let list = envelope(name, items.collect());
        self.show_in_pieces(output, &list, |out| {
            output::list(
                list[name].as_array().map_or(&[], Vec::as_slice),
                columns,
                none,
                out,
            )
        })
    }
}

/// Returns the platform's list envelope with all entries.
fn envelope(name: &str, items: Vec<Value>) -> Value {
    let count = items.len();
    let mut all = json!({ name: null, "page": 0, "size": count, "total": count });
    all[name] = Value::Array(items);
    all
}

/// Returns the failure of a creation; if the response was lost, with the command to check the result.
pub(crate) fn perhaps_made(error: HttpError, look: &str) -> Failure {
    if error.is_maybe_processed() {
        let hint = error.hint_with_check(look);
        Failure::from(error).hint(hint)
    } else {
        error.into()
    }
}

/// Returns the failure for a created resource whose response lacks its id; `look` is the command to find it.
pub(crate) fn made_nameless(message: &'static str, look: &str) -> Failure {
    let hint = format!("before you repeat the command, {look}");
    Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)).hint(hint)
}

/// A resource that a command looks up by name.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'a> {
    /// The kind of resource, for example `variable`.
    pub(crate) what: &'a str,
    pub(crate) name: &'a str,
    /// The command that lists all resources of this kind, if there is one.
    pub(crate) list: Option<&'a str>,
    /// The command that shows a single resource, if there is one.
    pub(crate) alone: Option<&'a str>,
}

impl Sought<'_> {
    /// Returns the failure of the lookup. For a 404, the existing names are requested and the most similar one is
    /// suggested. If the response to a change was lost, the hint is how to check the result.
    pub(crate) async fn missing(
        self,
        error: HttpError,
        names: impl Future<Output = Result<Vec<String>, HttpError>>,
    ) -> Failure {
        let names = match error.kind() {
            ErrorKind::NotFound => read_for_hint(names).await,
            _ => None,
        };
        self.missing_among(error, names)
    }

    /// Describes a missing object as [`Self::missing`] does, with the existing names; `None` if no list could be read.
    pub(crate) fn missing_among(self, error: HttpError, names: Option<Vec<String>>) -> Failure {
        if error.kind() != ErrorKind::NotFound {
            return perhaps_made(error, &self.look());
        }
        let fact = format!("the platform has no {} {:?}", self.what, self.name);
        let hint = match names {
            Some(names) => self.hint(&names),
            None => "check the base URL and the project id: could not list the existing names".to_owned(),
        };
        Failure::from(error).context(fact).hint(hint)
    }

    /// Returns an instruction to check the current state.
    fn look(self) -> String {
        match (self.alone, self.list) {
            (Some(alone), _) => format!("run `sluicegate {alone} {}` to check", self.name),
            (None, Some(list)) => format!("run `sluicegate {list}` to check"),
            (None, None) => "check the platform".to_owned(),
        }
    }

    /// Returns the most similar of these names; `None` if the name is one of them.
    pub(crate) fn nearest(self, names: &[String]) -> Option<&str> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        find_nearest(self.name, &known).filter(|near| *near != self.name)
    }

    /// Returns the hint for a missing name.
    pub(crate) fn hint(self, names: &[String]) -> String {
        let all = match self.list {
            Some(list) => format!("run `sluicegate {list}` to list them"),
            None => "check the name, the project id and the base URL".to_owned(),
        };
        match self.nearest(names) {
            Some(near) => format!("{} {all}", did_you_mean(near)),
            None => all,
        }
    }
}

/// Returns the failure of a request for a project: a 404 means that the project is missing, unless the platform lists
/// it.
pub(crate) async fn no_project(platform: &Platform, id: Uuid, error: HttpError) -> Failure {
    if error.kind() != ErrorKind::NotFound {
        return error.into();
    }
    let projects = read_for_hint(platform.projects()).await;
    if projects.as_ref().is_some_and(|all| has_project(all, id)) {
        return error.into();
    }
    sought_project(&id.to_string()).missing_among(error, projects.map(ids))
}

/// Returns an error that suggests the most similar project, or `None` if the project exists or the list is unavailable.
pub(crate) async fn unknown_project(platform: &Platform, id: Uuid) -> Option<String> {
    let all = read_for_hint(platform.projects()).await?;
    if has_project(&all, id) {
        return None;
    }
    let name = id.to_string();
    let hint = sought_project(&name).hint(&ids(all));
    Some(format!("the platform has no project {name:?}: {hint}"))
}

fn has_project(all: &[ApiValue<api::Project>], id: Uuid) -> bool {
    let parsed = |it: &ApiValue<api::Project>| Uuid::parse_str(it.id.as_deref()?).ok();
    all.iter().any(|it| parsed(it) == Some(id))
}

fn ids(all: Vec<ApiValue<api::Project>>) -> Vec<String> {
    all.into_iter().filter_map(|it| it.value.id).collect()
}

const fn sought_project(id: &str) -> Sought<'_> {
    Sought {
        what: "project",
        name: id,
        list: Some("projects list"),
        alone: None,
    }
}

impl RemoteProject {
    /// Returns the response to a read request in the project, or the failure.
    pub(crate) async fn read<T>(&self, answer: Result<T, HttpError>) -> Result<T, Failure> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(no_project(&self.platform, self.id, error).await),
        }
    }

    /// Returns the response to a creation in the project, or the failure; if the response was lost, with the way to
    /// check.
    pub(crate) async fn made<T>(&self, answer: Result<T, HttpError>, look: &str) -> Result<T, Failure> {
        match answer {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(perhaps_made(error, look)),
            answer => self.read(answer).await,
        }
    }

    /// Returns the failure of a lookup of a variable.
    pub(crate) async fn no_variable(&self, name: &str, error: HttpError) -> Failure {
        let names = async {
            let all = self.platform.variables(self.id).await?;
            Ok(all.into_iter().filter_map(|it| it.value.name).collect())
        };
        variable(name).missing(error, names).await
    }
}

/// Returns the search for a variable.
pub(crate) const fn variable(name: &str) -> Sought<'_> {
    Sought {
        what: "variable",
        name,
        list: Some("variables list"),
        alone: None,
    }
}
