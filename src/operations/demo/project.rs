//! Creates the demo's project: a bare remote with branches, and a clone.

use crate::error::Failure;
use sluicegate_git::{CommitId, NewCommit, Repository};
use std::path::{Path, PathBuf};

type DemoFiles = &'static [(&'static str, &'static str)];

/// The files of the main branch.
const MAIN: DemoFiles = &[
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
const REFUNDS: &str = "sales/refunds.orch.yaml";
const GOOD: &str = include_str!("files/refunds-good.orch.yaml");
const BAD: &str = include_str!("files/refunds-bad.orch.yaml");

/// The shared-pipelines file without a parameter that consumers set, and with one more shared pipeline.
const SHARED: &str = ".platform/shared-pipelines.yaml";
const BROKEN: &str = include_str!("files/shared-pipelines-broken.yaml");
const MORE: &str = include_str!("files/shared-pipelines-more.yaml");

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
    pub(crate) work: PathBuf,
}

/// Creates the project in `folder`.
pub(crate) fn make(folder: &Path) -> Result<DemoProject, Failure> {
    let project = DemoProject {
        remote: folder.join("remote.git"),
        work: folder.join("work"),
    };
    let remote = Repository::create_bare(&project.remote, "main")?;
    let main = commit(&remote, "main", None, MAIN, "Load and clean the orders")?;
    commit(
        &remote,
        GOOD_BRANCH,
        Some(&main),
        &[(REFUNDS, GOOD)],
        "Load the refunds",
    )?;
    commit(
        &remote,
        BAD_BRANCH,
        Some(&main),
        &[(REFUNDS, BAD)],
        "Load the refunds, in a hurry",
    )?;
    let further = [
        (BREAKING_BRANCH, &[(SHARED, BROKEN)][..], "Load all days at once"),
        (
            ADDING_BRANCH,
            &[(SHARED, MORE), (REFUNDS, GOOD)],
            "Share the refunds",
        ),
    ];
    for (branch, files, message) in further {
        commit(&remote, branch, Some(&main), files, message)?;
    }
    Repository::clone_local(&project.remote, &project.work)?;
    Ok(project)
}

fn commit(
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
