//! Reads a statement strictly, because it is the proof of a review or a publication.

use super::statement::STATEMENT_TYPE;
use super::{PredicateKind, PublicationPredicate, ReviewPredicate, Subject};
use serde::Deserialize;
use serde_json::Value;
use sluicegate_base::duplicate_key::find_duplicate_key;
use sluicegate_base::input::decode_json;
use sluicegate_base::named_fields::{NamedFields, parse_json};

/// The reason why a file is not a statement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatementError {
    /// The file contains the statement in encoded form, with its signature.
    #[error("the file is a signed envelope, not the statement inside the envelope")]
    Signed,
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for StatementError {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

/// A statement that was read from a file. Fields that in-toto may add are ignored.
#[derive(Debug, Clone)]
pub(crate) struct SavedStatement {
    pub(crate) subjects: Vec<Subject>,
    pub(crate) predicate: SavedPredicate,
}

/// The predicate of a statement, whose fields are known for each kind.
#[derive(Debug, Clone)]
pub(crate) enum SavedPredicate {
    Review(Box<ReviewPredicate>),
    Publication(Box<PublicationPredicate>),
}

/// The fields of a statement that both kinds share.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatementFields {
    #[serde(rename = "_type")]
    statement_type: String,
    predicate_type: String,
    subject: Vec<Subject>,
    #[serde(default)]
    predicate: Value,
}

impl SavedStatement {
    /// Returns whether the content is a statement of any type, also one with a signature.
    pub(crate) fn is_statement(bytes: &[u8]) -> bool {
        let document: Value = parse_json(bytes).unwrap_or_default();
        document.get("_type").is_some() || is_signed(&document)
    }

    /// Parses an unsigned statement with one of the known predicate types. The error is the reason why the content is
    /// not such a statement.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, StatementError> {
        let bytes = decode_json(bytes).map_err(str::to_owned)?;
        // Programs read a document with a duplicate key differently, so it proves nothing.
        if let Some(reason) = find_duplicate_key(bytes) {
            return Err(reason.into());
        }
        let document: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if is_signed(&document) {
            return Err(StatementError::Signed);
        }
        let fields: StatementFields =
            StatementFields::deserialize(NamedFields(document)).map_err(|error| error.to_string())?;
        if fields.statement_type != STATEMENT_TYPE {
            return Err(format!(
                "the statement's type is `{}`, not `{STATEMENT_TYPE}`",
                fields.statement_type
            )
            .into());
        }
        let kind = PredicateKind::ALL
            .into_iter()
            .find(|kind| kind.uri() == fields.predicate_type)
            .ok_or_else(|| describe_unknown_predicate_type(&fields.predicate_type))?;
        let predicate = NamedFields(fields.predicate);
        let predicate = match kind {
            PredicateKind::Review => Deserialize::deserialize(predicate).map(SavedPredicate::Review),
            PredicateKind::Publication => {
                Deserialize::deserialize(predicate).map(SavedPredicate::Publication)
            }
        };
        Ok(Self {
            subjects: fields.subject,
            predicate: predicate.map_err(|error| format!("the statement's predicate is invalid: {error}"))?,
        })
    }
}

/// Returns whether the document is an envelope that contains a statement and its signature.
fn is_signed(document: &Value) -> bool {
    ["dsseEnvelope", "payloadType", "payload"]
        .iter()
        .any(|key| document.get(key).is_some())
}

/// Returns the error text for a predicate type that is not one of the known types.
fn describe_unknown_predicate_type(predicate_type: &str) -> String {
    let [review, publication] = PredicateKind::ALL.map(PredicateKind::uri);
    format!("the statement's predicate type is `{predicate_type}`, not `{review}` or `{publication}`")
}
