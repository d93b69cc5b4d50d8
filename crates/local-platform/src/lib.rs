//! The local platform: the endpoints of the API document over HTTP, with its own store.
//!
//! With it, the complete job can be tried, tested and shown without an account, and the client is tested against a
//! server that responds as the document specifies. It therefore shares no types with the client: both sides have only
//! the JSON in common. It does share the rules, so its reviews are real ones.
//!
//! Start with [`start`] and [`Options`].
//!
//! A resource is one file in `routes` (requests and responses) and one in `store` (stored data); `routes` lists each
//! resource once, and both the router and the API description are built from that list.

mod agent;
mod agent_behavior;
mod app;
mod auth;
mod body;
mod body_check;
mod clock;
mod drained_body;
mod error;
mod execution_simulation;
mod form_reader;
mod json_fields;
mod openapi;
mod options;
mod page;
mod pipeline_review;
mod problem;
mod project;
mod published_pipelines;
mod received_upload;
mod request_path;
mod router;
mod routes;
mod seats;
mod server;
mod shape;
mod startup_project;
mod store;
mod streaming_shapes;
mod tokens;
mod vocabulary;

pub use agent_behavior::AgentBehavior;
pub use clock::Clock;
pub use error::{ServiceError, StoreError};
pub use options::{Options, Role, UnknownRole};
pub use server::{RunningPlatform, start};
pub use vocabulary::{ReviewFields, Vocabulary, VocabularyError};
