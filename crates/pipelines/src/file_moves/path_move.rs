//! The new paths after a file or a folder moves, and the new globs for them.

use sluicegate_base::globs::escape_glob;

/// A file or a folder that moves, as paths from the repository root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMove {
    pub old_path: String,
    pub new_path: String,
}

impl PathMove {
    /// Returns the new path of a file, or `None` if neither the file nor a folder that contains it moves.
    pub fn moved_path(&self, path: &str) -> Option<String> {
        let suffix = path.strip_prefix(&self.old_path)?;
        (suffix.is_empty() || suffix.starts_with('/')).then(|| format!("{}{suffix}", self.new_path))
    }

    /// Returns the path that a file has after the move, which is the old one for a file that is not part of the move.
    pub fn path_after_move(&self, path: &str) -> String {
        self.moved_path(path).unwrap_or_else(|| path.to_owned())
    }

    /// Returns the glob with the new path in place of the old one, or `None` if the glob does not begin with the
    /// complete old path, without wildcards. A glob that also matches other files, such as `**/*.yaml`, must not
    /// change.
    pub fn glob_after_move(&self, glob: &str) -> Option<String> {
        let (literal_part, remainder) = split_literal(glob, self.old_path.len())?;
        let is_whole_segment = remainder.is_empty() || remainder.starts_with('/');
        (literal_part == self.old_path && is_whole_segment)
            .then(|| format!("{}{remainder}", escape_glob(&self.new_path)))
    }

    /// Returns the new glob like [`Self::glob_after_move`], for a glob that matches the targets of calls. The target
    /// of a call may omit the extension of the pipeline, so the old path without `extension` is also replaced. With
    /// `None`, only the complete old path is replaced.
    pub fn call_glob_after_move(&self, glob: &str, extension: Option<&str>) -> Option<String> {
        self.glob_after_move(glob).or_else(|| {
            let extension = extension?;
            let move_without_extension = Self {
                old_path: self.old_path.strip_suffix(extension)?.to_owned(),
                new_path: self.new_path.strip_suffix(extension)?.to_owned(),
            };
            move_without_extension.glob_after_move(glob)
        })
    }
}

/// Splits a glob after the literal path of `length` bytes at its beginning. Returns the path without backslashes, and
/// the remainder. Returns `None` if the glob is shorter or the beginning contains wildcards.
fn split_literal(glob: &str, length: usize) -> Option<(String, &str)> {
    let mut literal_part = String::new();
    let mut chars = glob.chars();
    while literal_part.len() < length {
        match chars.next()? {
            '\\' => literal_part.push(chars.next()?),
            '*' | '?' | '[' | '{' => return None,
            c => literal_part.push(c),
        }
    }
    Some((literal_part, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sluicegate_base::globs::parse_glob;

    fn moves(from: &str, to: &str) -> PathMove {
        PathMove {
            old_path: from.to_owned(),
            new_path: to.to_owned(),
        }
    }

    #[test]
    fn moved_folder_moves_paths_below_it() {
        let moves = moves("a/b", "c");
        assert_eq!(moves.path_after_move("a/b/x.sql"), "c/x.sql");
        assert_eq!(moves.path_after_move("a/bc"), "a/bc");
        assert_eq!(moves.moved_path("a"), None);
        assert_eq!(moves.glob_after_move("a/b/**").as_deref(), Some("c/**"));
        assert_eq!(moves.glob_after_move("a/b/*.sql").as_deref(), Some("c/*.sql"));
        assert_eq!(moves.glob_after_move("a/b").as_deref(), Some("c"));
        for other in ["a/**", "a/b*", "**", "a/bc/**", "{a/b,c}/**", "a", ""] {
            assert_eq!(moves.glob_after_move(other), None, "{other}");
        }
    }

    #[test]
    fn glob_over_calls_without_extension_is_moved() {
        let moves = moves("a/x.orch.yaml", "b/y.orch.yaml");
        let told = |glob| moves.call_glob_after_move(glob, Some(".orch.yaml"));
        assert_eq!(told("a/x").as_deref(), Some("b/y"));
        assert_eq!(told("a/x.orch.yaml").as_deref(), Some("b/y.orch.yaml"));
        assert_eq!(told("a/*"), None);
    }

    proptest! {
        #[test]
        fn glob_of_moved_path_matches_new_path(
            from in "[a-z*?\\[\\]{},!\\\\. ü-]{1,12}",
            to in "[a-z*?\\[\\]{},!\\\\. ü-]{1,12}",
        ) {
            let moved = moves(&from, &to).glob_after_move(&escape_glob(&from));
            let expected = escape_glob(&to);
            prop_assert_eq!(moved.as_deref(), Some(expected.as_str()));
            prop_assert!(parse_glob(&moved.unwrap_or_default()).unwrap().compile_matcher().is_match(&to));
        }
    }
}
