//! Determines whether this run published a version.

use super::Plan;
use super::version_differences::{VersionDifference, find_commit_difference};
use jiff::{SignedDuration, Timestamp};
use sluicegate_platform::api::{ArtifactDetails, Platform, parse_platform_time};

/// Maximum time by which the clock that dates versions may be behind the one that dates the lookup. Both are clocks of
/// the platform, unless its responses have no date.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(10);

/// Origin of a version that did not exist before an upload whose response was lost.
pub(super) enum VersionOrigin {
    ThisRun,
    /// Another run published it; contains the difference.
    OtherRun(VersionDifference),
    /// The origin is unknown; contains the reason.
    Unclear(String),
}

/// When this run found that the version did not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AbsenceTime {
    /// By the platform's clock.
    Platform(Timestamp),
    /// By the local clock, because the platform's response has no date.
    Local(Timestamp),
}

impl AbsenceTime {
    /// Returns the time of a lookup whose response is the last one that the platform sent.
    pub(super) fn for_last_response(platform: &Platform) -> Self {
        let server_time = platform.observer().server_time();
        match server_time.and_then(|time| Timestamp::try_from(time).ok()) {
            Some(time) => Self::Platform(time),
            None => Self::Local(Timestamp::now()),
        }
    }
}

impl VersionOrigin {
    /// Decides by commit and creation time whether this run published the version. A version that was created before
    /// this run found no such version is from another run. Only the platform's clock proves that: the local clock may
    /// be wrong.
    pub(super) fn from_details(details: &ArtifactDetails, plan: &Plan, absence_time: AbsenceTime) -> Self {
        let artifact = &details.artifact;
        match find_commit_difference(artifact.commit_hash.as_deref(), &plan.commit_hash) {
            None => {}
            Some(VersionDifference::UnclearCommit(reason)) => return Self::Unclear(reason),
            Some(difference) => return Self::OtherRun(difference),
        }
        let created_at = artifact.created_at.as_deref().unwrap_or_default();
        let (AbsenceTime::Platform(time) | AbsenceTime::Local(time)) = absence_time;
        let earliest_time = time.saturating_sub(MAX_CLOCK_SKEW).unwrap_or(time);
        match parse_platform_time(created_at) {
            None => Self::Unclear(format!(
                "the version is from this commit, but the platform reports no valid creation time (`{created_at}`)"
            )),
            Some(creation_time) if creation_time >= earliest_time => Self::ThisRun,
            Some(_) if matches!(absence_time, AbsenceTime::Local(_)) => Self::Unclear(format!(
                "the version was created at {created_at}, before this run started according to the local clock, which \
                 may be wrong"
            )),
            Some(_) => Self::OtherRun(VersionDifference::Certain(format!(
                "the version was created at {created_at}, before this run started"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::content_reader::ContentReader;
    use crate::publish::{FileSelection, FileSource};
    use serde_json::json;
    use sluicegate_pipelines::interface::Interface;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn empty_plan(commit: &str) -> Plan {
        Plan {
            prefix: "p".to_owned(),
            version_name: "1".to_owned(),
            commit_hash: commit.to_owned(),
            branch: None,
            config_dir: ".platform".to_owned(),
            files: Vec::new(),
            shared_pipelines: Vec::new(),
            interface: Interface::empty(".platform/shared-pipelines.yaml".to_owned()),
            warnings: Vec::new(),
            warning_summary: Vec::new(),
            source: FileSource::Commit,
            selection: FileSelection::All,
            needed_count: 0,
            reader: Arc::new(ContentReader::new(PathBuf::new())),
        }
    }

    #[test]
    fn version_is_of_this_run_unless_it_is_older_than_the_skew_of_clocks() {
        let commit = "1f".repeat(20);
        let plan = empty_plan(&commit);
        let time: Timestamp = "2026-11-20T09:30:00Z".parse().unwrap();
        for (created_at, is_of_this_run) in [
            ("2026-11-20T09:19:59Z", false),
            ("2026-11-20T09:20:00Z", true),
            ("2026-11-20T09:31:00Z", true),
        ] {
            let details = json!({
                "artifactDetails": { "commitHash": commit, "createdAt": created_at },
                "sharedPipelines": [],
            });
            let details: ArtifactDetails = serde_json::from_value(details).unwrap();
            for absence_time in [AbsenceTime::Platform(time), AbsenceTime::Local(time)] {
                let origin = VersionOrigin::from_details(&details, &plan, absence_time);
                let is_expected = match (origin, absence_time) {
                    (VersionOrigin::ThisRun, _) => is_of_this_run,
                    (VersionOrigin::OtherRun(_), AbsenceTime::Platform(_))
                    | (VersionOrigin::Unclear(_), AbsenceTime::Local(_)) => !is_of_this_run,
                    _ => false,
                };
                assert!(is_expected, "{created_at} {absence_time:?}");
            }
        }
    }
}
