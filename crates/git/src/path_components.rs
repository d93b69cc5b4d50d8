//! Compares paths by their components, to find the file that a renamed file probably was.

use std::iter;

/// Maximum number of components that are compared: nobody nests files so deep, and each component costs a pass.
pub(super) const MAX_COMPONENTS: usize = 16;

/// The number of components that two paths have in common. A longer common end is the stronger evidence: a file that
/// moved with its folder keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CommonComponents {
    pub end_count: usize,
    /// The components of the folder from the root on; the end of a folder is one, too.
    pub start_count: usize,
}

impl CommonComponents {
    /// Compares two paths.
    pub(super) fn new(path: &str, other_path: &str) -> Self {
        Self {
            end_count: count_equal(path.rsplit('/'), other_path.rsplit('/')),
            start_count: count_equal(list_folder_parts(path), list_folder_parts(other_path)),
        }
    }
}

/// Returns the number of equal items at the beginning of both sequences, up to [`MAX_COMPONENTS`].
fn count_equal<T: PartialEq>(items: impl Iterator<Item = T>, other_items: impl Iterator<Item = T>) -> usize {
    items
        .zip(other_items)
        .take(MAX_COMPONENTS)
        .take_while(|(item, other_item)| item == other_item)
        .count()
}

/// Returns the components of the folder, then `None` as its end.
fn list_folder_parts(path: &str) -> impl Iterator<Item = Option<&str>> {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let components = folder.into_iter().flat_map(|folder| folder.split('/'));
    components.map(Some).chain(iter::once(None))
}

/// Returns the number of components of the path, up to [`MAX_COMPONENTS`].
pub(super) fn count_components(path: &str) -> usize {
    path.split('/').take(MAX_COMPONENTS).count()
}

/// Returns the last `count` components of the path; `None` if it has fewer.
pub(super) fn find_end(path: &str, count: usize) -> Option<&str> {
    let Some(slash_count) = count.checked_sub(1) else {
        return Some("");
    };
    match path.rmatch_indices('/').nth(slash_count) {
        Some((index, _)) => path.get(index + 1..),
        None => (path.matches('/').count() == slash_count).then_some(path),
    }
}

/// Returns the first `count` parts of the folder, and whether its end is one of them; `None` if it has fewer.
pub(super) fn find_start(path: &str, count: usize) -> Option<(&str, bool)> {
    let slash_count = path.matches('/').count();
    match count {
        0 => Some(("", false)),
        _ if count <= slash_count => {
            let (index, _) = path.match_indices('/').nth(count - 1)?;
            Some((path.get(..index)?, false))
        }
        _ => {
            (count == slash_count + 1).then(|| (path.rsplit_once('/').map_or("", |(folder, _)| folder), true))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 8] = ["f", "g", "a/f", "a/g", "a/b/f", "b/f", "c/a/b/f", "a/b/c/g"];

    #[test]
    fn common_components_are_those_of_the_longest_equal_end_and_start() {
        let counts = |path, other| {
            let common = CommonComponents::new(path, other);
            (common.end_count, common.start_count)
        };
        assert_eq!(counts("bolt/load", "customers/bolt/load"), (2, 0));
        assert_eq!(counts("a/b/f", "a/f"), (1, 1));
        assert_eq!(
            counts("a/f", "a/g"),
            (0, 2),
            "the same folder is more than its parent in common"
        );
        assert_eq!(counts("f", "g"), (0, 1));
        for path in PATHS {
            for other in PATHS.iter().filter(|other| **other != path) {
                let common = CommonComponents::new(path, other);
                for count in 0..MAX_COMPONENTS {
                    let end = find_end(path, count);
                    assert_eq!(
                        end.is_some() && end == find_end(other, count),
                        count <= common.end_count
                    );
                    let start = find_start(path, count);
                    let has_start = start.is_some() && start == find_start(other, count);
                    assert_eq!(has_start, count <= common.start_count, "{path} {other} {count}");
                }
            }
        }
    }
}
