//! The hidden directory at the repository root that contains the platform's files. Its name differs between products.

/// Path of the quality rules in the hidden directory.
pub const RULES_FILE: &str = "config/pipeline_quality_rules.yaml";

/// Path of the shared pipelines in the hidden directory.
pub const SHARED_PIPELINES_FILE: &str = "shared-pipelines.yaml";

/// Paths of the platform's files in the hidden directory.
pub const CONFIG_DIR_FILES: [&str; 2] = [RULES_FILE, SHARED_PIPELINES_FILE];

/// Returns the path of the quality rules from the repository root.
#[must_use]
pub fn rules_path(config_dir: &str) -> String {
    format!("{config_dir}/{RULES_FILE}")
}

/// Returns the path of the shared pipelines from the repository root.
#[must_use]
pub fn shared_pipelines_path(config_dir: &str) -> String {
    format!("{config_dir}/{SHARED_PIPELINES_FILE}")
}

/// Returns whether the path is that of a rules file in any directory at the repository root. The job may name one that
/// is not hidden.
#[must_use]
pub fn is_rules_path(path: &str) -> bool {
    path.split_once('/').is_some_and(|(_, file)| file == RULES_FILE)
}

/// Returns whether the path is that of a rules file or shared-pipelines file in a hidden directory at the root.
#[must_use]
pub fn is_platform_file(path: &str) -> bool {
    path.split_once('/')
        .is_some_and(|(dir, file)| dir.starts_with('.') && CONFIG_DIR_FILES.contains(&file))
}

/// The reason why the hidden directory could not be determined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigDirError {
    /// Several hidden directories contain platform files. Holds their names, sorted.
    #[error(
        "several hidden directories contain `{SHARED_PIPELINES_FILE}` or `{RULES_FILE}`: {}",
        .0.join(", ")
    )]
    Several(Vec<String>),
}

/// Returns the only hidden directory among `root_directories` (names without a path) that contains the shared-pipelines
/// file or the rules file, or `None` if no directory does. The inner error is that there are several. `has_file`
/// returns whether the repository has a file, given its path from the root; its error is the outer one.
pub fn find_config_dir<E>(
    root_directories: &[String],
    has_file: &dyn Fn(&str) -> Result<bool, E>,
) -> Result<Result<Option<String>, ConfigDirError>, E> {
    let mut config_dirs: Vec<String> = Vec::new();
    for directory in root_directories {
        if is_config_dir(directory, has_file)? {
            config_dirs.push(directory.clone());
        }
    }
    config_dirs.sort();
    config_dirs.dedup();
    if config_dirs.len() > 1 {
        return Ok(Err(ConfigDirError::Several(config_dirs)));
    }
    Ok(Ok(config_dirs.pop()))
}

/// Returns whether the directory is hidden and contains the shared-pipelines file or the rules file.
fn is_config_dir<E>(directory: &str, has_file: &dyn Fn(&str) -> Result<bool, E>) -> Result<bool, E> {
    Ok(directory.starts_with('.')
        && (has_file(&shared_pipelines_path(directory))? || has_file(&rules_path(directory))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn find(files: &[&str]) -> Result<Option<String>, ConfigDirError> {
        let folders = [".z", ".git", "plain", ".a"].map(String::from);
        let Ok(found) = find_config_dir(&folders, &|path| Ok::<_, Infallible>(files.contains(&path)));
        found
    }

    #[test]
    fn file_that_cannot_be_looked_up_is_error() {
        let folders = [".a".to_owned()];
        assert_eq!(find_config_dir(&folders, &|_| Err("damaged")), Err("damaged"));
        // No file is looked up in a directory that is not hidden.
        let folders = ["a".to_owned()];
        assert_eq!(find_config_dir(&folders, &|_| Err("damaged")), Ok(Ok(None)));
    }

    #[test]
    fn hidden_folder_with_rules_or_shared_pipelines_is_config_dir() {
        assert_eq!(find(&[".a/shared-pipelines.yaml"]), Ok(Some(".a".into())));
        assert_eq!(
            find(&[".z/config/pipeline_quality_rules.yaml"]),
            Ok(Some(".z".into()))
        );
        assert_eq!(
            find(&["plain/shared-pipelines.yaml", ".a/pipeline_quality_rules.yaml"]),
            Ok(None)
        );
    }

    #[test]
    fn several_config_dirs_are_listed_in_error() {
        let files = [
            ".z/shared-pipelines.yaml",
            ".a/config/pipeline_quality_rules.yaml",
        ];
        let error = find(&files).unwrap_err();
        assert_eq!(
            error.to_string(),
            "several hidden directories contain `shared-pipelines.yaml` or `config/pipeline_quality_rules.yaml`: .a, .z"
        );
    }
}
