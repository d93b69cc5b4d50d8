//! Creates the demo's project: a bare remote with branches, and a clone.

use crate::error::Failure;
use sluicegate_git::{CommitId, NewCommit, Repository};
use std::path::{Path, PathBuf};

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
];

/// The pipeline that two branches add, in a good and a bad version.
const REFUNDS_PATH: &str = "sales/refunds.orch.yaml";
const GOOD_REFUNDS: &str = include_str!("files/refunds-good.orch.yaml");
const BAD_REFUNDS: &str = include_str!("files/refunds-bad.orch.yaml");

/// The shared-pipelines file without a parameter that consumers set, and with one more shared pipeline.
const SHARED_PIPELINES_PATH: &str = ".platform/shared-pipelines.yaml";
const BREAKING_SHARED_PIPELINES: &str = include_str!("files/shared-pipelines-broken.yaml");
const EXTENDED_SHARED_PIPELINES: &str = include_str!("files/shared-pipelines-more.yaml");

/// The branch that breaks consumers.
pub(crate) const BREAKING_BRANCH: &str = "feature/no-day";
/// The branch with an addition for consumers.
pub(crate) const ADDING_BRANCH: &str = "feature/share-refunds";

/// The branch whose review passes the gate.
pub(crate) const GOOD_BRANCH: &str = "feature/refunds";
/// The branch whose review fails the gate.
pub(crate) const BAD_BRANCH: &str = "feature/refunds-in-a-hurry";

pub(crate) struct DemoProject {
    /// The bare remote that the platform reads.
    pub(crate) remote: PathBuf,
    /// The clone in which the commands run.
    pub(crate) clone: PathBuf,
}

/// Creates the project of the demo in `dir`.
pub(crate) fn create_demo_project(dir: &Path) -> Result<DemoProject, Failure> {
    let project = DemoProject {
        remote: dir.join("remote.git"),
        clone: dir.join("work"),
    };
    let remote = Repository::create_bare(&project.remote, "main")?;
    let main = create_commit(&remote, "main", None, MAIN_FILES, "Load and clean the orders")?;
    create_commit(
        &remote,
        GOOD_BRANCH,
        Some(&main),
        &[(REFUNDS_PATH, GOOD_REFUNDS)],
        "Load the refunds",
    )?;
    create_commit(
        &remote,
        BAD_BRANCH,
        Some(&main),
        &[(REFUNDS_PATH, BAD_REFUNDS)],
        "Load the refunds, in a hurry",
    )?;
    let later_branches = [
        (
            BREAKING_BRANCH,
            &[(SHARED_PIPELINES_PATH, BREAKING_SHARED_PIPELINES)][..],
            "Load all days at once",
        ),
        (
            ADDING_BRANCH,
            &[
                (SHARED_PIPELINES_PATH, EXTENDED_SHARED_PIPELINES),
                (REFUNDS_PATH, GOOD_REFUNDS),
            ],
            "Share the refunds",
        ),
    ];
    for (branch, files, message) in later_branches {
        create_commit(&remote, branch, Some(&main), files, message)?;
    }
    Repository::clone_local(&project.remote, &project.clone)?;
    Ok(project)
}

/// Creates a commit on a branch of the demo's remote.
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
