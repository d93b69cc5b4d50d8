//! Prints the files that changed on one side of two commits, since their merge-base.
//!
//! usage: changed_files BASE HEAD, in a git repository

use sluicegate_git::{ChangeKind, GitError, Repository};
use std::error::Error;
use std::io::{self, Write as _};
use std::{env, path::Path};

/// Prints the files that revision HEAD changed since its merge-base with revision BASE.
fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(base), Some(head)) = (args.next(), args.next()) else {
        return Ok(writeln!(io::stderr(), "usage: changed_files BASE HEAD")?);
    };
    for line in list_changed_files(Path::new("."), &base, &head)? {
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Returns a line for each file that `head` changed since its merge-base with `base`.
fn list_changed_files(repository: &Path, base: &str, head: &str) -> Result<Vec<String>, GitError> {
    let repository = Repository::open(repository)?;
    let head = repository.resolve(head)?;
    let bases = repository.find_merge_bases(&repository.resolve(base)?, &head)?;
    let changes = repository.find_changes(&bases, &head, &|_| true)?;
    let line = |change: &sluicegate_git::Change| match &change.kind {
        ChangeKind::Added => format!("added {}", change.path),
        ChangeKind::Deleted => format!("deleted {}", change.path),
        ChangeKind::Modified => format!("modified {}", change.path),
        ChangeKind::TypeChanged => format!("type changed {}", change.path),
        ChangeKind::Renamed { from, .. } => format!("renamed {from} to {}", change.path),
    };
    Ok(changes.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::list_changed_files;
    use sluicegate_test_support::World;

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    fn example_lists_changes_since_merge_base() {
        let world = World::new();
        world.write("kept", "1");
        world.write("edited", "1");
        world.commit("base");
        world.git(["switch", "-q", "-c", "feature"]);
        world.write("edited", "2");
        world.write("new", "3");
        world.commit("change");
        world.git(["switch", "-q", "main"]);
        world.write("kept", "later");
        world.commit("later");
        let lines = list_changed_files(&world.work(), "main", "feature").unwrap();
        assert_eq!(lines, ["modified edited", "added new"]);
    }
}
