//! Settings for the connection to the platform: URL, token, limits. The file may set only project, agent version and
//! limits.

use super::layers::{SettingSource, reject_unexpanded_secret, reject_unexpanded_value};
use super::setting_table::variable;
use super::{Layers, SettingSources, SettingsError};
use crate::env::Env;
use crate::job::cli::GlobalArgs;
use secrecy::ExposeSecret as _;
use sluicegate_base::text::join_with_and;
use sluicegate_platform::http::{BaseUrl, CaFile, ClientCertificate, PemSource, TokenSource};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

/// The connection settings of a client. Values that are set have been checked, except for the project ID.
pub struct Connection {
    base_url: Option<BaseUrl>,
    /// The text of the setting. Requests for the account do not need a valid project ID.
    project_id: Option<String>,
    agent_version: Option<String>,
    token: Option<TokenSource>,
    /// Timeout of each request.
    pub timeout: Duration,
    /// Maximum number of retries for a failed request.
    pub retries: u32,
    /// PEM file with additional root certificates.
    pub ca_cert: Option<CaFile>,
    /// The client certificate for the platform.
    pub client_certificate: Option<ClientCertificate>,
    /// Warnings about these settings.
    pub warnings: Vec<String>,
    /// The reason why the configuration file is not used, if it cannot be used.
    unusable_file_reason: Option<String>,
    /// The keys that only the checkout's file sets, which applies to this job after the merge.
    keys_after_merge: Vec<&'static str>,
}

const BASE_URL_DESCRIPTION: &str = "the URL of the platform's API, such as https://platform.example.com";

const PROJECT_ID_DESCRIPTION: &str = "the project's UUID, which `sluicegate projects list` shows; to set it \
     for all jobs, add `project-id` to sluicegate.yaml";

const AGENT_VERSION_DESCRIPTION: &str = "the version of the agent that runs the project's pipelines (the \
     platform lists it with the agent); to set it for all jobs, add `agent-version` to sluicegate.yaml";

impl Connection {
    /// Returns whether the URL, the project, the agent version or the token is set, which shows that the user wants to
    /// use a platform.
    pub const fn has_any_setting(&self) -> bool {
        self.base_url.is_some()
            || self.project_id.is_some()
            || self.agent_version.is_some()
            || self.token.is_some()
    }

    /// Returns whether the URL and the token are set, which every request needs.
    pub const fn can_send_requests(&self) -> bool {
        self.base_url.is_some() && self.token.is_some()
    }

    /// Returns the platform's URL, which every request needs, or an error with a hint if it is not set.
    pub fn require_base_url(&self) -> Result<&BaseUrl, SettingsError> {
        self.base_url.as_ref().ok_or_else(|| {
            missing_setting_error(
                "the platform's base URL",
                "--base-url",
                variable::BASE_URL,
                BASE_URL_DESCRIPTION,
            )
        })
    }

    /// Returns the project ID if it is set. Fails if it is not a UUID.
    pub fn find_project_id(&self) -> Result<Option<Uuid>, SettingsError> {
        self.project_id.as_deref().map(parse_project_id).transpose()
    }

    /// Returns the project ID, which requests for the project's resources need, or an error with a hint if it is not
    /// set.
    pub fn require_project_id(&self) -> Result<Uuid, SettingsError> {
        self.find_project_id()?.ok_or_else(|| {
            self.missing_file_setting_error(
                "the project",
                "project-id",
                variable::PROJECT_ID,
                PROJECT_ID_DESCRIPTION,
            )
        })
    }

    /// Returns whether the configuration file, which may set the project and the agent version, cannot be used.
    pub const fn has_unusable_file(&self) -> bool {
        self.unusable_file_reason.is_some()
    }

