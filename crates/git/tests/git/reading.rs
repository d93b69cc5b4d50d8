//! Finding the repository, its commits, files and branches.

use crate::{matches_anything, open};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use sluicegate_git::{FileKind, GitError, Repository};
use sluicegate_test_support::repository::{World, git};
use sluicegate_test_support::scratch;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::process::Command;
use std::slice;

fn canonical(path: &std::path::Path) -> std::path::PathBuf {
    path.canonicalize().unwrap()
}

#[test]
fn subfolder_finds_root() {
    let world = World::new();
    world.write("a/b/c.txt", "1");
    let commit = world.commit("one");
    let repo = open(&world.work().join("a/b"));
    assert_eq!(canonical(repo.root()), canonical(&world.work()));
    assert!(!repo.is_bare() && !repo.is_shallow());
    let head = repo.head().unwrap();
    assert_eq!(
        (head.commit.as_str(), head.branch.as_deref()),
        (commit.as_str(), Some("main"))
    );
    assert_eq!(head.commit.short(), &commit[..7]);
    assert_eq!(
        repo.commit_time(&head.commit).unwrap().to_string(),
        "2026-11-20T09:30:00Z"
    );
}

#[test]
fn folder_without_repository_is_named() {
    let folder = scratch::create_scratch_directory();
    let error = Repository::discover(folder.path()).err().unwrap();
    assert!(matches!(&error, GitError::NotARepository { from } if from == folder.path()));
    assert!(error.hint().unwrap().contains("--repo"));
    let gone = folder.path().join("gone");
    let error = Repository::open(&gone).err().unwrap();
    assert!(matches!(&error, GitError::NotARepository { from } if *from == gone));
}

#[test]
fn repository_without_commit_is_reported() {
    let world = World::new();
    for folder in [world.work(), world.remote()] {
        assert!(matches!(open(&folder).head(), Err(GitError::NoCommit { .. })));
    }
    world.commit("one");
    world.git("checkout -q --orphan empty");
    assert!(matches!(
        open(&world.work()).head(),
        Err(GitError::NoCommit { .. })
    ));
}

#[test]
fn bare_repository_is_read_like_any_other() {
    let world = World::new();
    world.write("a.txt", "one");
    let commit = world.commit("one");
    world.push();
    let repo = open(&world.remote());
    assert!(repo.is_bare());
    assert_eq!(canonical(repo.root()), canonical(&world.remote()));
    let tip = repo.find_local_branch_tip("main").unwrap().unwrap();
    assert_eq!(tip.as_str(), commit);
    assert_eq!(repo.find_local_branch_tip("mai").unwrap(), None);
    assert_eq!(repo.find_local_branch_tip("no such..branch").unwrap(), None);
    assert_eq!(repo.list_files(&tip, &matches_anything).unwrap().len(), 1);
}

#[test]
fn linked_worktree_has_its_own_head() {
    let world = World::new();
    world.commit("one");
    world.git("worktree add -q -b side ../side");
    fs::create_dir(world.path().join("side/sub")).unwrap();
    let repo = open(&world.path().join("side/sub"));
    assert_eq!(canonical(repo.root()), canonical(&world.path().join("side")));
    assert_eq!(repo.head().unwrap().branch.as_deref(), Some("side"));
    assert!(repo.find_local_branch_tip("main").unwrap().is_some());
}

#[test]
fn submodule_is_own_repository_and_no_file_of_outer_one() {
    let world = World::new();
    world.write("inner.txt", "1");
    world.commit("one");
    world.push();
    world.git("submodule add -q ../remote.git module");
    world.commit("with a module");
    let inner = open(&world.work().join("module"));
    assert_eq!(canonical(inner.root()), canonical(&world.work().join("module")));
    let outer = open(&world.work());
    let head = outer.head().unwrap().commit;
    let module = outer.find_file(&head, "module").unwrap().unwrap();
    assert_eq!(module.kind, FileKind::Submodule);
    assert_eq!(outer.find_file(&head, "module/inner.txt").unwrap(), None);
}

#[test]
fn detached_head_has_no_branch() {
    let world = World::new();
    world.commit("one");
    world.git("checkout -q --detach");
    assert_eq!(open(&world.work()).head().unwrap().branch, None);
}

#[test]
fn revision_is_followed_to_its_commit() {
    let world = World::new();
    let first = world.commit("one");
    world.git("tag -a v1 -m annotated");
    world.git("tag plain");
    world.commit("two");
    let repo = open(&world.work());
    for revision in ["v1", "plain", "HEAD~1", "main^", &first[..12]] {
        assert_eq!(repo.resolve(revision).unwrap().as_str(), first, "{revision}");
    }
    for revision in ["nothing", "--help", "", "HEAD:", "HEAD~9", "\u{0}"] {
        assert!(repo.resolve(revision).is_err(), "{revision:?}");
    }
    assert!(repo.has_commit(&first));
    assert!(!repo.has_commit("1111111111111111111111111111111111111111") && !repo.has_commit("x"));
}

