//! Looks up names: keys of the file, and variables.

use super::table::all;
use crate::env::Env;
use crate::job::policy::KnownSetting;
use sluicegate_base::text;

/// Names that are not settings of the program and are refused in the file too, with the variable to use instead.
const REFUSED: [(&str, &str); 3] = [
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
];

/// Returns the strictness and defaults of this key's values, for the report of a changed file.
pub fn known(key: &str) -> Option<KnownSetting> {
    let setting = all().find(|setting| setting.kind.is_in_file() && setting.key == key)?;
    Some(KnownSetting {
        strictness: setting.strictness,
        default: setting.look.default_word(),
        globs: setting.look.default_globs(),
    })
}

/// Returns the variable to use instead of a key that is not allowed in the file, in any section.
pub(super) fn refused(key: &str) -> Option<&'static str> {
    let own = all().find(|it| !it.kind.is_in_file() && it.key == key);
    let other = || REFUSED.iter().find(|(name, _)| *name == key);
    own.map(|it| it.variable)
        .or_else(|| other().map(|(_, variable)| *variable))
}

/// Returns a warning for each unknown variable that starts with `SLUICEGATE_`, with the most similar known one.
pub fn unknown_variables(env: &Env) -> Vec<String> {
    let known = all()
        .map(|setting| setting.variable)
        .filter(|name| !name.is_empty());
    let known: Vec<&str> = known.collect();
    let ours = env.names().filter(|name| name.starts_with("SLUICEGATE_"));
    ours.filter(|name| !known.contains(name))
        .map(|name| match text::suggest(name, &known) {
            Some(question) => format!("the variable {name} is unknown; {question}"),
            None => format!("the variable {name} is unknown"),
        })
        .collect()
}
