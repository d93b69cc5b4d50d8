//! Texts about prefixes and versions: missing ones, and the version that consumers get.

use crate::error::Failure;
use crate::publish::LatestVersion;
use crate::session::resource::{Sought, perhaps_made};
use sluicegate_platform::api::{Artifact, ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError, read_for_hint};

/// Returns the search for a prefix.
pub(crate) const fn sought_prefix(prefix: &str) -> Sought<'_> {
    Sought {
        what: "prefix",
        name: prefix,
        list: Some("artifacts list"),
        alone: None,
    }
}

/// Returns the prefixes of these artifacts.
pub(crate) fn prefixes(all: &[Artifact]) -> Vec<String> {
    all.iter()
        .filter_map(|it| it.shared_pipeline_id_prefix.clone())
        .collect()
}

/// Returns all versions of a prefix; filters the list in case the platform does not.
pub(crate) async fn versions_of(platform: &Platform, prefix: &str) -> Result<Vec<Artifact>, HttpError> {
    let mut versions = platform.artifacts(Some(prefix)).await?;
    versions.retain(|it| {
        it.shared_pipeline_id_prefix
            .as_ref()
            .is_none_or(|own| own == prefix)
    });
    Ok(versions)
}

/// Returns the failure for a missing prefix, or for a missing version if the prefix has others.
pub(crate) async fn not_published(
    platform: &Platform,
    prefix: &str,
    version: Option<&str>,
    error: HttpError,
) -> Failure {
    let list = format!("artifacts list --prefix {prefix}");
    if error.kind() != ErrorKind::NotFound {
        return perhaps_made(error, &format!("run `sluicegate {list}` to check"));
    }
    let all = read_for_hint(platform.artifacts(None)).await;
    let of_prefix = |it: &Artifact| it.shared_pipeline_id_prefix.as_deref() == Some(prefix);
    let known = all.as_ref().is_some_and(|all| all.iter().any(of_prefix));
    match version {
        Some(version) if known => {
            let of_prefix = all.into_iter().flatten().filter(of_prefix);
            let names = of_prefix.filter_map(|it| it.version_name).collect();
            let sought = Sought {
                what: "version",
                name: version,
                list: Some(&list),
                alone: None,
            };
            sought.missing_among(error, Some(names))
        }
        _ if known => error
            .with_hint(
                "no version of this prefix is enabled: run `sluicegate artifacts enable` to enable one",
            )
            .into(),
        _ => sought_prefix(prefix).missing_among(error, all.map(|all| prefixes(&all))),
    }
}

/// Returns the message that no artifact is published under this prefix, with the most similar prefix.
pub(crate) fn nothing_under(prefix: &str, published: &[String]) -> String {
    let hint = sought_prefix(prefix).hint(published);
    format!("no version is published under the prefix {prefix:?}: {hint}")
}

/// Returns the latest enabled version, or all published prefixes if there is none. A wrong base URL gives the same
/// response as a missing version, so the list is read to tell them apart.
pub(crate) async fn latest_of(
    platform: &Platform,
    prefix: &str,
) -> Result<Result<ArtifactDetails, Vec<String>>, Failure> {
    let error = match platform.artifact_details(prefix, None).await {
        Ok(details) => return Ok(Ok(details)),
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        Err(error) => return Err(error.into()),
    };
    match platform.artifacts(None).await {
        Ok(all) => Ok(Err(prefixes(&all))),
        Err(_) => Err(sought_prefix(prefix).missing_among(error, None)),
    }
}

/// Returns a sentence about the version that consumers get now.
pub(crate) fn latest_in_words(latest: &LatestVersion) -> String {
    match latest {
        LatestVersion::Enabled(version) => format!("consumers of [Latest] get version {version} now"),
        LatestVersion::NoneEnabled => {
            "NO VERSION IS ENABLED: consumers of [Latest] fail when they run, until a version is enabled or published"
                .to_owned()
        }
        LatestVersion::Unknown(why) => format!("could not determine which version consumers of [Latest] get now: {why}"),
    }
}
