//! The setup of each CI host: the path of its job, the job's text, and where its secrets are set.
//!
//! Each host is one template and one entry of the table.

use crate::job::ci::Host;
use sluicegate_git::read_on_disk;
use std::fs;
use std::path::Path;
use url::Url;

/// A CI file that contains this word is assumed to run the program already.
const PROGRAM: &str = "sluicegate";

/// Maximum number of files of a host to search, and their maximum size in bytes.
const FILES: usize = 200;
const SIZE_LIMIT: u64 = 1024 * 1024;

/// The setup of a host.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) host: Host,
    /// The file or directory that shows that the host is used.
    pub(crate) sign: &'static str,
    pub(crate) path: &'static str,
    /// The path if another job file exists, and how to include it there; `None` if the host reads only one file.
    pub(crate) beside: Option<(&'static str, &'static str)>,
    pub(crate) template: &'static str,
    /// The commands that set the address and the token.
    pub(crate) secrets: &'static [&'static str],
    /// The installation of the program, if the job does not do it.
    pub(crate) needs: Option<&'static str>,
}

const ON_THE_PATH: Option<&str> = Some("Install the program on the agents: unpack the release on their PATH");

const RECIPES: &[Recipe] = &[
    Recipe {
        host: Host::GitHub,
        sign: ".github/workflows",
        path: ".github/workflows/sluicegate.yml",
        beside: None,
        template: include_str!("templates/github.yml"),
        secrets: &[
            "Set the variable PLATFORM_URL and the secret PLATFORM_TOKEN of the repository:",
            "    gh variable set PLATFORM_URL",
            "    gh secret set PLATFORM_TOKEN",
        ],
        needs: None,
    },
    Recipe {
        host: Host::Gitea,
        sign: ".gitea/workflows",
        path: ".gitea/workflows/sluicegate.yml",
        beside: None,
        template: include_str!("templates/gitea.yml"),
        secrets: &[
            "Set the variable PLATFORM_URL and the secret PLATFORM_TOKEN: repository settings, Actions",
        ],
        needs: None,
    },
    Recipe {
        host: Host::GitLab,
        sign: ".gitlab-ci.yml",
        path: ".gitlab-ci.yml",
        beside: Some((
            ".gitlab/sluicegate.yml",
            "Include it in .gitlab-ci.yml: `include: [{ local: .gitlab/sluicegate.yml }]`",
        )),
        template: include_str!("templates/gitlab.yml"),
        secrets: &[
            "Set the CI/CD variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (masked): project settings, CI/CD. If",
            "    they are protected, jobs of unprotected branches do not see them",
        ],
        needs: None,
    },
    Recipe {
        host: Host::Azure,
        sign: "azure-pipelines.yml",
        path: "azure-pipelines.yml",
        beside: Some((
            ".azure/sluicegate.yml",
            "Create a pipeline from it: Pipelines, New pipeline, existing YAML file",
        )),
        template: include_str!("templates/azure.yml"),
        secrets: &[
            "Set the pipeline variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (secret): edit the pipeline, Variables",
            "    In Azure Repos, pull requests start it by a branch policy (build validation), not by `pr:`",
        ],
        needs: None,
    },
    Recipe {
        host: Host::Bitbucket,
        sign: "bitbucket-pipelines.yml",
        path: "bitbucket-pipelines.yml",
        beside: None,
        template: include_str!("templates/bitbucket.yml"),
        secrets: &[
            "Set the variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (secured): repository settings, Pipelines",
        ],
        needs: None,
    },
    Recipe {
        host: Host::Jenkins,
        sign: "Jenkinsfile",
        path: "Jenkinsfile",
        beside: Some((
            "Jenkinsfile.sluicegate",
            "Create a multibranch job with the script path Jenkinsfile.sluicegate",
        )),
        template: include_str!("templates/Jenkinsfile"),
        secrets: &["Create the credentials `sluicegate-url` and `sluicegate-token`: secret texts"],
        needs: None,
    },
    Recipe {
        host: Host::CircleCi,
        sign: ".circleci/config.yml",
        path: ".circleci/config.yml",
        beside: None,
        template: include_str!("templates/circleci.yml"),
        secrets: &[
            "Set the environment variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN: project settings, or a context",
        ],
        needs: None,
    },
    Recipe {
        host: Host::Buildkite,
        sign: ".buildkite/pipeline.yml",
        path: ".buildkite/pipeline.yml",
        beside: Some((
            ".buildkite/sluicegate.yml",
            "Upload it in a step: `buildkite-agent pipeline upload .buildkite/sluicegate.yml`",
        )),
        template: include_str!("templates/buildkite.yml"),
        secrets: &[
            "Set SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN for the job: an agent hook, or Buildkite secrets",
        ],
        needs: ON_THE_PATH,
    },
];

