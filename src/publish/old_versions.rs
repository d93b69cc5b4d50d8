//! Determines which published versions consumers can still use, and which are old.

use jiff::Timestamp;
use sluicegate_platform::api::Artifact;
use std::cmp::Reverse;

/// The reason why old versions cannot be distinguished from new ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionOrderError {
    /// The list has no creation time for a version.
    #[error("the platform reports no valid creation time for the version `{version}` (`{created_at}`)")]
    NoTime { version: String, created_at: String },
    /// The list has an entry without a name.
    #[error("the platform lists an enabled version without a name")]
    NoName,
}

/// Returns whether `version` is the only enabled version, so that consumers would have none if it were disabled. If
/// `versions` does not contain it, it is treated as enabled.
pub fn is_last_enabled_version(versions: &[Artifact], version: &str) -> bool {
    let has_name = |artifact: &&Artifact| artifact.version_name.as_deref() == Some(version);
    let is_disabled = versions.iter().find(has_name).is_some_and(Artifact::is_disabled);
    let has_other_enabled = versions
        .iter()
        .any(|artifact| artifact.is_certainly_enabled() && !has_name(&artifact));
    !is_disabled && !has_other_enabled
}

/// Returns the name of an enabled version that was created after `latest`, the version that \[Latest\] means. There is
/// one if the list of versions or the latest version is not up to date. The API document does not exclude that there is
/// one because `latest` was enabled later. Versions without a valid time are skipped.
pub fn find_newer_version<'a>(versions: &'a [Artifact], latest: &Artifact) -> Option<&'a str> {
    // The list and the details may contain the time of one version in different precision.
    let listed_latest = versions
        .iter()
        .find(|artifact| artifact.version_name == latest.version_name);
    let latest_time = listed_latest
        .and_then(Artifact::creation_time)
        .or_else(|| latest.creation_time())?;
    let newer_version = versions.iter().find(|artifact| {
        artifact.is_certainly_enabled() && artifact.creation_time().is_some_and(|time| time > latest_time)
    });
    newer_version.map(Artifact::display_name)
}

/// Returns the names of the enabled versions to disable if only the newest `keep` are kept, the newest first. The
/// version that \[Latest\] means is never among them. Fails if the order of the versions is unknown.
pub fn list_surplus_versions(
    versions: &[Artifact],
    latest: &str,
    keep: usize,
) -> Result<Vec<String>, VersionOrderError> {
    let mut dated_versions = versions
        .iter()
        .filter(|artifact| artifact.is_certainly_enabled())
        .map(parse_dated_version)
        .collect::<Result<Vec<_>, _>>()?;
    // The platform decides which version is the latest; times order the others.
    dated_versions.sort_by_key(|(time, name)| Reverse((*name == latest, *time, *name)));
    Ok(dated_versions
        .into_iter()
        .skip(keep)
        .filter(|(_, name)| *name != latest)
        .map(|(_, name)| name.to_owned())
        .collect())
}

/// Returns the creation time and the name of a version. Fails if one of them is missing or the time is invalid.
fn parse_dated_version(artifact: &Artifact) -> Result<(Timestamp, &str), VersionOrderError> {
    let name = artifact
        .version_name
        .as_deref()
        .ok_or(VersionOrderError::NoName)?;
    match artifact.creation_time() {
        Some(time) => Ok((time, name)),
        None => Err(VersionOrderError::NoTime {
            version: name.to_owned(),
            created_at: artifact.created_at.clone().unwrap_or_default(),
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
    fn last_enabled_version_is_recognized() {
        assert!(!is_last_enabled_version(&versions(), "4"));
        let one = [version("1", true, ""), version("2", false, "")];
        assert!(is_last_enabled_version(&one, "1"));
        assert!(!is_last_enabled_version(&one, "2"), "it is disabled already");
        assert!(!is_last_enabled_version(&one, "3"));
        assert!(is_last_enabled_version(&[], "1"), "nothing is known to be left");
    }

    #[test]
    fn newest_versions_and_latest_are_kept() {
        let surplus = |latest, keep| list_surplus_versions(&versions(), latest, keep).unwrap();
        assert_eq!(surplus("4", 1), ["3", "1"]);
        assert_eq!(surplus("4", 2), ["1"]);
        assert_eq!(surplus("4", 3), Vec::<String>::new());
        assert_eq!(surplus("1", 1), ["4", "3"]);
        assert_eq!(surplus("4", 0), ["3", "1"]);
    }

    #[test]
    fn disabled_version_is_not_newer_than_the_latest_one() {
        let versions = versions();
        let newer_than = |index: usize| find_newer_version(&versions, &versions[index]);
        assert_eq!(newer_than(1), Some("4"));
        assert_eq!(newer_than(3), None);
        let mut disabled = versions.clone();
        disabled[3].enabled = Some(false);
        assert_eq!(find_newer_version(&disabled, &disabled[1]), None);
        let earlier_time = version("4", true, "2026-03-31T23:59:59Z");
        assert_eq!(find_newer_version(&versions, &earlier_time), None);
    }

    #[test]
    fn version_without_time_cannot_be_ordered() {
        let unknown = [version("1", true, "soon"), version("2", false, "?")];
        let error = list_surplus_versions(&unknown, "1", 1).unwrap_err().to_string();
        insta::assert_snapshot!(error, @"the platform reports no valid creation time for the version `1` (`soon`)");
    }
}
