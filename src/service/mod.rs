//! The platform on this machine: the endpoints of the API document over HTTP, on a store of its own.
//!
//! It exists so that the whole job can be tried, tested and shown without an account, and so that the client is held
//! against something that answers as the document says. It therefore shares none of the client's types: what both
//! sides agree on is JSON. It does share the rules, so a review made here is a real one.
//!
//! A resource is one file in `routes` (what goes over the wire) and one in `store` (what is kept); `openapi` names
//! each once, and from that come both the router and the description of the API.

mod agent;
mod app;
mod auth;
mod body;
mod check;
mod clock;
mod error;
mod fields;
mod given;
mod linger;
mod multipart;
mod openapi;
mod options;
mod page;
mod place;
mod problem;
mod project;
mod published;
mod review;
mod router;
mod routes;
mod seats;
mod server;
mod shape;
mod store;
mod streaming;
mod tokens;
mod upload;
mod vocabulary;
mod walk;

pub use clock::Clock;
pub use error::{ServiceError, StoreError};
pub use options::{Options, Role, UnknownRole};
pub use server::{Running, start};
pub use vocabulary::{ReviewFields, Vocabulary, VocabularyError};