impl Recipe {
    /// Returns the host's file below `root` that contains the program's name.
    pub(super) fn find_program_file(&self, root: &Path) -> Option<String> {
        let beside = self.beside.map(|(path, _)| path);
        let mut paths: Vec<String> = [Some(self.sign), Some(self.path), beside]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        let folder = fs::read_dir(root.join(self.sign)).into_iter().flatten();
        let names = folder.take(FILES).flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        paths.extend(names.into_iter().map(|name| format!("{}/{name}", self.sign)));
        paths.into_iter().find(|path| contains(&root.join(path), PROGRAM))
    }
}

/// Returns whether the file contains the text.
pub(super) fn contains(path: &Path, text: &str) -> bool {
    let content = read_on_disk(path, SIZE_LIMIT).ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&content).contains(text)
}

/// Returns the recipes, in the order in which hosts are detected.
pub(crate) const fn all() -> &'static [Recipe] {
    RECIPES
}

/// Returns the host's recipe; `None` for no host.
pub(crate) fn recipe(host: Host) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.host == host)
}

/// Returns the server of a remote's URL, in either form that git accepts: a URL, or `user@server:path`.
pub(crate) fn server(remote: &str) -> Option<String> {
    if remote.contains("://") {
        return Url::parse(remote).ok()?.host_str().map(str::to_lowercase);
    }
    let (before, _) = remote.split_once(':')?;
    let server = before.rsplit('@').next().unwrap_or(before);
    (!server.is_empty() && !server.contains(['/', '\\'])).then(|| server.to_lowercase())
}

/// Returns the CI host for repositories on this server, if its name reveals it.
pub(crate) fn host_at(server: &str) -> Option<Host> {
    let known = [
        ("github", Host::GitHub),
        ("gitlab", Host::GitLab),
        ("azure", Host::Azure),
        ("visualstudio", Host::Azure),
        ("bitbucket", Host::Bitbucket),
        ("gitea", Host::Gitea),
        ("forgejo", Host::Gitea),
        ("codeberg", Host::Gitea),
    ];
    known
        .into_iter()
        .find(|(part, _)| server.contains(part))
        .map(|(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_found_in_both_forms() {
        let host = |remote: &str| server(remote).as_deref().and_then(host_at);
        for (remote, expected) in [
            ("https://github.com/a/b.git", Some(Host::GitHub)),
            ("https://me:secret@GitHub.example.com/a/b", Some(Host::GitHub)),
            ("git@gitlab.com:a/b.git", Some(Host::GitLab)),
            ("ssh://git@gitlab.example.com:2222/a/b.git", Some(Host::GitLab)),
            ("https://dev.azure.com/org/project/_git/repo", Some(Host::Azure)),
            ("git@ssh.dev.azure.com:v3/org/project/repo", Some(Host::Azure)),
            ("git@bitbucket.org:a/b.git", Some(Host::Bitbucket)),
            ("https://codeberg.org/a/b.git", Some(Host::Gitea)),
            ("https://git.example.com/github/b.git", None),
            ("/srv/git/gitlab.git", None),
            ("../github:x/y", None),
            ("file:///srv/github.git", None),
        ] {
            assert_eq!(host(remote), expected, "{remote}");
        }
    }

    #[test]
    fn every_host_has_a_recipe() {
        for host in Host::ALL {
            let has_no_job = matches!(host, Host::Unknown | Host::None);
            assert_eq!(recipe(*host).is_none(), has_no_job, "{host}");
        }
    }
}
