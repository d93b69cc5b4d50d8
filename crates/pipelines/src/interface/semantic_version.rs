//! Version names that are semantic versions: the promises they make, and the next name.

use super::ChangeClass;
use semver::Version;
use std::cmp::Ordering;

/// Maximum major version; a larger number is a date.
const MAX_MAJOR_VERSION: u64 = 999;

/// The name of the first version.
const FIRST_VERSION: &str = "1.0.0";

/// A semantic version, optionally with a leading `v`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SemanticName {
    prefix: &'static str,
    version: Version,
}

impl SemanticName {
    /// Parses a version name such as `v1.2.0`. Returns `None` if it is not a semantic version, or if its major number
    /// is so large that it must be a date.
    fn parse(name: &str) -> Option<Self> {
        let (prefix, version_text) = match (name.strip_prefix('v'), name.strip_prefix('V')) {
            (Some(version_text), _) => ("v", version_text),
            (_, Some(version_text)) => ("V", version_text),
            (None, None) => ("", name),
        };
        let version = Version::parse(version_text).ok()?;
        (version.major <= MAX_MAJOR_VERSION).then_some(Self { prefix, version })
    }
}

/// The reason why there is no next version name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NextNameError {
    /// The latest version has no number to increase.
    #[error(
        "the previous version is named `{0}`, which is not a semantic version, so the next version \
         name cannot be determined"
    )]
    NotSemantic(String),
    /// The number has reached its maximum.
    #[error("the version number of `{0}` cannot be increased")]
    TooLarge(String),
}

/// Returns whether [`next_version_name`] can derive a name from this one.
pub fn has_next_version_name(name: &str) -> bool {
    SemanticName::parse(name).is_some()
}

/// Compares two version names by their precedence, in which build metadata does not count
/// (<https://semver.org/#spec-item-11>). Returns `None` if one of them is not a semantic version.
pub fn compare_version_names(first: &str, second: &str) -> Option<Ordering> {
    let (first, second) = (SemanticName::parse(first)?, SemanticName::parse(second)?);
    Some(first.version.cmp_precedence(&second.version))
}

/// Returns the name of the version after `latest`, for changes of this class; without a latest version, the name of the
/// first one. A break increases the major number, an addition the minor number, and any other change the patch number.
/// Before 1.0, a break increases only the minor number and an addition only the patch number. The suffix of a
/// prerelease or a build is ignored: `2.0.0-rc.1` is treated like `2.0.0`.
pub fn next_version_name(latest: Option<&str>, class: ChangeClass) -> Result<String, NextNameError> {
    let Some(latest) = latest else {
        return Ok(FIRST_VERSION.to_owned());
    };
    let SemanticName { prefix, version } =
        SemanticName::parse(latest).ok_or_else(|| NextNameError::NotSemantic(latest.to_owned()))?;
    let is_before_1_0 = version.major == 0;
    let (major, minor, patch) = (version.major, version.minor, version.patch);
    let next_numbers = match (class, is_before_1_0) {
        (ChangeClass::Breaking, false) => major.checked_add(1).map(|major| (major, 0, 0)),
        (ChangeClass::Breaking, true) | (ChangeClass::Addition, false) => {
            minor.checked_add(1).map(|minor| (major, minor, 0))
        }
        _ => patch.checked_add(1).map(|patch| (major, minor, patch)),
    };
    let (major, minor, patch) = next_numbers
        .filter(|(major, ..)| *major <= MAX_MAJOR_VERSION)
        .ok_or_else(|| NextNameError::TooLarge(latest.to_owned()))?;
    let next_version = Version::new(major, minor, patch);
    Ok(format!("{prefix}{next_version}"))
}

/// Returns why the names of two versions announce a breaking change, according to semantic versioning. Returns `None`
/// if they do not, or if one of them is not a semantic version.
pub(super) fn find_announced_break(old: &str, new: &str) -> Option<String> {
    let (old_version, new_version) = (
        SemanticName::parse(old)?.version,
        SemanticName::parse(new)?.version,
    );
    if !old_version.pre.is_empty() {
        return Some(format!(
            "{old} is a prerelease, which does not promise compatibility"
        ));
    }
    if new_version.major > old_version.major {
        return Some(format!("{new} has a higher major version than {old}"));
    }
    let is_before_1_0 = old_version.major == 0 && new_version.major == 0;
    (is_before_1_0 && new_version.minor > old_version.minor)
        .then(|| format!("{new} has a higher minor version than {old}, which may break consumers before 1.0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChangeClass::{Addition, Breaking, Content};

    #[test]
    fn next_version_increases_number_of_change_class() {
        let table = [
            (None, Breaking, "1.0.0"),
            (Some("1.4.2"), Breaking, "2.0.0"),
            (Some("1.4.2"), Addition, "1.5.0"),
            (Some("1.4.2"), Content, "1.4.3"),
            (Some("v1.4.2"), Addition, "v1.5.0"),
            (Some("0.4.2"), Breaking, "0.5.0"),
            (Some("0.4.2"), Addition, "0.4.3"),
            (Some("0.4.2"), Content, "0.4.3"),
            (Some("2.0.0-rc.1+b"), Content, "2.0.1"),
            (Some("998.0.0"), Breaking, "999.0.0"),
        ];
        for (latest, class, expected) in table {
            assert_eq!(
                next_version_name(latest, class).unwrap(),
                expected,
                "{latest:?} {class}"
            );
        }
    }

    #[test]
    fn version_names_are_compared_by_precedence() {
        let compared = |first, second| compare_version_names(first, second);
        assert_eq!(compared("1.9.0", "v1.10.0"), Some(Ordering::Less));
        assert_eq!(compared("2.0.0-rc.1", "2.0.0"), Some(Ordering::Less));
        assert_eq!(compared("1.0.0+2", "1.0.0+1"), Some(Ordering::Equal));
        assert_eq!(compared("1.0.0", "2026.11.28"), None);
    }

    #[test]
    fn name_that_is_not_semantic_has_no_next_version() {
        for name in [
            "",
            "1.4",
            "2026.11.20",
            "2026-11-20-abc1234",
            "vv1.0.0",
            "01.0.0",
            "1.0.0 ",
            "1.0.99999999999999999999",
        ] {
            assert!(next_version_name(Some(name), Content).is_err(), "{name}");
        }
        let largest = format!("1.0.{}", u64::MAX);
        assert!(matches!(
            next_version_name(Some(&largest), Content),
            Err(NextNameError::TooLarge(_))
        ));
        assert!(matches!(
            next_version_name(Some("999.1.1"), Breaking),
            Err(NextNameError::TooLarge(_))
        ));
    }

    #[test]
    fn break_is_announced_by_major_number() {
        for (old, new, is_announced) in [
            ("1.4.0", "2.0.0", true),
            ("v1.4.0", "2.0.0", true),
            ("1.4.0", "1.5.0", false),
            ("2.0.0", "1.0.0", false),
            ("0.4.0", "0.5.0", true),
            ("0.4.0", "0.4.1", false),
            ("0.4.0", "1.0.0", true),
            ("2.0.0-rc.1", "2.0.0", true),
            ("1.4.0", "2.0.0-rc.1", true),
            ("1.4.0", "2026.11.20", false),
            ("2025.1.1", "2026.1.1", false),
            ("1.4.0", "two", false),
        ] {
            assert_eq!(
                find_announced_break(old, new).is_some(),
                is_announced,
                "{old} {new}"
            );
        }
    }
}