#[test]
fn files_come_from_the_commit_not_from_the_working_tree() {
    let world = World::new();
    world.write("a/b.txt", "committed");
    world.write(".hidden/x", "1");
    world.write(".gitignore", "*.log\n");
    world.commit("one");
    world.write("a/b.txt", "dirty");
    world.write("new.txt", "dirty");
    let repo = open(&world.work());
    let head = repo.head().unwrap().commit;
    let file = repo.find_file(&head, "a/b.txt").unwrap().unwrap();
    assert_eq!(repo.read_blob(&file.blob, 100).unwrap().unwrap(), b"committed");
    assert_eq!(repo.read_blob_size(&file.blob).unwrap(), 9);
    let paths: Vec<String> = repo
        .list_files(&head, &matches_anything)
        .unwrap()
        .into_iter()
        .map(|file| file.path)
        .collect();
    assert_eq!(paths, [".gitignore", ".hidden/x", "a/b.txt"]);
    assert_eq!(repo.list_root_folders(&head).unwrap(), [".hidden", "a"]);
    for absent in [
        "a",
        "a/",
        "a/b.txt/c",
        "a/c",
        "",
        "/a/b.txt",
        "A/b.txt",
        "a//b.txt",
    ] {
        assert_eq!(repo.find_file(&head, absent).unwrap(), None, "{absent}");
    }
}

#[test]
fn files_at_several_paths_are_those_found_one_by_one() {
    let world = World::new();
    let existing_paths = [
        "a.b", "a/b", "a/b.c/d", "a/b.d", "a/c/e", "a0", "b/a", "b/z/z", "é/é", "z",
    ];
    for path in existing_paths {
        world.write(path, path);
    }
    world.commit("one");
    let repo = open(&world.work());
    let head = repo.head().unwrap().commit;
    let missing_paths = [
        "", "/a/b", "a", "a/", "a/b.c", "a//b", "a/b/c", "b/z", "b/z/zz", "c/a", "é", "zz",
    ];
    let all_paths: Vec<&str> = existing_paths.into_iter().chain(missing_paths).collect();
    for step in 1..all_paths.len() {
        for start in 0..3 {
            let paths: BTreeSet<&str> = all_paths.iter().copied().skip(start).step_by(step).collect();
            let single_files: Vec<_> = paths
                .iter()
                .filter_map(|path| repo.find_file(&head, path).unwrap())
                .collect();
            assert_eq!(repo.find_files(&head, &paths).unwrap(), single_files, "{paths:?}");
        }
    }
}

#[test]
fn blob_over_limit_is_not_read() {
    let world = World::new();
    world.write("a.txt", "12345");
    world.commit("one");
    let repo = open(&world.work());
    let file = repo
        .find_file(&repo.head().unwrap().commit, "a.txt")
        .unwrap()
        .unwrap();
    assert_eq!(repo.read_blob(&file.blob, 4).unwrap(), None);
    assert_eq!(repo.read_blob(&file.blob, 5).unwrap().unwrap(), b"12345");
}

/// Returns incompressible bytes.
fn noise(size: u32) -> Vec<u8> {
    (0..size)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

#[test]
fn large_blob_is_streamed_whole_and_may_be_left_early() {
    let world = World::new();
    let content = noise(9_000_000);
    world.write("large.bin", &content);
    world.write("similar.bin", [&content[..], b"and a little more"].concat());
    world.write("small.bin", "small");
    world.commit("one");
    // As loose objects; in a pack, with one of the large ones as a delta of the other; in a pack without deltas.
    for stored in [None, Some("--depth=50"), Some("--window=0")] {
        if let Some(how) = stored {
            world.git(&["repack", "-q", "-a", "-d", "-f", how]);
        }
        let repo = open(&world.work());
        let head = repo.head().unwrap().commit;
        let reader = |path: &str| {
            let blob = repo.find_file(&head, path).unwrap().unwrap().blob;
            repo.open_blob(&blob, repo.read_blob_size(&blob).unwrap())
                .unwrap()
        };
        let read = |path: &str| {
            let mut read = Vec::new();
            reader(path).read_to_end(&mut read).unwrap();
            read
        };
        assert!(read("large.bin") == content, "{stored:?}");
        assert!(read("similar.bin").ends_with(b"and a little more"), "{stored:?}");
        let mut start = [0; 10];
        reader("large.bin").read_exact(&mut start).unwrap();
        assert_eq!(start, content[..10]);
        assert_eq!(read("small.bin"), b"small");
    }
}

#[test]
fn damage_to_a_large_blob_is_an_error() {
    let world = World::new();
    world.write("large.bin", noise(5_000_000));
    world.commit("one");
    let repo = open(&world.work());
    let file = repo
        .find_file(&repo.head().unwrap().commit, "large.bin")
        .unwrap()
        .unwrap();
    let id = file.blob.to_string();
    let object = world
        .work()
        .join(format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    let mut stored = fs::read(&object).unwrap();
    let middle = stored.len() / 2;
    stored[middle] ^= 0x55;
    fs::remove_file(&object).unwrap();
    fs::write(&object, stored).unwrap();
    let mut reader = repo.open_blob(&file.blob, 5_000_000).unwrap();
    let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&id), "{message}");
}

