//! The messages between an agent and its callers: decisions, instructions and permissions.

use super::{
    AGENT, GrantedTool, ID, MODES, change, granted_tools, missing, read_mode, read_tools, record, sees, shown,
};
use crate::agent::{
    DecisionOutcome, Message, OpenDecision, SubmittedAnswer, SubmittedDecision, TaskStatus,
    find_acceptance_event,
};
use crate::app::App;
use crate::body::JsonObject;
use crate::check::BodyCheck;
use crate::fields::{Fields as _, whole};
use crate::page::{Query, whole_number};
use crate::place::RequestPath;
use crate::problem::{Problem, ProblemBody};
use crate::shape::{Shape, boolean, list_of, may, needs, object, one_of, text, texts, variants, whole_from};
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
const LARGEST_LIMIT: u32 = 1000;
const LIMIT: u32 = 25;

/// How long an approval is valid.
const SCOPES: [&str; 2] = ["ONCE", "CONVERSATION"];

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(decide))
        .routes(routes!(list_messages, send_message))
        .routes(routes!(replace_permissions))
}

/// Returns the schemas of the request bodies.
pub(super) fn shapes() -> Vec<Shape> {
    vec![decisions_request(), follow_up(), permissions_request()]
}

fn decisions_request() -> Shape {
    let decision = variants(
        "type",
        [("tool", tool_decision()), ("question", question_decision())],
    )
    .named(
        "DecisionRequest",
        "A decision on something that the agent waits for.",
    );
    object([needs("decisions", list_of(decision))]).named("DecisionsRequest", "The body of decisions.")
}

fn tool_decision() -> Shape {
    object([
        needs("type", one_of(&["tool"])),
        needs("id", text()).about("The `toolId` of the pending decision."),
        needs("approved", boolean()),
        may("scope", one_of(&SCOPES)),
    ])
    .named("ToolDecision", "Whether a tool may be used.")
}

fn question_decision() -> Shape {
    let answer = object([
        needs("questionIndex", whole_from(0, Some(u32::MAX.into()))).about("Which of the questions, from 0."),
        needs("selectedOptions", texts()),
    ])
    .named("AnswerRequest", "The answer to one question.");
    object([
        needs("type", one_of(&["question"])),
        needs("id", text()).about("The `id` of the pending decision."),
        needs("answers", list_of(answer)),
    ])
    .named("QuestionDecision", "The answers to questions.")
}

/// The decisions that the agent still waits for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StillPending {
    pending_decisions: Vec<OpenDecision>,
}

/// Accepts decisions and ignores those that the agent does not wait for.
#[utoipa::path(
    post,
    path = "/v1/ai/agents/tasks/{taskId}/decisions",
    operation_id = "decideTask",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    request_body = ref("#/components/schemas/DecisionsRequest"),
    responses((status = 202, body = StillPending, description = "The decisions that are still pending."))
)]
async fn decide(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<StillPending>), Problem> {
    let id = place.uuid(ID)?;
    decisions_request().hold(&body)?;
    let decisions = body.objects("decisions").unwrap_or_default();
    let decisions: Vec<SubmittedDecision> = decisions.into_iter().map(read_decision).collect();
    let pending_decisions = change(&app, &caller, id, move |transaction, stored, author| {
        let mut said = Vec::new();
        if let Some((decision, tool, message)) = stored.task.decide(&decisions, author.at) {
            said.push(message);
            let approved = matches!(decision.outcome, DecisionOutcome::Tool { approved: true, .. });
            if let Some(kind) = find_acceptance_event(&tool).filter(|_| approved) {
                let information = format!("tool {tool}");
                record(
                    transaction,
                    author,
                    kind,
                    (stored.project, stored.id),
                    &information,
                )?;
            }
        }
        Ok(Ok((stored.task.pending_decisions(), said)))
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(StillPending { pending_decisions })))
}

fn read_decision(item: &Map<String, Value>) -> SubmittedDecision {
    let answers = || item.objects("answers").unwrap_or_default().into_iter();
    let verdict = match item.text("type").as_str() {
        "tool" => DecisionOutcome::Tool {
            approved: item.flag("approved").unwrap_or_default(),
            for_whole_task: item.text("scope") == "CONVERSATION",
        },
        _ => DecisionOutcome::Question(answers().map(read_answer).collect()),
    };
    SubmittedDecision {
        id: item.text("id"),
        outcome: verdict,
    }
}

