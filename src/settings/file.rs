//! `sluicegate.yaml`: its keys, and errors that name file, line, column and the key that was meant.

use super::SettingsError;
use crate::cli::{self, parse_value};
use crate::env::{self, Env};
use crate::input;
use crate::text::nearest;
use clap::ValueEnum;
use serde::{Deserialize, Deserializer};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The file's name at the repository root.
pub const FILE_NAME: &str = "sluicegate.yaml";

/// The largest configuration file that is read, in bytes.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// Keys that decide where a secret goes or what runs, and the variable that sets each.
const NEVER_IN_FILE: [(&str, &str); 13] = [
    ("base-url", env::BASE_URL),
    ("token", env::TOKEN),
    ("token-file", env::TOKEN_FILE),
    ("token-command", env::TOKEN_COMMAND),
    ("token-url", env::TOKEN_URL),
    ("token-audience", env::TOKEN_AUDIENCE),
    ("client-id", env::CLIENT_ID),
    ("client-secret", env::CLIENT_SECRET),
    ("ca-cert", env::CA_CERT),
    ("deepen", env::DEEPEN),
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
];

/// The configuration file; every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FileConfig {
    pub(super) project_id: Option<String>,
    pub(super) agent_version: Option<String>,
    pub(super) config_dir: Option<String>,
    pub(super) timeout: Option<u64>,
    pub(super) retries: Option<u32>,
    pub(super) ci: Option<String>,
    pub(super) include: Option<Vec<String>>,
    pub(super) exclude: Option<Vec<String>>,
    pub(super) environment: Option<String>,
    pub(super) poll_interval: Option<f64>,
    pub(super) cancel_status: Option<String>,
    #[serde(deserialize_with = "section")]
    pub(super) vocabulary: VocabularySection,
    #[serde(deserialize_with = "section")]
    pub(super) review: ReviewSection,
    #[serde(deserialize_with = "section")]
    pub(super) publish: PublishSection,
    #[serde(deserialize_with = "section")]
    pub(super) publish_on: PublishOnSection,
}

/// The section `review`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct ReviewSection {
    pub(super) all: Option<bool>,
    pub(super) base: Option<String>,
    pub(super) head: Option<String>,
    pub(super) branch: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) fail_on: Option<cli::FailOn>,
    #[serde(deserialize_with = "word")]
    pub(super) on_unavailable: Option<cli::OnUnavailable>,
    #[serde(deserialize_with = "word")]
    pub(super) fork: Option<cli::Fork>,
    #[serde(deserialize_with = "reports")]
    pub(super) report: Option<Vec<cli::ReportFlag>>,
    #[serde(deserialize_with = "word")]
    pub(super) annotations: Option<cli::Annotations>,
    pub(super) comment: Option<bool>,
    pub(super) category: Option<String>,
    pub(super) batch_size: Option<usize>,
    pub(super) concurrency: Option<usize>,
    pub(super) dry_run: Option<bool>,
}

/// The section `publish`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct PublishSection {
    pub(super) prefix: Option<String>,
    pub(super) version_name: Option<String>,
    #[serde(deserialize_with = "word")]
    pub(super) select: Option<cli::Select>,
    #[serde(deserialize_with = "word")]
    pub(super) from: Option<cli::PublishFrom>,
    #[serde(deserialize_with = "word")]
    pub(super) if_exists: Option<cli::IfExists>,
    #[serde(deserialize_with = "word")]
    pub(super) on_ignored: Option<cli::OnIgnored>,
    pub(super) no_verify: Option<bool>,
    pub(super) lookup_timeout: Option<u64>,
    pub(super) dry_run: Option<bool>,
    pub(super) require_review: Option<PathBuf>,
    pub(super) receipt: Option<PathBuf>,
}

/// The section `vocabulary`: the names behind the API document's neutral tokens.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct VocabularySection {
    #[serde(rename = "WAREHOUSE_A")]
    pub(super) warehouse_a: Option<String>,
    #[serde(rename = "WAREHOUSE_B")]
    pub(super) warehouse_b: Option<String>,
    #[serde(rename = "git_provider_a")]
    pub(super) git_provider: Option<String>,
    #[serde(rename = "CLOUD_A_KEY_VAULT")]
    pub(super) key_vault: Option<String>,
}

/// The section `publish-on`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct PublishOnSection {
    pub(super) branches: Option<Vec<String>>,
    pub(super) tags: Option<Vec<String>>,
}

/// A section; one whose keys are all commented out is empty.
fn section<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

fn word<'de, D: Deserializer<'de>, T: ValueEnum>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_value(&text))
        .transpose()
        .map_err(serde::de::Error::custom)
}

fn reports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<cli::ReportFlag>>, D::Error> {
    let texts = Option::<Vec<String>>::deserialize(deserializer)?;
    let parse = |texts: Vec<String>| texts.iter().map(|text| cli::ReportFlag::from_str(text)).collect();
    texts.map(parse).transpose().map_err(serde::de::Error::custom)
}

