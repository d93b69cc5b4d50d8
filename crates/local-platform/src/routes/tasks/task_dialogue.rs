//! The messages between an agent and its callers: decisions, instructions and permissions.

use super::follow_up_request::follow_up_request_shape;
use super::{
    GrantedTool, ID_PARAMETER, can_see_task, change_task, granted_tools_shape, list_granted_tools,
    parse_granted_tools, push_due_branch_of_task, record_task_event, unknown_task,
};
use crate::agent::{
    AgentMode, DecisionOutcome, Message, OpenDecision, SubmittedAnswer, SubmittedDecision, TaskStatus,
    find_acceptance_event,
};
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::{JsonFields as _, as_whole_number};
use crate::page::{Query, parse_whole_number};
use crate::problem::{Problem, ProblemBody};
use crate::request_path::RequestPath;
use crate::shape::{
    Shape, boolean, list_of, object, one_of, optional_member, required_member, text, texts, variants,
    whole_number_from,
};
use crate::store::events::EventKind;
use crate::store::tasks;
use crate::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// Maximum and default number of messages in a response.
const MAX_LIMIT: u32 = 1000;
const DEFAULT_LIMIT: u32 = 25;

/// The scopes of an approval: one tool call, or the rest of the task.
const SCOPES: [&str; 2] = ["ONCE", "CONVERSATION"];

/// Returns the HTTP routes for the dialogue with the agent: decisions, messages and permissions.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(submit_decisions))
        .routes(routes!(list_task_messages, send_task_message))
        .routes(routes!(replace_task_permissions))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
pub(super) fn shapes() -> Vec<Shape> {
    vec![
        decisions_request_shape(),
        follow_up_request_shape(),
        permissions_request_shape(),
    ]
}

/// Returns the shape of a request that submits decisions to the agent.
fn decisions_request_shape() -> Shape {
    let decision = variants(
        "type",
        [
            ("tool", tool_decision_shape()),
            ("question", question_decision_shape()),
        ],
    )
    .with_name_and_description("DecisionRequest", "A decision that the agent is waiting for.");
    object([required_member("decisions", list_of(decision))])
        .with_name_and_description("DecisionsRequest", "The body of a request to submit decisions.")
}

/// Returns the shape of a decision on whether a tool may be used.
fn tool_decision_shape() -> Shape {
    object([
        required_member("type", one_of(&["tool"])),
        required_member("id", text()).with_description("The `toolId` of the pending decision."),
        required_member("approved", boolean()),
        optional_member("scope", one_of(&SCOPES)),
    ])
    .with_name_and_description("ToolDecision", "A decision on whether a tool may be used.")
}

/// Returns the shape of a decision that answers the agent's questions.
fn question_decision_shape() -> Shape {
    let answer = object([
        required_member("questionIndex", whole_number_from(0, Some(u32::MAX.into())))
            .with_description("The index of the question, counted from 0."),
        required_member("selectedOptions", texts()),
    ])
    .with_name_and_description("AnswerRequest", "The answer to one question.");
    object([
        required_member("type", one_of(&["question"])),
        required_member("id", text()).with_description("The `id` of the pending decision."),
        required_member("answers", list_of(answer)),
    ])
    .with_name_and_description(
        "QuestionDecision",
        "A decision that answers the agent's questions.",
    )
}

/// The decisions that the agent is still waiting for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StillPending)]
struct PendingDecisions {
    pending_decisions: Vec<OpenDecision>,
}

/// Accepts decisions and ignores those that the agent is not waiting for.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/decisions",
    operation_id = "decideTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    request_body = ref("#/components/schemas/DecisionsRequest"),
    responses((status = 202, body = PendingDecisions, description = "The decisions that are still pending."))
)]
async fn submit_decisions(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<PendingDecisions>), Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    decisions_request_shape().validate(&body)?;
    let decisions = body.find_objects("decisions").unwrap_or_default();
    let decisions: Vec<SubmittedDecision> = decisions.into_iter().map(parse_decision).collect();
    let pending_decisions = change_task(&app, &caller, id, move |transaction, stored_task, author| {
        let mut messages = Vec::new();
        // Only one decision can apply, because the agent waits for one at a time.
        if let Some((decision, tool, message)) = stored_task.task.apply_decision(&decisions, author.time) {
            messages.push(message);
            // The audit log records the approval of some tools, but no denial.
            let is_approved = matches!(decision.outcome, DecisionOutcome::Tool { approved: true, .. });
            if is_approved && let Some(kind) = find_acceptance_event(&tool) {
                let information = format!("tool {tool}");
                record_task_event(
                    transaction,
                    author,
                    kind,
                    stored_task.project,
                    stored_task.id,
                    &information,
                )?;
            }
        }
        Ok(Ok((stored_task.task.pending_decisions(), messages)))
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(PendingDecisions { pending_decisions })))
}

