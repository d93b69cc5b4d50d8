//! The options of the local platform.

use super::agent_behavior::AgentBehavior;
use super::clock::Clock;
use super::vocabulary::Vocabulary;
use secrecy::SecretString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use uuid::Uuid;

/// The options to start the local platform with.
#[derive(Debug)]
pub struct Options {
    /// The address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// The directory of the embedded database, created if missing; `None` keeps all data in memory.
    pub data: Option<PathBuf>,
    /// The projects, each with the repository that serves as its remote.
    pub projects: Vec<(Uuid, PathBuf)>,
    /// The accepted tokens; if empty, a token with the role super admin is generated.
    pub tokens: Vec<(SecretString, Role)>,
    /// The values for the API document's neutral tokens.
    pub vocabulary: Vocabulary,
    pub clock: Clock,
    /// The behavior of the simulated agent in a task to fix findings.
    pub agent_behavior: AgentBehavior,
}

/// An account role (API document, "Authentication").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    SuperAdmin,
    /// May do everything that is not reserved for the super admin.
    Admin,
    Member,
}

impl Role {
    /// Returns whether the role may use the shared pipeline endpoints.
    pub(crate) const fn is_admin(self) -> bool {
        matches!(self, Self::SuperAdmin | Self::Admin)
    }
}

impl fmt::Display for Role {
    /// Writes the name that selects the role on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SuperAdmin => "super-admin",
            Self::Admin => "admin",
            Self::Member => "member",
        })
    }
}

/// The text is not the name of a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{0}`: the roles are super-admin, admin and member")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

    /// Parses the name that selects a role on the command line.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::SuperAdmin, Self::Admin, Self::Member]
            .into_iter()
            .find(|role| role.to_string() == text)
            .ok_or_else(|| UnknownRole(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Role;

    #[test]
    fn roles_are_read_as_they_are_shown() {
        for role in [Role::SuperAdmin, Role::Admin, Role::Member] {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        let unknown = "root".parse::<Role>().unwrap_err();
        insta::assert_snapshot!(unknown, @"unknown role `root`: the roles are super-admin, admin and member");
    }
}
