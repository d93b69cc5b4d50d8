//! The selected files: include and exclude globs over paths relative to the repository root.

use super::file_values::{
    compile_glob, reject_too_many_globs, reject_unmatchable_path_glob, reject_unmatchable_ref_glob,
};
use super::setting_format::PIPELINE_GLOBS;
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::job::cli::GlobArgs;
use globset::{GlobSet, GlobSetBuilder};
use sluicegate_pipelines::project::PublishGlobs;
use std::collections::BTreeSet;

/// An example of a glob over paths relative to the repository root.
const EXAMPLE_GLOB: &str = "sales/**/*.orch.yaml";

/// The compiled globs. A `*` matches within one directory, `**` matches across directories, and hidden directories are
/// not special.
#[derive(Debug, Clone)]
pub struct Selection {
    include: GlobSet,
    exclude: GlobSet,
    /// The sorted globs to include, from all sources.
    include_patterns: Vec<String>,
    /// The sorted globs to exclude, from all sources.
    exclude_patterns: Vec<String>,
    /// The globs that the job includes, in the order of `include`; empty if the file or the default sets them.
    job_include: Vec<String>,
    /// The globs that the job excludes.
    job_exclude: Vec<String>,
    /// The key of the configuration file that sets the globs to include, if any.
    include_key: Option<&'static str>,
}

/// The purpose of a selection. Each purpose has its own keys in the configuration file, which override the common keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionPurpose {
    Review,
    Publish,
}

impl Selection {
    /// Creates a selection from the globs of the files to review or publish. Without include globs, the default globs
    /// are used. An invalid glob is an error.
    fn new(include: &[String], exclude: &[String]) -> Result<Self, SettingsError> {
        let defaults = PIPELINE_GLOBS.map(str::to_owned);
        let include = if include.is_empty() { &defaults } else { include };
        Ok(Self {
            include_patterns: sort_unique(include),
            exclude_patterns: sort_unique(exclude),
            include: compile_path_globs(include)?,
            exclude: compile_path_globs(exclude)?,
            job_include: Vec::new(),
            job_exclude: Vec::new(),
            include_key: None,
        })
    }

    /// Returns the first include glob of the job that does not match any of these paths. Globs from the configuration
    /// file are not considered, because they may be for directories that do not exist yet.
    pub fn find_unmatched_glob(&self, paths: &[&str]) -> Option<&str> {
        // If the job sets globs, `include` was compiled from exactly these globs, so the indices are the same.
        let matching_globs = self.find_matching_globs(paths);
        self.job_include
            .iter()
            .enumerate()
            .find(|(glob_index, _)| !matching_globs.contains(glob_index))
            .map(|(_, glob)| glob.as_str())
    }

    /// Returns the first include glob of the job that matches one of `old_paths` but none of `paths`.
    pub fn find_abandoned_glob(&self, old_paths: &[&str], paths: &[&str]) -> Option<&str> {
        let (old_globs, globs) = (
            self.find_matching_globs(old_paths),
            self.find_matching_globs(paths),
        );
        let glob_index = *old_globs.difference(&globs).next()?;
        self.job_include.get(glob_index).map(String::as_str)
    }

    /// Returns the indices of the include globs that match one of these paths.
    fn find_matching_globs(&self, paths: &[&str]) -> BTreeSet<usize> {
        paths.iter().flat_map(|path| self.include.matches(path)).collect()
    }

    /// Returns the include and exclude globs that the job set by flag or variable.
    pub fn job_patterns(&self) -> (&[String], &[String]) {
        (&self.job_include, &self.job_exclude)
    }

    /// Returns all globs to include and to exclude, each list sorted.
    pub fn patterns(&self) -> (&[String], &[String]) {
        (&self.include_patterns, &self.exclude_patterns)
    }

    /// Returns whether both selections have the same globs, and so select the same paths.
    pub fn has_same_globs(&self, selection: &Self) -> bool {
        self.patterns() == selection.patterns()
    }

    /// Returns the key of the configuration file that sets the globs to include, if any.
    pub const fn include_key(&self) -> Option<&'static str> {
        self.include_key
    }

    /// Returns whether the configuration file or the job sets include globs.
    pub const fn is_customized(&self) -> bool {
        self.include_key.is_some() || !self.job_include.is_empty()
    }

    /// Returns whether an include glob matches the path.
    pub fn includes(&self, path: &str) -> bool {
        self.include.is_match(path)
    }

    /// Returns whether an exclude glob matches the path.
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.is_match(path)
    }

    pub fn selects(&self, path: &str) -> bool {
        self.includes(path) && !self.excludes(path)
    }
}

