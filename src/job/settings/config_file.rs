//! Reads `sluicegate.yaml`. Errors state the file, line and column, and suggest the most similar key.

use super::SettingsError;
use super::setting_names;
use super::setting_table::{self, FileConfig, PublishOnSection};
use crate::job::policy::{self, NamedText};
use sluicegate_base::file_defect::{self, FileDefect};
use sluicegate_base::text::{self, wrap::shorten_end};
pub use sluicegate_pipelines::pipelines::CONFIG_FILE as FILE_NAME;
use std::path::PathBuf;

/// Number of characters of a key or value that an error shows, because a value may be long.
const MAX_SHOWN_CHARS: usize = 60;
const REPORT: &str = "review.report";

/// The glob that matches every branch and every tag.
pub(super) const ANY_NAME: &str = "**";

impl FileConfig {
    /// Returns the paths of the output files that the configuration requests, each with its key: reports, statements,
    /// the receipt and the JUnit file.
    pub(super) fn list_output_paths(&self) -> Vec<(&'static str, PathBuf)> {
        let mut config = self.clone();
        let reports = config.review.report.take().unwrap_or_default();
        let report_paths = reports.into_iter().filter_map(|report| report.path);
        let mut output_paths: Vec<_> = report_paths.map(|path| (REPORT, path)).collect();
        for (key, path) in config.single_outputs() {
            output_paths.extend(path.take().map(|path| (key, path)));
        }
        output_paths
    }

    /// Keeps an output file in the configuration only if `is_usable` returns true for its key and path. Reports without
    /// a path are kept, too. Returns the keys that have no value now.
    pub(super) fn retain_outputs(&mut self, is_usable: impl Fn(&str, &PathBuf) -> bool) -> Vec<&'static str> {
        let mut removed_keys = Vec::new();
        if let Some(reports) = &mut self.review.report {
            let report_count = reports.len();
            reports.retain(|report| report.path.as_ref().is_none_or(|path| is_usable(REPORT, path)));
            if reports.is_empty() && report_count > 0 {
                removed_keys.push(REPORT);
            }
        }
        for (key, output) in self.single_outputs() {
            if output.take_if(|path| !is_usable(key, path)).is_some() {
                removed_keys.push(key);
            }
        }
        removed_keys
    }

    /// Returns the settings of output files, except for the list of reports, each with its key.
    const fn single_outputs(&mut self) -> [(&'static str, &mut Option<PathBuf>); 6] {
        let (review, publish) = (&mut self.review, &mut self.publish);
        [
            ("review.attestation", &mut review.attestation),
            ("review.attestation-predicate", &mut review.attestation_predicate),
            ("publish.receipt", &mut publish.receipt),
            ("publish.junit", &mut publish.junit),
            ("publish.attestation", &mut publish.attestation),
            (
                "publish.attestation-predicate",
                &mut publish.attestation_predicate,
            ),
        ]
    }
}

/// Returns whether this version of the configuration file sets `new-only` to true. An invalid version does not.
pub fn sets_new_only(text: &NamedText) -> bool {
    parse_config(text).is_ok_and(|file| file.review.new_only == Some(true))
}

/// Parses a version of the configuration file. An empty file sets nothing. The error names the version and the
/// position.
pub(super) fn parse_config(file: &NamedText) -> Result<FileConfig, SettingsError> {
    let config: Option<FileConfig> =
        policy::parse_config_document(&file.text).map_err(|error| to_settings_error(file, &error))?;
    Ok(config.unwrap_or_default())
}

/// Returns the keys in the file that may affect the verdict. They are ignored while the target branch has no
/// configuration file, because otherwise the change that adds the file would configure its own gate. Returns `None` if
/// the text is not valid YAML.
pub(super) fn list_verdict_keys(file: &NamedText) -> Option<Vec<&'static str>> {
    // An empty file has no value.
    let value: Option<serde_json::Value> = serde_yaml::from_str(&file.text).ok()?;
    let document = value.unwrap_or_default();
    let keys = setting_table::all_settings()
        .filter(|setting| setting.kind.is_in_file() && !setting.kind.is_in_first_file())
        .map(|setting| setting.key)
        .filter(|key| {
            key.split('.')
                .try_fold(&document, |value, name| value.get(name))
                .is_some_and(|value| !value.is_null())
        })
        .collect();
    Some(keys)
}

/// Returns the globs of the branches and of the tags in `publish-on` of a file that cannot be used. If `publish-on`
/// itself cannot be read, or the file is not valid YAML but has this key, it may list any branch and any tag.
pub(super) fn list_publish_on_globs(file: &NamedText) -> [Vec<String>; 2] {
    let section = if let Ok(document) = serde_yaml::from_str::<serde_json::Value>(&file.text) {
        serde_json::from_value::<Option<PublishOnSection>>(document["publish-on"].clone()).ok()
    } else {
        let has_key = file.text.lines().any(|line| line.starts_with("publish-on:"));
        (!has_key).then_some(None)
    };
    match section {
        Some(section) => {
            let section = section.unwrap_or_default();
            [section.branches, section.tags].map(Option::unwrap_or_default)
        }
        None => [vec![ANY_NAME.to_owned()], vec![ANY_NAME.to_owned()]],
    }
}