    /// Returns the error for a missing setting that the configuration file may set under `key`. An unusable file is
    /// probably the cause, so the error names its defect. If the change sets the key, the job must set it until the
    /// merge.
    fn missing_file_setting_error(
        &self,
        name: &str,
        key: &str,
        variable: &str,
        description: &str,
    ) -> SettingsError {
        let flag = format!("--{key}");
        let Some(reason) = &self.unusable_file_reason else {
            if self.keys_after_merge.contains(&key) {
                return SettingsError::new(format!("{name} is not set")).with_hint(format!(
                    "`{key}` in the change's sluicegate.yaml applies after the merge; to review this change, set \
                     {variable} in the job or pass {flag}"
                ));
            }
            return missing_setting_error(name, &flag, variable, description);
        };
        SettingsError::new(format!(
            "{name} is not set, and the configuration file that applies to this run cannot be used: {reason}"
        ))
        .with_hint(format!("fix the file; a job can also set {variable}"))
    }

    /// Returns the value of the `Agent-Version` header, which a review needs, or an error with a hint if it is not set.
    pub fn require_agent_version(&self) -> Result<&str, SettingsError> {
        let (key, variable) = ("agent-version", variable::AGENT_VERSION);
        self.agent_version.as_deref().ok_or_else(|| {
            self.missing_file_setting_error("the agent version", key, variable, AGENT_VERSION_DESCRIPTION)
        })
    }

    /// Returns the source of the token, which every request needs, or an error with a hint if there is none.
    pub fn require_token(&self) -> Result<&TokenSource, SettingsError> {
        let hint = format!(
            "set {} (a CI secret), {}, {}, or {} with {} and {}; an administrator of the account on the platform \
             can create tokens and API credentials",
            variable::TOKEN,
            variable::TOKEN_FILE,
            variable::TOKEN_COMMAND,
            variable::CLIENT_ID,
            variable::CLIENT_SECRET,
            variable::TOKEN_URL,
        );
        self.token
            .as_ref()
            .ok_or_else(|| SettingsError::new("there is no token for the platform").with_hint(hint))
    }
}

/// Returns the error for a missing setting. `description` explains the value and where the user finds it.
fn missing_setting_error(name: &str, flag: &str, variable: &str, description: &str) -> SettingsError {
    let hint = format!("pass {flag} or set {variable}: {description}");
    SettingsError::new(format!("{name} is not set")).with_hint(hint)
}

fn parse_project_id(text: &str) -> Result<Uuid, SettingsError> {
    Uuid::parse_str(text.trim()).map_err(|_| {
        SettingsError::new(format!("the project id is not a UUID: {}", describe_length(text)))
            .with_hint(format!("pass {PROJECT_ID_DESCRIPTION}"))
    })
}

/// Describes only the length of a value, because the value may be a secret that was pasted into the wrong setting.
pub(super) fn describe_length(value: &str) -> String {
    match value.chars().count() {
        1 => "the value has 1 character and is not shown".to_owned(),
        length => format!("the value has {length} characters and is not shown"),
    }
}

