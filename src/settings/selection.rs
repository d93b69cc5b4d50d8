//! Which files are meant: include and exclude globs over paths from the repository root.

use super::table::variable;
use super::{SettingsError, Sources};
use crate::globs::glob;
use globset::{GlobSet, GlobSetBuilder};

/// What a pipeline's file is called, and the default of `--include`.
pub(super) const PIPELINE_GLOBS: [&str; 2] = ["**/*.orch.yaml", "**/*.tran.yaml"];

/// An example of a glob over paths from the repository root.
const SUCH_AS: &str = "sales/**/*.orch.yaml";

/// Whether a path is a pipeline's by its name.
pub fn is_pipeline(path: &str) -> bool {
    [".orch.yaml", ".tran.yaml"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// The compiled globs. A `*` stays within a folder, `**` crosses them, hidden folders are folders like others.
#[derive(Debug, Clone)]
pub struct Selection {
    include: GlobSet,
    exclude: GlobSet,
    /// What was given to include by the job, in the order of `include`; empty where the file or the default says it.
    given: Vec<String>,
    is_of_file: bool,
}

impl Selection {
    fn new(include: &[String], exclude: &[String]) -> Result<Self, SettingsError> {
        let defaults = PIPELINE_GLOBS.map(str::to_owned);
        let include = if include.is_empty() { &defaults } else { include };
        Ok(Self {
            include: globs(include, SUCH_AS)?,
            exclude: globs(exclude, SUCH_AS)?,
            given: Vec::new(),
            is_of_file: false,
        })
    }

    /// The first of the globs that the job gave to include that matches none of these paths. Those of the file are
    /// standing rules, each also for folders that are still to come.
    pub fn in_vain(&self, paths: &[&str]) -> Option<&str> {
        let mut met = vec![false; self.given.len()];
        for path in paths {
            for at in self.include.matches(path) {
                met.iter_mut().skip(at).take(1).for_each(|met| *met = true);
            }
        }
        let vain = met.iter().position(|met| !met)?;
        self.given.get(vain).map(String::as_str)
    }

    /// Whether the globs to include are those of the configuration file.
    pub const fn is_of_file(&self) -> bool {
        self.is_of_file
    }

    /// Whether the globs to include are others than the default.
    pub const fn is_chosen(&self) -> bool {
        self.is_of_file || !self.given.is_empty()
    }

    /// Whether `--include` matches.
    pub fn includes(&self, path: &str) -> bool {
        self.include.is_match(path)
    }

    /// Whether `--exclude` matches.
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.is_match(path)
    }

    /// Whether the file is meant.
    pub fn wants(&self, path: &str) -> bool {
        self.includes(path) && !self.excludes(path)
    }
}

/// The compiled patterns; `such_as` is an example for the hint.
pub(super) fn globs(patterns: &[String], such_as: &str) -> Result<GlobSet, SettingsError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |why: globset::Error| {
            let message = format!("the glob {pattern:?} cannot be read: {}", why.kind());
            SettingsError::new(message).with_hint(format!(
                "a `*` stays within the parts that a `/` divides: {such_as}"
            ))
        };
        set.add(glob(pattern).map_err(wrong)?);
    }
    set.build()
        .map_err(|why| SettingsError::new(format!("the globs cannot be used together: {why}")))
}

impl Sources<'_> {
    /// The globs, from flags, variables, file or the default.
    pub fn selection(&self, include: &[String], exclude: &[String]) -> Result<Selection, SettingsError> {
        let (layers, whole) = (self.layers(), |line: &str| Ok(line.to_owned()));
        let given = layers.list(include.to_vec(), variable::INCLUDE, whole, None)?;
        let include = layers.list(
            include.to_vec(),
            variable::INCLUDE,
            whole,
            self.file.include.clone(),
        )?;
        let exclude = layers.list(
            exclude.to_vec(),
            variable::EXCLUDE,
            whole,
            self.file.exclude.clone(),
        )?;
        Ok(Selection {
            is_of_file: given.is_empty() && self.file.include.is_some(),
            given,
            ..Selection::new(&include, &exclude)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_folders_are_folders_like_others() {
        let selection = Selection::new(&[], &["old/**".to_owned()]).unwrap();
        for wanted in [
            "a.orch.yaml",
            ".x/b.tran.yaml",
            "a/.b/c d.orch.yaml",
            "ü/\"q\".orch.yaml",
        ] {
            assert!(selection.wants(wanted), "{wanted}");
        }
        for left in ["a.yaml", "old/a.orch.yaml", "a.orch.yaml.bak"] {
            assert!(!selection.wants(left), "{left}");
        }
    }

    #[test]
    fn a_star_stays_within_a_folder() {
        let selection = Selection::new(&["sales/*.orch.yaml".to_owned()], &[]).unwrap();
        assert!(selection.wants("sales/a.orch.yaml"));
        assert!(!selection.wants("sales/deep/a.orch.yaml"));
    }

    #[test]
    fn a_broken_glob_is_named() {
        let error = Selection::new(&["a[".to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("\"a[\""), "{error}");
    }
}
