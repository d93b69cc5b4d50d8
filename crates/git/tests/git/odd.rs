//! Incomplete clones, and repositories that belong to other users.

use crate::{matches_anything, open, short};
use sluicegate_git::{CommitId, GitError, Repository};
use sluicegate_test_support::Arguments;
use sluicegate_test_support::repository::{self, World, git, store_references_as_reftable};
use sluicegate_test_support::scratch;
use std::path::{Path, PathBuf};

/// Clones the remote through a URL, because git ignores depth and filter for a local path.
fn clone(world: &World, name: &str, options: impl Arguments) -> PathBuf {
    let url = format!("file://{}", world.remote().display());
    git(world.path(), ("clone -q", options, format!("{url} {name}")));
    world.path().join(name)
}

/// Creates `main` with three commits and `feature` with two more after the first.
fn check_out_fork(world: &World) {
    for n in 0..3 {
        world.write("main.txt", n.to_string());
        world.commit("main");
    }
    world.push();
    world.git("checkout -q -b feature main~2");
    for n in 0..2 {
        world.write("feature.txt", n.to_string());
        world.commit("feature");
    }
    world.push();
}

/// Returns the merge-base of `main` and `feature`, which must not depend on their order.
fn merge_base(repo: &Repository) -> Result<Option<CommitId>, GitError> {
    let tip = |name: &str| repo.resolve(&format!("refs/remotes/origin/{name}")).unwrap();
    let (main, feature) = (tip("main"), tip("feature"));
    let only = |bases: Vec<CommitId>| {
        assert!(bases.len() < 2, "{bases:?}");
        bases.into_iter().next()
    };
    let base = repo.find_merge_bases(&main, &feature).map(only);
    let other = repo.find_merge_bases(&feature, &main).map(only);
    assert_eq!(other.ok(), base.as_ref().ok().cloned());
    base
}

#[test]
fn shallow_clone_with_too_little_history_reports_fix() {
    let world = World::new();
    check_out_fork(&world);
    let repo = open(&clone(&world, "shallow", "--depth=1 --no-single-branch"));
    assert!(repo.is_shallow());
    let error = merge_base(&repo).unwrap_err();
    assert!(matches!(error, GitError::ShallowHistory { .. }), "{error}");
    let hint = error.hint().unwrap();
    for remedy in ["fetch-depth: 0", "GIT_DEPTH: 0", "git fetch --unshallow"] {
        assert!(hint.contains(remedy), "{hint}");
    }
}

#[test]
fn shallow_clone_that_is_deep_enough_is_believed() {
    let world = World::new();
    world.commit("long ago");
    check_out_fork(&world);
    let root = world.git("rev-parse main~2");
    let repo = open(&clone(&world, "shallow", "--depth=3 --no-single-branch"));
    assert!(repo.is_shallow());
    assert_eq!(merge_base(&repo).unwrap().unwrap().as_str(), root);
}

/// The commit that `feature` really branched off from is beyond a cut, and an older one can be reached on another path:
///
/// ```text
/// A --- B --- M        main
/// |      \-y1-y2-\
///  \--- x1 ------ F    feature, depth 3 cuts y1 from B
/// ```
#[test]
fn merge_base_that_is_older_than_real_one_is_not_believed() {
    let world = World::new();
    let a = world.commit("A");
    let b = world.commit("B");
    world.commit("M");
    world.push();
    world.git(&["checkout", "-q", "-b", "feature", &b]);
    world.commit("y1");
    world.commit("y2");
    world.git(&["checkout", "-q", "-b", "x", &a]);
    world.commit("x1");
    world.git("checkout -q feature");
    world.git("merge -q -m F x");
    world.push();
    let shallow = clone(&world, "shallow", "--depth=3 --no-single-branch");
    assert_eq!(
        git(&shallow, &["merge-base", "origin/main", "origin/feature"]),
        a,
        "git itself is deceived"
    );
    assert!(matches!(
        merge_base(&open(&shallow)),
        Err(GitError::ShallowHistory { .. })
    ));
    assert_eq!(merge_base(&open(&world.work())).unwrap().unwrap().as_str(), b);
}