impl SettingSources<'_> {
    /// Resolves the settings of the connection to the platform. An invalid value is an error even if the command does
    /// not need it; a missing value is not an error here.
    pub fn resolve_connection(&self, args: &GlobalArgs) -> Result<Connection, SettingsError> {
        let connection = self.resolve_account_connection(args)?;
        connection.find_project_id()?;
        Ok(connection)
    }

    /// Resolves the settings as [`Self::resolve_connection`] does, for a command that may need no project. Therefore, a
    /// project ID that is not a UUID is not an error here. It would stop the command that shows the UUID.
    pub fn resolve_account_connection(&self, args: &GlobalArgs) -> Result<Connection, SettingsError> {
        let layers = self.layers();
        let mut warnings = Vec::new();
        let token = find_token_source(layers, self.env, args, &mut warnings)?;
        let timeout =
            layers.resolve_integer(args.timeout, variable::TIMEOUT, self.file.timeout, "timeout")?;
        let retries = layers.resolve_integer(
            args.retries.map(u64::from),
            variable::RETRIES,
            self.file.retries,
            "number of retries",
        )?;
        Ok(Connection {
            base_url: resolve_base_url(layers, args)?,
            project_id: layers.resolve_expanded_text(
                args.project_id.clone(),
                variable::PROJECT_ID,
                self.file.project_id.clone(),
            )?,
            agent_version: self.resolve_agent_version(args)?,
            token,
            timeout: Duration::from_secs(timeout),
            retries: u32::try_from(retries).unwrap_or(u32::MAX),
            ca_cert: resolve_in_current_dir(
                self.env,
                layers.resolve_expanded_text(path_to_text(args.ca_cert.as_ref()), variable::CA_CERT, None)?,
            )
            .map(CaFile::from_flag),
            client_certificate: self.find_client_certificate(args)?,
            warnings,
            unusable_file_reason: self.unusable_reason.clone(),
            keys_after_merge: self.list_keys_after_merge(),
        })
    }

    /// Returns the keys of the connection that only the checkout's file sets, and not the file that applies to this run.
    fn list_keys_after_merge(&self) -> Vec<&'static str> {
        let mut keys = Vec::new();
        if self.file.project_id.is_none() && self.first_file.project_id.is_some() {
            keys.push("project-id");
        }
        if self.file.agent_version.is_none() && self.first_file.agent_version.is_some() {
            keys.push("agent-version");
        }
        keys
    }

    /// Returns the client certificate and its key, if a certificate is set. The certificate file may contain the key,
    /// but a key without a certificate is an error.
    fn find_client_certificate(&self, args: &GlobalArgs) -> Result<Option<ClientCertificate>, SettingsError> {
        let certificate = self.find_pem(args.client_cert.as_ref(), variable::CLIENT_CERT);
        let key = self.find_pem(args.client_key.as_ref(), variable::CLIENT_KEY);
        match (certificate, key) {
            (Some(certificate), key) => Ok(Some(ClientCertificate { certificate, key })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(
                SettingsError::new("a client key is set, but no client certificate")
                    .with_hint(format!("pass --client-cert or set {}", variable::CLIENT_CERT)),
            ),
        }
    }

    /// Returns the source of PEM text: the file that the flag names, otherwise the variable. The variable contains the
    /// path of a PEM file or, like many CI secrets, the PEM text itself.
    fn find_pem(&self, flag: Option<&PathBuf>, variable: &str) -> Option<PemSource> {
        if let Some(path) = flag {
            return Some(PemSource::File(self.env.current_dir().join(path)));
        }
        let text = self.env.secret(variable)?;
        let path = text.expose_secret();
        if path.trim_start().starts_with("-----BEGIN") {
            return Some(PemSource::Text(text));
        }
        Some(PemSource::File(self.env.current_dir().join(path)))
    }

    /// Resolves the agent version, if it is set, and removes surrounding spaces. It must be valid as an HTTP header
    /// value.
    fn resolve_agent_version(&self, args: &GlobalArgs) -> Result<Option<String>, SettingsError> {
        let file = self.file.agent_version.clone();
        let Some(text) =
            self.layers()
                .resolve_expanded_text(args.agent_version.clone(), variable::AGENT_VERSION, file)?
        else {
            return Ok(None);
        };
        let is_valid = !text.trim().is_empty() && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
        if is_valid {
            Ok(Some(text.trim().to_owned()))
        } else {
            Err(SettingsError::new(format!(
                "the agent version cannot be an HTTP header value: {}",
                describe_length(&text)
            )))
        }
    }
}

/// Resolves the URL of the platform, if it is set. Only the job may set it, not the configuration file.
fn resolve_base_url(layers: Layers<'_>, args: &GlobalArgs) -> Result<Option<BaseUrl>, SettingsError> {
    let text = layers.resolve_expanded_text(args.base_url.clone(), variable::BASE_URL, None)?;
    text.map(|text| BaseUrl::parse(&text).map_err(|error| SettingsError::new(error.to_string())))
        .transpose()
}

