//! Statements of in-toto about a review or a publication: `--attestation`, and `verify --attestation`.

mod published_version;
mod reviewed_commit;
mod statement_verification;

use crate::support::{json_schema::validate, load_schema, read_json, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A statement of an earlier run, or of a change that wants it to be signed.
const OLD: &str = "the statement of another run";

/// Reads a statement, and checks that it is one by the specification of in-toto and by the program's own schema.
#[track_caller]
fn read_statement(path: &Path) -> Value {
    let statement = read_json(path);
    let specification = read_json(&root().join("tests/fixtures/in-toto-statement-v1.json"));
    assert_eq!(validate(&specification, &statement), Ok(()));
    assert_eq!(validate(&load_schema("attestation"), &statement), Ok(()));
    statement
}

/// Returns the URI of a predicate type.
fn predicate_type(kind: &str) -> String {
    format!("{}/{kind}/v1", env!("CARGO_PKG_REPOSITORY"))
}

/// Returns the SHA-256 of each subject with a name, by name.
fn subject_hashes(statement: &Value) -> BTreeMap<String, String> {
    let subjects = statement["subject"].as_array().unwrap().iter();
    subjects
        .filter_map(|subject| {
            Some((
                subject["name"].as_str()?.to_owned(),
                subject["digest"]["sha256"].as_str()?.to_owned(),
            ))
        })
        .collect()
}

/// Returns the SHA-256 of a file, in hex.
fn hash_file(path: &Path) -> String {
    sluicegate::publish::hash_bytes(&fs::read(path).unwrap())
}

/// Reads the step outputs as a runner does: the name, and the lines up to the delimiter.
fn read_outputs(path: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut outputs = BTreeMap::new();
    let mut rest = text.as_str();
    while let Some((head, remainder)) = rest.split_once('\n') {
        let (name, delimiter) = head.split_once("<<").unwrap();
        let end = format!("\n{delimiter}\n");
        let (value, remainder) = remainder.split_once(end.as_str()).unwrap();
        outputs.insert(name.to_owned(), value.to_owned());
        rest = remainder;
    }
    outputs
}

#[test]
fn schemas_reject_documents_that_are_no_statements() {
    let specification = read_json(&root().join("tests/fixtures/in-toto-statement-v1.json"));
    let statement = serde_json::json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{ "name": "a", "digest": { "sha256": "a".repeat(64) } }],
        "predicateType": predicate_type("review"),
        "predicate": {},
    });
    assert_eq!(validate(&specification, &statement), Ok(()));
    // The predicate lacks every field.
    assert!(validate(&load_schema("attestation"), &statement).is_err());
    for (pointer, value) in [
        ("/_type", serde_json::json!("https://in-toto.io/Statement/v0.1")),
        ("/subject/0/digest", serde_json::json!({})),
        ("/subject/0/digest/sha256", serde_json::json!("A".repeat(64))),
        ("/predicateType", serde_json::json!("review")),
        ("/predicate", serde_json::json!([])),
    ] {
        let mut wrong = statement.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        assert!(validate(&specification, &wrong).is_err(), "{pointer}");
    }
}
