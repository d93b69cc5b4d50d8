//! The repository's name and its URLs on the CI host.

use super::Delivery;
use crate::job::ci::Host;
use crate::session::Session;
use sluicegate_git::{RemoteUrl, Repository};
use sluicegate_pipelines::findings::Report;

/// Variables with the repository name: GitHub, Gitea and Forgejo, GitLab, Bitbucket, Azure.
const NAME_VARIABLES: [&str; 4] = [
    "GITHUB_REPOSITORY",
    "CI_PROJECT_PATH",
    "BITBUCKET_REPO_FULL_NAME",
    "BUILD_REPOSITORY_NAME",
];

/// Returns the URL of a line in a file of the reviewed commit on the host, with the placeholders `{path}` and `{line}`.
/// It is a template for links in reports. Returns `None` if the host has no such pages or lacks the commit.
pub(super) fn build_blob_url_template(
    session: &Session,
    delivery: &Delivery<'_>,
    report: &Report,
) -> Option<String> {
    let host = delivery.host();
    let head = report
        .context
        .head
        .as_ref()
        .filter(|head| delivery.is_known_to_host(head))?;
    let repository = find_repository_url(session, host)?;
    let file_path = match host {
        Host::GitHub => format!("blob/{head}/{{path}}#L{{line}}"),
        Host::Gitea => format!("src/commit/{head}/{{path}}#L{{line}}"),
        Host::Bitbucket => format!("src/{head}/{{path}}#lines-{{line}}"),
        Host::Azure => {
            let line = "line={line}&lineEnd={line}&lineStartColumn=1&lineEndColumn=1000";
            return Some(format!("{repository}?path=/{{path}}&version=GC{head}&{line}"));
        }
        // GitLab: other hosts have no URL of the repository.
        _ => format!("-/blob/{head}/{{path}}#L{{line}}"),
    };
    Some(format!("{repository}/{file_path}"))
}

/// Returns the name of the repository: from the host's variables in a CI job, otherwise from the URL of the remote,
/// otherwise the name of the directory. Returns `None` without a repository.
pub(super) fn find_repository_name(session: &Session, delivery: &Delivery<'_>) -> Option<String> {
    let host_name = NAME_VARIABLES
        .iter()
        .find_map(|variable| session.env.get(variable));
    if let Some(name) = host_name.filter(|_| !delivery.host().is_local()) {
        return Some(name.to_owned());
    }
    match delivery.files {
        Some((repo, _)) => name_repository(repo),
        None => name_repository(&session.find_repository().ok()??),
    }
}

/// Returns the repository's name from the URL of its remote, otherwise the name of its directory.
fn name_repository(repo: &Repository) -> Option<String> {
    if let Ok(Some(remote)) = repo.find_remote_url()
        && let Some(name) = parse_repository_path(&remote)
    {
        return Some(name);
    }
    Some(repo.root().file_name()?.to_string_lossy().into_owned())
}

/// Returns the path in a remote's address, without `.git` and without possible secrets. Returns `None` for a remote on
/// a disk, because its name is usually not that of the repository.
fn parse_repository_path(remote: &str) -> Option<String> {
    let address = RemoteUrl::parse(remote)?;
    if address.is_on_this_machine() || address.may_contain_password() {
        return None;
    }
    Some(address.path().to_owned())
}

/// Returns the URL of the repository on the host, built only from the host's own variables; `None` if they are not set
/// or the host has no pages for repositories.
pub(super) fn find_repository_url(session: &Session, host: Host) -> Option<String> {
    match host {
        Host::GitHub | Host::Gitea => {
            let server = session.env.get("GITHUB_SERVER_URL")?;
            Some(format!("{server}/{}", session.env.get("GITHUB_REPOSITORY")?))
        }
        Host::GitLab => session.env.get("CI_PROJECT_URL").map(str::to_owned),
        Host::Bitbucket => {
            let name = session.env.get("BITBUCKET_REPO_FULL_NAME")?;
            Some(format!("https://bitbucket.org/{name}"))
        }
        // Only for Azure Repos (`TfsGit`): a repository on another host, such as GitHub, has other pages. The address
        // may contain a user name.
        Host::Azure if session.env.get("BUILD_REPOSITORY_PROVIDER") == Some("TfsGit") => {
            let address = session
                .env
                .get("BUILD_REPOSITORY_URI")?
                .strip_prefix("https://")?;
            let (_, address_without_user) = address.split_once('@').unwrap_or(("", address));
            Some(format!("https://{address_without_user}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_repository_path;

    #[test]
    fn name_holds_no_credentials() {
        for (remote, name) in [
            ("https://user:secret@h.example/o/r.git", Some("o/r")),
            ("https://h.example/o/r/?token=secret", Some("o/r")),
            ("https://user:sec/ret@h.example/o/r.git", None),
            ("https:/user:secret@h.example/o/r.git", None),
            ("ssh://git@h.example:22/o/r.git", Some("o/r")),
            ("git@h.example:o/r.git", Some("o/r")),
            ("file:///somewhere/else/r.git", None),
            ("/somewhere/else/r.git/", None),
            ("../r", None),
            ("C:\\r", None),
            ("C:/repos/r.git", None),
            ("https://user:secret@h.example", None),
            ("", None),
        ] {
            assert_eq!(parse_repository_path(remote).as_deref(), name, "{remote}");
        }
    }
}