/// Returns the source of the token, if one is set. A flag takes precedence over the variables, which are used in the
/// order token, file, command, client credentials. A warning is added for each variable that another variable
/// overrides.
fn find_token_source(
    layers: Layers<'_>,
    env: &Env,
    args: &GlobalArgs,
    warnings: &mut Vec<String>,
) -> Result<Option<TokenSource>, SettingsError> {
    match (&args.token_file, &args.token_command) {
        (Some(_), Some(_)) => {
            return Err(
                SettingsError::new("--token-file and --token-command are both set")
                    .with_hint("remove one of the two flags"),
            );
        }
        (Some(path), None) => return Ok(Some(TokenSource::File(env.current_dir().join(path)))),
        (None, Some(command)) => return Ok(Some(TokenSource::Command(command.clone()))),
        (None, None) => {}
    }
    // The sources in the order of their precedence. Only the variables are read, because no flag is given.
    let sources = [
        (
            variable::TOKEN,
            env.secret(variable::TOKEN).map(TokenSource::Value),
        ),
        (
            variable::TOKEN_FILE,
            resolve_in_current_dir(
                env,
                layers.resolve_expanded_text(None, variable::TOKEN_FILE, None)?,
            )
            .map(TokenSource::File),
        ),
        (
            variable::TOKEN_COMMAND,
            layers
                .resolve_text(None, variable::TOKEN_COMMAND, None)
                .map(TokenSource::Command),
        ),
        (variable::CLIENT_ID, find_client_credentials(env)?),
    ];
    let mut set_sources = sources
        .into_iter()
        .filter_map(|(name, source)| source.map(|source| (name, source)));
    let Some((chosen_name, source)) = set_sources.next() else {
        return Ok(None);
    };
    warnings.extend(
        set_sources.map(|(name, _)| format!("ignoring {name}, because {chosen_name} takes precedence")),
    );
    Ok(Some(source))
}

/// Reads the OAuth 2 client credentials from their variables. Returns `None` if neither the client ID nor the secret is
/// set. If one of them is set, the other and the token URL are required.
fn find_client_credentials(env: &Env) -> Result<Option<TokenSource>, SettingsError> {
    let names = [variable::CLIENT_ID, variable::CLIENT_SECRET, variable::TOKEN_URL];
    let [id, url] = [variable::CLIENT_ID, variable::TOKEN_URL].map(|name| env.get(name));
    let (Some(id), Some(secret), Some(url)) = (id, env.secret(variable::CLIENT_SECRET), url) else {
        let missing_names: Vec<&str> = names
            .into_iter()
            .filter(|name| env.secret(name).is_none())
            .collect();
        // Neither is set, so the job does not use client credentials. A token URL alone has no effect.
        let has_no_credentials =
            missing_names.contains(&variable::CLIENT_ID) && missing_names.contains(&variable::CLIENT_SECRET);
        if has_no_credentials {
            return Ok(None);
        }
        let message = format!(
            "the client credentials are incomplete: {} must be set, too",
            join_with_and(missing_names)
        );
        return Err(SettingsError::new(message));
    };
    let audience = env.get(variable::TOKEN_AUDIENCE);
    for (name, text) in [
        (variable::CLIENT_ID, Some(id)),
        (variable::TOKEN_URL, Some(url)),
        (variable::TOKEN_AUDIENCE, audience),
    ] {
        reject_unexpanded_value(text.unwrap_or_default(), SettingSource::Variable, name)?;
    }
    reject_unexpanded_secret(&secret, variable::CLIENT_SECRET)?;
    let token_url = url::Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            SettingsError::new(format!(
                "the variable {} is not an http(s) URL",
                variable::TOKEN_URL
            ))
        })?;
    Ok(Some(TokenSource::ClientCredentials {
        token_url,
        client_id: id.to_owned(),
        client_secret: secret,
        audience: audience.map(str::to_owned),
    }))
}

pub(super) fn path_to_text(path: Option<&PathBuf>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

fn resolve_in_current_dir(env: &Env, path: Option<String>) -> Option<PathBuf> {
    path.map(|path| env.current_dir().join(path))
}
