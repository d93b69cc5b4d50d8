//! Resolves a revision to a commit, safely if others push references with the same name.
//!
//! git uses the first reference that matches a name, a tag before a branch
//! (<https://git-scm.com/docs/gitrevisions#Documentation/gitrevisions.txt-emrefnameemegemmasterememheadsmasterememrefsheadsmasterem>).
//! Anyone who can push a tag named `origin/main` could so decide what a change is compared with. Here, a name that
//! matches several references means the branch of the remote, or is an error.

use super::{CommitId, GitError, Repository, id::is_full_id};
use git2::{ObjectType, Oid};
use sluicegate_base::text::join_with_and;

/// The places where git looks up a short name, as prefix and suffix.
const LOOKUP_PLACES: [(&str, &str); 5] = [
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedRevision {
    pub commit: CommitId,
    /// The full name of the reference, if the revision is just the name of a reference.
    pub reference: Option<String>,
    /// A message that lists the other references with this name and the one that was chosen.
    pub ambiguity: Option<String>,
}

impl ResolvedRevision {
    /// Returns whether the revision is just the name of a tag.
    pub fn is_tag(&self) -> bool {
        self.reference
            .as_ref()
            .is_some_and(|reference| reference.starts_with("refs/tags/"))
    }
}

/// The reference that a short name means.
struct ReferenceChoice {
    /// The full name of the reference.
    reference: String,
    /// A message about the other references with this name, if there are any.
    ambiguity: Option<String>,
}

impl ReferenceChoice {
    /// Creates a choice that needs no message.
    fn from_reference(reference: &str) -> Self {
        Self {
            reference: reference.to_owned(),
            ambiguity: None,
        }
    }
}

impl Repository {
    /// Resolves a revision to its commit; see [`Self::resolve_revision`].
    pub fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        self.resolve_revision(revision)
            .map(|resolved_revision| resolved_revision.commit)
    }

    /// Resolves a revision: a full id, the name of a branch or a tag, an expression such as `HEAD~2`
    /// (<https://git-scm.com/docs/gitrevisions>), or the name of a remote's branch that has no local one.
    ///
    /// A full id is never looked up as a reference. If a name matches several references, the branch of the remote is
    /// used. Without such a branch, the result is [`GitError::AmbiguousName`] unless all matches are the same commit.
    pub fn resolve_revision(&self, revision: &str) -> Result<ResolvedRevision, GitError> {
        self.check_revision(revision)?;
        if is_full_id(revision) {
            return self.build_revision(revision, self.find_commit_of_object(revision));
        }
        let (name, operators) = revision.split_at(find_name_length(revision));
        if has_single_meaning(name) {
            return self.resolve_full_name(revision, name);
        }
        let Some(choice) = self.choose_reference(name, &self.find_name_matches(name))? else {
            return self.build_revision(revision, self.find_commit_of_expression(revision));
        };
        let commit = self.find_commit_of_expression(&format!("{}{operators}", choice.reference));
        Ok(ResolvedRevision {
            ambiguity: choice.ambiguity,
            reference: operators.is_empty().then_some(choice.reference),
            ..self.build_revision(revision, commit)?
        })
    }

    /// Fails if an object is damaged that libgit2 reads to resolve the revision.
    fn check_revision(&self, revision: &str) -> Result<(), GitError> {
        if !self.has_loose_objects() {
            return Ok(());
        }
        let (name, operators) = revision.split_at(find_name_length(revision));
        for (prefix, suffix) in LOOKUP_PLACES.into_iter().chain([("", "")]) {
            let reference_name = if name.is_empty() || name == "@" {
                "HEAD"
            } else {
                name
            };
            if let Some(reference) = self.find_reference(&format!("{prefix}{reference_name}{suffix}"))? {
                self.check_reference(&reference)?;
                if !operators.is_empty()
                    && let Some(tip) = reference.resolve().ok().and_then(|direct| direct.target())
                {
                    self.check_history(tip)?;
                }
            }
        }
        let odb = self.open_odb()?;
        // The name that `git describe` prints ends with an id, for example `v1-2-gabc1234`.
        let described_digits = name.rsplit_once("-g").map(|(_, digits)| digits);
        for digits in [Some(name), described_digits].into_iter().flatten() {
            let id = Oid::from_str(digits).and_then(|prefix| odb.exists_prefix(prefix, digits.len()));
            match id {
                Ok(id) if operators.is_empty() => self.check_tag(id)?,
                Ok(id) => self.check_history(id)?,
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Resolves a revision whose part before `~`, `^` or `@{` is the full reference `name`. If there is no such
    /// reference, libgit2 would also search the tags, so this is checked first. An empty name and `@` are head.
    fn resolve_full_name(&self, revision: &str, name: &str) -> Result<ResolvedRevision, GitError> {
        if matches!(name, "" | "@") || self.find_reference(name)?.is_some() {
            return self.build_revision(revision, self.find_commit_of_expression(revision));
        }
        Err(GitError::UnknownRevision {
            revision: revision.to_owned(),
            reason: format!("there is no reference {name}"),
        })
    }

    /// Returns the revision with the commit that was found for it, or converts the error of the search. The result
    /// contains the reference if the revision is its full name.
    fn build_revision(
        &self,
        revision: &str,
        commit: Result<Oid, git2::Error>,
    ) -> Result<ResolvedRevision, GitError> {
        let commit = commit.map_err(|error| match GitError::library("resolve a revision")(error) {
            GitError::Library { source, .. } => GitError::UnknownRevision {
                revision: revision.to_owned(),
                reason: source.message().to_owned(),
            },
            error => error,
        })?;
        let is_full_name = self.find_reference(revision)?.is_some() && revision.starts_with("refs/");
        Ok(ResolvedRevision {
            commit: CommitId::new(commit),
            reference: is_full_name.then(|| revision.to_owned()),
            ambiguity: None,
        })
    }

    /// Returns the commit with this id, or that of the tag object with this id.
    fn find_commit_of_object(&self, id: &str) -> Result<Oid, git2::Error> {
        let object = self.library.find_object(Oid::from_str(id)?, None)?;
        Ok(object.peel(ObjectType::Commit)?.id())
    }

    /// Returns the commit that libgit2 finds for a full name, an expression such as `HEAD~2`, or a short id.
    fn find_commit_of_expression(&self, revision: &str) -> Result<Oid, git2::Error> {
        let object = self.library.revparse_single(revision)?;
        Ok(object.peel(ObjectType::Commit)?.id())
    }

    /// Returns the references that match the name, and the commit whose id begins with the name. Each match is a pair
    /// of the full name or id and the commit. A reference that points to no commit is skipped.
    fn find_name_matches(&self, name: &str) -> Vec<(String, Oid)> {
        let mut matches: Vec<(String, Oid)> = LOOKUP_PLACES
            .iter()
            .filter_map(|(prefix, suffix)| {
                let full_name = format!("{prefix}{name}{suffix}");
                let reference = self.find_reference(&full_name).ok()??;
                Some((full_name, reference.peel_to_commit().ok()?.id()))
            })
            .collect();
        let commit = self.library.find_commit_by_prefix(name);
        matches.extend(commit.map(|commit| (commit.id().to_string(), commit.id())));
        matches
    }

    /// Chooses the reference that a name means. `matches` has each reference with this name and its commit, and the
    /// commit whose id begins with the name. The branch of a remote is preferred, because anyone who can push a tag
    /// could otherwise decide what the name means. Returns `None` if no reference matches, and fails if the choice is
    /// ambiguous.
    fn choose_reference(
        &self,
        name: &str,
        matches: &[(String, Oid)],
    ) -> Result<Option<ReferenceChoice>, GitError> {
        let mut names: Vec<String> = matches.iter().map(|(full_name, _)| full_name.clone()).collect();
        let matches_id = names.iter().any(|full_name| is_full_id(full_name));
        let tracking_reference = self.find_remote_branch(name)?.map(|branch| branch.reference);
        let remote_reference = names
            .iter()
            .find(|full_name| full_name.starts_with("refs/remotes/"))
            .cloned()
            .or(tracking_reference);
        match (matches, remote_reference) {
            ([], None) => Ok(None),
            ([], Some(remote)) => Ok(Some(ReferenceChoice::from_reference(&remote))),
            // The only match is a commit's id, which is not a reference. The caller resolves it as an expression.
            ([_], None) if matches_id => Ok(None),
            ([(single, _)], None) => Ok(Some(ReferenceChoice::from_reference(single))),
            // A single match is used even if a remote has a branch with this name, unless the match is a tag.
            ([(single, _)], _) if !single.starts_with("refs/tags/") && !matches_id => {
                Ok(Some(ReferenceChoice::from_reference(single)))
            }
            // All matches are the same commit, so the choice makes no difference.
            ([(first, commit), later @ ..], None)
                if later.iter().all(|(_, later_commit)| later_commit == commit) =>
            {
                Ok(Some(ReferenceChoice::from_reference(first)))
            }
            (_, Some(remote)) if !matches_id => {
                names.retain(|full_name| *full_name != remote);
                let ambiguity = format!(
                    "`{name}` is also the name of {}; using the branch of the remote, {remote}",
                    join_with_and(names)
                );
                Ok(Some(ReferenceChoice {
                    reference: remote,
                    ambiguity: Some(ambiguity),
                }))
            }
            (_, remote) => {
                names.extend(remote.filter(|remote| !names.contains(remote)));
                Err(GitError::AmbiguousName {
                    name: name.to_owned(),
                    matches: names,
                })
            }
        }
    }
}

/// Returns the length of the name at the start of the revision, up to the first operator, such as `~2`.
fn find_name_length(revision: &str) -> usize {
    ["~", "^", ":", "@{"]
        .iter()
        .filter_map(|operator| revision.find(operator))
        .min()
        .unwrap_or(revision.len())
}

/// Returns whether the name has the same meaning whatever references others push: an empty name, `@`, a full name, or a
/// name like `HEAD`. Nobody can push `HEAD`, because git keeps it outside of `refs/`.
fn has_single_meaning(name: &str) -> bool {
    let is_special_head =
        name.ends_with("HEAD") && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    name.is_empty() || name == "@" || is_special_head || name.starts_with("refs/")
}
