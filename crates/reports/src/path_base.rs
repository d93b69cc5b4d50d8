//! The directory that the paths of a log are relative to.

use std::borrow::Cow;

/// The directory that the paths of a log are relative to. Paths in reports are always relative to the repository root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PathBase {
    #[default]
    Root,
    /// This directory below the root.
    Subdirectory(String),
    /// A directory that is not below the root. The root has this path from there.
    Outside(String),
}

impl PathBase {
    /// Converts a path that is relative to the repository root to one that is relative to this directory. If this
    /// directory is outside the repository, prepends the path of the root. The path of the root itself is `.`.
    pub(super) fn display_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self {
            Self::Root => Cow::Borrowed(path),
            Self::Subdirectory(directory) => Cow::Owned(relative_path(directory, path)),
            Self::Outside(root) => Cow::Owned(format!("{}/{path}", root.trim_end_matches('/'))),
        }
    }
}

/// Returns the path relative to `directory`, with `..` where needed. Both arguments are relative to the same root.
fn relative_path(directory: &str, path: &str) -> String {
    let directory_parts: Vec<&str> = directory.split('/').collect();
    let path_parts: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let shared_count = directory_parts
        .iter()
        .zip(&path_parts)
        .take_while(|(directory_part, path_part)| directory_part == path_part)
        .count();
    let parent_parts = std::iter::repeat_n("..", directory_parts.len() - shared_count);
    let parts: Vec<&str> = parent_parts
        .chain(path_parts.into_iter().skip(shared_count))
        .collect();
    if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::PathBase;

    #[test]
    fn path_is_relative_to_directory_below_root() {
        let base = PathBase::Subdirectory("sales/daily".to_owned());
        for (path, shown) in [
            ("sales/daily/a.orch.yaml", "a.orch.yaml"),
            ("sales/daily/x/a.orch.yaml:3", "x/a.orch.yaml:3"),
            ("sales/a.orch.yaml", "../a.orch.yaml"),
            ("stock/a.orch.yaml", "../../stock/a.orch.yaml"),
            ("sales/daily", "."),
            (".", "../.."),
        ] {
            assert_eq!(base.display_path(path), shown);
        }
        assert_eq!(PathBase::Root.display_path("a/b"), "a/b");
        assert_eq!(PathBase::Outside("/x/".to_owned()).display_path("a/b"), "/x/a/b");
    }
}