/// Reads the file that `--config` or the variable names, else the one in `root`, if it is there.
pub(super) fn load(env: &Env, flag: Option<&Path>, root: Option<&Path>) -> Result<FileConfig, SettingsError> {
    let named = flag
        .map(Path::to_path_buf)
        .or_else(|| env.get(env::CONFIG).map(PathBuf::from));
    let path = match (named, root) {
        (Some(path), _) => env.current_dir().join(path),
        (None, Some(root)) if root.join(FILE_NAME).exists() => root.join(FILE_NAME),
        _ => return Ok(FileConfig::default()),
    };
    parse(&path, &read(&path)?)
}

fn read(path: &Path) -> Result<String, SettingsError> {
    input::text_file(path, SIZE_LIMIT).map_err(|why| {
        SettingsError::new(format!(
            "the configuration file {} cannot be read: {why}",
            path.display()
        ))
    })
}

fn parse(path: &Path, text: &str) -> Result<FileConfig, SettingsError> {
    let options = serde_yaml::options! { strict_booleans: true, with_snippet: false };
    let config: Option<FileConfig> =
        serde_yaml::from_str_with_options(text, options).map_err(|error| explain(path, &error))?;
    Ok(config.unwrap_or_default())
}

fn explain(path: &Path, error: &serde_yaml::Error) -> SettingsError {
    let (place, said) = match error.location() {
        Some(at) if at.line() > 0 => {
            let suffix = format!(" at line {}, column {}", at.line(), at.column());
            let place = format!("{}:{}:{}", path.display(), at.line(), at.column());
            (place, error.to_string().replace(&suffix, ""))
        }
        _ => (path.display().to_string(), error.to_string()),
    };
    match error.without_snippet() {
        serde_yaml::Error::SerdeUnknownField { field, expected, .. } => unknown_key(&place, field, expected),
        serde_yaml::Error::DuplicateMappingKey { key: Some(key), .. } => {
            SettingsError::new(format!("{place}: the key `{key}` stands twice"))
        }
        _ => SettingsError::new(format!("{place}: {said}")),
    }
}

fn unknown_key(place: &str, field: &str, expected: &[&'static str]) -> SettingsError {
    if let Some((_, variable)) = NEVER_IN_FILE.iter().find(|(key, _)| *key == field) {
        let message = format!("{place}: `{field}` must not stand in the configuration file");
        let why = "the file belongs to the change under review, so it must not decide where a secret goes or what runs";
        return SettingsError::new(message).with_hint(format!("{why}; set the variable {variable} instead"));
    }
    let error = SettingsError::new(format!("{place}: unknown key `{field}`"));
    match nearest(field, expected) {
        Some(known) => error.with_hint(format!("did you mean `{known}`?")),
        None => error.with_hint(format!("known keys here: {}", expected.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = parse(Path::new(FILE_NAME), text).unwrap_err();
        format!("{error} | {}", error.hint().unwrap_or("-"))
    }

    #[test]
    fn an_empty_file_changes_nothing() {
        for text in ["", "# only a comment\n", "---\n"] {
            assert!(
                parse(Path::new(FILE_NAME), text).unwrap().project_id.is_none(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_the_nearest_one() {
        insta::assert_snapshot!(error("project-id: x\nreview:\n  fail_on: warn\n"),
            @"sluicegate.yaml:3:3: unknown key `fail_on` | did you mean `fail-on`?");
        insta::assert_snapshot!(error("zzzzzz: 1\n"),
            @"sluicegate.yaml:1:1: unknown key `zzzzzz` | known keys here: project-id, agent-version, config-dir, timeout, retries, ci, include, exclude, environment, poll-interval, cancel-status, vocabulary, review, publish, publish-on");
    }

    #[test]
    fn what_decides_where_a_secret_goes_is_refused() {
        for (key, variable) in NEVER_IN_FILE {
            let said = error(&format!("{key}: https://evil.invalid\n"));
            assert!(
                said.contains("must not stand in") && said.contains(variable),
                "{said}"
            );
        }
    }

    #[test]
    fn wrong_values_are_named_with_their_place() {
        insta::assert_snapshot!(error("review:\n  fail-on: always\n"), @r#"sluicegate.yaml:2:12: "always" is none of error, warn, never | -"#);
        insta::assert_snapshot!(error("timeout: soon\n"), @"sluicegate.yaml:1:10: invalid u64 | -");
        insta::assert_snapshot!(error("review: [\n"), @"sluicegate.yaml:1:9: expected mapping start | -");
        insta::assert_snapshot!(error("timeout: 1\ntimeout: 2\n"), @"sluicegate.yaml:2:1: the key `timeout` stands twice | -");
        insta::assert_snapshot!(error("review:\n  all: yes\n"), @"sluicegate.yaml:2:8: invalid boolean (strict mode expects true/false) | -");
    }
}
