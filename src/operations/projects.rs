//! Runs `sluicegate projects`, `environments`, `connections`, `secrets` and `repositories`.

use crate::error::Failure;
use crate::job::cli::{
    ConnectionsVerb, EnvironmentsVerb, OutputArgs, ProjectsVerb, RepositoriesVerb, SecretsVerb, ValueArgs,
    VocabularyArgs,
};
use crate::session::resource::created_without_id_failure;
use crate::session::resource_lookup::creation_failure;
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use serde_json::Value;
use sluicegate_base::text;
use sluicegate_platform::api::{NewConnection, NewEnvironment, NewProject, NewRepository, NewSecret};
use sluicegate_platform::definitions::provision::SecretSource;
use sluicegate_platform::definitions::{self, Document};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::path::Path;

/// Hint if it is unknown whether a resource was created that no list shows.
const RESOURCE_CHECK_INSTRUCTION: &str =
    "check whether the project already has the new resource before you repeat the command";

/// Runs `sluicegate projects list` or `sluicegate projects create`. The failure of a creation has a hint to check
/// whether the project exists, because the platform may have created it without a response.
pub(crate) fn run_projects(session: &Session, verb: ProjectsVerb) -> CommandResult {
    let platform = session.create_account_client()?;
    session.block_on(async {
        match verb {
            ProjectsVerb::List { output } => {
                let columns = [("name", "name"), ("id", "id"), ("description", "description")];
                session.print_list(output, platform.fetch_projects().await?, &columns, "no projects")
            }
            ProjectsVerb::Create {
                name,
                description,
                warehouse,
                agent_deployment_type,
                output,
            } => {
                let project = NewProject {
                    name: name.into_name(),
                    description,
                    // The platform names the warehouse of a project in upper case.
                    warehouse: warehouse.to_uppercase(),
                    agent_deployment_type,
                };
                let response = platform
                    .create_project(&project)
                    .await
                    .map_err(|error| creation_failure(error, "run `sluicegate projects list` to check"))?;
                if response.project_id.is_none() {
                    return Err(created_without_id_failure(
                        "the project was created, but the response contains no project id",
                        "run `sluicegate projects list` to check",
                    ));
                }
                session.print_response(output, &response.raw, || {
                    response_output::format_field_lines(&response.raw)
                })
            }
        }
    })?
}

/// Runs `sluicegate environments list` or `sluicegate environments create`.
pub(crate) fn run_environments(session: &Session, verb: EnvironmentsVerb) -> CommandResult {
    match verb {
        EnvironmentsVerb::List { output } => {
            let project = session.create_project_client()?;
            let columns = [
                ("name", "name"),
                ("defaultAgentName", "default agent"),
                ("defaultAgentId", "default agent id"),
            ];
            session.block_on(async {
                let response = project.platform.fetch_environments(project.id).await;
                let environments = project.convert_response(response).await?;
                session.print_list(output, environments, &columns, "the project has no environments")
            })?
        }
        EnvironmentsVerb::Create { file, output } => create_environment(session, &file, output),
    }
}

/// Creates the environment that the file describes, and prints the result.
fn create_environment(session: &Session, file: &Path, output: OutputArgs) -> CommandResult {
    let document = session.load_document(file)?;
    let (root_path, connections) = ("", None);
    let environment = definitions::read_environment(&document, root_path, &document.value, connections)?;
    warn_of_unknown_keys(session, &document, root_path, &environment);
    let project = session.create_project_client()?;
    session.block_on(async {
        let result = project
            .platform
            .create_environment(project.id, &environment)
            .await;
        let response = project
            .convert_creation_response(result, "run `sluicegate environments list` to check")
            .await?;
        print_created(
            session,
            output,
            &response,
            &format!("the environment {}", environment.name),
        )
    })?
}

/// Prints a warning for each key of the environment at this path of the document that the API document does not define.
pub(crate) fn warn_of_unknown_keys(
    session: &Session,
    document: &Document,
    path: &str,
    environment: &NewEnvironment,
) {
    for description in definitions::describe_unknown_environment_keys(document, path, environment) {
        session.ui.warn(&description);
    }
}

/// Prints that `description` was created. The response is printed only for `--output json`, because it is almost empty.
fn print_created(
    session: &Session,
    output: OutputArgs,
    response: &Value,
    description: &str,
) -> CommandResult {
    session.print_response(output, response, || {
        text::escape_line(&format!("created {description}")) + "\n"
    })
}

