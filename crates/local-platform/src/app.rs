//! The state that all request handlers share.

use super::clock::Clock;
use super::error::ServiceError;
use super::error::StoreError;
use super::given::GivenProject;
use super::options::{Options, Role};
use super::problem::Problem;
use super::review;
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
const READERS: usize = 8;

/// The state of the local platform.
pub(super) struct App {
    store: Store,
    tokens: KnownTokens,
    projects: Vec<GivenProject>,
    vocabulary: Vocabulary,
    clock: Clock,
    readers: Arc<Semaphore>,
}

impl App {
    /// Opens the store and the projects' repositories. If the options contain no token, also returns a generated one.
    pub(super) fn open(options: Options) -> Result<(Self, Option<SecretString>), ServiceError> {
        let mut tokens = options.tokens;
        let generated = tokens.is_empty().then(tokens::generate_token);
        tokens.extend(generated.clone().map(|token| (token, Role::SuperAdmin)));
        let app = Self {
            tokens: KnownTokens::new(&tokens)?,
            projects: open_projects(options.projects)?,
            store: Store::open(options.data.as_deref())?,
            vocabulary: options.vocabulary,
            clock: options.clock,
            readers: Arc::new(Semaphore::new(READERS)),
        };
        let now = app.clock.now();
        app.store
            .change_at_start(|transaction| streaming::restart_running(transaction, now))?;
        Ok((app, generated))
    }

    pub(super) fn tokens(&self) -> &KnownTokens {
        &self.tokens
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Runs work that reads a repository on a blocking thread, with a limited number of readers at the same time.
    pub(super) async fn in_repository<T, F>(&self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Problem> + Send + 'static,
    {
        // The semaphore is never closed. The permit moves into the work, which continues if the caller disconnects.
        let leave = Arc::clone(&self.readers).acquire_owned().await;
        let work = move || {
            let _leave = leave;
            work()
        };
        let done = task::spawn_blocking(work).await;
        done.map_err(|_| Problem::internal("a bug in the local platform ended the work in a repository"))?
    }

    /// Returns the values for the API document's neutral tokens.
    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns who makes a change now, for the audit log.
    pub(super) fn author(&self, caller: &Caller) -> Author {
        Author {
            user: Arc::clone(&caller.user),
            at: self.clock.now(),
        }
    }

    /// Returns the projects from the command line, in the order given.
    pub(super) fn given_projects(&self) -> &[GivenProject] {
        &self.projects
    }

    /// Returns the project from the command line with this ID.
    pub(super) fn given_project(&self, id: Uuid) -> Option<&GivenProject> {
        self.projects.iter().find(|project| project.id == id)
    }

    /// Returns the ID of the project from the command line with this name, if there is exactly one.
    pub(super) fn given_project_called(&self, name: &str) -> Option<Uuid> {
        let mut called = self.projects.iter().filter(|project| project.name == name);
        let first = called.next()?;
        called.next().is_none().then_some(first.id)
    }
}

/// Opens the repository of each project. Fails if one cannot be opened, or a project is there twice.
fn open_projects(repositories: Vec<(Uuid, PathBuf)>) -> Result<Vec<GivenProject>, ServiceError> {
    let mut projects: Vec<GivenProject> = Vec::with_capacity(repositories.len());
    for (project, path) in repositories {
        if let Err(source) = review::open(&path) {
            return Err(ServiceError::Repository {
                project,
                path,
                source,
            });
        }
        if projects.iter().any(|other| other.id == project) {
            return Err(ServiceError::ProjectTwice(project));
        }
        projects.push(GivenProject::new(project, path));
    }
    Ok(projects)
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        Self::internal(format!("the store failed: {error}"))
    }
}