/// Returns the key and the value that a parser's error is about, if its position is known.
fn find_failing_pair(file: &NamedText, error: &serde_yaml::Error) -> Option<(String, String)> {
    let location = error.location()?;
    find_pair_at(
        &file.text,
        location.line().try_into().ok()?,
        location.column().try_into().ok()?,
    )
}

/// Returns the key and the value at this position, shortened for a message. The line and the column of the value are
/// counted from 1. The key is before the value or at the end of the previous line.
fn find_pair_at(text: &str, line: usize, column: usize) -> Option<(String, String)> {
    let mut lines = text.lines().take(line).collect::<Vec<_>>().into_iter();
    let value_line = lines.next_back()?;
    let start = value_line.char_indices().nth(column.checked_sub(1)?)?.0;
    let text_before = value_line[..start].trim_end();
    // The key of an item is before its list: in brackets, or above lines that begin with a dash.
    let text_with_key = match text_before.rsplit_once('[') {
        Some((text_before_list, _)) => text_before_list.trim_end(),
        None if text_before.trim_start() == "-" => lines
            .rfind(|line| !line.trim_start().starts_with('-'))?
            .trim_end(),
        None if text_before.is_empty() => lines.next_back()?.trim_end(),
        None => text_before,
    };
    let key = text_with_key
        .strip_suffix(':')?
        .rsplit(['{', ',', ' ', '"', '\''])
        .find(|part| !part.is_empty())?;
    let line_end = &value_line[start..];
    let value = match line_end.strip_prefix('[').and_then(|list| list.find(']')) {
        Some(length) => &line_end[..length + 2],
        None => line_end.split([',', '}', ']', '#']).next()?.trim(),
    };
    Some((
        shorten_end(key, MAX_SHOWN_CHARS).into_owned(),
        shorten_end(value, MAX_SHOWN_CHARS).into_owned(),
    ))
}

/// Converts a parser's error to a message about the keys and values of the file, instead of Rust types, with a hint for
/// common mistakes.
fn to_settings_error(file: &NamedText, error: &serde_yaml::Error) -> SettingsError {
    let name = &file.name;
    if let Some(line_index) = file_defect::find_conflict_line(file.text.as_bytes()) {
        let (line, defect) = (line_index + 1, FileDefect::ConflictMarkers);
        return SettingsError::new(format!("{name}:{line}:1: the file {}", defect.reason()))
            .with_hint(defect.help());
    }
    // The position is written before the message, so it is removed from the end of the parser's text.
    let (position, message) = match error.location() {
        Some(location) if location.line() > 0 => {
            let suffix = format!(" at line {}, column {}", location.line(), location.column());
            let position = format!("{name}:{}:{}", location.line(), location.column());
            (position, error.to_string().replace(&suffix, ""))
        }
        _ => (name.to_owned(), error.to_string()),
    };
    if let Some(type_name) = find_expected_type(&message)
        && let Some((key, value)) = find_failing_pair(file, error)
    {
        // A number of the wrong kind, such as `-1` or `1.0`, is a number, too.
        let type_name = if type_name == "a number" && value.parse::<f64>().is_ok() {
            "an integer from 0"
        } else {
            type_name
        };
        return SettingsError::new(format!("{position}: `{key}` must be {type_name}, not `{value}`"));
    }
    match error.without_snippet() {
        serde_yaml::Error::SerdeUnknownField { field, expected, .. } => {
            unknown_key_error(&position, field, expected)
        }
        serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } => {
            SettingsError::new(format!("{position}: duplicate key `{key}`"))
        }
        serde_yaml::Error::MultipleDocuments { .. } => SettingsError::new(format!(
            "{position}: the file has a second document, but a file may contain only one"
        )),
        _ => match message.as_str() {
            "expected sequence start" => SettingsError::new(format!("{position}: expected a list"))
                .with_hint(list_hint(find_failing_pair(file, error))),
            "expected mapping start" => SettingsError::new(format!("{position}: expected keys with values"))
                .with_hint("put a section's keys on indented lines below its name"),
            _ => match find_expected_type(&message) {
                Some(type_name) => SettingsError::new(format!("{position}: expected {type_name}")),
                None => SettingsError::new(format!("{position}: {message}")),
            },
        },
    }
}

