//! Lists the candidates for the values of flags and arguments.

use crate::job::ci::Host;
use crate::job::settings::all_settings;
use crate::session::Session;
use clap::{Arg, Command, ValueEnum as _};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCandidates,
    ValueCompleter,
};
use sluicegate_base::{input, text};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::{MAX_TEAM_RULES_BYTES, TEAM_RULES_FILE, TeamRule, TeamRuleSet};
use sluicegate_reports::Format;
use std::ffi::OsStr;
use std::sync::Arc;

/// The names in the help of arguments that are paths.
const PATH_NAMES: [&str; 10] = [
    "FILE",
    "FILE.json",
    "OLD.json",
    "PATH",
    "PATHS",
    "DIR",
    "REPORT",
    "RECEIPT",
    "OLD",
    "NEW",
];

/// A kind of value whose candidates are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Rule,
    Revision,
    Host,
    Setting,
    Report,
    Path,
}

impl ValueKind {
    /// Returns the kind of candidates for the argument's value. Returns `None` for other arguments: clap completes
    /// those with fixed values itself, and free text has no candidates.
    fn find_for_argument(command: &str, arg: &Arg) -> Option<Self> {
        let value_name = arg.get_value_names().and_then(<[_]>::first)?;
        match (command, arg.get_id().as_str(), value_name.as_str()) {
            ("explain", "id", _) | ("add", "rule", _) => Some(Self::Rule),
            ("settings", "names", _) => Some(Self::Setting),
            (_, "ci", _) => Some(Self::Host),
            (_, "report", "FORMAT=PATH") => Some(Self::Report),
            (_, "branch", _) | (_, _, "REV") => Some(Self::Revision),
            (_, _, name) if PATH_NAMES.contains(&name) => Some(Self::Path),
            _ => None,
        }
    }
}

/// Source of the candidates: the program's own lists and the repository of the current directory.
#[derive(Clone)]
pub(super) struct ValueSource {
    session: Arc<Session>,
    /// Whether to offer files, because the shell does not do so itself.
    offers_paths: bool,
}

impl ValueSource {
    /// Creates the source. `offers_paths` is false for a shell that completes file names itself.
    pub(super) fn new(session: Session, offers_paths: bool) -> Self {
        Self {
            session: Arc::new(session),
            offers_paths,
        }
    }

    /// Returns the ids of all rules: of the platform, of the project checks, and of the team rules in the working tree.
    fn list_rules(&self) -> Vec<String> {
        let check_ids = ProjectCheck::ALL.into_iter().map(ProjectCheck::id);
        let mut ids: Vec<String> = rules::rule_ids().chain(check_ids).map(str::to_owned).collect();
        if let Some(rule_set) = self.read_team_rules() {
            ids.extend(rule_set.rules().iter().map(TeamRule::full_id));
        }
        ids
    }

    /// Reads the team rules at their default path. Settings can name another path, but they are not read: a completion
    /// cannot show their errors. For the same reason, an unreadable file gives `None`.
    fn read_team_rules(&self) -> Option<TeamRuleSet> {
        let path = self.session.find_repository().ok()??.root().join(TEAM_RULES_FILE);
        let bytes = input::read_file(&path, MAX_TEAM_RULES_BYTES).ok()?;
        TeamRuleSet::parse(&bytes).ok()
    }

    /// Returns `HEAD` and the names of the repository's branches and tags. Errors are ignored, because a completion
    /// cannot show them.
    fn list_revisions(&self) -> Vec<String> {
        let mut names = vec!["HEAD".to_owned()];
        if let Ok(Some(repository)) = self.session.find_repository() {
            names.extend(repository.list_ref_names().unwrap_or_default());
        }
        names
    }

    /// Returns all candidates of this kind. Paths are not listed here, because they depend on the typed word.
    fn list_values(&self, kind: ValueKind) -> Vec<String> {
        match kind {
            ValueKind::Rule => self.list_rules(),
            ValueKind::Revision => self.list_revisions(),
            ValueKind::Host => Host::ALL.iter().map(|host| host.name().to_owned()).collect(),
            ValueKind::Setting => list_setting_names(),
            ValueKind::Report => Format::value_variants()
                .iter()
                .map(|format| format!("{format}="))
                .collect(),
            ValueKind::Path => Vec::new(),
        }
    }
}

