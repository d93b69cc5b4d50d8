//! Resolves a revision to a commit, safely if others push references with the same name.
//!
//! git uses the first reference that matches a name, a tag before a branch
//! (<https://git-scm.com/docs/gitrevisions#Documentation/gitrevisions.txt-emrefnameemegemmasterememheadsmasterememrefsheadsmasterem>).
//! Anyone who can push a tag named `origin/main` could so decide what a change is compared with. Here, a name that
//! matches several references means the branch of the remote, or is an error.

use super::{CommitId, GitError, Repository, id::is_full_id};
use git2::{ObjectType, Oid};

/// The places where git looks up a short name, as prefix and suffix.
const PLACES: [(&str, &str); 5] = [
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub commit: CommitId,
    /// The full name of the reference, if the revision is just the name of a reference.
    pub reference: Option<String>,
    /// A message that lists the other references with this name and the one that was chosen.
    pub ambiguity: Option<String>,
}

impl Repository {
    /// Resolves a revision to its commit; see [`Self::named`].
    pub fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        self.named(revision).map(|named| named.commit)
    }

    /// Resolves a revision: a full id, the name of a branch or a tag, an expression such as `HEAD~2`
    /// (<https://git-scm.com/docs/gitrevisions>), or the name of a remote's branch that has no local one.
    ///
    /// A full id is never looked up as a reference. A name that matches several references is the branch of the remote;
    /// if none of them is, the result is [`GitError::Ambiguous`].
    pub fn named(&self, revision: &str) -> Result<Named, GitError> {
        if is_full_id(revision) {
            return self.plain(revision, self.with_id(revision));
        }
        let (name, rest) = revision.split_at(end_of_name(revision));
        if is_fixed(name) {
            return self.exact(revision, name);
        }
        let answers = self.answers(name);
        let Some((chosen, ambiguity)) = self.choose(name, &answers)? else {
            return self.plain(revision, self.parsed(revision));
        };
        Ok(Named {
            ambiguity,
            reference: rest.is_empty().then(|| chosen.clone()),
            ..self.plain(revision, self.parsed(&format!("{chosen}{rest}")))?
        })
    }

    /// Resolves a full name. If there is no such reference, libgit2 would also search the tags, so this is checked
    /// first.
    fn exact(&self, revision: &str, name: &str) -> Result<Named, GitError> {
        if matches!(name, "" | "@") || self.reference(name)?.is_some() {
            return self.plain(revision, self.parsed(revision));
        }
        Err(GitError::UnknownRevision {
            revision: revision.to_owned(),
            why: format!("there is no reference {name}"),
        })
    }

    fn plain(&self, revision: &str, found: Result<Oid, git2::Error>) -> Result<Named, GitError> {
        let commit = found.map_err(|error| GitError::UnknownRevision {
            revision: revision.to_owned(),
            why: error.message().to_owned(),
        })?;
        let reference = self.reference(revision)?.map(|_| revision.to_owned());
        Ok(Named {
            commit: CommitId::new(commit),
            reference: reference.filter(|name| name.starts_with("refs/")),
            ambiguity: None,
        })
    }

    fn with_id(&self, id: &str) -> Result<Oid, git2::Error> {
        let object = self.library.find_object(Oid::from_str(id)?, None)?;
        Ok(object.peel(ObjectType::Commit)?.id())
    }

    fn parsed(&self, revision: &str) -> Result<Oid, git2::Error> {
        let object = self.library.revparse_single(revision)?;
        Ok(object.peel(ObjectType::Commit)?.id())
    }

    /// Returns the references that match the name, and the commit whose id begins with it, as full name and commit.
    fn answers(&self, name: &str) -> Vec<(String, Oid)> {
        let references = PLACES.iter().filter_map(|(before, after)| {
            let full = format!("{before}{name}{after}");
            let reference = self.reference(&full).ok()??;
            Some((full, reference.peel_to_commit().ok()?.id()))
        });
        let mut answers: Vec<(String, Oid)> = references.collect();
        let commit = self.library.find_commit_by_prefix(name);
        answers.extend(commit.map(|commit| (commit.id().to_string(), commit.id())));
        answers
    }

    /// Returns the reference to use and a message about other matches, or `None` if no reference matches.
    fn choose(
        &self,
        name: &str,
        answers: &[(String, Oid)],
    ) -> Result<Option<(String, Option<String>)>, GitError> {
        let tracked = self.remote_branch(name)?;
        let is_remote = |full: &&(String, Oid)| full.0.starts_with("refs/remotes/");
        let remote = answers.iter().find(is_remote).map(|(full, _)| full.clone());
        let remote = remote.or(tracked.map(|branch| branch.reference));
        let is_id = answers.iter().any(|(full, _)| is_full_id(full));
        let names = || answers.iter().map(|(full, _)| full.clone());
        match (answers, remote) {
            ([], None) => Ok(None),
            ([], Some(remote)) => Ok(Some((remote, None))),
            ([(only, _)], None) => Ok((!is_id).then(|| (only.clone(), None))),
            ([(only, _)], _) if !only.starts_with("refs/tags/") && !is_id => Ok(Some((only.clone(), None))),
            ([(first, commit), rest @ ..], None) if rest.iter().all(|(_, other)| other == commit) => {
                Ok(Some((first.clone(), None)))
            }
            (_, Some(remote)) if !is_id => {
                let others: Vec<String> = names().filter(|full| *full != remote).collect();
                let told = format!(
                    "`{name}` is also the name of {}; using the branch of the remote, {remote}",
                    others.join(" and ")
                );
                Ok(Some((remote, Some(told))))
            }
            (_, remote) => Err(GitError::Ambiguous {
                name: name.to_owned(),
                answers: names()
                    .chain(remote.filter(|remote| names().all(|full| full != *remote)))
                    .collect(),
            }),
        }
    }
}

/// Returns the end of the name: the position of the first operator, such as `~2`.
fn end_of_name(revision: &str) -> usize {
    let marks = ["~", "^", ":", "@{"];
    let ends = marks.iter().filter_map(|mark| revision.find(mark));
    ends.min().unwrap_or(revision.len())
}

/// Returns whether git looks up the name in only one place: no name, a full name, `@`, or a name like `HEAD`, which
/// nobody can push.
fn is_fixed(name: &str) -> bool {
    let is_special = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    name.is_empty()
        || name == "@"
        || (name.ends_with("HEAD") && is_special(name))
        || name.starts_with("refs/")
}
