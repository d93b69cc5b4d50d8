//! Which commit a revision means, and never another one because of a reference that somebody pushed.
//!
//! git takes the first reference that answers to a name, a tag before a branch
//! (<https://git-scm.com/docs/gitrevisions#Documentation/gitrevisions.txt-emrefnameemegemmasterememheadsmasterememrefsheadsmasterem>).
//! Who may push a tag called `origin/main` would so decide what a change is compared with. Here a name that several
//! references answer to means the branch of the remote, or nothing.

use super::{CommitId, GitError, Repository, id::is_full_id};
use git2::{ObjectType, Oid};

/// Where git looks for a short name, with what stands before and after it.
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
    /// The full name of the reference, where the revision is the name of one and nothing more.
    pub reference: Option<String>,
    /// Which other references answer to the name, and which one was taken; for people.
    pub ambiguity: Option<String>,
}

impl Repository {
    /// The commit that a revision means; see [`Self::named`].
    pub fn resolve(&self, revision: &str) -> Result<CommitId, GitError> {
        self.named(revision).map(|named| named.commit)
    }

    /// What a revision means: a full id, the name of a branch or a tag, an expression such as `HEAD~2`
    /// (<https://git-scm.com/docs/gitrevisions>), or the name of a remote's branch that has no local one.
    ///
    /// A full id is never looked up as a reference. A name that several references answer to is the branch of the
    /// remote; where none of them is, [`GitError::Ambiguous`].
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

    /// libgit2 would look for a full name that is not there among the tags too.
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

    /// The references that git would take for the name, and the commit whose id begins with it: full name and commit.
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

    /// The reference that is meant, and what else could have been; nothing where no reference is.
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
                    "`{name}` is also the name of {}; the branch of the remote is taken, {remote}",
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

/// Where the name ends and what git does from there begins, such as `~2`.
fn end_of_name(revision: &str) -> usize {
    let marks = ["~", "^", ":", "@{"];
    let ends = marks.iter().filter_map(|mark| revision.find(mark));
    ends.min().unwrap_or(revision.len())
}

/// A name that git looks up in one place: nothing at all, a full name, `@`, or one like `HEAD`, which nobody can push.
fn is_fixed(name: &str) -> bool {
    let is_special = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    name.is_empty()
        || name == "@"
        || (name.ends_with("HEAD") && is_special(name))
        || name.starts_with("refs/")
}
