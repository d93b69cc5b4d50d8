//! The messages of a task: what happened in it.

use crate::clock::Moment;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An event in a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    /// The event; its `type` determines the other fields.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub data: Value,
    /// Shared by all messages between two instructions.
    pub group_id: String,
    /// Time of the event, in UTC.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Moment,
}
