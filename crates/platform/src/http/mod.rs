//! HTTP to the platform: connections, tokens, tries, limits, and complete error messages.
//!
//! This module contains no resource of the platform; those are in `api`. It sends requests in a way that a CI job can
//! rely on: the token goes to its origin only and is never shown, everything is bounded in size and time, and a
//! request is repeated only if that does no harm. Each failure is an [`HttpError`].

mod address_check;
mod base_url;
mod client;
mod client_certificate;
mod client_pair;
mod error;
mod error_kind;
mod exchange_log;
mod failure;
mod hint_request;
mod host_client;
mod machine_roots;
mod memory_estimate;
mod observer;
mod path_segments;
mod pem_path;
mod pending_request;
mod proxies;
mod redirect;
mod request;
mod request_subject;
mod response;
mod retry;
mod server_text;
mod success;
mod tls;
mod token;
mod token_value;
mod transport;
mod upload;

pub use address_check::{UnauthenticatedResponse, find_proxy, resolve_host, send_without_token};
pub use base_url::{BaseUrl, BaseUrlError};
pub use client::{Client, Settings};
pub use client_certificate::{ClientCertificate, PemSource};
pub use error::HttpError;
pub use error_kind::ErrorKind;
pub use hint_request::request_for_hint;
pub use host_client::{HostClient, HostSettings};
pub(crate) use observer::SILENCE_LIMIT;
pub use observer::{Observer, PendingChanges};
pub(crate) use path_segments::find_segment_problem;
pub(crate) use pending_request::await_until;
pub use proxies::check_proxy_variables;
pub use request::Request;
pub use reqwest::header::{HeaderName, HeaderValue};
pub use reqwest::{Method, Url};
pub use response::Response;
pub use retry::{Delays, Repeat};
pub use server_text::FieldViolation;
pub(crate) use sluicegate_base::named_fields::NamedFields;
pub use success::Success;
pub use tls::CaFile;
pub use token::{TokenSource, WITHHELD_VARIABLES};
pub(crate) use upload::UploadBody;