impl PublishGlobs for Selection {
    fn selects_file(&self, path: &str) -> bool {
        self.selects(path)
    }

    fn excludes_file(&self, path: &str) -> bool {
        self.excludes(path)
    }
}

/// Returns the patterns sorted and without duplicates.
fn sort_unique(patterns: &[String]) -> Vec<String> {
    let mut patterns = patterns.to_vec();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// Compiles globs of paths from the repository root to one set. A glob that no path can match is an error.
fn compile_path_globs(patterns: &[String]) -> Result<GlobSet, SettingsError> {
    let set = compile_globs(patterns, EXAMPLE_GLOB)?;
    for pattern in patterns {
        reject_unmatchable_path_glob(pattern).map_err(|reason| explain_invalid_glob(reason, EXAMPLE_GLOB))?;
    }
    Ok(set)
}

/// Compiles globs of the names of branches or tags to one set. A glob that no name can match is an error. `example` is
/// a valid glob for the hint of an error.
pub(super) fn compile_ref_globs(patterns: &[String], example: &str) -> Result<GlobSet, SettingsError> {
    let set = compile_globs(patterns, example)?;
    for pattern in patterns {
        reject_unmatchable_ref_glob(pattern).map_err(|reason| explain_invalid_glob(reason, example))?;
    }
    Ok(set)
}

/// Compiles the patterns to one set. `example` is a valid glob for the hint of the error about an invalid pattern.
pub(super) fn compile_globs(patterns: &[String], example: &str) -> Result<GlobSet, SettingsError> {
    reject_too_many_globs(patterns.len()).map_err(|message| {
        SettingsError::new(message).with_hint("write one glob for a directory, for example sales/**")
    })?;
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(compile_glob(pattern).map_err(|reason| explain_invalid_glob(reason, example))?);
    }
    set.build()
        .map_err(|error| SettingsError::new(format!("the globs cannot be used together: {error}")))
}

/// Returns the error about an invalid glob, with a valid glob in its hint.
fn explain_invalid_glob(reason: String, example: &str) -> SettingsError {
    SettingsError::new(reason).with_hint(format!("a `*` does not match a `/`; a valid glob is {example}"))
}

