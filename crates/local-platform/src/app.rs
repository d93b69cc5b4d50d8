//! The state that all request handlers share.

use super::agent_behavior::AgentBehavior;
use super::clock::Clock;
use super::error::ServiceError;
use super::error::StoreError;
use super::options::{Options, Role};
use super::pipeline_review;
use super::problem::Problem;
use super::startup_project::StartupProject;
use super::store::events::Author;
use super::store::{Store, streaming};
use super::tokens::{self, Caller, KnownTokens};
use super::vocabulary::Vocabulary;
use secrecy::SecretString;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task;
use uuid::Uuid;

/// Maximum number of repositories read at the same time; each reader keeps part of a repository in memory.
const MAX_REPOSITORY_READERS: usize = 8;

/// The state that all requests to the local platform share.
pub(super) struct App {
    store: Store,
    tokens: KnownTokens,
    projects: Vec<StartupProject>,
    vocabulary: Vocabulary,
    clock: Clock,
    agent_behavior: AgentBehavior,
    readers: Arc<Semaphore>,
}

impl App {
    /// Creates the state: opens the store, checks the projects' repositories, and restarts the streaming pipelines that
    /// were running when the store was last closed. If the options have no token, also returns a generated one, which
    /// has the highest role.
    pub(super) fn start(options: Options) -> Result<(Self, Option<SecretString>), ServiceError> {
        let mut tokens = options.tokens;
        let generated_token = tokens.is_empty().then(tokens::generate_token);
        tokens.extend(generated_token.clone().map(|token| (token, Role::SuperAdmin)));
        let app = Self {
            tokens: KnownTokens::new(&tokens)?,
            projects: build_startup_projects(options.projects)?,
            store: Store::open(options.data.as_deref())?,
            vocabulary: options.vocabulary,
            clock: options.clock,
            agent_behavior: options.agent_behavior,
            readers: Arc::new(Semaphore::new(MAX_REPOSITORY_READERS)),
        };
        let now = app.clock.now();
        app.store
            .change_at_start(|transaction| streaming::restart_running(transaction, now))?;
        Ok((app, generated_token))
    }

    pub(super) fn tokens(&self) -> &KnownTokens {
        &self.tokens
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Runs `work`, which reads a repository, on a blocking thread, and returns its result. At most
    /// [`MAX_REPOSITORY_READERS`] calls run at the same time; further calls wait.
    pub(super) async fn run_repository_work<T, F>(&self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Problem> + Send + 'static,
    {
        // The semaphore is never closed. The permit moves into the work, which continues if the caller disconnects.
        let permit = Arc::clone(&self.readers).acquire_owned().await;
        task::spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
        .map_err(|_| {
            Problem::internal("reading the repository stopped because of a bug in the local platform")
        })?
    }

    /// Returns the values for the API document's neutral tokens.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the behavior of the simulated agent in a task to fix findings.
    pub(super) const fn agent_behavior(&self) -> AgentBehavior {
        self.agent_behavior
    }

    /// Returns the author of a change for the audit log: the caller and the current time.
    pub(super) fn author_for(&self, caller: &Caller) -> Author {
        Author {
            user: Arc::clone(&caller.user),
            time: self.clock.now(),
        }
    }

    /// Returns the projects from the command line, in the order given.
    pub(super) fn startup_projects(&self) -> &[StartupProject] {
        &self.projects
    }

    /// Returns the project from the command line with this ID.
    pub(super) fn find_startup_project(&self, id: Uuid) -> Option<&StartupProject> {
        self.projects.iter().find(|project| project.id == id)
    }

    /// Returns the ID of the project from the command line with this name, if there is exactly one.
    pub(super) fn find_startup_project_id(&self, name: &str) -> Option<Uuid> {
        let mut matching_projects = self.projects.iter().filter(|project| project.name == name);
        let first = matching_projects.next()?;
        matching_projects.next().is_none().then_some(first.id)
    }
}

/// Builds the projects from their IDs and paths. Returns an error if a repository cannot be opened or an ID occurs
/// twice. A repository is not kept open: each request opens it again.
fn build_startup_projects(project_paths: Vec<(Uuid, PathBuf)>) -> Result<Vec<StartupProject>, ServiceError> {
    let mut projects: Vec<StartupProject> = Vec::with_capacity(project_paths.len());
    for (project, path) in project_paths {
        if let Err(source) = pipeline_review::open_repository(&path) {
            return Err(ServiceError::Repository {
                project,
                path,
                source,
            });
        }
        if projects.iter().any(|known_project| known_project.id == project) {
            return Err(ServiceError::DuplicateProject(project));
        }
        projects.push(StartupProject::new(project, path));
    }
    Ok(projects)
}

impl From<StoreError> for Problem {
    /// Logs the error and converts it to a 500.
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::internal(format!("the database of the local platform failed: {error}"))
    }
}
