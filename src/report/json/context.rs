//! Which commit was reviewed, and how, in the document of the schema `sluicegate.report/v1`.

use super::error::{ReadError, wrong};
use crate::findings::{ComparedWith, FailOn, ReviewContext, Shard};
use serde::{Deserialize, Serialize};

/// Which commit was reviewed, and how.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContextV1 {
    pub ci: String,
    pub event: String,
    pub branch: Option<String>,
    pub head: Option<String>,
    pub base: Option<String>,
    /// The other merge-bases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_bases: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// What failed the gate: `error`, `warn` or `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<String>,
    /// The files and folders that the review was restricted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The most findings that may be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_known: Option<usize>,
    /// The older report whose findings are the known ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<ComparedWithV1>,
}

/// A report that this one was compared with.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComparedWithV1 {
    /// The commit that it is of; none for a working tree.
    pub head: Option<String>,
}

impl From<&ReviewContext> for ContextV1 {
    fn from(context: &ReviewContext) -> Self {
        Self {
            ci: context.ci.clone(),
            event: context.event.clone(),
            branch: context.branch.clone(),
            head: context.head.clone(),
            base: context.base.clone(),
            other_bases: context.other_bases.clone(),
            shard: context.shard.map(|shard| shard.to_string()),
            fail_on: context.fail_on.map(FailOn::name).map(str::to_owned),
            paths: context.paths.clone(),
            max_known: context.max_known,
            compared_with: context.compared_with.as_ref().map(ComparedWithV1::from),
        }
    }
}

impl From<&ComparedWith> for ComparedWithV1 {
    fn from(old: &ComparedWith) -> Self {
        Self {
            head: old.head.clone(),
        }
    }
}

impl ContextV1 {
    pub(super) fn context(self) -> Result<ReviewContext, ReadError> {
        let shard = self.shard.map(|text| {
            text.parse::<Shard>()
                .map_err(|why| wrong(format!("the shard {text:?}: {why}")))
        });
        let fail_on = self
            .fail_on
            .map(|word| FailOn::parse(&word).ok_or_else(|| wrong(format!("unknown failOn {word:?}"))));
        Ok(ReviewContext {
            ci: self.ci,
            event: self.event,
            branch: self.branch,
            head: self.head,
            base: self.base,
            other_bases: self.other_bases,
            shard: shard.transpose()?,
            fail_on: fail_on.transpose()?,
            paths: self.paths,
            max_known: self.max_known,
            compared_with: self.compared_with.map(|old| ComparedWith { head: old.head }),
        })
    }
}
