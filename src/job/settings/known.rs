//! What is known of a name: of a key in the file, and of a variable.

use super::table::all;
use crate::base::env::Env;
use crate::base::text::nearest;
use crate::job::policy::KnownSetting;

/// Names that are no settings of the program and are refused in the file too, with the variable that says it.
const REFUSED: [(&str, &str); 3] = [
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
];

/// Returns what is known of the values of this key, to tell what a change of them means.
pub fn known(key: &str) -> Option<KnownSetting> {
    let setting = all().find(|setting| setting.kind.is_in_file() && setting.key == key)?;
    Some(KnownSetting {
        strictness: setting.strictness,
        default: setting.look.default_word(),
        globs: setting.look.default_globs(),
    })
}

/// The variable to use instead of a key that must not stand in the file, wherever it stands there.
pub(super) fn refused(key: &str) -> Option<&'static str> {
    let own = all().find(|it| !it.kind.is_in_file() && it.key == key);
    let other = || REFUSED.iter().find(|(name, _)| *name == key);
    own.map(|it| it.variable)
        .or_else(|| other().map(|(_, variable)| *variable))
}

/// A warning for each variable that begins like ours and is none, with the nearest one that is.
pub fn unknown_variables(env: &Env) -> Vec<String> {
    let known = all()
        .map(|setting| setting.variable)
        .filter(|name| !name.is_empty());
    let known: Vec<&str> = known.collect();
    let ours = env.names().filter(|name| name.starts_with("SLUICEGATE_"));
    ours.filter(|name| !known.contains(name))
        .map(|name| match nearest(name, &known) {
            Some(meant) => format!("the variable {name} is unknown; did you mean {meant}?"),
            None => format!("the variable {name} is unknown"),
        })
        .collect()
}
