//! Prefixes and versions: what is looked for and is not there, and what consumers get.

use crate::base::error::Failure;
use crate::commands::kit::resource::{Sought, perhaps_made};
use crate::platform::api::{Artifact, ArtifactDetails, Platform};
use crate::platform::http::{ErrorKind, HttpError, for_hint};
use crate::publish::Latest;

/// A prefix that is looked for.
pub(crate) const fn sought_prefix(prefix: &str) -> Sought<'_> {
    Sought {
        what: "prefix",
        name: prefix,
        list: Some("artifacts list"),
        alone: None,
    }
}

/// The prefixes under which these are published.
pub(crate) fn prefixes(all: &[Artifact]) -> Vec<String> {
    all.iter()
        .filter_map(|it| it.shared_pipeline_id_prefix.clone())
        .collect()
}

/// All versions of a prefix; a platform that does not filter is filtered here.
pub(crate) async fn versions_of(platform: &Platform, prefix: &str) -> Result<Vec<Artifact>, HttpError> {
    let mut versions = platform.artifacts(Some(prefix)).await?;
    versions.retain(|it| {
        it.shared_pipeline_id_prefix
            .as_ref()
            .is_none_or(|own| own == prefix)
    });
    Ok(versions)
}

/// A 404 is for the prefix, unless something is published under it; then it is for the version.
pub(crate) async fn not_published(
    platform: &Platform,
    prefix: &str,
    version: Option<&str>,
    error: HttpError,
) -> Failure {
    let list = format!("artifacts list --prefix {prefix}");
    if error.kind() != ErrorKind::NotFound {
        return perhaps_made(error, &format!("`sluicegate {list}` tells"));
    }
    let all = for_hint(platform.artifacts(None)).await;
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
            .with_hint("no version of this prefix is enabled: `sluicegate artifacts enable` enables one")
            .into(),
        _ => sought_prefix(prefix).missing_among(error, all.map(|all| prefixes(&all))),
    }
}

/// That nothing is published under this prefix, with the nearest of those that there are.
pub(crate) fn nothing_under(prefix: &str, published: &[String]) -> String {
    let hint = sought_prefix(prefix).hint(published);
    format!("nothing is published under the prefix {prefix:?}: {hint}")
}

/// The latest enabled version, or none. The answer is the same at a wrong address, so the list has to tell that there is
/// none; it gives the prefixes under which something is published.
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

/// What consumers get now, as a sentence.
pub(crate) fn latest_in_words(latest: &Latest) -> String {
    match latest {
        Latest::Version(version) => format!("consumers of [Latest] get version {version} now"),
        Latest::Nothing => {
            "NO VERSION IS LEFT ENABLED: consumers of [Latest] fail when they run, until a version is enabled or published"
                .to_owned()
        }
        Latest::Unknown(why) => format!("what consumers of [Latest] get now cannot be told: {why}"),
    }
}