#[test]
fn only_branches_of_a_remote_count_the_default_one_first() {
    let world = World::new();
    world.commit("one");
    world.push();
    world.git("push -q origin HEAD:refs/heads/a/first");
    world.git("push -q origin HEAD:refs/heads/zoo");
    world.git("update-ref refs/remotes/pull/1/merge HEAD");
    world.git("config --add remote.origin.fetch +refs/pull/2/head:refs/remotes/jenkins/PR-2");
    world.git("update-ref refs/remotes/jenkins/PR-2 HEAD");
    world.git("remote set-head origin main");
    let repo = open(&world.work());
    let head = repo.head().unwrap().commit;
    let names = |branches: Vec<sluicegate_git::RemoteBranch>| -> Vec<String> {
        branches
            .into_iter()
            .map(|branch| format!("{} {}", branch.remote, branch.branch))
            .collect()
    };
    assert_eq!(
        names(repo.find_remote_branches_with_commit(&head).unwrap()),
        ["origin main", "origin a/first", "origin zoo"]
    );
    world.commit("two");
    let ahead = repo.resolve("main").unwrap();
    assert_eq!(repo.find_remote_branches_with_commit(&ahead).unwrap(), []);
    assert!(repo.is_fetched(&head).unwrap() && !repo.is_fetched(&ahead).unwrap());
}

#[test]
fn commit_on_one_remote_branch_is_fetched_although_another_history_is_broken() {
    let world = World::new();
    world.commit("one");
    let lost = world.git("rev-parse HEAD");
    world.commit("two");
    world.push();
    for branch in ["a", "z"] {
        let broken = world.git(&format!("commit-tree -p {lost} -m {branch} HEAD^{{tree}}"));
        world.git(&format!("update-ref refs/remotes/origin/{branch} {broken}"));
    }
    world.git("checkout -q --orphan new");
    world.commit("other");
    world.git("update-ref refs/remotes/origin/good HEAD");
    let first = open(&world.work()).resolve("HEAD").unwrap();
    world.commit("next");
    world.git("update-ref refs/remotes/origin/good HEAD");
    let (folder, rest) = lost.split_at(2);
    fs::remove_file(world.work().join(".git/objects").join(folder).join(rest)).unwrap();
    let repo = open(&world.work());
    assert!(repo.is_fetched(&first).unwrap());
}

#[test]
fn default_branch_is_that_of_remote_or_usual_name() {
    let world = World::new();
    world.commit("one");
    world.push();
    world.git("push -q origin HEAD:refs/heads/trunk");
    let default = || {
        open(&world.work())
            .find_likely_default_branch()
            .unwrap()
            .map(|branch| branch.branch)
    };
    assert_eq!(default().as_deref(), Some("main"));
    world.git("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/trunk");
    assert_eq!(default().as_deref(), Some("trunk"));
    world.git("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/gone");
    assert_eq!(default().as_deref(), Some("main"));
    world.git("remote remove origin");
    assert_eq!(default(), None);
}

