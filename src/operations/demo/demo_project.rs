//! Creates the demo's project: a bare remote with branches, and a clone.

use crate::error::Failure;
use sluicegate_git::{CommitId, NewCommit, Repository};
use std::path::{Path, PathBuf};
use std::{fs, io};

type DemoFiles = &'static [(&'static str, &'static str)];

/// The files of the main branch.
const MAIN_FILES: DemoFiles = &[
    (
        ".platform/config/pipeline_quality_rules.yaml",
        include_str!("files/rules.yaml"),
    ),
    (
        ".platform/shared-pipelines.yaml",
        include_str!("files/shared-pipelines.yaml"),
    ),
    (
        "sales/load orders.orch.yaml",
        include_str!("files/load-orders.orch.yaml"),
    ),
    (
        "sales/clean orders.tran.yaml",
        include_str!("files/clean-orders.tran.yaml"),
    ),
    ("sales/sql/prepare.sql", include_str!("files/prepare.sql")),
    (REFUNDS_PATH, include_str!("files/refunds.orch.yaml")),
    ("sluicegate.yaml", include_str!("files/sluicegate.yaml")),
    (".gitignore", "reports/\n"),
];

/// The pipeline that a branch changes, and the same change without the mistake.
const REFUNDS_PATH: &str = "sales/refunds.orch.yaml";
const UNCONNECTED_REFUNDS: &str = include_str!("files/refunds-mail.orch.yaml");
const CONNECTED_REFUNDS: &str = include_str!("files/refunds-mail-connected.orch.yaml");

/// The shared-pipelines file without a parameter that consumers set.
const SHARED_PIPELINES_PATH: &str = ".platform/shared-pipelines.yaml";
const BREAKING_SHARED_PIPELINES: &str = include_str!("files/shared-pipelines-broken.yaml");

/// The branch that breaks consumers.
pub(crate) const BREAKING_BRANCH: &str = "feature/no-day";
/// The branch whose review fails the gate: it adds a component that is not connected.
pub(crate) const UNCONNECTED_BRANCH: &str = "feature/refund-mail";

/// The bare remote and the clone in the demo's directory.
const REMOTE_NAME: &str = "remote.git";
const CLONE_NAME: &str = "work";
pub(crate) const DIR_NAMES: [&str; 2] = [REMOTE_NAME, CLONE_NAME];

pub(crate) struct DemoProject {
    /// The bare remote that the platform reads.
    pub(crate) remote: PathBuf,
    /// The clone in which the commands run.
    pub(crate) clone: PathBuf,
}

impl DemoProject {
    /// Writes the refunds pipeline to the working tree as it should be: with the change of the failing branch, but with
    /// the component connected.
    pub(crate) fn write_fixed_pipeline(&self) -> io::Result<()> {
        fs::write(self.clone.join(REFUNDS_PATH), CONNECTED_REFUNDS)
    }
}

/// Creates a bare remote repository with three branches in `dir`, and a clone of it. One branch fails the review,
/// another breaks consumers.
pub(crate) fn create_demo_project(dir: &Path) -> Result<DemoProject, Failure> {
    let project = DemoProject {
        remote: dir.join(REMOTE_NAME),
        clone: dir.join(CLONE_NAME),
    };
    let remote = Repository::create_bare(&project.remote, "main")?;
    let no_parent = None;
    let main = create_commit(
        &remote,
        "main",
        no_parent,
        MAIN_FILES,
        "Load and clean the orders",
    )?;
    let refunds = [(REFUNDS_PATH, UNCONNECTED_REFUNDS)];
    create_commit(
        &remote,
        UNCONNECTED_BRANCH,
        Some(&main),
        &refunds,
        "Report the refunds by mail",
    )?;
    let shared_pipelines = [(SHARED_PIPELINES_PATH, BREAKING_SHARED_PIPELINES)];
    create_commit(
        &remote,
        BREAKING_BRANCH,
        Some(&main),
        &shared_pipelines,
        "Load all days at once",
    )?;
    Repository::clone_local(&project.remote, &project.clone)?;
    Ok(project)
}

/// Creates a commit with these files on a branch of the remote. Without a parent, the commit is the first of its
/// history.
fn create_commit(
    remote: &Repository,
    branch: &str,
    parent: Option<&CommitId>,
    files: &[(&str, &str)],
    message: &str,
) -> Result<CommitId, Failure> {
    Ok(remote.commit_files(&NewCommit {
        branch,
        parent,
        files,
        message,
        author: "Sluicegate Demo",
    })?)
}