/// Runs `sluicegate connections create`: creates a connection to a warehouse. Without `--auth-type`, the authentication
/// type follows from the warehouse.
pub(crate) fn run_connections(session: &Session, verb: ConnectionsVerb) -> CommandResult {
    let ConnectionsVerb::Create {
        name,
        warehouse,
        auth_type,
        connection_type,
        vocabulary,
        output,
    } = verb;
    let platform_names = session
        .read_setting_sources()?
        .resolve_platform_names(&vocabulary)?;
    let auth_type = auth_type
        .or_else(|| platform_names.auth_type(&warehouse).map(str::to_owned))
        .ok_or_else(|| {
            Failure::usage(format!(
                "unknown authentication type for {warehouse}: the warehouse is neither {} nor {}",
                platform_names.key_pair_warehouse, platform_names.password_warehouse
            ))
            .with_hint("set --auth-type, or the names of the warehouses with --warehouse-a and --warehouse-b")
        })?;
    let connection = NewConnection {
        name: name.into_name(),
        platform_connection_type: connection_type,
        // The platform names the warehouse of a connection in lower case.
        auth_provider: warehouse.to_lowercase(),
        auth_type,
    };
    let project = session.create_project_client()?;
    session.block_on(async {
        let result = project.platform.create_connection(project.id, &connection).await;
        let response = project
            .convert_creation_response(result, RESOURCE_CHECK_INSTRUCTION)
            .await?;
        print_created(
            session,
            output,
            &response,
            &format!("the connection {}", connection.name),
        )
    })?
}

/// Runs `sluicegate secrets create`: stores a secret in the vault of a runner.
pub(crate) fn run_secrets(session: &Session, verb: SecretsVerb) -> CommandResult {
    let SecretsVerb::Create {
        agent_id,
        name,
        r#type,
        key,
        value,
        output,
    } = verb;
    let secret = NewSecret {
        name: name.into_name(),
        r#type,
        key,
        value: session.read_secret(&choose_secret_source(value)?)?,
    };
    let platform = session.create_account_client()?;
    session.block_on(async {
        let response = platform
            .create_secret(&agent_id.to_string(), &secret)
            .await
            .map_err(|error| {
                creation_failure(
                    error,
                    "check whether the vault already has the secret before you repeat the command",
                )
            })?;
        if response.vault_secret_name.is_none() && response.resolver_ref.is_none() {
            return Err(created_without_id_failure(
                "the secret was stored, but the response contains no reference to it",
                "check whether the vault already has the secret",
            ));
        }
        session.print_response(output, &response.raw, || {
            response_output::format_field_lines(&response.raw)
        })
    })?
}

/// Returns the source of the secret's value that the flags select: a variable or a file.
fn choose_secret_source(args: ValueArgs) -> Result<SecretSource, Failure> {
    match (args.value_variable, args.value_file) {
        (Some(name), _) => Ok(SecretSource::Variable(name)),
        (None, Some(path)) => Ok(SecretSource::File(path)),
        (None, None) => Err(Failure::usage("the secret has no source")),
    }
}

/// Runs `sluicegate repositories create`: registers a repository for the project.
pub(crate) fn run_repositories(session: &Session, verb: RepositoriesVerb) -> CommandResult {
    let RepositoriesVerb::Create {
        owner,
        name,
        git_provider,
        output,
    } = verb;
    // The names of the warehouse types are not part of a repository.
    let vocabulary = VocabularyArgs {
        git_provider,
        ..VocabularyArgs::default()
    };
    let repository = NewRepository {
        provider: session
            .read_setting_sources()?
            .resolve_platform_names(&vocabulary)?
            .git_provider,
        owner_name: owner,
        repository_name: name.into_name(),
    };
    let project = session.create_project_client()?;
    session.block_on(async {
        let result = project
            .platform
            .create_repository(project.id, &repository)
            .await
            .map_err(add_repository_hint);
        let response = project
            .convert_creation_response(result, RESOURCE_CHECK_INSTRUCTION)
            .await?;
        let description = format!(
            "the repository {}/{}",
            repository.owner_name, repository.repository_name
        );
        print_created(session, output, &response, &description)
    })?
}

/// Adds a hint to a conflict: a project has at most one repository, so another name does not help.
fn add_repository_hint(error: HttpError) -> HttpError {
    if error.kind() != ErrorKind::Conflict {
        return error;
    }
    error.with_hint(
        "use the repository that the project already has, or create another project with `sluicegate projects create`",
    )
}