/// Returns the hint to write a list, with the value that the list must contain if the value is plain text.
fn list_hint(failing_pair: Option<(String, String)>) -> String {
    let value = failing_pair.map(|(_, value)| value).unwrap_or_default();
    let value = value.trim_matches(['"', '\'']);
    if value.is_empty() || value.contains(['{', '[', '"', ':', '|', '>']) {
        return "write a list in brackets, even for one item".to_owned();
    }
    format!("write a list in brackets, even for one item: [\"{value}\"]")
}

/// Returns the type that the parser expected for a scalar, taken from its message, or `None` for another kind of error.
fn find_expected_type(message: &str) -> Option<&'static str> {
    if message.starts_with("invalid boolean") {
        return Some("`true` or `false`");
    }
    if message.starts_with("cannot deserialize null into string") {
        return Some("a text");
    }
    // The parser says this for each scalar, also for a number or one of several words.
    if message == "expected string scalar" {
        return Some("a single value");
    }
    // The parser names Rust types, such as `u32` or `f64`.
    ["invalid u", "invalid i", "invalid f"]
        .iter()
        .any(|prefix| message.starts_with(prefix))
        .then_some("a number")
}

/// Returns the error for an unknown key. The error says either that only the job may set the key, or which known key is
/// most similar.
fn unknown_key_error(position: &str, field: &str, known_keys: &[&'static str]) -> SettingsError {
    if let Some(variable) = setting_names::find_job_variable(field) {
        return job_key_error(position, field, variable, known_keys);
    }
    let error = SettingsError::new(format!("{position}: unknown key `{field}`"));
    let hint = suggest_key_elsewhere(field, known_keys).or_else(|| text::suggest(field, known_keys));
    error.with_hint(hint.unwrap_or_else(|| format!("valid keys: {}", known_keys.join(", "))))
}

/// Returns the question whether a key with this name in another section was meant; `None` if no other section has one.
/// `known_keys` are those of the section.
fn suggest_key_elsewhere(field: &str, known_keys: &[&str]) -> Option<String> {
    let name = field.replace('_', "-");
    if known_keys.contains(&name.as_str()) {
        return None;
    }
    let keys: Vec<String> = setting_table::all_settings()
        .filter(|setting| setting.kind.is_in_file())
        .filter_map(|setting| match setting.key.rsplit_once('.') {
            Some((_, key_name)) if key_name == name => Some(format!("`{}`", setting.key)),
            None if setting.key == name => Some(format!("`{name}` at the top level")),
            _ => None,
        })
        .collect();
    (!keys.is_empty()).then(|| format!("did you mean {}?", text::join_with_or(keys)))
}

/// Returns the error for a key that only the job may set, with its variable. A similar key of the section was probably
/// meant, so the hint begins with it.
fn job_key_error(position: &str, field: &str, variable: &str, known_keys: &[&'static str]) -> SettingsError {
    let message = format!("{position}: `{field}` is not allowed in the configuration file");
    let reason = "a configuration file can belong to the change under review, so it must not set where secrets go, which \
               programs run, which commit is reviewed or whether it is reviewed";
    let hint = match text::suggest(field, known_keys) {
        Some(suggestion) => format!("{suggestion} Only the variable {variable} sets `{field}`"),
        None => format!("{reason}; set the variable {variable} instead"),
    };
    SettingsError::new(message).with_hint(hint).for_job_key()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> NamedText {
        NamedText {
            name: FILE_NAME.to_owned(),
            text: text.to_owned(),
        }
    }

    fn error(text: &str) -> String {
        let error = parse_config(&file(text)).unwrap_err();
        format!("{error} | {}", error.hint().unwrap_or("-"))
    }

    #[test]
    fn empty_file_changes_nothing() {
        for text in ["", "# only a comment\n", "---\n"] {
            assert!(
                parse_config(&file(text)).unwrap().project_id.is_none(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn unknown_key_is_named_with_its_place_and_the_nearest_one() {
        insta::assert_snapshot!(error("project-id: x\nreview:\n  fail_on: warn\n"),
            @"sluicegate.yaml:3:3: unknown key `fail_on` | did you mean `fail-on`?");
        insta::assert_snapshot!(error("zzzzzz: 1\n"),
            @"sluicegate.yaml:1:1: unknown key `zzzzzz` | valid keys: project-id, agent-version, config-dir, timeout, retries, include, exclude, environment, poll-interval, cancel-status, vocabulary, review, project-checks, publish, publish-on");
    }

    #[test]
    fn key_in_wrong_section_is_suggested_with_its_section() {
        for (text, suggestion) in [
            ("prefix: p\n", "`publish.prefix`"),
            ("version_name: v\n", "`publish.version-name`"),
            ("new-only: true\n", "`review.new-only`"),
            ("publish: { config-dir: .p }\n", "`config-dir` at the top level"),
            (
                "attestation: a.json\n",
                "`review.attestation` or `publish.attestation`",
            ),
        ] {
            let message = error(text);
            let hint = format!("did you mean {suggestion}?");
            assert!(message.ends_with(&hint), "{message}");
        }
    }

    /// The keys that only the job may set.
    const FOR_THE_JOB: [&str; 30] = [
        "base-url",
        "token",
        "token-file",
        "token-command",
        "token-url",
        "token-audience",
        "client-id",
        "client-secret",
        "ca-cert",
        "client-cert",
        "client-key",
        "proxy",
        "https-proxy",
        "deepen",
        "base",
        "head",
        "branch",
        "dry-run",
        "all",
        "shard",
        "ci",
        "target-repository",
        "policy",
        "gate-changes",
        "accept-breaking",
        "against",
        "require-review-engine",
        "max-known",
        "rules",
        "repo",
    ];

    #[test]
    fn job_only_key_is_refused_anywhere_in_file() {
        for key in FOR_THE_JOB {
            let variable = setting_names::find_job_variable(key).unwrap();
            for section in ["", "review", "publish", "publish-on"] {
                let said = match section {
                    "" => error(&format!("{key}: true\n")),
                    section => error(&format!("{section}:\n  {key}: true\n")),
                };
                assert!(
                    said.contains(&format!("`{key}` is not allowed in")) && said.contains(variable),
                    "{section} {said}"
                );
            }
        }
        let listed = |it: &crate::job::settings::Setting| {
            it.kind.is_in_file() || it.key.is_empty() || FOR_THE_JOB.contains(&it.key)
        };
        let extra: Vec<_> = setting_table::all_settings()
            .filter(|it| !listed(it))
            .map(|it| it.key)
            .collect();
        assert_eq!(extra, ["config", "bitbucket-proxy"]);
    }

    #[test]
    fn enforced_keys_are_listed_as_written() {
        let text = "timeout: 3\nexclude: ['a/**']\nreview:\n  fail-on: never\n  fork:\n  comment: true\npublish-on: { tags: [] }\n";
        assert_eq!(
            list_verdict_keys(&file(text)),
            Some(vec!["exclude", "review.fail-on", "publish-on.tags"])
        );
        assert_eq!(list_verdict_keys(&file("# nothing\n")), Some(vec![]));
        assert_eq!(list_verdict_keys(&file("review: {\n")), None);
    }

    #[test]
    fn long_value_is_cut_with_a_mark() {
        let message = error(&format!("timeout: {}\n", "a".repeat(61)));
        assert!(
            message.contains(&format!("not `{}…`", "a".repeat(60))),
            "{message}"
        );
        let message = error(&format!("timeout: {}\n", "a".repeat(60)));
        assert!(
            message.contains(&format!("not `{}`", "a".repeat(60))),
            "{message}"
        );
    }

    #[test]
    fn second_document_is_refused_with_its_place() {
        let message =
            "sluicegate.yaml:3:1: the file has a second document, but a file may contain only one | -";
        assert_eq!(error("timeout: 1\n---\ntimeout: 2\n"), message);
    }

    #[test]
    fn wrong_values_are_named_with_their_place() {
        insta::assert_snapshot!(error("review:\n  fail-on: always\n"), @r#"sluicegate.yaml:2:12: "always" is not one of error, warn, never | -"#);
        insta::assert_snapshot!(error("timeout: soon\n"), @"sluicegate.yaml:1:10: `timeout` must be a number, not `soon` | -");
        insta::assert_snapshot!(error("timeout: -1\n"), @"sluicegate.yaml:1:10: `timeout` must be an integer from 0, not `-1` | -");
        insta::assert_snapshot!(error("review: [\n"), @"sluicegate.yaml:1:9: expected keys with values | put a section's keys on indented lines below its name");
        insta::assert_snapshot!(error("publish:\n  exclude:\n    - good/**\n    - 'a[b'\n"), @r#"sluicegate.yaml:4:7: invalid glob "a[b": unclosed character class; missing ']' | -"#);
        insta::assert_snapshot!(error("review:\n  include: sales/**\n"), @r#"sluicegate.yaml:2:12: expected a list | write a list in brackets, even for one item: ["sales/**"]"#);
        insta::assert_snapshot!(error("timeout: 1\ntimeout: 2\n"), @"sluicegate.yaml:2:1: duplicate key `timeout` | -");
        insta::assert_snapshot!(error("review:\n  comment: yes\n"), @"sluicegate.yaml:2:12: `comment` must be `true` or `false`, not `yes` | -");
        insta::assert_snapshot!(error("review: { new-only: 'on', comment: true } # x\n"), @"sluicegate.yaml:1:21: `new-only` must be `true` or `false`, not `'on'` | -");
        insta::assert_snapshot!(error("review:\n  comment:\n    maybe\n"), @"sluicegate.yaml:3:5: `comment` must be `true` or `false`, not `maybe` | -");
    }
}
