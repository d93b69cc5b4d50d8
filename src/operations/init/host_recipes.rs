//! The setup of each CI host: the path of its job, the job's text, and where its secrets are set.
//!
//! Each host is one template and one entry of the table.

use crate::job::ci::Host;
use crate::job::cli::PROGRAM;
use serde::Deserialize;
use sluicegate_base::remote_url::RemoteUrl;
use sluicegate_git::read_disk_file;
use std::fs;
use std::path::Path;

/// The rest of the word if it names a file of the gate configuration, which a CI file may use without the program.
const GATE_FILE_ENDINGS: [&str; 4] = [".yaml", ".yml", "-waivers.yaml", "-rules.yaml"];

/// Maximum number of files of a host to search, and their maximum size in bytes.
const MAX_FILES: usize = 200;
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The setup of a host.
#[derive(Debug)]
pub(crate) struct HostRecipe {
    pub(crate) host: Host,
    /// The file or directory that shows that the host is used.
    pub(crate) marker: &'static str,
    pub(crate) path: &'static str,
    /// The path if another job file exists, and how to include it there; `None` if the host reads only one file.
    pub(crate) alternative: Option<(&'static str, &'static str)>,
    pub(crate) template: &'static str,
    /// The job that also signs statements; `None` for a host that the signing action does not run on.
    pub(crate) signed_template: Option<&'static str>,
    /// The commands that set the address and the token.
    pub(crate) secrets: &'static [&'static str],
}

const RECIPES: &[HostRecipe] = &[
    HostRecipe {
        host: Host::GitHub,
        marker: ".github/workflows",
        path: ".github/workflows/sluicegate.yml",
        alternative: None,
        template: include_str!("templates/github.yml"),
        signed_template: Some(include_str!("templates/github-signed.yml")),
        secrets: &[
            "Set the variable PLATFORM_URL and the secret PLATFORM_TOKEN of the repository:",
            "    gh variable set PLATFORM_URL",
            "    gh secret set PLATFORM_TOKEN",
        ],
    },
    HostRecipe {
        host: Host::Gitea,
        marker: ".gitea/workflows",
        path: ".gitea/workflows/sluicegate.yml",
        alternative: None,
        template: include_str!("templates/gitea.yml"),
        signed_template: None,
        secrets: &[
            "Set the variable PLATFORM_URL and the secret PLATFORM_TOKEN: repository settings, Actions",
        ],
    },
    HostRecipe {
        host: Host::GitLab,
        marker: ".gitlab-ci.yml",
        path: ".gitlab-ci.yml",
        alternative: Some((
            ".gitlab/sluicegate.yml",
            "Include the file in .gitlab-ci.yml: `include: [{ local: .gitlab/sluicegate.yml }]`",
        )),
        template: include_str!("templates/gitlab.yml"),
        signed_template: None,
        secrets: &[
            "Set the CI/CD variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (masked): project settings, CI/CD. If",
            "    the variables are protected, jobs on unprotected branches do not see them",
        ],
    },
    HostRecipe {
        host: Host::Azure,
        marker: "azure-pipelines.yml",
        path: "azure-pipelines.yml",
        alternative: Some((
            ".azure/sluicegate.yml",
            "Create a pipeline from the file: Pipelines, New pipeline, existing YAML file",
        )),
        template: include_str!("templates/azure.yml"),
        signed_template: None,
        secrets: &[
            "Set the pipeline variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (secret): edit the pipeline, Variables",
            "    In Azure Repos, a branch policy (build validation) starts the pipeline for pull requests, \
             not `pr:`",
        ],
    },
    HostRecipe {
        host: Host::Bitbucket,
        marker: "bitbucket-pipelines.yml",
        path: "bitbucket-pipelines.yml",
        alternative: None,
        template: include_str!("templates/bitbucket.yml"),
        signed_template: None,
        secrets: &[
            "Set the variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN (secured): repository settings, Pipelines",
        ],
    },
    HostRecipe {
        host: Host::Jenkins,
        marker: "Jenkinsfile",
        path: "Jenkinsfile",
        alternative: Some((
            "Jenkinsfile.sluicegate",
            "Create a multibranch job with the script path Jenkinsfile.sluicegate",
        )),
        template: include_str!("templates/Jenkinsfile"),
        signed_template: None,
        secrets: &["Create the credentials `sluicegate-url` and `sluicegate-token` of the kind Secret text"],
    },
    HostRecipe {
        host: Host::CircleCi,
        marker: ".circleci/config.yml",
        path: ".circleci/config.yml",
        alternative: None,
        template: include_str!("templates/circleci.yml"),
        signed_template: None,
        secrets: &[
            "Set the environment variables SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN in the project settings or in a context",
        ],
    },
    HostRecipe {
        host: Host::Buildkite,
        marker: ".buildkite/pipeline.yml",
        path: ".buildkite/pipeline.yml",
        alternative: Some((
            ".buildkite/sluicegate.yml",
            "Upload the file in a step: `buildkite-agent pipeline upload .buildkite/sluicegate.yml`",
        )),
        template: include_str!("templates/buildkite.yml"),
        signed_template: None,
        secrets: &[
            "Set SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN for the job in an agent hook or with Buildkite secrets",
        ],
    },
];

