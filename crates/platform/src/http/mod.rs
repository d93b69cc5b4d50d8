//! HTTP to the platform: connections, tokens, tries, limits, and complete error messages.
//!
//! This module contains no resource of the platform; those are in `api`. It sends requests in a way that a CI job can
//! rely on: the token goes to its origin only and is never shown, everything is bounded in size and time, and a
//! request is repeated only if that does no harm. Each failure is an [`HttpError`].

mod base_url;
mod bearer;
mod client;
mod contact;
mod error;
mod failure;
mod hint;
mod host;
mod observer;
mod proxies;
mod redact;
mod redirect;
mod request;
mod response;
mod retry;
mod roots;
mod segment;
mod success;
mod tls;
mod token;
mod transport;
mod upload;
mod weight;
mod words;

pub use base_url::{BaseUrl, BaseUrlError};
pub use client::{Client, Settings};
pub use contact::{Greeting, greet, look_up, proxy_for};
pub use error::{ErrorKind, HttpError};
pub use hint::for_hint;
pub use host::{HostClient, HostSettings};
pub use observer::Observer;
pub use proxies::check_proxy_variables;
pub use request::Request;
pub use reqwest::header::{HeaderName, HeaderValue};
pub use reqwest::{Method, Url};
pub use response::Response;
pub use retry::{Delays, Repeat};
pub(crate) use segment::unfit;
pub use success::Success;
pub use token::{SECRETS, TokenSource};
pub(crate) use upload::UploadBody;
pub use words::FieldViolation;
