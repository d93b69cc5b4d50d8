//! Requests the versions of a prefix, and describes a missing prefix or version, and the version that consumers get.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::LatestVersion;
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, change_failure};
use sluicegate_base::text::{List, did_you_mean, escape_line, quote_shell_word};
use sluicegate_platform::api::{ApiValue, Artifact, ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError, request_for_hint};
use std::collections::BTreeSet;

/// Creates the lookup of a prefix, for messages about a missing prefix.
pub(crate) const fn prefix_lookup(prefix: &str) -> ResourceLookup<'_> {
    ResourceLookup {
        kind: ResourceKind::Prefix,
        name: prefix,
        list_command: Some("artifacts list"),
        show_command: None,
    }
}

/// Returns the prefixes of these artifacts, without the artifacts that have none.
pub(crate) fn artifact_prefixes(artifacts: &[ApiValue<Artifact>]) -> Vec<String> {
    artifacts
        .iter()
        .filter_map(|artifact| artifact.shared_pipeline_id_prefix.clone())
        .collect()
}

/// Requests all versions of a prefix, and filters the list in case the platform does not. A version for which the
/// platform does not report a prefix is kept.
pub(crate) async fn list_versions(platform: &Platform, prefix: &str) -> Result<Vec<Artifact>, HttpError> {
    let artifacts = platform.fetch_artifacts(Some(prefix)).await?;
    let mut versions: Vec<Artifact> = artifacts.into_iter().map(|artifact| artifact.value).collect();
    versions.retain(|version| may_have_prefix(version, prefix));
    Ok(versions)
}

/// Returns whether a version has this prefix, or the platform does not report its prefix.
fn may_have_prefix(version: &Artifact, prefix: &str) -> bool {
    let version_prefix = version.shared_pipeline_id_prefix.as_deref();
    version_prefix.is_none_or(|version_prefix| version_prefix == prefix)
}

/// Returns the warning that a git tag is compared, because a prefix lacks the version with its name. Returns `None` if
/// the prefix has no version at all, or if the platform lists this version.
pub(crate) async fn describe_missing_version(
    platform: &Platform,
    prefix: &str,
    version: &str,
) -> Result<Option<String>, HttpError> {
    let versions = list_versions(platform, prefix).await?;
    let is_listed = versions
        .iter()
        .any(|artifact| artifact.version_name.as_deref() == Some(version));
    Ok((!versions.is_empty() && !is_listed).then(|| {
        escape_line(&format!(
            "{prefix} has no version {version}: comparing the git tag with this name"
        ))
    }))
}

/// Returns the failure of a request for a version of a prefix, or for the latest one if `version` is `None`. For a 404,
/// the published artifacts show what is missing: the prefix, the version, or an enabled version. If the response to a
/// change was lost, the hint says how to check the result.
pub(crate) async fn version_request_failure(
    platform: &Platform,
    prefix: &str,
    version: Option<&str>,
    error: HttpError,
) -> Failure {
    let list_call = format!("artifacts list --prefix {prefix}");
    if error.kind() != ErrorKind::NotFound {
        let check_instruction = format!("run `sluicegate {list_call}` to check");
        return change_failure(error, ResourceKind::Version, &check_instruction);
    }
    let Some(artifacts) = request_for_hint(platform.fetch_artifacts(None)).await else {
        return unknown_version_failure(prefix, version, error);
    };
    let versions: Vec<&Artifact> = artifacts
        .iter()
        .map(|artifact| &artifact.value)
        .filter(|artifact| artifact.shared_pipeline_id_prefix.as_deref() == Some(prefix))
        .collect();
    if versions.is_empty() {
        let hint = missing_prefix_hint(prefix, &artifact_prefixes(&artifacts));
        let no_names = None;
        return prefix_lookup(prefix)
            .request_failure_with_names(error, no_names)
            .with_hint(hint);
    }
    let Some(version) = version else {
        // If a version is enabled, the 404 has another cause.
        if has_enabled_version(&artifacts, prefix) {
            return error.into();
        }
        let fact = format!("no version with the prefix {prefix:?} is enabled");
        let hint = format!(
            "run `sluicegate artifacts enable VERSION --prefix {}`; `{}` lists the versions",
            quote_shell_word(prefix),
            list_command(prefix)
        );
        return Failure::from(error).context(fact).with_hint(hint);
    };
    let names: Vec<String> = versions
        .iter()
        .filter_map(|version| version.version_name.clone())
        .collect();
    if is_latest_alias(version) && !names.iter().any(|name| name == version) {
        let fact = format!("the platform has no version {version:?}");
        return Failure::from(error).context(fact).with_hint(format!(
            "to see the latest enabled version, omit the version: `sluicegate artifacts show --prefix {}`",
            quote_shell_word(prefix)
        ));
    }
    let lookup = ResourceLookup {
        kind: ResourceKind::Version,
        name: version,
        list_command: Some(&list_call),
        show_command: None,
    };
    lookup.request_failure_with_names(error, Some(names))
}

/// Returns whether somebody probably means the latest enabled version by this name, which the platform does not accept.
fn is_latest_alias(version: &str) -> bool {
    let name = version.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("latest")
}

