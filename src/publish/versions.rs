//! Determines which published versions consumers can still use, and which are old.

use super::lookup::time;
use jiff::Timestamp;
use sluicegate_platform::api::Artifact;

/// The reason why old versions cannot be distinguished from new ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionsError {
    /// The list has no creation time for a version.
    #[error("the platform reports no valid creation time for the version `{version}` (`{told}`)")]
    NoTime { version: String, told: String },
    /// The list has an entry without a name.
    #[error("the platform lists an enabled version without a name")]
    NoName,
}

/// Returns whether consumers would have no version left if `version` were disabled.
pub fn is_last_enabled(versions: &[Artifact], version: &str) -> bool {
    let is_it = |artifact: &&Artifact| artifact.version_name.as_deref() == Some(version);
    let is_off = versions
        .iter()
        .find(is_it)
        .is_some_and(|it| it.enabled == Some(false));
    let has_another = versions
        .iter()
        .any(|artifact| artifact.enabled == Some(true) && !is_it(&artifact));
    !is_off && !has_another
}

/// Returns the names of the enabled versions that are older than the newest `keep`, newest first. The version that
/// \[Latest\] means is never among them.
pub fn surplus(versions: &[Artifact], latest: &str, keep: usize) -> Result<Vec<String>, VersionsError> {
    let enabled = versions.iter().filter(|artifact| artifact.enabled == Some(true));
    let mut dated = enabled.map(dated).collect::<Result<Vec<_>, _>>()?;
    // The platform decides which version is the latest; times order the others.
    dated.sort_by(|(one_time, one), (other_time, other)| {
        let is_latest = |name: &str| name == latest;
        (is_latest(other), other_time)
            .cmp(&(is_latest(one), one_time))
            .then_with(|| other.cmp(one))
    });
    Ok(dated
        .into_iter()
        .skip(keep)
        .map(|(_, name)| name.to_owned())
        .filter(|name| name != latest)
        .collect())
}

fn dated(artifact: &Artifact) -> Result<(Timestamp, &str), VersionsError> {
    let name = artifact.version_name.as_deref().ok_or(VersionsError::NoName)?;
    let told = artifact.created_at.clone().unwrap_or_default();
    match time(&told) {
        Some(time) => Ok((time, name)),
        None => Err(VersionsError::NoTime {
            version: name.to_owned(),
            told,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, enabled: bool, made: &str) -> Artifact {
        Artifact {
            version_name: Some(name.to_owned()),
            enabled: Some(enabled),
            created_at: Some(made.to_owned()),
            ..Artifact::default()
        }
    }

    fn versions() -> Vec<Artifact> {
        vec![
            version("1", true, "2026-01-01T00:00:00Z"),
            version("3", true, "2026-03-01T00:00:00+01:00"),
            version("2", false, "2026-02-01T00:00:00Z"),
            version("4", true, "2026-04-01T00:00:00"),
        ]
    }

    #[test]
    fn last_enabled_version_is_told() {
        assert!(!is_last_enabled(&versions(), "4"));
        let one = [version("1", true, ""), version("2", false, "")];
        assert!(is_last_enabled(&one, "1"));
        assert!(!is_last_enabled(&one, "2"), "it is disabled already");
        assert!(!is_last_enabled(&one, "3"));
        assert!(is_last_enabled(&[], "1"), "nothing is known to be left");
    }

    #[test]
    fn newest_are_kept_and_latest_always() {
        let surplus = |latest, keep| surplus(&versions(), latest, keep).unwrap();
        assert_eq!(surplus("4", 1), ["3", "1"]);
        assert_eq!(surplus("4", 2), ["1"]);
        assert_eq!(surplus("4", 3), Vec::<String>::new());
        assert_eq!(surplus("1", 1), ["4", "3"]);
        assert_eq!(surplus("4", 0), ["3", "1"]);
    }

    #[test]
    fn versions_without_a_time_cannot_be_ordered() {
        let unknown = [version("1", true, "soon"), version("2", false, "?")];
        let error = surplus(&unknown, "1", 1).unwrap_err().to_string();
        insta::assert_snapshot!(error, @"the platform reports no valid creation time for the version `1` (`soon`)");
    }
}