impl HostRecipe {
    /// Returns the path of the first CI file below `root` that runs this program. Searches the usual paths of the host
    /// and, if its marker is a directory, at most `MAX_FILES` files in that directory.
    pub(super) fn find_ci_file_of_program(&self, root: &Path) -> Option<String> {
        let alternative_path = self.alternative.map(|(path, _)| path);
        let mut paths: Vec<String> = [Some(self.marker), Some(self.path), alternative_path]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        let entries = fs::read_dir(root.join(self.marker)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .take(MAX_FILES)
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        paths.extend(names.into_iter().map(|name| format!("{}/{name}", self.marker)));
        paths
            .into_iter()
            .find(|path| self.runs_program(&read_ci_file(&root.join(path))))
    }

    /// Returns whether the text of a CI file runs this program. A comment, the inclusion of the alternative file and
    /// the name of a file of the gate configuration do not run it.
    fn runs_program(&self, text: &str) -> bool {
        let mut code = remove_comments(text);
        if let Some((path, _)) = self.alternative {
            code = code.replace(path, "");
        }
        code.split(PROGRAM).skip(1).any(|remainder| {
            !GATE_FILE_ENDINGS
                .iter()
                .any(|ending| remainder.starts_with(ending))
        })
    }

    /// Returns the instruction to include the alternative file. Returns `None` if the host has no such file, or if the
    /// main file below `root` names it.
    pub(super) fn find_inclusion_hint(&self, root: &Path) -> Option<&'static str> {
        let (path, inclusion_hint) = self.alternative?;
        let main_code = remove_comments(&read_ci_file(&root.join(self.path)));
        (!main_code.contains(path)).then_some(inclusion_hint)
    }
}

/// Removes comments, which begin with `#` or, in a Jenkinsfile, with `//`. In the middle of a line, a blank is before
/// this sign.
fn remove_comments(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        let is_whole_line = ["#", "//"].iter().any(|sign| line.trim_start().starts_with(sign));
        if !is_whole_line {
            let end = [" #", "\t#", " //"]
                .iter()
                .filter_map(|sign| line.find(sign))
                .min();
            code.push_str(end.map_or(line, |end| &line[..end]));
        }
        code.push('\n');
    }
    code
}

/// Returns the text of a CI file; empty if the file is missing or unreadable.
pub(super) fn read_ci_file(path: &Path) -> String {
    let content = read_disk_file(path, MAX_FILE_BYTES)
        .ok()
        .flatten()
        .unwrap_or_default();
    String::from_utf8_lossy(&content).into_owned()
}

/// Returns the stages that a `.gitlab-ci.yml` sets; none if it lacks the key, or if they cannot be read.
pub(super) fn read_gitlab_stages(path: &Path) -> Vec<String> {
    let file: Option<GitLabFile> = serde_yaml::from_str(&read_ci_file(path)).ok();
    file.unwrap_or_default().stages
}

/// The part of a `.gitlab-ci.yml` that decides which stage a job may have.
#[derive(Default, Deserialize)]
struct GitLabFile {
    #[serde(default)]
    stages: Vec<String>,
}

/// Returns the recipes of all hosts, in the order in which hosts are detected.
pub(crate) const fn recipes() -> &'static [HostRecipe] {
    RECIPES
}

/// Returns the recipe of the host; `None` for a host without a job template.
pub(crate) fn find_recipe(host: Host) -> Option<&'static HostRecipe> {
    RECIPES.iter().find(|recipe| recipe.host == host)
}

/// Returns the server name in the address of a remote, in lowercase. Returns `None` for a local path.
pub(crate) fn parse_remote_server(remote: &str) -> Option<String> {
    RemoteUrl::parse(remote)?.host().map(str::to_owned)
}

/// Returns the CI host of the repositories on this server, if a part of the server's name reveals it.
pub(crate) fn find_ci_host_of_server(server: &str) -> Option<Host> {
    let name_parts = [
        ("github", Host::GitHub),
        ("gitlab", Host::GitLab),
        ("azure", Host::Azure),
        ("visualstudio", Host::Azure),
        ("bitbucket", Host::Bitbucket),
        ("gitea", Host::Gitea),
        ("forgejo", Host::Gitea),
        ("codeberg", Host::Gitea),
    ];
    name_parts
        .into_iter()
        .find(|(part, _)| server.contains(part))
        .map(|(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_found_in_both_forms() {
        let host = |remote: &str| {
            parse_remote_server(remote)
                .as_deref()
                .and_then(find_ci_host_of_server)
        };
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
            ("C:/github/b.git", None),
            ("file:///srv/github.git", None),
        ] {
            assert_eq!(host(remote), expected, "{remote}");
        }
    }

    #[test]
    fn every_host_has_a_recipe() {
        for host in Host::ALL {
            let has_no_job = matches!(host, Host::Unknown | Host::None);
            assert_eq!(find_recipe(*host).is_none(), has_no_job, "{host}");
        }
    }
}
