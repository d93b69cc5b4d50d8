//! Chooses what the user can do after the outcome of a publish.

use crate::job::cli::IfExists;
use crate::publish::{self, FileSelection, OutcomeKind, PublishProblem, VersionDifference};
use crate::session::artifact_versions::{disable_command, list_command, show_command};
use sluicegate_platform::http::{ErrorKind, HttpError};

/// Returns what the user can do if the version already exists. If the version was compared and differs from the plan
/// (`has_differences`), `--if-exists same-content` does not accept it, so only another name is useful. `{next}` selects
/// an unused name, so that another run published the version meanwhile.
pub(super) const fn conflict_hint(
    if_exists: IfExists,
    has_differences: bool,
    needs_next_version: bool,
) -> &'static str {
    match if_exists {
        _ if needs_next_version => {
            "another run published this version meanwhile; run the job again: `{next}` then selects the next version"
        }
        IfExists::Fail if !has_differences => {
            "publish under another version name, or pass --if-exists same-content to allow a rerun of the same commit"
        }
        IfExists::Fail | IfExists::SameContent => "publish under another version name",
    }
}

/// Returns what the user can do after this outcome; `None` if there is no useful step. Most hints ask the user to
/// disable the version, so they do not apply if the version is already disabled, by the program or by someone else.
pub(super) fn find_hint(
    prefix: &str,
    version: &str,
    outcome: &publish::Outcome,
    if_exists: IfExists,
    needs_next_version: bool,
) -> Option<String> {
    let disable_command = disable_command(prefix, version);
    let show_command = show_command(prefix, version);
    let is_disabled = outcome.is_disabled()
        || outcome
            .problems
            .contains(&PublishProblem::Difference(VersionDifference::Disabled));
    match outcome.kind {
        // The error of the upload is in the outcome only if the existing version was not compared.
        OutcomeKind::Conflict if if_exists == IfExists::SameContent && outcome.error.is_some() => {
            Some("run the job again: it compares the existing version with the files".into())
        }
        OutcomeKind::Conflict => {
            Some(conflict_hint(if_exists, outcome.has_differences(), needs_next_version).into())
        }
        OutcomeKind::Incomplete if !is_disabled => Some(format!(
            "run `{disable_command}` to hide the version from consumers; then publish under another name"
        )),
        OutcomeKind::Unverified if !is_disabled => Some(match outcome.find_unread_response_error() {
            Some(error) => format!(
                "run `{show_command}` to check whether the version exists; {}",
                error.hint()
            ),
            None => format!(
                "run `{show_command}` to check the version; to hide it from consumers, run `{disable_command}`"
            ),
        }),
        // The name is taken, and consumers cannot use the version.
        OutcomeKind::Incomplete | OutcomeKind::Unverified => Some("publish under another version name".into()),
        OutcomeKind::Superseded if is_disabled => Some(
            "if the newer version contains this commit, do not change anything; to publish this commit on purpose, run \
             `sluicegate publish --version-name NAME`"
                .into(),
        ),
        OutcomeKind::Superseded => {
            Some(format!("run `{disable_command}` to hide the version from consumers"))
        }
        OutcomeKind::Unconfirmed if !is_disabled => Some(format!(
            "run `{}`; if it shows a newer version, run `{disable_command}`",
            list_command(prefix)
        )),
        OutcomeKind::Unknown => {
            let check = format!("run `{show_command}` to check whether the version exists");
            // For example, the origin to which the upload was redirected.
            let cause = outcome.error.as_ref().filter(|error| error.has_specific_hint());
            Some(match cause {
                Some(error) if !error.is_maybe_processed() => format!("{check}; {}", error.hint()),
                _ => check,
            })
        }
        _ => outcome.error.as_ref().map(HttpError::hint),
    }
}

/// Returns how to make the publish smaller, if the platform or a proxy refused the upload because of its size.
pub(super) fn find_size_hint(outcome: &publish::Outcome, select: FileSelection) -> Option<String> {
    let is_too_large = outcome.kind == OutcomeKind::Failed
        && outcome
            .error
            .as_ref()
            .is_some_and(|error| error.kind() == ErrorKind::TooLarge);
    let hint = "the platform limits the size of a publish: leave out files with --exclude";
    is_too_large.then(|| match select {
        FileSelection::All => {
            format!("{hint}, or publish only the files that the shared pipelines need with --select closure")
        }
        FileSelection::Closure => hint.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::find_hint;
    use crate::job::cli::IfExists;
    use crate::publish::{LatestVersion, Outcome, OutcomeKind, VersionDifference, Withdrawal};

    #[test]
    fn hint_fits_kind_of_outcome_and_whether_version_is_disabled() {
        let hide = "run `sluicegate artifacts disable 1 --prefix p` to hide the version";
        let cases = [
            (
                OutcomeKind::Conflict,
                false,
                Some("publish under another version name"),
            ),
            (OutcomeKind::Incomplete, false, Some(hide)),
            (
                OutcomeKind::Incomplete,
                true,
                Some("publish under another version name"),
            ),
            (
                OutcomeKind::Unverified,
                false,
                Some("to check the version; to hide it"),
            ),
            (
                OutcomeKind::Unverified,
                true,
                Some("publish under another version name"),
            ),
            (OutcomeKind::Superseded, false, Some(hide)),
            (
                OutcomeKind::Superseded,
                true,
                Some("if the newer version contains this commit"),
            ),
            (
                OutcomeKind::Unconfirmed,
                false,
                Some("if it shows a newer version"),
            ),
            (OutcomeKind::Unconfirmed, true, None),
            (
                OutcomeKind::Unknown,
                false,
                Some("to check whether the version exists"),
            ),
            (OutcomeKind::Failed, false, None),
        ];
        for (kind, is_disabled, expected_part) in cases {
            let mut outcome = Outcome::new(kind);
            if is_disabled {
                outcome.withdrawal = Withdrawal::Disabled(LatestVersion::NoneEnabled);
            }
            let hint = find_hint("p", "1", &outcome, IfExists::Fail, false);
            match expected_part {
                Some(part) => assert!(
                    hint.as_deref().unwrap_or_default().contains(part),
                    "{kind:?}: {hint:?}"
                ),
                None => assert_eq!(hint, None, "{kind:?}"),
            }
        }
    }

    #[test]
    fn hint_after_comparison_does_not_suggest_comparison() {
        let outcome = Outcome::new(OutcomeKind::Conflict);
        let hint = find_hint("p", "1", &outcome, IfExists::SameContent, false).unwrap();
        assert_eq!(hint, "publish under another version name");
    }

    #[test]
    fn hint_after_conflict_of_computed_name_suggests_another_run() {
        let outcome = Outcome::new(OutcomeKind::Conflict);
        for if_exists in [IfExists::Fail, IfExists::SameContent] {
            let hint = find_hint("p", "1", &outcome, if_exists, true).unwrap_or_default();
            assert!(
                hint.contains("run the job again: `{next}` then selects"),
                "{hint}"
            );
        }
    }

    #[test]
    fn hint_does_not_disable_version_that_someone_else_disabled() {
        for kind in [OutcomeKind::Incomplete, OutcomeKind::Unverified] {
            let mut outcome = Outcome::new(kind);
            outcome.problems.push(VersionDifference::Disabled.into());
            let hint = find_hint("p", "1", &outcome, IfExists::Fail, false);
            assert_eq!(
                hint.as_deref(),
                Some("publish under another version name"),
                "{kind:?}"
            );
        }
    }
}