/// The pipelines that the configuration file excludes from the review only, so that they are published without a
/// review.
#[derive(Debug, Clone, Default)]
pub struct ReviewExclusions {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl ReviewExclusions {
    /// Returns whether the review skips the file: an exclude glob matches it, or there are include globs and none
    /// matches.
    pub fn contains(&self, path: &str) -> bool {
        let includes = self.include.as_ref().is_none_or(|globs| globs.is_match(path));
        !includes || self.exclude.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

impl SettingSources<'_> {
    /// Resolves the revision to review that `--head` or its variable sets, if any.
    pub fn resolve_head(&self, flag: Option<String>) -> Result<Option<String>, SettingsError> {
        self.layers().resolve_filled_text(flag, variable::HEAD, None)
    }

    /// Resolves the globs that select files. The globs of the job have precedence. If there are none, the globs for
    /// this purpose in the configuration file apply, and then the globs at the top level of that file. The globs of the
    /// job are also stored separately: each of its include globs must match a file, and reports repeat all its globs.
    pub fn resolve_selection(
        &self,
        args: &GlobArgs,
        purpose: SelectionPurpose,
    ) -> Result<Selection, SettingsError> {
        let layers = self.layers();
        let (section_include, section_exclude) = self.section_globs(purpose);
        let (include_key, file_include) = match (section_include, &self.file.include, purpose) {
            (Some(globs), _, SelectionPurpose::Review) => (Some("review.include"), Some(globs)),
            (Some(globs), _, SelectionPurpose::Publish) => (Some("publish.include"), Some(globs)),
            (None, Some(common), _) => (Some("include"), Some(common)),
            (None, None, _) => (None, None),
        };
        let file_exclude = section_exclude.or(self.file.exclude.as_ref());
        // Without the globs of the file, these lists contain only the globs of the job.
        let job_include = layers.resolve_text_list(&args.include, variable::INCLUDE, None)?;
        let job_exclude = layers.resolve_text_list(&args.exclude, variable::EXCLUDE, None)?;
        let include = layers.resolve_text_list(&args.include, variable::INCLUDE, file_include)?;
        let exclude = layers.resolve_text_list(&args.exclude, variable::EXCLUDE, file_exclude)?;
        Ok(Selection {
            // Errors name the key in the file, unless the job overrides its globs.
            include_key: include_key.filter(|_| job_include.is_empty()),
            job_include,
            job_exclude,
            ..Selection::new(&include, &exclude)?
        })
    }

    /// Returns the selection of a publish by the globs of the configuration file; `None` if the file sets none. Globs
    /// of the job are ignored, because they may be for its review only.
    pub fn resolve_file_publish_selection(&self) -> Result<Option<Selection>, SettingsError> {
        let (section_include, section_exclude) = self.section_globs(SelectionPurpose::Publish);
        let include = section_include.or(self.file.include.as_ref());
        let exclude = section_exclude.or(self.file.exclude.as_ref());
        if include.is_none() && exclude.is_none() {
            return Ok(None);
        }
        let patterns = |globs: Option<&Vec<String>>| globs.cloned().unwrap_or_default();
        Selection::new(&patterns(include), &patterns(exclude)).map(Some)
    }

    /// Resolves the globs of the job. The globs of the configuration file are ignored, because they are for reviews and
    /// publications.
    pub fn resolve_job_selection(&self, args: &GlobArgs) -> Result<Selection, SettingsError> {
        let layers = self.layers();
        let job_include = layers.resolve_text_list(&args.include, variable::INCLUDE, None)?;
        let job_exclude = layers.resolve_text_list(&args.exclude, variable::EXCLUDE, None)?;
        Ok(Selection {
            job_include: job_include.clone(),
            job_exclude: job_exclude.clone(),
            ..Selection::new(&job_include, &job_exclude)?
        })
    }

    /// Returns the include and exclude globs in the section of the configuration file for this purpose. They override
    /// the globs at the top level.
    const fn section_globs(&self, purpose: SelectionPurpose) -> (Option<&Vec<String>>, Option<&Vec<String>>) {
        let (review, publish) = (&self.file.review, &self.file.publish);
        match purpose {
            SelectionPurpose::Review => (review.include.as_ref(), review.exclude.as_ref()),
            SelectionPurpose::Publish => (publish.include.as_ref(), publish.exclude.as_ref()),
        }
    }

    /// Compiles the globs in the `review` section of the configuration file, except those that the job overrides. The
    /// pipelines that these globs exclude are published without a review.
    pub fn compile_review_exclusions(&self, args: &GlobArgs) -> Result<ReviewExclusions, SettingsError> {
        let (include, exclude) = self.section_globs(SelectionPurpose::Review);
        Ok(ReviewExclusions {
            include: self.compile_file_globs(&args.include, variable::INCLUDE, include)?,
            exclude: self.compile_file_globs(&args.exclude, variable::EXCLUDE, exclude)?,
        })
    }

    /// Compiles globs from the configuration file. Returns `None` if the file has no globs, or if the job overrides
    /// them.
    fn compile_file_globs(
        &self,
        flags: &[String],
        variable: &str,
        file: Option<&Vec<String>>,
    ) -> Result<Option<GlobSet>, SettingsError> {
        let is_set_by_job = !flags.is_empty() || self.env.get(variable).is_some();
        match file {
            Some(globs) if !is_set_by_job && !globs.is_empty() => compile_path_globs(globs).map(Some),
            _ => Ok(None),
        }
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
            assert!(selection.selects(wanted), "{wanted}");
        }
        for left in ["a.yaml", "old/a.orch.yaml", "a.orch.yaml.bak"] {
            assert!(!selection.selects(left), "{left}");
        }
    }

    #[test]
    fn star_stays_within_folder() {
        let selection = Selection::new(&["sales/*.orch.yaml".to_owned()], &[]).unwrap();
        assert!(selection.selects("sales/a.orch.yaml"));
        assert!(!selection.selects("sales/deep/a.orch.yaml"));
    }

    #[test]
    fn broken_glob_is_named() {
        let error = Selection::new(&["a[".to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("\"a[\""), "{error}");
    }
}
