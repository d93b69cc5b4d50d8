//! Hints with git commands that the user can copy, made of names from the event and the clone.

/// Returns the hint that adds the target's repository to the clone. A URL with shell metacharacters or a password is
/// not put into a command that the user could copy.
pub(super) fn target_remote_hint(url: Option<&str>) -> String {
    let Some(url) = url.filter(|url| has_only(url, ":/._~%-")) else {
        return "pass the URL of the target's repository with --target-repository (SLUICEGATE_TARGET_REPOSITORY)"
            .to_owned();
    };
    format!(
        "fetch the target first: `git remote add -f target {url}`; or, if the remote is a mirror of the target's \
         repository, pass the remote's URL with --target-repository (SLUICEGATE_TARGET_REPOSITORY)"
    )
}

/// Returns the hint that fetches a branch. A name with shell metacharacters is not put into a command that the user
/// could copy.
pub(super) fn fetch_hint(remote: &str, branch: &str) -> String {
    if can_be_in_command(remote, branch) {
        format!("fetch the branch: `git fetch {remote} +refs/heads/{branch}:refs/remotes/{remote}/{branch}`")
    } else {
        "fetch the branch into its remote-tracking branch".to_owned()
    }
}

/// Returns the hint that pushes a branch, like [`fetch_hint`].
pub(super) fn push_hint(remote: &str, branch: &str) -> String {
    let step = if can_be_in_command(remote, branch) {
        format!("push the branch with `git push {remote} {branch}`")
    } else {
        "push the branch".to_owned()
    };
    format!("{step}, or check it locally with `sluicegate check`")
}

/// Returns whether the names of the remote and the branch have no shell metacharacters, so that a command may contain
/// them.
fn can_be_in_command(remote: &str, branch: &str) -> bool {
    has_only(branch, "._/-")
        && has_only(remote, "._-")
        && !remote.starts_with('-')
        && !branch.starts_with('-')
}

/// Returns whether the text consists of ASCII letters, digits and these characters.
fn has_only(text: &str, punctuation: &str) -> bool {
    text.chars()
        .all(|character| character.is_ascii_alphanumeric() || punctuation.contains(character))
}
