//! The environment of the git program.

use std::ffi::OsString;

/// Environment variables that are passed to the program, and so to any program that a repository's configuration
/// makes it start (`core.sshCommand`, a credential helper): search paths, user settings, temporary directories,
/// language, access to the remote, and the variables that checkout steps set for git. Any other variable may be a
/// secret of the job.
const PASSED_VARIABLES: [&str; 44] = [
    "ALL_PROXY",
    "APPDATA",
    "COMSPEC",
    "CURL_CA_BUNDLE",
    "GIT_ASKPASS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_HTTP_LOW_SPEED_LIMIT",
    "GIT_HTTP_LOW_SPEED_TIME",
    "GIT_HTTP_USER_AGENT",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOCALAPPDATA",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
];
/// Prefixes of other variables that are passed on: numbered settings.
const PASSED_VARIABLE_PREFIXES: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// The proxy variables of git. If they are also set in uppercase, git would prefer these, and ignore `HTTP_PROXY`.
const PROXY_VARIABLES: [&str; 4] = ["all_proxy", "http_proxy", "https_proxy", "no_proxy"];

/// Returns the variables of this process that git gets, because it needs them to reach the remote and to find its
/// configuration: those in [`PASSED_VARIABLES`], in upper or lower case (`https_proxy`), those with a prefix in
/// [`PASSED_VARIABLE_PREFIXES`], and the locale. The proxy variables follow in lowercase, so that git uses the same
/// proxy as other requests, for which an uppercase variable has priority.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment of git is copied from the program's environment, whose names and values may not be UTF-8"
)]
pub(super) fn passed_environment() -> impl Iterator<Item = (OsString, OsString)> {
    let variables = std::env::vars_os().filter(|(name, _)| {
        let Some(name) = name.to_str() else { return false };
        PASSED_VARIABLES
            .iter()
            .any(|variable| variable.eq_ignore_ascii_case(name))
            || name.starts_with("LC_")
            || PASSED_VARIABLE_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    });
    let proxies = PROXY_VARIABLES.into_iter().filter_map(|name| {
        let value = std::env::var_os(name.to_ascii_uppercase())?;
        let is_blank = value.to_string_lossy().trim().is_empty();
        (!is_blank).then(|| (OsString::from(name), value))
    });
    variables.chain(proxies)
}