/// Parses a decision in a request body whose shape was already checked. The scope `CONVERSATION` approves the tool for
/// the complete task.
fn parse_decision(item: &Map<String, Value>) -> SubmittedDecision {
    let answers = || item.find_objects("answers").unwrap_or_default().into_iter();
    let outcome = match item.text_or_empty("type").as_str() {
        "tool" => DecisionOutcome::Tool {
            approved: item.find_boolean("approved").unwrap_or_default(),
            for_whole_task: item.text_or_empty("scope") == "CONVERSATION",
        },
        _ => DecisionOutcome::Question(answers().map(parse_answer).collect()),
    };
    SubmittedDecision {
        id: item.text_or_empty("id"),
        outcome,
    }
}

/// Parses the answer to a question in a request body whose shape was already checked.
fn parse_answer(item: &Map<String, Value>) -> SubmittedAnswer {
    SubmittedAnswer {
        question_index: item
            .find_value("questionIndex")
            .and_then(as_whole_number)
            .unwrap_or_default(),
        options: item.text_list("selectedOptions"),
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Messages)]
struct MessagesResponse {
    results: Vec<Message>,
    /// Token for `paginationToken`; missing if there are no further messages at present.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    more: Option<String>,
}

/// Lists the messages of a task in chronological order.
#[utoipa::path(
    get,
    path = "/v1/ai/agents/tasks/{taskId}/messages",
    operation_id = "listTaskMessages",
    tag = "Agent tasks",
    params(
        ("taskId" = String, Path, format = "uuid", description = "The task's ID."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Number of \
             messages to return (default: 25)."),
        ("paginationToken" = Option<String>, Query, pattern = "^[0-9]{1,9}$", description = "The value of \
             `more` from the previous page."),
    ),
    responses((status = 200, body = MessagesResponse, description = "The task's messages."))
)]
async fn list_task_messages(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    query: Query,
) -> Result<Json<MessagesResponse>, Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    let mut check = BodyCheck::default();
    let limit = query.find_value("limit").map_or(Some(DEFAULT_LIMIT), parse_u32);
    let limit = limit.filter(|limit| (1..=MAX_LIMIT).contains(limit));
    if limit.is_none() {
        check.add_error("limit", format!("must be a whole number from 1 to {MAX_LIMIT}"));
    }
    // The token is the position of the first message in the list of all messages of the task.
    let start = query
        .find_value("paginationToken")
        .map_or(Some(0), parse_pagination_token);
    if start.is_none() {
        check.add_error("paginationToken", "must be the value of `more` in a response");
    }
    let (limit, start) = check.into_result((limit.unwrap_or(DEFAULT_LIMIT), start.unwrap_or_default()))?;
    let now = app.clock().now();
    push_due_branch_of_task(&app, &caller, now, id).await?;
    let shared_app = Arc::clone(&app);
    let messages = app
        .store()
        .query(move |connection| {
            let stored_task = tasks::find_task(connection, id)?;
            let Some(mut stored_task) =
                stored_task.filter(|stored_task| can_see_task(&shared_app, &caller, stored_task))
            else {
                return Ok(None);
            };
            let (mut results, stored_count) = tasks::list_messages(connection, &stored_task, start, limit)?;
            // The messages that are due now, but not stored yet, follow the stored ones. If the page begins after the
            // last stored message, the first new messages were on an earlier page and are skipped.
            let new_messages = stored_task.task.advance(now);
            let total = stored_count.saturating_add(u32::try_from(new_messages.len()).unwrap_or(u32::MAX));
            let remaining_count = (limit as usize).saturating_sub(results.len());
            let skipped_count = start.saturating_sub(stored_count) as usize;
            results.extend(new_messages.into_iter().skip(skipped_count).take(remaining_count));
            let next = start.saturating_add(u32::try_from(results.len()).unwrap_or(u32::MAX));
            let next_token = (next < total).then(|| next.to_string());
            Ok(Some(MessagesResponse {
                results,
                more: next_token,
            }))
        })
        .await?;
    messages.map(Json).ok_or_else(|| unknown_task(id))
}