fn read_answer(item: &Map<String, Value>) -> SubmittedAnswer {
    SubmittedAnswer {
        question_index: item.given("questionIndex").and_then(whole).unwrap_or_default(),
        options: item.texts("selectedOptions"),
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Messages)]
struct MessagesAnswer {
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
        ("taskId" = String, Path, format = "uuid", description = "The task."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000, description = "Number of messages; 25 by default."),
        ("paginationToken" = Option<String>, Query, pattern = "^[0-9]{1,9}$", description = "`more` of the previous page."),
    ),
    responses((status = 200, body = MessagesAnswer, description = "Messages of the task."))
)]
async fn list_messages(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    query: Query,
) -> Result<Json<MessagesAnswer>, Problem> {
    let id = place.uuid(ID)?;
    let mut check = BodyCheck::default();
    let limit = query.find_value("limit").map_or(Some(LIMIT), number);
    let limit = limit.filter(|limit| (1..=LARGEST_LIMIT).contains(limit));
    if limit.is_none() {
        check.note(
            "limit",
            format!("must be a whole number from 1 to {LARGEST_LIMIT}"),
        );
    }
    let from = query.find_value("paginationToken").map_or(Some(0), position);
    if from.is_none() {
        check.note("paginationToken", "must be the `more` of an answer");
    }
    let (limit, from) = check.done((limit.unwrap_or(LIMIT), from.unwrap_or_default()))?;
    let now = app.clock().now();
    let state = Arc::clone(&app);
    let messages = app
        .store()
        .read(move |connection| {
            let found = tasks::find(connection, id)?;
            let Some(mut stored) = found.filter(|stored| sees(&state, &caller, stored)) else {
                return Ok(None);
            };
            let (mut results, written) = tasks::list_messages(connection, &stored, from, limit)?;
            let since = stored.task.advance(now);
            let total = written.saturating_add(u32::try_from(since.len()).unwrap_or(u32::MAX));
            let room = (limit as usize).saturating_sub(results.len());
            let skipped = from.saturating_sub(written) as usize;
            results.extend(since.into_iter().skip(skipped).take(room));
            let next = from.saturating_add(u32::try_from(results.len()).unwrap_or(u32::MAX));
            let more = (next < total).then(|| next.to_string());
            Ok(Some(MessagesAnswer { results, more }))
        })
        .await?;
    messages.map(Json).ok_or_else(|| missing(id))
}

/// Parses a position from `more`.
fn position(text: &str) -> Option<u32> {
    number(text).filter(|_| text.len() < 10)
}

fn number(text: &str) -> Option<u32> {
    whole_number(text).and_then(|number| u32::try_from(number).ok())
}

fn follow_up() -> Shape {
    let config = object([
        needs("name", one_of(&[AGENT])),
        may("mode", one_of(&MODES)),
        may("targetBranchName", text()),
    ])
    .named("AgentConfigChange", "Changes to the configuration of a task.");
    object([
        needs("message", text()),
        may("grantedPermissions", granted_tools()).about("Tools to add to the granted ones."),
        may("agentConfig", config),
    ])
    .named("FollowUp", "The body of a further instruction.")
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
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    request_body = ref("#/components/schemas/FollowUp"),
    responses(
        (status = 202, body = TaskReference, description = "The agent is working on it."),
        (status = 409, body = ProblemBody, description = "The agent is stopping; retry once it has stopped."),
    )
)]
async fn send_message(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<TaskReference>), Problem> {
    let id = place.uuid(ID)?;
    follow_up().hold(&body)?;
    let (message, granted) = (body.text("message"), read_tools(&body));
    let config = body.object("agentConfig").cloned().unwrap_or_default();
    change(&app, &caller, id, move |transaction, stored, author| {
        if stored.task.status() == TaskStatus::Stopping {
            return Ok(Err(Problem::conflict(
                "the task is STOPPING; send the message once it has stopped",
            )));
        }
        if let Some(mode) = config.optional_text("mode") {
            stored.task.config.mode = read_mode(&mode);
        }
        if let Some(branch) = config.optional_text("targetBranchName") {
            stored.task.config.target_branch_name = branch;
        }
        stored.task.grant(granted.unwrap_or_default());
        let said = stored.task.instruct(&message, author.at);
        record(
            transaction,
            author,
            EventKind::PromptSubmitted,
            (stored.project, stored.id),
            &message,
        )?;
        Ok(Ok(((), vec![said])))
    })
    .await?;
    Ok((StatusCode::ACCEPTED, Json(TaskReference { task_id: id })))
}

fn permissions_request() -> Shape {
    object([needs("grantedPermissions", granted_tools())])
        .named("PermissionsRequest", "The tools that need no permission.")
}

/// The tools that need no permission.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Permissions)]
struct PermissionsAnswer {
    #[schema(value_type = String, format = "uuid")]
    task_id: Uuid,
    granted_permissions: Vec<GrantedTool>,
}

/// Replaces the list of tools that need no permission.
#[utoipa::path(
    put,
    path = "/v1/ai/agents/tasks/{taskId}/permissions",
    operation_id = "replaceTaskPermissions",
    tag = "Agent tasks",
    params(("taskId" = String, Path, format = "uuid", description = "The task.")),
    request_body = ref("#/components/schemas/PermissionsRequest"),
    responses((status = 200, body = PermissionsAnswer, description = "The tools that need no permission."))
)]
async fn replace_permissions(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<Json<PermissionsAnswer>, Problem> {
    let task_id = place.uuid(ID)?;
    permissions_request().hold(&body)?;
    let tools = read_tools(&body).unwrap_or_default();
    let granted_permissions = change(&app, &caller, task_id, move |_, stored, author| {
        stored.task.replace_grants(tools, author.at);
        Ok(Ok((shown(&stored.task), Vec::new())))
    })
    .await?;
    Ok(Json(PermissionsAnswer {
        task_id,
        granted_permissions,
    }))
}
