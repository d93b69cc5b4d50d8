//! Deserializers for values of the file that are not a plain string, number or boolean.

use crate::job::cli::{self, parse_value};
use clap::ValueEnum;
use globset::Glob;
use serde::{Deserialize, Deserializer};
use sluicegate_base::globs::{explain_unmatchable_glob, parse_glob};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use std::str::FromStr;

/// Maximum number of globs in a list. Each of them is compared with each file.
const MAX_GLOBS: usize = 1_000;

/// Fails if a list has more than [`MAX_GLOBS`] globs.
pub(super) fn reject_too_many_globs(glob_count: usize) -> Result<(), String> {
    if glob_count > MAX_GLOBS {
        return Err(format!(
            "there are {glob_count} globs; the maximum is {MAX_GLOBS}"
        ));
    }
    Ok(())
}

/// Compiles a glob. The error names the glob and the reason why it is invalid.
pub(super) fn compile_glob(pattern: &str) -> Result<Glob, String> {
    parse_glob(pattern).map_err(|error| format!("invalid glob {pattern:?}: {}", error.kind()))
}

/// Fails if no path from the repository root can match the glob. The error names the glob and the reason.
pub(super) fn reject_unmatchable_path_glob(pattern: &str) -> Result<(), String> {
    match explain_unmatchable_glob(pattern) {
        Some(reason) => Err(format!("the glob {pattern:?} matches no file: {reason}")),
        None => Ok(()),
    }
}

/// Fails if no name of a branch or tag can match the glob, because it is empty or contains a blank or a control
/// character: <https://git-scm.com/docs/git-check-ref-format>. Other blanks, such as U+3000, are allowed in names.
pub(super) fn reject_unmatchable_ref_glob(pattern: &str) -> Result<(), String> {
    if pattern.is_empty() {
        return Err("a glob for branches or tags is empty".to_owned());
    }
    if pattern.contains(is_forbidden_blank) {
        return Err(format!(
            "the glob {pattern:?} matches no branch or tag: write several globs as separate entries, because a name \
             cannot contain a blank"
        ));
    }
    Ok(())
}

/// Returns whether the character is a blank or a control character that no name of a branch or tag can contain.
pub(super) const fn is_forbidden_blank(character: char) -> bool {
    character == ' ' || character.is_ascii_control()
}

/// Deserializes a section of the configuration file. If all keys of a section are commented out, its value is null,
/// which is read as an empty section.
pub(super) fn deserialize_section<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Deserializes a setting that has a fixed set of values, which are the same as on the command line. Returns `None` for
/// null.
pub(super) fn deserialize_optional_enum<'de, D: Deserializer<'de>, T: ValueEnum>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_value(&text))
        .transpose()
        .map_err(serde::de::Error::custom)
}

/// Deserializes the value of `show`, which has a syntax of its own.
pub(super) fn deserialize_show<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<cli::ShowMode>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse())
        .transpose()
        .map_err(serde::de::Error::custom)
}

/// Deserializes a list of `format=path` entries.
pub(super) fn deserialize_reports<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<cli::ReportFlag>>, D::Error> {
    let Some(texts) = Option::<Vec<String>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    texts
        .iter()
        .map(|text| cli::ReportFlag::from_str(text))
        .collect::<Result<_, String>>()
        .map(Some)
        .map_err(serde::de::Error::custom)
}

/// Deserializes a list of globs, each of which must be valid.
pub(super) fn deserialize_globs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Option::<Vec<ValidGlob>>::deserialize(deserializer)?;
    reject_too_many_globs(globs.as_ref().map_or(0, Vec::len)).map_err(serde::de::Error::custom)?;
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// Deserializes a list of globs, each of which can match a path from the repository root.
pub(super) fn deserialize_path_globs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Option::<Vec<PathGlob>>::deserialize(deserializer)?;
    reject_too_many_globs(globs.as_ref().map_or(0, Vec::len)).map_err(serde::de::Error::custom)?;
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// Deserializes a list of globs, each of which can match the name of a branch or tag.
pub(super) fn deserialize_ref_globs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Option::<Vec<RefGlob>>::deserialize(deserializer)?;
    reject_too_many_globs(globs.as_ref().map_or(0, Vec::len)).map_err(serde::de::Error::custom)?;
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// A valid glob that can match the name of a branch or tag. The error for any other glob has its position in the file.
struct RefGlob(String);

impl<'de> Deserialize<'de> for RefGlob {
    /// Deserializes a valid glob and fails if it can match no name.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let glob = ValidGlob::deserialize(deserializer)?;
        reject_unmatchable_ref_glob(&glob.0).map_err(serde::de::Error::custom)?;
        Ok(Self(glob.0))
    }
}

/// A valid glob that can match a path from the repository root. The error for any other glob has its position in the
/// file.
struct PathGlob(String);

impl<'de> Deserialize<'de> for PathGlob {
    /// Deserializes a valid glob and fails if it can match no path.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let glob = ValidGlob::deserialize(deserializer)?;
        reject_unmatchable_path_glob(&glob.0).map_err(serde::de::Error::custom)?;
        Ok(Self(glob.0))
    }
}

/// A valid glob without unexpanded variables. The error for an invalid glob has its position in the file.
struct ValidGlob(String);

impl<'de> Deserialize<'de> for ValidGlob {
    /// Deserializes a glob and fails if it cannot be compiled or contains a variable.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        compile_glob(&text).map_err(serde::de::Error::custom)?;
        if let Some(value) = UnexpandedValue::find(&text) {
            return Err(serde::de::Error::custom(format!(
                "the glob {}; variables in the configuration file are not replaced",
                value.describe()
            )));
        }
        Ok(Self(text))
    }
}
