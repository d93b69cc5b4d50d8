//! Realistic histories, checked out as CI hosts do: a new repository with only the references that the job fetches.

use crate::support::{World, git};
use std::fs;
use std::path::PathBuf;

/// Creates a directory for a job: an empty repository whose `origin` is the remote. It uses a URL, because git ignores
/// depth and filter for a local path.
pub fn workspace(world: &World) -> PathBuf {
    let mut names = (1..).map(|n| world.path().join(format!("job{n}")));
    let folder = names.find(|folder| !folder.exists()).unwrap();
    fs::create_dir(&folder).unwrap();
    git(&folder, "init -q -b main");
    git(&folder, &["remote", "add", "origin", &url(world)]);
    folder
}

/// Returns the remote's URL.
pub fn url(world: &World) -> String {
    format!("file://{}", world.remote().display())
}

/// Checks out like a job: `init`, `fetch` of these references, `checkout` of this revision, without a branch.
pub fn checkout(world: &World, fetch: &[&str], revision: &str) -> PathBuf {
    let folder = workspace(world);
    git(&folder, ("fetch -q --no-tags origin", fetch));
    git(&folder, format!("checkout -q --detach {revision}"));
    folder
}

/// Sets the remote's default branch in the checkout, as a full `git clone` does.
pub fn with_default(folder: PathBuf) -> PathBuf {
    git(&folder, "remote set-head origin main");
    folder
}

/// A pushed project: `main` has two commits after the fork of `feature`, which has two commits of its own.
pub struct Project {
    pub world: World,
    /// The commit that `feature` branched off from.
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
        world.git("checkout -q -b feature");
        world.write("first.orch.yaml", "1");
        let before = world.commit("first");
        world.write("second.tran.yaml", "2");
        let feature = world.commit("second");
        world.push();
        world.git("checkout -q main");
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

    /// Merges `feature` into `main` like a host's trial merge, and stores the merge at `reference` of the remote.
    pub fn trial_merge(&self, reference: &str) -> String {
        self.world.git("checkout -q --detach main");
        self.world.git("merge -q --no-ff -m trial feature");
        self.world.git(format!("push -q origin HEAD:{reference}"));
        self.world.git("rev-parse HEAD")
    }
}

pub const ZEROS: &str = "0000000000000000000000000000000000000000";
pub const EVERYTHING_FETCHED: &str = "+refs/heads/*:refs/remotes/origin/*";

/// Creates a checkout of this revision with all branches and tags.
pub fn complete_checkout(project: &Project, revision: &str) -> PathBuf {
    let fetch = [EVERYTHING_FETCHED, "+refs/tags/*:refs/tags/*"];
    checkout(&project.world, &fetch, revision)
}
