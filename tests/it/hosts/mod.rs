//! Every event of every CI host, with histories and checkouts as the host creates them: the program must find the
//! branch and the commit that the remote has, the base, and exactly the changed pipelines.

mod azure;
mod azure_comments;
mod bitbucket;
mod buildkite;
mod circleci;
mod forks;
mod git_child_processes;
mod gitea;
mod github;
mod gitlab;
mod gitlab_components;
mod host_apis;
mod jenkins;
mod required_checks;
mod unknown_host;