#[test]
fn worktree_of_shallow_clone_knows_cut() {
    let world = World::new();
    check_out_fork(&world);
    let shallow = clone(&world, "shallow", "--depth=1 --no-single-branch");
    git(&shallow, "worktree add -q ../tree origin/feature");
    let repo = open(&world.path().join("tree"));
    assert!(repo.is_shallow());
    assert_eq!(
        repo.root().canonicalize().unwrap(),
        world.path().join("tree").canonicalize().unwrap()
    );
    assert_eq!(repo.head().unwrap().branch, None);
    assert!(matches!(merge_base(&repo), Err(GitError::ShallowHistory { .. })));
}

/// Older clones have the extension that libgit2 rejects; newer ones only mark the remote.
#[test]
fn partial_clone_is_compared_without_blobs_and_fetches_what_is_read() {
    for with_extension in [false, true] {
        let world = World::new();
        check_out_fork(&world);
        git(&world.remote(), "config uploadpack.allowFilter true");
        git(&world.remote(), "config uploadpack.allowAnySHA1InWant true");
        let partial = clone(&world, "partial", "--filter=blob:none --no-checkout");
        if with_extension {
            git(&partial, "config core.repositoryFormatVersion 1");
            git(&partial, "config extensions.partialClone origin");
        }
        reads_a_missing_blob(&partial);
    }
}

#[cfg(unix)]
#[test]
fn head_that_is_a_link_names_its_branch_in_a_stand_in() {
    let world = World::new();
    world.commit("first");
    let git_dir = world.work().join(".git");
    world.git("config core.repositoryFormatVersion 1");
    world.git("config extensions.partialClone origin");
    let branch = world.git("symbolic-ref --short HEAD");
    std::fs::remove_file(git_dir.join("HEAD")).unwrap();
    std::os::unix::fs::symlink(format!("refs/heads/{branch}"), git_dir.join("HEAD")).unwrap();
    let head = open(&world.work()).head().unwrap();
    assert_eq!(head.branch.as_deref(), Some(branch.as_str()));
}

fn reads_a_missing_blob(partial: &Path) {
    let settings = std::fs::read(partial.join(".git/config")).unwrap();
    let missing = || {
        let result = git(
            partial,
            "rev-list --objects --all --missing=print --no-object-names",
        );
        result.lines().filter(|line| line.starts_with('?')).count()
    };
    let before = missing();
    let repo = open(partial);
    let (base, head) = (
        merge_base(&repo).unwrap().unwrap(),
        repo.resolve("origin/feature").unwrap(),
    );
    assert_eq!(
        short(&repo.find_changes(&[base], &head, &matches_anything).unwrap()),
        ["A feature.txt"]
    );
    assert_eq!(missing(), before, "a comparison needs no blob");
    let file = repo.find_file(&head, "feature.txt").unwrap().unwrap();
    assert_eq!(repo.read_blob(&file.blob, 10).unwrap().unwrap(), b"1");
    assert_eq!(missing(), before - 1);
    assert_eq!(std::fs::read(partial.join(".git/config")).unwrap(), settings);
}

#[test]
fn partial_clone_without_its_remote_names_blob() {
    let world = World::new();
    check_out_fork(&world);
    git(&world.remote(), "config uploadpack.allowFilter true");
    let partial = clone(&world, "partial", "--filter=blob:none --no-checkout");
    std::fs::remove_dir_all(world.remote()).unwrap();
    let repo = open(&partial);
    let head = repo.resolve("origin/feature").unwrap();
    let file = repo.find_file(&head, "feature.txt").unwrap().unwrap();
    let error = repo.read_blob(&file.blob, 10).unwrap_err();
    assert!(matches!(error, GitError::Program { .. }), "{error}");
    assert!(error.to_string().contains(&file.blob.to_string()), "{error}");
}

/// Changes the owner of the directory and its git directory, if permitted.
fn give_away(folder: &Path) -> bool {
    repository::change_owner(&[&folder.join(".git"), folder])
}

