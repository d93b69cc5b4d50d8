//! Looks up settings by name: keys of the file, and variables.

use super::setting::Setting;
use super::setting_format::{GlobSubject, SettingFormat};
use super::setting_table::all_settings;
use crate::env::Env;
use crate::job::policy::KnownSetting;
use sluicegate_base::text;

/// Keys for a proxy. The configuration file must not contain them, although the program has no such settings. Each has
/// the variable to use instead.
const PROXY_KEYS: [(&str, &str); 3] = [
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
];

/// Returns the keys with globs, and the names that these globs match.
pub fn list_glob_keys() -> impl Iterator<Item = (&'static str, GlobSubject)> {
    all_settings().filter_map(|setting| match setting.format {
        SettingFormat::Globs(subject, _) => Some((setting.key, subject)),
        _ => None,
    })
}

/// Returns the setting with this variable.
pub(super) fn find_setting_by_variable(variable: &str) -> Option<&'static Setting> {
    all_settings().find(|setting| setting.variable == variable)
}

/// Returns the default of a key of `sluicegate.yaml`, and how its values are ordered by strictness. Both are needed to
/// tell whether a change to the file relaxes the gate. Returns `None` if the file may not contain the key.
pub fn find_known_setting(key: &str) -> Option<KnownSetting> {
    let setting = all_settings().find(|setting| setting.kind.is_in_file() && setting.key == key)?;
    Some(KnownSetting {
        strictness: setting.strictness,
        default: setting.format.comparable_default(),
        globs: setting.format.default_globs(),
    })
}

/// Returns the environment variable to use instead of a key that the configuration file may not contain. For the key of
/// a proxy, which is not a setting of this program, it is a standard variable such as `HTTPS_PROXY`.
pub(super) fn find_job_variable(key: &str) -> Option<&'static str> {
    if let Some(setting) = all_settings().find(|setting| !setting.kind.is_in_file() && setting.key == key) {
        return Some(setting.variable);
    }
    PROXY_KEYS
        .iter()
        .find(|(proxy_key, _)| *proxy_key == key)
        .map(|(_, variable)| *variable)
}

/// Returns a warning for each unknown environment variable that starts with `SLUICEGATE_`. A warning suggests the most
/// similar known variable.
pub fn describe_unknown_variables(env: &Env) -> Vec<String> {
    let known_names: Vec<&str> = all_settings()
        .map(|setting| setting.variable)
        .filter(|name| !name.is_empty())
        .collect();
    env.variable_names()
        .filter(|name| name.starts_with("SLUICEGATE_"))
        .filter(|name| !all_settings().any(|setting| setting.variable == *name))
        .map(|name| match text::suggest(name, &known_names) {
            Some(question) => format!("the variable {name} is unknown; {question}"),
            None => format!("the variable {name} is unknown"),
        })
        .collect()
}
