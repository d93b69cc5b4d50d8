//! What the local platform is started with.

use super::clock::Clock;
use super::vocabulary::Vocabulary;
use secrecy::SecretString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use uuid::Uuid;

/// How to start the local platform.
#[derive(Debug)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The folder of the embedded database, made if it is missing; none keeps everything in memory.
    pub data: Option<PathBuf>,
    /// The projects, each with the repository that is its remote.
    pub projects: Vec<(Uuid, PathBuf)>,
    /// Who may call; with none, one token of a super admin is generated.
    pub tokens: Vec<(SecretString, Role)>,
    /// The names that the API document neutralises.
    pub vocabulary: Vocabulary,
    pub clock: Clock,
}

/// An account role (API document, "Authentication").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    SuperAdmin,
    /// Everything but what is reserved to the super admin.
    Admin,
    Member,
}

impl Role {
    /// Whether the role may use the shared pipeline endpoints.
    pub const fn is_admin(self) -> bool {
        matches!(self, Self::SuperAdmin | Self::Admin)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SuperAdmin => "super-admin",
            Self::Admin => "admin",
            Self::Member => "member",
        })
    }
}

/// A text that names no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no role; the roles are super-admin, admin and member")]
pub struct UnknownRole(String);

impl FromStr for Role {
    type Err = UnknownRole;

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
        insta::assert_snapshot!(unknown, @"`root` is no role; the roles are super-admin, admin and member");
    }
}
