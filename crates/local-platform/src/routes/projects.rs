//! Projects and their repositories (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::json_fields::JsonFields as _;
use crate::options::Role;
use crate::page::{Page, PagedList, Query};
use crate::problem::{Problem, ProblemBody};
use crate::project::VisibleProject;
use crate::routes::Empty;
use crate::shape::{Shape, any_text, object, one_of, optional_member, required_member, text};
use crate::store::projects::{self, ProjectItem, ProjectRecord, RepositoryRecord};
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
const DEPLOYMENT_TYPES: [&str; 2] = ["HYBRID", FULL_SAAS];

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for projects.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list_projects, create_project))
        .routes(routes!(create_repository))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    vec![
        project_request_shape(vocabulary),
        repository_request_shape(vocabulary),
    ]
}

/// Returns the shape of a request to create a project.
fn project_request_shape(vocabulary: &Vocabulary) -> Shape {
    object([
        required_member("name", text()),
        optional_member("description", any_text()),
        required_member("warehouse", one_of(&vocabulary.warehouses)),
        required_member("agentDeploymentType", one_of(&DEPLOYMENT_TYPES)),
    ])
    .with_name_and_description("ProjectRequest", "The body of a request to create a project.")
}

/// Returns the shape of a request to assign a repository to a project.
fn repository_request_shape(vocabulary: &Vocabulary) -> Shape {
    let owner =
        required_member("ownerName", text()).with_description("The organization that owns the repository.");
    let parameters =
        object([owner]).with_name_and_description("ProviderParameters", "The owner of the repository.");
    object([
        required_member("provider", one_of(&[&vocabulary.git_provider])),
        required_member("providerParameters", parameters),
        required_member("repositoryName", text()),
    ])
    .with_name_and_description(
        "RepositoryRequest",
        "The body of a request to assign a repository to a project.",
    )
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
    responses((status = 200, body = PagedList<ProjectItem>, description = "A page of projects."))
)]
async fn list_projects(
    caller: Caller,
    State(app): State<Arc<App>>,
    query: Query,
) -> Result<Json<PagedList<ProjectItem>>, Problem> {
    let page = Page::try_from_query(&query)?;
    // The projects from the command line are the first of the list; the projects in the store follow them.
    let startup_projects = app.startup_projects();
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let mut items: Vec<ProjectItem> = startup_projects
        .iter()
        .skip(start)
        .take(page.size as usize)
        .map(|project| ProjectItem {
            id: project.id.to_string(),
            name: project.name.clone(),
            description: String::new(),
        })
        .collect();
    let mut total = startup_projects.len() as u64;
    // Only a super admin sees the projects that were created through the API.
    if caller.role == Role::SuperAdmin {
        // The number of items that the page still needs, and the position in the store at which these begin.
        let remaining_size = page
            .size
            .saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
        let offset = i64::try_from(start.saturating_sub(startup_projects.len())).unwrap_or(i64::MAX);
        // A project of the store that is also on the command line is listed only once.
        let excluded_ids = serde_json::json!(
            startup_projects
                .iter()
                .map(|project| project.id)
                .collect::<Vec<_>>()
        )
        .to_string();
        let (projects, count) = app
            .store()
            .query(move |connection| {
                projects::list_projects(connection, &excluded_ids, remaining_size, offset)
            })
            .await?;
        items.extend(projects);
        total += count;
    }
    Ok(Json(PagedList::new(page, items, total)))
}

/// Creates a project, which is visible only to super admins.
#[utoipa::path(
    post,
    path = "/v1/projects",
    operation_id = "createProject",
    tag = "Projects",
    request_body = ref("#/components/schemas/ProjectRequest"),
    responses((status = 201, body = CreatedProject, description = "The project was created."))
)]
async fn create_project(
    caller: Caller,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedProject>), Problem> {
    project_request_shape(app.vocabulary()).validate(&body)?;
    let project = ProjectRecord {
        id: Uuid::new_v4(),
        name: body.text_or_empty("name"),
        description: body.text_or_empty("description"),
        warehouse: body.text_or_empty("warehouse"),
        full_saas: body.text_or_empty("agentDeploymentType") == FULL_SAAS,
    };
    let project_id = project.id;
    let author = app.author_for(&caller);
    app.store()
        .change(move |transaction| projects::insert(transaction, &project, &author))
        .await?;
    Ok((StatusCode::CREATED, Json(CreatedProject { project_id })))
}

/// Assigns a repository to a project that does not have one.
#[utoipa::path(
    post,
    path = "/v1/projects/{projectId}/repositories",
    operation_id = "createRepository",
    tag = "Projects",
    params(("projectId" = String, Path, format = "uuid", description = "The project's ID.")),
    request_body = ref("#/components/schemas/RepositoryRequest"),
    responses(
        (status = 201, body = Empty, description = "The repository was assigned to the project."),
        (status = 409, body = ProblemBody, description = "The project already has a repository."),
    )
)]
async fn create_repository(
    project: VisibleProject,
    State(app): State<Arc<App>>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Empty>), Problem> {
    repository_request_shape(app.vocabulary()).validate(&body)?;
    let owner = body
        .find_object("providerParameters")
        .map(|parameters| parameters.text_or_empty("ownerName"));
    let repository = RepositoryRecord {
        provider: body.text_or_empty("provider"),
        owner: owner.unwrap_or_default(),
        name: body.text_or_empty("repositoryName"),
    };
    app.store()
        .try_change(move |transaction| {
            if projects::is_full_saas(transaction, project.id)? {
                return Ok(Err(Problem::invalid_field(
                    "projectId",
                    "must not be the ID of a full SaaS project, which has no repository",
                )));
            }
            let is_inserted = projects::insert_repository(transaction, project.id, &repository)?;
            let conflict = || Problem::conflict("the project already has a repository");
            Ok(is_inserted.then_some(()).ok_or_else(conflict))
        })
        .await??;
    Ok((StatusCode::CREATED, Json(Empty {})))
}
