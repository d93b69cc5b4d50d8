//! The statement: its subjects and its predicate.

use serde::{Deserialize, Serialize};
use sluicegate_base::{address, text};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The type of a statement, see <https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md>.
pub(super) const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// The digest of a file's content, in hex.
pub(super) const SHA256: &str = "sha256";

/// The id of a git commit, see <https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md>.
pub(super) const GIT_COMMIT: &str = "gitCommit";

/// The kinds of predicates, each with its own type URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PredicateKind {
    Review,
    Publication,
}

impl PredicateKind {
    pub(super) const ALL: [Self; 2] = [Self::Review, Self::Publication];

    /// Returns the URI of the predicate's type. It begins with the address of the project, as in-toto recommends.
    pub(crate) fn uri(self) -> String {
        let name = match self {
            Self::Review => "review",
            Self::Publication => "publication",
        };
        format!("{}/{name}/v1", address::REPOSITORY)
    }
}

/// An artifact that a statement is about. Other fields of in-toto are ignored, as its rules for readers require.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The digests of the artifact, by algorithm.
    #[serde(default)]
    pub(crate) digest: BTreeMap<String, String>,
}

impl Subject {
    /// Creates the subject for content, such as a file, with its SHA-256 in hex.
    pub(crate) fn for_content(name: &str, sha256: &str) -> Self {
        Self {
            name: Some(name.to_owned()),
            digest: BTreeMap::from([(SHA256.to_owned(), sha256.to_owned())]),
        }
    }

    /// Creates the subject for a commit. Its name is the repository, if that is known.
    pub(crate) fn for_commit(repository: Option<&str>, commit: &str) -> Self {
        Self {
            name: repository.map(str::to_owned),
            digest: BTreeMap::from([(GIT_COMMIT.to_owned(), commit.to_owned())]),
        }
    }

    /// Returns the SHA-256 of the subject, if it has one. A commit has none.
    pub(crate) fn sha256(&self) -> Option<&str> {
        self.digest.get(SHA256).map(String::as_str)
    }
}

/// A statement of in-toto. `P` is its predicate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Statement<P> {
    #[serde(rename = "_type")]
    type_uri: &'static str,
    #[serde(rename = "subject")]
    pub(crate) subjects: Vec<Subject>,
    pub(crate) predicate_type: String,
    pub(crate) predicate: P,
}

impl<P: Serialize> Statement<P> {
    /// Creates a statement with this predicate about these subjects.
    pub(crate) fn new(kind: PredicateKind, subjects: Vec<Subject>, predicate: P) -> Self {
        Self {
            type_uri: STATEMENT_TYPE,
            subjects,
            predicate_type: kind.uri(),
            predicate,
        }
    }

    /// Writes the statement as indented JSON with a final line break.
    pub(crate) fn write(&self, writer: impl Write) -> io::Result<()> {
        text::write_json(self, writer)
    }

    /// Writes only the predicate, for programs that create the statement around it themselves.
    pub(crate) fn write_predicate(&self, writer: impl Write) -> io::Result<()> {
        text::write_json(&self.predicate, writer)
    }
}
