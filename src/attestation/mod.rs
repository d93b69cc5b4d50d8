//! Statements about a review or a publication in the format of in-toto
//! (<https://github.com/in-toto/attestation/tree/main/spec/v1>), for programs that sign them.
//!
//! A statement lists subjects, each with its digest, and a predicate: the facts about the subjects. [`Statement`]
//! writes one, [`SavedStatement`] reads one strictly, and `clone_comparison` compares one with a clone. The program
//! neither signs a statement nor checks a signature.
//!
//! Signing programs and their verifiers look at subjects and predicate type, not at the predicate. A statement about a
//! review that did not pass would therefore be taken for one that passed, so there is none: only a passed review and a
//! published version have a statement. The bytes of a statement depend only on the facts in it. It contains no time.

mod clone_comparison;
mod predicate_facts;
mod publication_predicate;
mod review_predicate;
mod saved_statement;
mod statement;
mod subject_list;

pub(crate) use predicate_facts::{FileDigest, PolicyDigests, Tool};
pub(crate) use publication_predicate::{PublicationPredicate, compare_publication_with_details};
pub(crate) use review_predicate::ReviewPredicate;
pub(crate) use saved_statement::{SavedPredicate, SavedStatement, StatementError};
pub(crate) use statement::{PredicateKind, Statement, Subject};
pub(crate) use subject_list::format_subject_list;
