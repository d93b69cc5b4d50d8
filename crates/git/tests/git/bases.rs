//! Merge-bases and the differences from them, compared with git's own results.

use crate::{matches_anything, open, short};
use sluicegate_git::{GitError, Repository};
use sluicegate_test_support::World;
use sluicegate_test_support::dice::Dice;

/// Commits the tree of HEAD with these parents and returns the commit's ID.
fn commit(world: &World, number: usize, parents: &[String]) -> String {
    let tree = world.git("rev-parse HEAD^{tree}");
    let message = format!("commit {number}");
    let mut args = vec!["commit-tree", &tree, "-m", &message];
    args.extend(parents.iter().flat_map(|parent| ["-p", parent.as_str()]));
    world.git(&args)
}

fn ours(repo: &Repository, one: &str, other: &str) -> Vec<String> {
    let (one, other) = (repo.resolve(one).unwrap(), repo.resolve(other).unwrap());
    let bases = repo.find_merge_bases(&one, &other).unwrap();
    let mut ids: Vec<String> = bases.iter().map(ToString::to_string).collect();
    ids.sort();
    ids
}

#[test]
fn random_histories_have_the_merge_bases_of_git() {
    let world = World::new();
    world.write("a", "a");
    let root = world.commit("root");
    let mut dice = Dice(28);
    let mut commits = vec![root];
    for number in 0..60 {
        // The parents are among the last few commits, so that merges often cross.
        let recent = commits.len().saturating_sub(6);
        let count = 1 + dice.roll(2);
        let mut parents: Vec<String> = (0..count)
            .map(|_| {
                let back = dice.roll((commits.len() - recent) as u64);
                commits[recent + usize::try_from(back).unwrap()].clone()
            })
            .collect();
        parents.sort();
        parents.dedup();
        commits.push(commit(&world, number, &parents));
    }
    let repo = open(&world.work());
    let mut several = 0;
    for _ in 0..60 {
        let (one, other) = (
            &commits[40 + usize::try_from(dice.roll(20)).unwrap()],
            &commits[40 + usize::try_from(dice.roll(20)).unwrap()],
        );
        let git_output = world.git(format!("merge-base --all {one} {other}"));
        let mut expected: Vec<String> = git_output.lines().map(str::to_owned).collect();
        expected.sort();
        assert_eq!(ours(&repo, one, other), expected, "{one} {other}");
        several += usize::from(expected.len() > 1);
    }
    assert!(several > 5, "the dice made {several} criss-cross merges alone");
}

#[test]
fn renamed_file_that_differs_from_any_base_is_a_change() {
    let world = World::new();
    world.write("same.orch.yaml", "same");
    world.write("fixed.orch.yaml", "bad");
    world.write("old.orch.yaml", "one\ntwo\nthree\nfour\n");
    let start = world.commit("start");
    world.write("fixed.orch.yaml", "good");
    let fixed = world.commit("fixed");
    world.git(&["checkout", "-q", "-b", "topic", &start]);
    world.git("mv old.orch.yaml new.orch.yaml");
    let renamed = world.commit("renamed");
    let repo = open(&world.work());
    let [base_variables, renamed] = [fixed, renamed].map(|id| repo.resolve(&id).unwrap());
    // The head is the topic itself: it does not differ from that base, but two files differ from the other one.
    let changes = repo
        .find_changes(
            &[renamed.clone(), base_variables.clone()],
            &renamed,
            &matches_anything,
        )
        .unwrap();
    assert_eq!(
        short(&changes),
        ["M fixed.orch.yaml", "R old.orch.yaml -> new.orch.yaml"]
    );
    assert!(changes.iter().all(|change| change.base_index == 1));
    // If a base already has the file under its new name, the old one is not reported as deleted.
    let both = repo
        .find_changes(&[base_variables, renamed.clone()], &renamed, &matches_anything)
        .unwrap();
    assert_eq!(short(&both), short(&changes));
}

#[test]
fn history_made_of_criss_cross_merges_alone_is_refused() {
    let world = World::new();
    world.write("a", "a");
    let root = world.commit("root");
    let sides: Vec<String> = (0..17)
        .map(|number| commit(&world, number, std::slice::from_ref(&root)))
        .collect();
    let tops = [commit(&world, 100, &sides), commit(&world, 101, &sides)];
    let repo = open(&world.work());
    let [one, other] = tops.map(|id| repo.resolve(&id).unwrap());
    let result = repo.find_merge_bases(&one, &other);
    assert!(
        matches!(result, Err(GitError::TooManyMergeBases { count: 17, .. })),
        "{result:?}"
    );
}
