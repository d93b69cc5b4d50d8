//! What the commands for the platform's resources have in common: the project, the way to show an answer, and what to
//! say where it is not known whether something was made.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::text::nearest;
use crate::commands::kit::output;
use crate::commands::{CommandResult, Run};
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::platform::api::{self, Answer, Platform};
use crate::platform::http::{ErrorKind, HttpError, for_hint};
use serde_json::{Value, json};
use std::io;
use uuid::Uuid;

pub(crate) struct RemoteProject {
    pub(crate) platform: Platform,
    pub(crate) id: Uuid,
}

impl Run {
    /// The platform and the project that are set.
    pub(crate) fn project(&self) -> Result<RemoteProject, Failure> {
        let connection = self.sources()?.connection(&self.global)?;
        Ok(RemoteProject {
            platform: self.platform(&connection)?,
            id: connection.project_id()?,
        })
    }

    /// Shows an answer: as it came, or in words.
    pub(crate) fn show(
        &self,
        output: OutputArgs,
        raw: &Value,
        words: impl FnOnce() -> String,
    ) -> CommandResult {
        self.show_in_pieces(output, raw, |out| out.write_all(words().as_bytes()))
    }

    /// The same with words that are made while they are written.
    pub(crate) fn show_in_pieces(
        &self,
        output: OutputArgs,
        raw: &Value,
        words: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> CommandResult {
        match output.output {
            OutputFormat::Json => self.ui.out_in_pieces(|out| output::write_json(raw, out)),
            OutputFormat::Text => self.ui.out_in_pieces(words),
        }?;
        Ok(ExitStatus::Success)
    }

    /// Shows a list: in the platform's envelope, or as a table with these columns and whatever else the entries have.
    pub(crate) fn show_list<T>(
        &self,
        output: OutputArgs,
        entries: Vec<Answer<T>>,
        columns: &[(&str, &str)],
        none: &str,
    ) -> CommandResult {
        let items = entries.into_iter().map(|entry| entry.raw);
        self.show_items(output, ("results", items), columns, none)
    }

    /// The same of entries as they came, which the envelope has under this name.
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

/// The platform's list envelope around everything.
fn envelope(name: &str, items: Vec<Value>) -> Value {
    let count = items.len();
    let mut all = json!({ name: null, "page": 0, "size": count, "total": count });
    all[name] = Value::Array(items);
    all
}

/// A creation that failed; where its answer was lost, with the command that tells whether it was done.
pub(crate) fn perhaps_made(error: HttpError, look: &str) -> Failure {
    if error.may_have_been_processed() {
        let hint = error.hint_where(look);
        Failure::from(error).hint(hint)
    } else {
        error.into()
    }
}

/// Something that was made, by an answer that does not name it; `look` is the command that does.
pub(crate) fn made_nameless(message: &'static str, look: &str) -> Failure {
    let hint = format!("do not do it again before you looked: {look}");
    Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)).hint(hint)
}

/// What a command looks for by its name.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'a> {
    /// In a word, for example `variable`.
    pub(crate) what: &'a str,
    pub(crate) name: &'a str,
    /// The command that lists all of its kind, if there is one.
    pub(crate) list: Option<&'a str>,
    /// The command that shows it alone, if there is one.
    pub(crate) alone: Option<&'a str>,
}

impl Sought<'_> {
    /// A 404 says what was looked for, and the nearest name of those that there are, which are asked for only then. A change
    /// whose answer was lost says how to look.
    pub(crate) async fn missing(
        self,
        error: HttpError,
        names: impl Future<Output = Result<Vec<String>, HttpError>>,
    ) -> Failure {
        let names = match error.kind() {
            ErrorKind::NotFound => for_hint(names).await,
            _ => None,
        };
        self.missing_among(error, names)
    }

    /// Like [`Self::missing`] with the names that there are; `None` if no list could be read.
    pub(crate) fn missing_among(self, error: HttpError, names: Option<Vec<String>>) -> Failure {
        if error.kind() != ErrorKind::NotFound {
            return perhaps_made(error, &self.look());
        }
        let fact = format!("the platform knows no {} {:?}", self.what, self.name);
        let hint = match names {
            Some(names) => self.hint(&names),
            None => "check the base URL and the project id: no list tells which names there are".to_owned(),
        };
        Failure::from(error).context(fact).hint(hint)
    }

    /// The command that tells how it is now.
    fn look(self) -> String {
        match (self.alone, self.list) {
            (Some(alone), _) => format!("`sluicegate {alone} {}` tells", self.name),
            (None, Some(list)) => format!("`sluicegate {list}` tells"),
            (None, None) => "look at the platform".to_owned(),
        }
    }

    /// The name among these that is the nearest; none where it is one of them.
    pub(crate) fn nearest(self, names: &[String]) -> Option<&str> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        nearest(self.name, &known).filter(|near| *near != self.name)
    }

    /// What to do where there is nothing of this name.
    pub(crate) fn hint(self, names: &[String]) -> String {
        let all = match self.list {
            Some(list) => format!("`sluicegate {list}` lists them"),
            None => "check it, the project id and the base URL".to_owned(),
        };
        match self.nearest(names) {
            Some(near) => format!("did you mean {near:?}? {all}"),
            None => all,
        }
    }
}

/// A call for a project as a whole that failed: a 404 is for the project, unless the platform lists it.
pub(crate) async fn no_project(platform: &Platform, id: Uuid, error: HttpError) -> Failure {
    if error.kind() != ErrorKind::NotFound {
        return error.into();
    }
    let projects = for_hint(platform.projects()).await;
    if projects.as_ref().is_some_and(|all| has_project(all, id)) {
        return error.into();
    }
    sought_project(&id.to_string()).missing_among(error, projects.map(ids))
}

/// That the platform has no such project, with the nearest of those that there are; none where it has it, or does not tell.
pub(crate) async fn unknown_project(platform: &Platform, id: Uuid) -> Option<String> {
    let all = for_hint(platform.projects()).await?;
    if has_project(&all, id) {
        return None;
    }
    let name = id.to_string();
    let hint = sought_project(&name).hint(&ids(all));
    Some(format!("the platform knows no project {name:?}: {hint}"))
}

fn has_project(all: &[Answer<api::Project>], id: Uuid) -> bool {
    let parsed = |it: &Answer<api::Project>| Uuid::parse_str(it.id.as_deref()?).ok();
    all.iter().any(|it| parsed(it) == Some(id))
}

fn ids(all: Vec<Answer<api::Project>>) -> Vec<String> {
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
    /// What was read of the project.
    pub(crate) async fn read<T>(&self, answer: Result<T, HttpError>) -> Result<T, Failure> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(no_project(&self.platform, self.id, error).await),
        }
    }

    /// What was made in the project; where the answer was lost, with the way to look.
    pub(crate) async fn made<T>(&self, answer: Result<T, HttpError>, look: &str) -> Result<T, Failure> {
        match answer {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(perhaps_made(error, look)),
            answer => self.read(answer).await,
        }
    }

    /// The variable of this name, as it is looked for.
    pub(crate) async fn no_variable(&self, name: &str, error: HttpError) -> Failure {
        let names = async {
            let all = self.platform.variables(self.id).await?;
            Ok(all.into_iter().filter_map(|it| it.value.name).collect())
        };
        variable(name).missing(error, names).await
    }
}

/// A variable that is looked for.
pub(crate) const fn variable(name: &str) -> Sought<'_> {
    Sought {
        what: "variable",
        name,
        list: Some("variables list"),
        alone: None,
    }
}
