//! Checks out as CI hosts do: a fresh repository with only what the job fetches.

use crate::repo::{World, git};
use crate::{open, pipelines, short};
use serde_json::Value;
use sluicegate::ci::{self, CiContext, Host};
use sluicegate::context::{self, ContextError, Target, Wish};
use sluicegate::env::Env;
use std::path::PathBuf;

/// A job's checkout: `init`, `fetch` of these references, `checkout` of this revision, without a branch.
pub fn checkout(world: &World, fetch: &[&str], revision: &str) -> PathBuf {
    let folder = world.path().join("job");
    git(world.path(), &["init", "-q", "job"]);
    git(
        &folder,
        &[
            "remote",
            "add",
            "origin",
            &format!("file://{}", world.remote().display()),
        ],
    );
    git(
        &folder,
        &[&["fetch", "-q", "--no-tags", "origin"], fetch].concat(),
    );
    git(&folder, &["checkout", "-q", "--detach", revision]);
    folder
}

/// What the host says, with these variables and this payload.
pub fn said(variables: &[(&str, &str)], payload: Option<Value>) -> CiContext {
    let owned = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let env = Env::from_parts(owned, "/".into());
    ci::detect(&payload.into_iter().fold(env, Env::with_payload), None).unwrap()
}

pub fn settle(folder: &std::path::Path, ci: &CiContext) -> Result<Target, ContextError> {
    context::settle(&open(folder), ci, &Wish::default())
}

/// The changed pipelines of a settled target.
pub fn changed(folder: &std::path::Path, target: &Target) -> Vec<String> {
    short(
        &open(folder)
            .changes(target.base.as_ref(), &target.head, &pipelines)
            .unwrap(),
    )
}

/// Base, or nothing for everything.
pub fn base(target: &Target) -> Option<&str> {
    target.base.as_ref().map(sluicegate::git::CommitId::as_str)
}

/// A project with `main` at two commits after the fork of `feature`, which has two of its own; all pushed.
pub struct Project {
    pub world: World,
    /// Where `feature` left.
    pub fork: String,
    pub main: String,
    /// The first commit of `feature`.
    pub before: String,
    pub feature: String,
}

impl Project {
    pub fn new() -> Self {
        let world = World::new();
        world.write("old.orch.yaml", "old");
        let fork = world.commit("fork");
        world.push();
        world.git(&["checkout", "-q", "-b", "feature"]);
        world.write("first.orch.yaml", "1");
        let before = world.commit("first");
        world.write("second.tran.yaml", "2");
        let feature = world.commit("second");
        world.push();
        world.git(&["checkout", "-q", "main"]);
        world.write("other.orch.yaml", "other");
        world.commit("other");
        let main = world.commit("more");
        world.push();
        Self {
            world,
            fork,
            main,
            before,
            feature,
        }
    }

    /// Merges `feature` into `main` as a host tries it, and keeps the merge at `reference` of the remote.
    pub fn trial_merge(&self, reference: &str) -> String {
        self.world.git(&["checkout", "-q", "--detach", "main"]);
        self.world
            .git(&["merge", "-q", "--no-ff", "-m", "trial", "feature"]);
        self.world
            .git(&["push", "-q", "origin", &format!("HEAD:{reference}")]);
        self.world.git(&["rev-parse", "HEAD"])
    }
}

pub const ZEROS: &str = "0000000000000000000000000000000000000000";
pub const EVERYTHING_FETCHED: &str = "+refs/heads/*:refs/remotes/origin/*";

/// No host.
pub fn nobody() -> CiContext {
    let context = said(&[], None);
    assert_eq!(context.host, Host::None);
    context
}