/// Returns the key of each setting in `sluicegate.yaml`. A setting that the file cannot contain has the name of its
/// variable.
fn list_setting_names() -> Vec<String> {
    let mut names = Vec::new();
    for setting in all_settings() {
        let name = if setting.key.is_empty() {
            setting.variable
        } else {
            setting.key
        };
        names.push(name.to_owned());
    }
    names
}

/// Attaches the sources of candidates to the arguments of the command and of all its subcommands.
pub(super) fn add_candidates(command: Command, source: &ValueSource) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match ValueKind::find_for_argument(&name, &arg) {
        Some(kind @ (ValueKind::Path | ValueKind::Report)) => {
            arg.add(ArgValueCompleter::new(PathCandidates {
                source: source.clone(),
                kind,
            }))
        }
        Some(kind) => arg.add(ArgValueCandidates::new(ListedCandidates {
            source: source.clone(),
            kind,
        })),
        None => arg,
    });
    command.mut_subcommands(|verb| add_candidates(verb, source))
}

/// The candidates of a kind whose values can be listed.
struct ListedCandidates {
    source: ValueSource,
    kind: ValueKind,
}

impl ValueCandidates for ListedCandidates {
    /// Returns the candidates that a shell can insert without quotes.
    fn candidates(&self) -> Vec<CompletionCandidate> {
        let values = self.source.list_values(self.kind).into_iter();
        values
            .filter(|value| is_plain_word(value))
            .map(CompletionCandidate::new)
            .collect()
    }
}

/// The candidates for a path, or for a path after `FORMAT=`.
struct PathCandidates {
    source: ValueSource,
    kind: ValueKind,
}

impl ValueCompleter for PathCandidates {
    /// Returns the candidates for the typed word: files, or for `--report FORMAT=PATH` first the formats and then the
    /// files.
    fn complete(&self, word: &OsStr) -> Vec<CompletionCandidate> {
        let typed_text = word.to_string_lossy();
        let (format, path) = match (self.kind, typed_text.split_once('=')) {
            (ValueKind::Report, None) => return self.list_formats(&typed_text),
            (ValueKind::Report, Some((format, path))) => (format!("{format}="), path),
            _ => (String::new(), typed_text.as_ref()),
        };
        // This shell completes file names itself.
        if !self.source.offers_paths {
            return Vec::new();
        }
        let paths = PathCompleter::any().complete(OsStr::new(path)).into_iter();
        paths
            .filter(|candidate| is_safe_to_show(&candidate.get_value().to_string_lossy()))
            .map(|candidate| candidate.add_prefix(&format))
            .collect()
    }
}

impl PathCandidates {
    /// Returns the report formats that begin with the typed text, each with a `=` for the path that follows.
    fn list_formats(&self, start: &str) -> Vec<CompletionCandidate> {
        let formats = self.source.list_values(self.kind).into_iter();
        formats
            .filter(|format| format.starts_with(start))
            .map(CompletionCandidate::new)
            .collect()
    }
}

/// Returns whether a shell can show the name of a file: it has no line break, with which it would be two candidates,
/// and no other character that a terminal interprets.
fn is_safe_to_show(name: &str) -> bool {
    !name.chars().any(|c| c == '\n' || text::is_unsafe(c))
}

/// Returns whether a shell can insert the text into a line without quotes. Names from a repository come from others,
/// and bash inserts them as they are: `$(…)` in the name of a branch would run when the line does.
fn is_plain_word(text: &str) -> bool {
    !text.starts_with('-') && text.chars().all(|c| c.is_alphanumeric() || "._/@+=-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_with_shell_syntax_is_not_plain() {
        for word in ["main", "feature/größe", "v1.2.3-rc.1", "project/call"] {
            assert!(is_plain_word(word), "{word}");
        }
        for word in [
            "$(id)",
            "a;b",
            "--flag",
            "a b",
            "`id`",
            "a'b",
            "a|b",
            "a&b",
            "a\u{202e}b",
        ] {
            assert!(!is_plain_word(word), "{word}");
        }
    }
}
