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
