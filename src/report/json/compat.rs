//! What the change does to consumers, in the document of the schema `sluicegate.report/v1`.

use crate::findings::{ConsumerChange, ForConsumers};
use serde::{Deserialize, Serialize};

/// What the change does to consumers of shared pipelines.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CompatV1 {
    pub against: Option<String>,
    pub class: Option<String>,
    pub accepted: Option<String>,
    pub refused: bool,
    pub changes: Vec<ConsumerChangeV1>,
}

/// One thing that changes for consumers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConsumerChangeV1 {
    pub class: String,
    pub change: String,
    pub id: Option<String>,
    pub words: String,
    pub consumers: String,
    pub path: String,
    pub line: u32,
    pub before: Option<String>,
}

impl From<&ForConsumers> for CompatV1 {
    fn from(found: &ForConsumers) -> Self {
        let changes = found.changes.iter().cloned();
        Self {
            against: found.against.clone(),
            class: found.class.clone(),
            accepted: found.accepted.clone(),
            refused: found.refused,
            changes: changes
                .map(|change| ConsumerChangeV1 {
                    class: change.class,
                    change: change.change,
                    id: change.id,
                    words: change.words,
                    consumers: change.consumers,
                    path: change.path,
                    line: change.line,
                    before: change.before,
                })
                .collect(),
        }
    }
}

impl From<CompatV1> for ForConsumers {
    fn from(read: CompatV1) -> Self {
        let changes = read.changes.into_iter();
        Self {
            against: read.against,
            class: read.class,
            accepted: read.accepted,
            refused: read.refused,
            changes: changes
                .map(|change| ConsumerChange {
                    class: change.class,
                    change: change.change,
                    id: change.id,
                    words: change.words,
                    consumers: change.consumers,
                    path: change.path,
                    line: change.line,
                    before: change.before,
                })
                .collect(),
        }
    }
}
