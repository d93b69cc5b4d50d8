//! Deserializers for values of the file that are not a plain string, number or boolean.

use crate::job::cli::{self, parse_value};
use clap::ValueEnum;
use globset::Glob;
use serde::{Deserialize, Deserializer};
use sluicegate_base::globs::{explain_unmatchable_glob, parse_glob};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use std::str::FromStr;

/// Compiles a glob. The error names the glob and the reason why it is invalid.
pub(super) fn compile_glob(pattern: &str) -> Result<Glob, String> {
    parse_glob(pattern).map_err(|error| format!("invalid glob {pattern:?}: {}", error.kind()))
}

/// Compiles a glob of paths from the repository root. The error names the glob, and the reason why it is invalid or why
/// no path can match it.
pub(super) fn compile_path_glob(pattern: &str) -> Result<Glob, String> {
    if let Some(reason) = explain_unmatchable_glob(pattern) {
        return Err(format!("the glob {pattern:?} matches no file: {reason}"));
    }
    compile_glob(pattern)
}

/// Compiles a glob of the names of branches or tags. The error names the glob, and the reason why it is invalid or why no
/// name can match it: <https://git-scm.com/docs/git-check-ref-format>.
pub(super) fn compile_ref_glob(pattern: &str) -> Result<Glob, String> {
    if pattern.contains(char::is_whitespace) {
        return Err(format!(
            "the glob {pattern:?} matches no branch or tag: write several globs as separate entries, because a name \
             cannot contain a blank"
        ));
    }
    compile_glob(pattern)
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
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// Deserializes a list of globs, each of which can match a path from the repository root.
pub(super) fn deserialize_path_globs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Option::<Vec<PathGlob>>::deserialize(deserializer)?;
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// Deserializes a list of globs, each of which can match the name of a branch or tag.
pub(super) fn deserialize_ref_globs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<String>>, D::Error> {
    let globs = Option::<Vec<RefGlob>>::deserialize(deserializer)?;
    Ok(globs.map(|globs| globs.into_iter().map(|glob| glob.0).collect()))
}

/// A valid glob that can match the name of a branch or tag. The error for any other glob has its position in the file.
struct RefGlob(String);

impl<'de> Deserialize<'de> for RefGlob {
    /// Deserializes a valid glob and fails if it can match no name.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let glob = ValidGlob::deserialize(deserializer)?;
        compile_ref_glob(&glob.0).map_err(serde::de::Error::custom)?;
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
        compile_path_glob(&glob.0).map_err(serde::de::Error::custom)?;
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