#[test]
fn histories_are_compared_over_merges_of_every_shape() {
    let world = World::new();
    let root = world.commit("root");
    for side in ["a", "b", "c"] {
        world.git(&["checkout", "-q", "-b", side, &root]);
        world.write(side, side);
        world.commit(side);
    }
    world.git("checkout -q -b octopus a");
    world.git("merge -q -m three b c");
    world.git("checkout -q -b left a");
    world.git("merge -q -m left b");
    world.git("checkout -q -b right b");
    world.git("merge -q -m right a~0");
    world.git("checkout -q --orphan alone");
    world.commit("alone");
    let repo = open(&world.work());
    let bases = |one: &str, other: &str| {
        let (one, other) = (repo.resolve(one).unwrap(), repo.resolve(other).unwrap());
        let mut value = repo.find_merge_bases(&one, &other).unwrap();
        value.sort();
        value.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let id = |revision: &str| repo.resolve(revision).unwrap().to_string();
    assert_eq!(bases("a", "b"), [root]);
    assert_eq!(bases("octopus", "c"), [id("c")]);
    let mut sides = [id("a"), id("b")];
    sides.sort();
    assert_eq!(bases("left", "right"), sides, "a criss-cross merge has both");
    assert!(bases("alone", "a").is_empty());
    let (octopus, c) = (repo.resolve("octopus").unwrap(), repo.resolve("c").unwrap());
    assert!(repo.contains_commit(&octopus, &c).unwrap() && !repo.contains_commit(&c, &octopus).unwrap());
    assert!(repo.contains_commit(&c, &c).unwrap());
    assert_eq!(
        repo.parents(&octopus).unwrap().first().map(ToString::to_string),
        Some(id("a"))
    );
}

#[test]
fn branch_that_branch_follows() {
    let world = World::new();
    world.commit("one");
    world.git("checkout -q -b mine");
    world.git("push -q -u origin HEAD:theirs/x");
    git(&world.work(), "branch local --track mine");
    let repo = open(&world.work());
    assert_eq!(
        repo.find_upstream("mine"),
        Some(("origin".to_owned(), "theirs/x".to_owned()))
    );
    assert_eq!(repo.find_upstream("local"), None);
    assert_eq!(repo.find_upstream("absent"), None);
}

#[test]
fn repository_may_go_to_another_thread() {
    const fn goes<T: Send>() {}
    const { goes::<Repository>() };
}

#[test]
fn commit_that_cannot_be_read_is_error_and_other_id_is_not_found() {
    let world = World::new();
    world.write("a.txt", "1");
    let commit = world.commit("one");
    let repo = open(&world.work());
    let unknown_id = "1".repeat(40);
    assert!(matches!(repo.find_commit_with_id(&commit), Ok(Some(_))));
    assert!(matches!(repo.find_commit_with_id(&unknown_id), Ok(None)));
    assert!(matches!(repo.find_commit_with_id("main"), Ok(None)));
    let object = world
        .work()
        .join(format!(".git/objects/{}/{}", &commit[..2], &commit[2..]));
    fs::remove_file(&object).unwrap();
    fs::write(&object, "damaged").unwrap();
    assert!(open(&world.work()).find_commit_with_id(&commit).is_err());
}

/// Creates a repository with these commits, each with its time and its parents among the earlier commits, and with a
/// remote-tracking branch for each commit.
fn import_history(commits: &[(u32, Vec<Index>)]) -> World {
    let world = World::new();
    let mut input = String::new();
    for (index, (time, parents)) in commits.iter().enumerate() {
        let _ = write!(
            input,
            "commit refs/remotes/origin/b{index}\nmark :{}\ncommitter t <t@example.invalid> {time} +0000\ndata {}\n{index}\n",
            index + 1,
            index.to_string().len(),
        );
        let mut marks: Vec<usize> = parents
            .iter()
            .map(|parent| parent.index(index.max(1)) + 1)
            .collect();
        marks.sort_unstable();
        marks.dedup();
        for (position, mark) in marks.iter().filter(|_| index > 0).enumerate() {
            let _ = writeln!(input, "{} :{mark}", if position == 0 { "from" } else { "merge" });
        }
    }
    let file = world.path().join("history");
    fs::write(&file, input).unwrap();
    let mut command = Command::new("git");
    command
        .args(["fast-import", "--quiet"])
        .stdin(fs::File::open(&file).unwrap());
    assert!(command.current_dir(world.work()).status().unwrap().success());
    world
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn branches_with_commit_are_those_whose_history_has_it(
        commits in vec((0..6_u32, vec(any::<Index>(), 0..3)), 1..14),
        shallow_commit in option::of(any::<Index>()),
    ) {
        let world = import_history(&commits);
        if let Some(index) = shallow_commit {
            let id = world.git(format!("rev-parse refs/remotes/origin/b{}", index.index(commits.len())));
            world.write(".git/shallow", id + "\n");
        }
        let repo = open(&world.work());
        let branches = repo.list_remote_branches().unwrap();
        prop_assert_eq!(branches.len(), commits.len());
        for commit in branches.iter().map(|branch| &branch.tip) {
            let mut expected = BTreeSet::new();
            for branch in &branches {
                if repo.contains_commit(&branch.tip, commit).unwrap() {
                    expected.insert(branch.branch.clone());
                }
                let is_in_history = repo.is_in_any_history(commit, slice::from_ref(&branch.tip)).unwrap();
                prop_assert_eq!(is_in_history, expected.contains(&branch.branch));
            }
            let branches_with_commit = repo.find_remote_branches_with_commit(commit).unwrap().into_iter();
            prop_assert_eq!(branches_with_commit.map(|branch| branch.branch).collect::<BTreeSet<_>>(), expected);
        }
    }
}