/// Parses a pagination token, which is the position of the next message. According to the API description, a token has
/// at most nine digits.
fn parse_pagination_token(text: &str) -> Option<u32> {
    parse_u32(text).filter(|_| text.len() <= 9)
}

/// Parses decimal digits as a 32-bit number; returns `None` for any other text or a larger number.
fn parse_u32(text: &str) -> Option<u32> {
    parse_whole_number(text).and_then(|number| u32::try_from(number).ok())
}

/// The ID of a task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TaskReference {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
}

/// Gives the agent a further instruction and drops any pending decision.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/messages",
    operation_id = "sendTaskMessage",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    request_body = ref("#/components/schemas/FollowUp"),
    responses(
        (status = 202, body = TaskReference, description = "The agent has received the instruction."),
        (status = 409, body = ProblemBody, description = "The agent is stopping; try again once it has stopped."),
    )
)]
async fn send_task_message(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<TaskReference>), Problem> {
    let id = request_path.uuid_parameter(ID_PARAMETER)?;
    follow_up_request_shape().validate(&body)?;
    let (instruction, granted_tools) = (body.text_or_empty("message"), parse_granted_tools(&body));
    let config = body.find_object("agentConfig").cloned().unwrap_or_default();
    change_task(&app, &caller, id, move |transaction, stored_task, author| {
        if stored_task.task.status() == TaskStatus::Stopping {
            return Ok(Err(Problem::conflict(
                "the task is STOPPING; send the message once it has stopped",
            )));
        }
        if let Some(mode) = config.find_text("mode").and_then(|name| AgentMode::parse(&name)) {
            stored_task.task.config.mode = mode;
        }
        if let Some(branch) = config.find_text("targetBranchName") {
            stored_task.task.config.target_branch_name = branch;
        }
        stored_task.task.grant_tools(granted_tools.unwrap_or_default());
        let message = stored_task.task.add_instruction(&instruction, author.time);
        record_task_event(
            transaction,
            author,
            EventKind::PromptSubmitted,
            stored_task.project,
            stored_task.id,
            &instruction,
        )?;
        Ok(Ok(((), vec![message])))
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(TaskReference { task_id: id })))
}

/// Returns the shape of a request to replace the tools that the agent may use without permission.
fn permissions_request_shape() -> Shape {
    object([required_member("grantedPermissions", granted_tools_shape())]).with_name_and_description(
        "PermissionsRequest",
        "The tools that the agent may use without permission.",
    )
}

/// The tools that the agent may use without permission.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Permissions)]
struct PermissionsResponse {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    granted_permissions: Vec<GrantedTool>,
}

/// Replaces the list of tools that the agent may use without permission.
#[utoipa::path(
    put,
    path = "/v1/ai/agents/tasks/{taskId}/permissions",
    operation_id = "replaceTaskPermissions",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task's ID.")),
    request_body = ref("#/components/schemas/PermissionsRequest"),
    responses((status = 200, body = PermissionsResponse, description = "The tools that the agent may use without permission."))
)]
async fn replace_task_permissions(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<PermissionsResponse>, Problem> {
    let task_id = request_path.uuid_parameter(ID_PARAMETER)?;
    permissions_request_shape().validate(&body)?;
    let tools = parse_granted_tools(&body).unwrap_or_default();
    let granted_permissions = change_task(&app, &caller, task_id, move |_, stored_task, author| {
        stored_task.task.replace_granted_tools(tools, author.time);
        Ok(Ok((list_granted_tools(&stored_task.task), Vec::new())))
    })
    .await?;
    Ok(Json(PermissionsResponse {
        task_id,
        granted_permissions,
    }))
}