/// Returns the failure of a request for a version that the platform did not find, if the published artifacts cannot be
/// listed: nothing then shows whether the prefix or only the version is missing.
fn unknown_version_failure(prefix: &str, version: Option<&str>, error: HttpError) -> Failure {
    let fact = match version {
        Some(version) => format!("the platform did not find version {version:?} of the prefix {prefix:?}"),
        None => format!("the platform did not find an enabled version of the prefix {prefix:?}"),
    };
    Failure::from(error).context(fact).with_hint(
        "check the base URL, the prefix and the version, because the published versions could not be listed",
    )
}

/// Returns the message that no version is published under this prefix, with the most similar of the `prefixes`.
pub(crate) fn describe_missing_prefix(prefix: &str, prefixes: &[String]) -> String {
    let hint = missing_prefix_hint(prefix, prefixes);
    format!("no version is published under the prefix {prefix:?}: {hint}")
}

/// Returns the failure of a comparison with the latest version of a prefix without versions, although others exist.
pub(crate) fn missing_prefix_failure(prefix: &str, prefixes: &[String]) -> Failure {
    let message = format!("no version is published under the prefix {prefix:?}, so nothing was compared");
    let hint = missing_prefix_hint(prefix, prefixes);
    Failure::from_message(ExitStatus::Undecided, message)
        .with_hint(format!("{hint}; or publish the first version of a new prefix"))
}

/// Returns what to do if a prefix is missing. Names the published prefixes, because `artifacts list` shows only the
/// versions of the prefix in the settings, which is the missing one.
fn missing_prefix_hint(prefix: &str, prefixes: &[String]) -> String {
    let existing_prefixes: BTreeSet<&String> = prefixes.iter().collect();
    if existing_prefixes.is_empty() {
        return "no prefix exists yet; run `sluicegate publish` to publish the first version".to_owned();
    }
    let instruction = format!(
        "pass a published prefix with --prefix: {}",
        List::new(existing_prefixes)
    );
    match prefix_lookup(prefix).find_nearest_name(prefixes) {
        Some(near) => format!("{} {instruction}", did_you_mean(near)),
        None => instruction,
    }
}

/// Requests the latest enabled version of a prefix. If there is none, returns all published prefixes as the inner
/// error. A wrong base URL causes a 404, too, so only a list without an enabled version proves that it is missing.
pub(crate) async fn find_latest_version(
    platform: &Platform,
    prefix: &str,
) -> Result<Result<ArtifactDetails, Vec<String>>, Failure> {
    let error = match platform.fetch_artifact_details(prefix, None).await {
        Ok(details) => return Ok(Ok(details)),
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        Err(error) => return Err(error.into()),
    };
    match platform.fetch_artifacts(None).await {
        Ok(all) if has_enabled_version(&all, prefix) => Err(error.into()),
        Ok(all) => Ok(Err(artifact_prefixes(&all))),
        Err(_) => Err(unknown_version_failure(prefix, None, error)),
    }
}

/// Fails if the published versions cannot be listed after a request for a version ended with a 404: a wrong base URL
/// causes a 404, too, so only a platform that lists versions proves that the version is missing.
pub(crate) async fn confirm_missing_version(
    platform: &Platform,
    prefix: &str,
    version: &str,
    error: HttpError,
) -> Result<(), Failure> {
    match platform.fetch_artifacts(None).await {
        Ok(_) => Ok(()),
        Err(_) => Err(unknown_version_failure(prefix, Some(version), error)),
    }
}

/// Returns whether one of these artifacts is, or may be, an enabled version of the prefix.
fn has_enabled_version(artifacts: &[ApiValue<Artifact>], prefix: &str) -> bool {
    let mut versions = artifacts.iter();
    versions.any(|version| may_have_prefix(version, prefix) && version.may_be_enabled())
}

/// Returns the command that disables a version, complete with its arguments. It does not disable the last enabled
/// version, because that needs `--force`.
pub(crate) fn disable_command(prefix: &str, version: &str) -> String {
    version_command("disable", prefix, version)
}

/// Returns the command that enables a version, complete with its arguments.
pub(crate) fn enable_command(prefix: &str, version: &str) -> String {
    version_command("enable", prefix, version)
}

/// Returns the command that shows a version, complete with its arguments.
pub(crate) fn show_command(prefix: &str, version: &str) -> String {
    version_command("show", prefix, version)
}

/// Returns the command of `sluicegate artifacts` with this name for a version.
fn version_command(name: &str, prefix: &str, version: &str) -> String {
    format!(
        "sluicegate artifacts {name} {} --prefix {}",
        quote_shell_word(version),
        quote_shell_word(prefix)
    )
}

/// Returns the command that lists the versions of a prefix.
pub(crate) fn list_command(prefix: &str) -> String {
    format!("sluicegate artifacts list --prefix {}", quote_shell_word(prefix))
}

/// Returns a sentence about the version that consumers get now.
pub(crate) fn describe_latest_version(latest: &LatestVersion) -> String {
    match latest {
        LatestVersion::Enabled(version) => format!("consumers of [Latest] get version {version} now"),
        LatestVersion::NoneEnabled => {
            "NO VERSION IS ENABLED: pipelines that use [Latest] will fail at run time until a version is enabled or \
             published"
                .to_owned()
        }
        LatestVersion::Unknown(reason) => format!("could not determine which version consumers of [Latest] get now: {reason}"),
    }
}