#[test]
fn checkout_of_another_user_is_read_without_change_to_any_configuration() {
    let world = World::new();
    check_out_fork(&world);
    if !give_away(&world.work()) {
        return;
    }
    let before = std::fs::read(world.work().join(".git/config")).unwrap();
    let repo = open(&world.work());
    assert_eq!(
        repo.root().canonicalize().unwrap(),
        world.work().canonicalize().unwrap()
    );
    assert_eq!(repo.head().unwrap().branch.as_deref(), Some("feature"));
    let (base, head) = (merge_base(&repo).unwrap().unwrap(), repo.resolve("HEAD").unwrap());
    assert_eq!(
        short(&repo.find_changes(&[base], &head, &matches_anything).unwrap()),
        ["A feature.txt"]
    );
    assert_eq!(
        repo.find_upstream("feature"),
        Some(("origin".to_owned(), "feature".to_owned()))
    );
    assert_eq!(repo.find_remote_branches_with_commit(&head).unwrap().len(), 1);
    assert_eq!(std::fs::read(world.work().join(".git/config")).unwrap(), before);
}

#[test]
fn bare_repository_of_another_user_is_bare() {
    let world = World::new();
    check_out_fork(&world);
    if !repository::change_owner(&[&world.remote()]) {
        return;
    }
    let repo = open(&world.remote());
    assert!(repo.is_bare());
    assert_eq!(
        repo.root().canonicalize().unwrap(),
        world.remote().canonicalize().unwrap()
    );
    assert!(repo.find_local_branch_tip("feature").unwrap().is_some());
}

#[test]
fn foreign_checkout_with_separate_git_folder_is_found_from_subfolder() {
    let world = World::new();
    check_out_fork(&world);
    world.write("sub/x", "1");
    world.git("init -q --separate-git-dir ../elsewhere");
    if !repository::change_owner(&[&world.path().join("elsewhere")]) {
        return;
    }
    let repo = open(&world.work().join("sub"));
    assert_eq!(
        repo.root().canonicalize().unwrap(),
        world.work().canonicalize().unwrap()
    );
}

#[test]
fn shallow_checkout_of_another_user_knows_cut() {
    let world = World::new();
    check_out_fork(&world);
    let shallow = clone(&world, "shallow", "--depth=1 --no-single-branch");
    if give_away(&shallow) {
        assert!(matches!(
            merge_base(&open(&shallow)),
            Err(GitError::ShallowHistory { .. })
        ));
    }
}

#[test]
fn partial_clone_of_another_user_fetches_nothing() {
    let world = World::new();
    check_out_fork(&world);
    git(&world.remote(), "config uploadpack.allowFilter true");
    let partial = clone(&world, "partial", "--filter=blob:none --no-checkout");
    if !give_away(&partial) {
        return;
    }
    let repo = open(&partial);
    let file = repo
        .find_file(&repo.resolve("origin/feature").unwrap(), "feature.txt")
        .unwrap()
        .unwrap();
    let error = repo.read_blob(&file.blob, 10).unwrap_err();
    assert!(
        matches!(
            error,
            GitError::MissingObject {
                kind: "blob",
                partial: true,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn large_blob_of_another_user_is_streamed_too() {
    let world = World::new();
    let content = vec![b'x'; 5_000_000];
    world.write("large", &content);
    world.commit("one");
    if !give_away(&world.work()) {
        return;
    }
    let repo = open(&world.work());
    let file = repo
        .find_file(&repo.head().unwrap().commit, "large")
        .unwrap()
        .unwrap();
    let mut read = Vec::new();
    std::io::Read::read_to_end(&mut repo.open_blob(&file.blob, 5_000_000).unwrap(), &mut read).unwrap();
    assert!(read == content);
}

#[test]
fn objects_borrowed_from_another_repository_are_found_through_the_stand_in() {
    let world = World::new();
    check_out_fork(&world);
    git(world.path(), "clone -q --shared --no-checkout work borrower");
    let borrower = world.path().join("borrower");
    if give_away(&borrower) {
        assert_eq!(
            open(&borrower).head().unwrap().commit.as_str(),
            world.git(&["rev-parse", "HEAD"])
        );
    }
}

#[test]
fn formats_that_cannot_be_read_are_named() {
    for (format, reftable, name) in [
        ("sha256", false, "objectformat = sha256"),
        ("sha1", true, "refstorage = reftable"),
    ] {
        let folder = scratch::create_scratch_directory();
        let format = format!("--object-format={format}");
        git(folder.path(), format!("init -q {format} ."));
        if reftable {
            store_references_as_reftable(folder.path());
        }
        let error = Repository::discover(folder.path()).err().unwrap();
        assert!(
            matches!(&error, GitError::Unsupported { reason, .. } if reason.contains(name)),
            "{error}"
        );
        assert!(error.hint().is_some());
    }
}
