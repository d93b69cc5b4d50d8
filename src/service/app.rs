//! Everything that a request needs, and the router around it.

use super::auth::{self, Tokens};
use super::error::ServiceError;
use super::linger::linger;
use super::openapi;
use super::options::{Options, Role, Vocabulary};
use super::problem::{self, Problem};
use super::review;
use super::store::Store;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use uuid::Uuid;

/// Reviews at the same time; each holds some of a repository in memory.
const REVIEWS: usize = 8;

/// The state of the local platform.
pub struct App {
    store: Store,
    tokens: Tokens,
    projects: BTreeMap<Uuid, PathBuf>,
    vocabulary: Vocabulary,
    reviews: Arc<Semaphore>,
    description: OpenApi,
}

impl App {
    /// Opens the store and checks the projects' repositories. Also gives the token that was generated because none
    /// was given.
    pub fn open(options: Options) -> Result<(Self, Option<SecretString>), ServiceError> {
        let mut tokens = options.tokens;
        let generated = tokens.is_empty().then(auth::generate_token);
        tokens.extend(generated.clone().map(|token| (token, Role::SuperAdmin)));
        let app = Self {
            tokens: Tokens::new(&tokens)?,
            projects: open_projects(options.projects)?,
            store: Store::open(options.data.as_deref())?,
            vocabulary: options.vocabulary,
            reviews: Arc::new(Semaphore::new(REVIEWS)),
            description: openapi::description(),
        };
        Ok((app, generated))
    }

    pub(super) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Leave to make a review.
    pub(super) fn reviews(&self) -> Arc<Semaphore> {
        Arc::clone(&self.reviews)
    }

    /// The names that stand for the API document's neutral tokens.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    pub(super) fn description(&self) -> &OpenApi {
        &self.description
    }

    /// The repository of a project; none if there is no such project.
    pub(super) fn repository(&self, project: Uuid) -> Option<&PathBuf> {
        self.projects.get(&project)
    }
}

fn open_projects(given: Vec<(Uuid, PathBuf)>) -> Result<BTreeMap<Uuid, PathBuf>, ServiceError> {
    let mut projects = BTreeMap::new();
    for (project, path) in given {
        if let Err(source) = review::open(&path) {
            return Err(ServiceError::Repository {
                project,
                path,
                source,
            });
        }
        if projects.insert(project, path).is_some() {
            return Err(ServiceError::ProjectTwice(project));
        }
    }
    Ok(projects)
}

/// The whole service as a router.
///
/// From the outside in: an unread body is read on, refusals are written out, a panic becomes a refusal, the caller is
/// found, and only then is the path looked at.
pub fn app(state: Arc<App>) -> Router {
    openapi::router()
        .method_not_allowed_fallback(async || Problem::method_not_allowed())
        .fallback(async || Problem::not_found("there is nothing at this path"))
        .layer(from_fn_with_state(Arc::clone(&state), auth::authenticate))
        .layer(CatchPanicLayer::custom(Problem::from_panic))
        .layer(from_fn(problem::answer))
        .layer(from_fn(linger))
        .with_state(state)
}
