//! The source of the program that a CI job uses: an action, an image or the URL of the releases; the host decides.

use super::host_recipes::HostRecipe;
use crate::error::Failure;
use crate::job::ci::Host;

/// The source from which a job gets the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Action,
    Image,
    Releases,
}

impl SourceKind {
    /// Returns the kind of source that the job of this host uses.
    const fn of_host(host: Host) -> Self {
        match host {
            Host::GitHub | Host::Gitea => Self::Action,
            Host::GitLab => Self::Image,
            _ => Self::Releases,
        }
    }

    /// Returns the words for a value of this kind, and an example.
    const fn description_and_example(self) -> (&'static str, &'static str) {
        match self {
            Self::Action => ("an action", "your-org/sluicegate@v0.1.0"),
            Self::Image => ("an image", "registry.example.com/sluicegate:0.1.0-ci"),
            Self::Releases => (
                "the URL of the releases",
                "https://releases.example.com/sluicegate",
            ),
        }
    }

    /// Returns whether the value can be of this kind. Gitea also reads the URL of an action.
    fn accepts(self, source: &str, host: Host) -> bool {
        let is_url = source.starts_with("https://") || source.starts_with("http://");
        match self {
            Self::Releases => is_url,
            Self::Image => {
                let has_action_version = source
                    .split_once('@')
                    .is_some_and(|(_, digest)| !digest.contains(':'));
                !source.contains("://") && !has_action_version
            }
            Self::Action if is_url => host == Host::Gitea,
            Self::Action => match source.split_once('@') {
                Some((repository, _)) => repository.contains('/'),
                None => source.contains('/') && !source.contains(':'),
            },
        }
    }
}

/// Returns the value of `--source`, without a slash at the end. Fails if it contains special characters, because a job
/// contains it without quotes, or if it is not what the host of the recipe needs.
pub(super) fn parse_source_option(
    source: Option<&str>,
    recipe: Option<&HostRecipe>,
) -> Result<Option<String>, Failure> {
    let Some(source) = source else {
        return Ok(None);
    };
    if may_contain_password(source, recipe) {
        return Err(Failure::usage(
            "the source contains a user or a password, and the job is a file to commit",
        )
        .with_hint("pass the source without them; the job can add them from a secret variable"));
    }
    let is_plain = source.starts_with(|c: char| c.is_ascii_alphanumeric())
        && source
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._/:@-".contains(c));
    if !is_plain {
        return Err(Failure::usage(format!(
            "the source {source:?} is not an action (owner/repository@version), an image or a releases URL"
        )));
    }
    if let Some(host) = recipe.map(|recipe| recipe.host) {
        let kind = SourceKind::of_host(host);
        if !kind.accepts(source, host) {
            let (description, example) = kind.description_and_example();
            return Err(Failure::usage(format!(
                "the job for {host} needs {description}, but the source is {source}"
            ))
            .with_hint(format!("pass {description}, such as --source {example}")));
        }
    }
    Ok(Some(source.trim_end_matches('/').to_owned()))
}

/// Returns whether the source contains a user, a token or a password. An `@` also separates the version of an action
/// and the digest of an image. A URL of the releases has neither, so each `@` may be the end of a password.
fn may_contain_password(source: &str, recipe: Option<&HostRecipe>) -> bool {
    let Some((_, address)) = source.split_once("://") else {
        return source
            .split_once('@')
            .is_some_and(|(user, address)| user.contains(':') && address.contains('/'));
    };
    if recipe.is_some_and(|recipe| SourceKind::of_host(recipe.host) == SourceKind::Releases) {
        return address.contains('@');
    }
    let authority = address.split('/').next().unwrap_or_default();
    // The password ends at a slash if it contains one.
    let has_cut_password = authority
        .split_once(':')
        .is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit()));
    authority.contains('@') || has_cut_password
}
