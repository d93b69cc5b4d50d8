//! A project that the local platform is started with.

use std::path::PathBuf;
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartupProject {
    pub id: Uuid,
    /// The name of the repository's directory, without `.git`.
    pub name: String,
    pub repository: PathBuf,
}

impl StartupProject {
    /// Creates a project whose remote is this local repository. The project is named after the repository's directory,
    /// without `.git`, or after its ID if the path has no name.
    pub(super) fn new(id: Uuid, repository: PathBuf) -> Self {
        let directory = repository.canonicalize().unwrap_or_else(|_| repository.clone());
        let name = directory
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| id.to_string());
        let name = name
            .strip_suffix(".git")
            .filter(|name| !name.is_empty())
            .unwrap_or(&name);
        Self {
            id,
            name: name.to_owned(),
            repository,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_project_is_called_like_folder_of_its_repository() {
        for (path, name) in [
            ("/nowhere/sales.git", "sales"),
            ("/nowhere/sales", "sales"),
            ("/nowhere/.git", ".git"),
            ("/", "00000000-0000-0000-0000-000000000000"),
        ] {
            assert_eq!(StartupProject::new(Uuid::nil(), path.into()).name, name);
        }
    }
}
