//! Projects and their repositories (API document, "Projects, environments, provisioning").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::Check;
use crate::service::options::Role;
use crate::service::page::{Page, Paged, Query};
use crate::service::problem::{Problem, ProblemBody};
use crate::service::project::Project;
use crate::service::routes::Empty;
use crate::service::store::projects::{self, NewProject, ProjectItem};
use crate::service::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The runner of a project of this deployment belongs to the platform.
const FULL_SAAS: &str = "FULL_SAAS";

/// The deployments of a project's runner.
const DEPLOYMENTS: [&str; 2] = ["HYBRID", FULL_SAAS];

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(initialize))
}

/// The body of a project creation.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ProjectRequest {
    #[schema(pattern = r"\S")]
    name: String,
    description: Option<String>,
    #[schema(inline)]
    warehouse: Warehouse,
    #[schema(inline)]
    agent_deployment_type: Deployment,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum Warehouse {
    #[schema(rename = "WAREHOUSE_A")]
    A,
    #[schema(rename = "WAREHOUSE_B")]
    B,
}

#[derive(ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(dead_code, reason = "it describes a value")]
enum Deployment {
    Hybrid,
    FullSaas,
}

/// A project that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedProject {
    #[schema(value_type = String, format = "uuid")]
    project_id: Uuid,
}

/// Lists the projects that the caller sees.
#[utoipa::path(
    get,
    path = "/v1/projects",
    operation_id = "listProjects",
    tag = "Projects",
    params(Page),
    responses((status = 200, body = Paged<ProjectItem>, description = "A page of the projects."))
)]
async fn list(
    caller: Caller,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<Paged<ProjectItem>>, Problem> {
    let page = Page::only(&query)?;
    let given = app.given_projects();
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let mut items: Vec<ProjectItem> = given
        .iter()
        .skip(start)
        .take(page.size as usize)
        .map(|project| ProjectItem {
            id: project.id.to_string(),
            name: project.name.clone(),
            description: String::new(),
        })
        .collect();
    let mut total = given.len() as u64;
    if caller.role == Role::SuperAdmin {
        let room = page
            .size
            .saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
        let offset = i64::try_from(start.saturating_sub(given.len())).unwrap_or(i64::MAX);
        let except =
            serde_json::json!(given.iter().map(|project| project.id).collect::<Vec<_>>()).to_string();
        let (made, count) = app
            .store()
            .read(move |connection| projects::list(connection, &except, room, offset))
            .await?;
        items.extend(made);
        total += count;
    }
    Ok(Json(Paged::new(page, (items, total))))
}

/// Makes a project; only a super admin sees it.
#[utoipa::path(
    post,
    path = "/v1/projects",
    operation_id = "createProject",
    tag = "Projects",
    request_body = ProjectRequest,
    responses((status = 201, body = CreatedProject, description = "The project exists."))
)]
async fn create(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedProject>), Problem> {
    let mut check = Check::default();
    let project = NewProject {
        id: Uuid::new_v4(),
        name: check.text(&body, "name"),
        description: check.any_text(&body, "description").unwrap_or_default(),
        warehouse: check.one_of(
            &body,
            "warehouse",
            &app.vocabulary().warehouses.each_ref().map(String::as_str),
        ),
        full_saas: check.one_of(&body, "agentDeploymentType", &DEPLOYMENTS) == FULL_SAAS,
    };
    let project = check.done(project)?;
    let project_id = project.id;
    let author = app.author(&caller);
    app.store()
        .change(move |transaction| projects::insert(transaction, &project, &author))
        .await?;
    Ok((StatusCode::CREATED, Json(CreatedProject { project_id })))
}

/// The body of a repository initialization.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct RepositoryRequest {
    #[schema(inline)]
    provider: GitProvider,
    provider_parameters: ProviderParameters,
    #[schema(pattern = r"\S")]
    repository_name: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum GitProvider {
    #[schema(rename = "git_provider_a")]
    A,
}

/// Where the repository belongs.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct ProviderParameters {
    /// The organization that owns it.
    #[schema(pattern = r"\S")]
    owner_name: String,
}

/// Initializes the repository of a project.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/repositories",
    operation_id = "createRepository",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = RepositoryRequest,
    responses(
        (status = 201, body = Empty, description = "The project has this repository."),
        (status = 409, body = ProblemBody, description = "The project has a repository."),
    )
)]
async fn initialize(
    project: Project,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    let mut check = Check::default();
    let provider = check.one_of(&body, "provider", &[&app.vocabulary().git_provider]);
    let owner = check.object(&body, "providerParameters", |check, parameters| {
        check.text(parameters, "ownerName")
    });
    let name = check.text(&body, "repositoryName");
    let words = check.done([provider, owner.unwrap_or_default(), name])?;
    app.store()
        .attempt(move |transaction| {
            if projects::is_full_saas(transaction, project.id)? {
                return Ok(Err(Problem::invalid_field(
                    "projectId",
                    "is of a project of the full SaaS deployment, which has no repository",
                )));
            }
            let words = words.each_ref().map(String::as_str);
            let initialized = projects::initialize_repository(transaction, project.id, words)?;
            let taken = || Problem::conflict("the project has a repository already");
            Ok(initialized.then_some(()).ok_or_else(taken))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}
