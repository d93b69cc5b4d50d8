//! What a CI host says, settled in a checkout.

use crate::{open, pipelines, short};
use serde_json::Value;
use sluicegate::ci::{self, CiContext, Host};
use sluicegate::context::{self, ContextError, Target, Wish};
use sluicegate::env::Env;

/// What the host says, with these variables and this payload.
pub fn said(variables: &[(&str, &str)], payload: Option<Value>) -> CiContext {
    let owned = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let env = Env::from_parts(owned, "/".into());
    ci::detect(&payload.into_iter().fold(env, Env::with_payload), None).unwrap()
}

pub fn settle(folder: &std::path::Path, ci: &CiContext) -> Result<Target, ContextError> {
    context::settle(&open(folder), ci, &Wish::default())
}

/// The changed pipelines of a settled target.
pub fn changed(folder: &std::path::Path, target: &Target) -> Vec<String> {
    short(
        &open(folder)
            .changes(target.base.as_ref(), &target.head, &pipelines)
            .unwrap(),
    )
}

/// Base, or nothing for everything.
pub fn base(target: &Target) -> Option<&str> {
    target.base.as_ref().map(sluicegate::git::CommitId::as_str)
}

/// No host.
pub fn nobody() -> CiContext {
    let context = said(&[], None);
    assert_eq!(context.host, Host::None);
    context
}
