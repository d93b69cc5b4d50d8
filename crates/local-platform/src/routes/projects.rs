//! Projects and their repositories (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::fields::Fields as _;
use crate::options::Role;
use crate::page::{Page, Paged, Query};
use crate::problem::{Problem, ProblemBody};
use crate::project::CallersProject;
use crate::routes::Empty;
use crate::shape::{Shape, any_text, may, needs, object, one_of, text};
use crate::store::projects::{self, ProjectItem, ProjectRecord};
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

/// The deployment type of projects whose runner belongs to the platform.
const FULL_SAAS: &str = "FULL_SAAS";

/// The deployment types of a project's runner.
const DEPLOYMENTS: [&str; 2] = ["HYBRID", FULL_SAAS];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for projects.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(initialize))
}

/// Returns the schemas of the request bodies.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![project_request(vocabulary), repository_request(vocabulary)]
}

fn project_request(vocabulary: &Vocabulary) -> Shape {
    object([
        needs("name", text()),
        may("description", any_text()),
        needs("warehouse", one_of(&vocabulary.warehouses)),
        needs("agentDeploymentType", one_of(&DEPLOYMENTS)),
    ])
    .named("ProjectRequest", "The body of a project creation.")
}

fn repository_request(vocabulary: &Vocabulary) -> Shape {
    let owner = needs("ownerName", text()).about("The organization that owns the repository.");
    let parameters = object([owner]).named("ProviderParameters", "The owner of the repository.");
    object([
        needs("provider", one_of(&[&vocabulary.git_provider])),
        needs("providerParameters", parameters),
        needs("repositoryName", text()),
    ])
    .named("RepositoryRequest", "The body of a repository initialization.")
}

/// A project that was created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedProject {
    #[schema(value_type = String, format = "uuid")]
    project_id: Uuid,
}

/// Lists the projects that are visible to the caller.
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

/// Creates a project, which is visible only to super admins.
#[utoipa::path(
    post,
    path = "/v1/projects",
    operation_id = "createProject",
    tag = "Projects",
    request_body = ref("#/components/schemas/ProjectRequest"),
    responses((status = 201, body = CreatedProject, description = "The project exists."))
)]
async fn create(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedProject>), Problem> {
    project_request(app.vocabulary()).hold(&body)?;
    let project = ProjectRecord {
        id: Uuid::new_v4(),
        name: body.text("name"),
        description: body.text("description"),
        warehouse: body.text("warehouse"),
        full_saas: body.text("agentDeploymentType") == FULL_SAAS,
    };
    let project_id = project.id;
    let author = app.author(&caller);
    app.store()
        .change(move |transaction| projects::insert(transaction, &project, &author))
        .await?;
    Ok((StatusCode::CREATED, Json(CreatedProject { project_id })))
}

/// Initializes the repository of a project.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/repositories",
    operation_id = "createRepository",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project.")),
    request_body = ref("#/components/schemas/RepositoryRequest"),
    responses(
        (status = 201, body = Empty, description = "The repository was assigned to the project."),
        (status = 409, body = ProblemBody, description = "The project already has a repository."),
    )
)]
async fn initialize(
    project: CallersProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    repository_request(app.vocabulary()).hold(&body)?;
    let owner = body
        .object("providerParameters")
        .map(|parameters| parameters.text("ownerName"));
    let words = [
        body.text("provider"),
        owner.unwrap_or_default(),
        body.text("repositoryName"),
    ];
    app.store()
        .try_change(move |transaction| {
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
