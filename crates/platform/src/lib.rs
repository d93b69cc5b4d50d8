//! A client of the pipeline platform, and the files that define the desired state of the platform.
//!
//! Start with [`http`]: the client with its limits, retries and secrets. [`api`] contains the platform's resources, one
//! file for each. [`follow`] waits for operations on the platform, [`definitions`] compares files with the platform and
//! applies them, [`export`] exports audit events.
//!
//! ```no_run
//! use sluicegate_platform::api::Platform;
//! use sluicegate_platform::http::{BaseUrl, Client, Observer, Settings, TokenSource};
//! use std::time::Duration;
//!
//! # async fn list() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Settings {
//!     base_url: BaseUrl::parse("https://platform.example.com")?,
//!     token: TokenSource::File("token".into()),
//!     timeout: Duration::from_secs(30),
//!     retries: 3,
//!     ca_cert: None,
//!     client_certificate: None,
//!     observer: Observer::default(),
//! })?;
//! for version in Platform::new(client).fetch_artifacts(None).await? {
//!     println!("{}", version.display_name());
//! }
//! # Ok(())
//! # }
//! ```

pub mod http;

pub mod api;

pub mod follow;

pub mod definitions;
pub mod export;
