//! Does the most frequent steps of tests with libgit2. Tests commit, push and look up commits thousands of times, and
//! git starts one process for a lookup, two for a commit and up to six for a push.

use git2::{
    Config, ConfigLevel, ErrorCode, IndexAddOption, Oid, Repository, RepositoryState, Signature, Time,
};
use std::fs;
use std::path::Path;

const NAME: &str = "A Tester";
const EMAIL: &str = "tester@example.invalid";
/// 2026-11-20T09:30:00Z, in seconds.
const COMMIT_TIME: i64 = 1_795_167_000;
/// The bit in an entry of the index that `git update-index --assume-unchanged` sets.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// Does what git does with these arguments, and returns its trimmed output. Returns `None` without a change if only git
/// can do it, or if git would fail.
pub(crate) fn run_command(directory: &Path, args: &[String]) -> Option<String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["rev-parse", revision] if !revision.starts_with('-') => {
            let repository = Repository::open(directory).ok()?;
            let object = repository.revparse_single(revision).ok()?;
            Some(object.id().to_string())
        }
        ["checkout", "-q", "-b", branch] => {
            let repository = open_without_user_settings(directory)?;
            let head = repository.head().ok()?.peel_to_commit().ok()?;
            let force = false;
            repository.branch(branch, &head, force).ok()?;
            repository.set_head(&format!("refs/heads/{branch}")).unwrap();
            Some(String::new())
        }
        ["remote", "set-head", "origin", branch] => {
            let repository = open_without_user_settings(directory)?;
            let target = format!("refs/remotes/origin/{branch}");
            repository.find_reference(&target).ok()?;
            let force = true;
            repository
                .reference_symbolic("refs/remotes/origin/HEAD", &target, force, "set-head")
                .unwrap();
            Some(String::new())
        }
        _ => None,
    }
}

/// Commits all changes, as `git add -A` and `git commit --allow-empty` do, and returns the commit's ID. Returns `None`
/// without a change if only git can do it: in an unfinished merge, with hooks or attributes, and with entries of the
/// index that hide changes.
pub(crate) fn commit_all(directory: &Path, message: &str) -> Option<String> {
    // libgit2 does not run filters, and converts line ends in another way.
    let attributes_files = [".gitattributes", ".git/info/attributes"];
    if attributes_files.iter().any(|file| directory.join(file).exists()) {
        return None;
    }
    let repository = open_without_user_settings(directory)?;
    let mut index = repository.index().ok()?;
    let has_hidden_changes = index
        .iter()
        .any(|entry| entry.flags_extended != 0 || entry.flags & ASSUME_UNCHANGED != 0);
    if has_hidden_changes || repository.state() != RepositoryState::Clean {
        return None;
    }
    index.add_all(["*"], IndexAddOption::DEFAULT, None).ok()?;
    index.update_all(["*"], None).ok()?;
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let parent_id = match repository.head() {
        Ok(head) => Some(head.peel_to_commit().unwrap().id()),
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::UnbornBranch, "{error}");
            None
        }
    };
    let id = create_commit(&repository, &tree, parent_id, message);
    Some(id.to_string())
}

fn create_commit(
    repository: &Repository,
    tree: &git2::Tree<'_>,
    parent_id: Option<Oid>,
    message: &str,
) -> Oid {
    let signature = Signature::new(NAME, EMAIL, &Time::new(COMMIT_TIME, 0)).unwrap();
    let parent = parent_id.map(|id| repository.find_commit(id).unwrap());
    let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
    // Git ends each message with a line break.
    let message = format!("{}\n", message.trim_end());
    repository
        .commit(Some("HEAD"), &signature, &signature, &message, tree, &parents)
        .unwrap()
}

/// Pushes the current branch to `origin` and sets it as upstream, as `git push -u origin HEAD` does. Returns `None`
/// without a change if only git can do it.
pub(crate) fn push_branch(directory: &Path, remote_directory: &Path) -> Option<()> {
    if has_hooks(remote_directory) {
        return None;
    }
    let repository = open_without_user_settings(directory)?;
    let head = repository.head().ok()?;
    let (reference, branch) = (head.name().ok()?.to_owned(), head.shorthand().ok()?.to_owned());
    let mut remote = repository.find_remote("origin").ok()?;
    remote.push(&[format!("{reference}:{reference}")], None).ok()?;
    let mut config = repository.config().unwrap();
    config
        .set_str(&format!("branch.{branch}.remote"), "origin")
        .unwrap();
    config
        .set_str(&format!("branch.{branch}.merge"), &reference)
        .unwrap();
    Some(())
}

fn has_hooks(git_directory: &Path) -> bool {
    let hooks = fs::read_dir(git_directory.join("hooks"));
    // Git does not run the samples of its template.
    hooks.is_ok_and(|hooks| {
        hooks
            .flatten()
            .any(|hook| hook.path().extension() != Some("sample".as_ref()))
    })
}

/// Opens the repository without the settings of the user who runs the tests. Returns `None` if only git can open it, or
/// if it has hooks.
fn open_without_user_settings(directory: &Path) -> Option<Repository> {
    let git_directory = directory.join(".git");
    if has_hooks(&git_directory) {
        return None;
    }
    let repository = Repository::open(directory).ok()?;
    let mut config = Config::new().unwrap();
    config
        .add_file(&git_directory.join("config"), ConfigLevel::Local, false)
        .ok()?;
    repository.set_config(&config).unwrap();
    Some(repository)
}
