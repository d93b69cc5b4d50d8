//! The selected files: include and exclude globs over paths relative to the repository root.

use super::given::compiled;
use super::look::PIPELINE_GLOBS;
use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::GlobArgs;
use globset::{GlobSet, GlobSetBuilder};

/// An example of a glob over paths relative to the repository root.
const SUCH_AS: &str = "sales/**/*.orch.yaml";

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
    given: Vec<String>,
    /// The globs that the job excludes.
    given_exclude: Vec<String>,
    /// The key of the configuration file that sets the globs to include, if any.
    key: Option<&'static str>,
}

/// The purpose of a selection. Each has its own keys in the configuration file, which override the common ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Review,
    Publish,
}

impl Selection {
    fn new(include: &[String], exclude: &[String]) -> Result<Self, SettingsError> {
        let defaults = PIPELINE_GLOBS.map(str::to_owned);
        let include = if include.is_empty() { &defaults } else { include };
        Ok(Self {
            include_patterns: sorted(include),
            exclude_patterns: sorted(exclude),
            include: globs(include, SUCH_AS)?,
            exclude: globs(exclude, SUCH_AS)?,
            given: Vec::new(),
            given_exclude: Vec::new(),
            key: None,
        })
    }

    /// Returns the first include glob of the job that matches none of these paths. Globs of the file are exempt,
    /// because they may be for directories that do not exist yet.
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

    /// Returns the include and exclude globs that the job set by flag or variable.
    pub fn given(&self) -> (&[String], &[String]) {
        (&self.given, &self.given_exclude)
    }

    /// Returns all globs to include and to exclude, each list sorted.
    pub fn patterns(&self) -> (&[String], &[String]) {
        (&self.include_patterns, &self.exclude_patterns)
    }

    /// Returns the key of the configuration file that sets the globs to include, if any.
    pub const fn key(&self) -> Option<&'static str> {
        self.key
    }

    /// Returns whether the include globs differ from the default.
    pub const fn is_chosen(&self) -> bool {
        self.key.is_some() || !self.given.is_empty()
    }

    /// Returns whether an include glob matches.
    pub fn includes(&self, path: &str) -> bool {
        self.include.is_match(path)
    }

    /// Returns whether an exclude glob matches.
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.is_match(path)
    }

    pub fn wants(&self, path: &str) -> bool {
        self.includes(path) && !self.excludes(path)
    }
}

/// Returns the patterns in order, each once.
fn sorted(patterns: &[String]) -> Vec<String> {
    let mut patterns = patterns.to_vec();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// Compiles the patterns. `such_as` is an example for the hint.
pub(super) fn globs(patterns: &[String], such_as: &str) -> Result<GlobSet, SettingsError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = compiled(pattern).map_err(|why| {
            SettingsError::new(why)
                .with_hint(format!("a `*` does not match a `/`; a valid glob is {such_as}"))
        });
        set.add(glob?);
    }
    set.build()
        .map_err(|why| SettingsError::new(format!("the globs cannot be used together: {why}")))
}

/// The pipelines that the configuration file excludes from the review only, so that they are published without one.
#[derive(Debug, Clone, Default)]
pub struct LeftOfReview {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl LeftOfReview {
    /// Returns whether the file is excluded.
    pub fn has(&self, path: &str) -> bool {
        let includes = self.include.as_ref().is_none_or(|globs| globs.is_match(path));
        !includes || self.exclude.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "lists are read by functions that may refuse"
)]
fn whole(line: &str) -> Result<String, String> {
    Ok(line.to_owned())
}

impl Sources<'_> {
    /// Returns the revision of the head that the job names, if any.
    pub fn head(&self, flag: Option<String>) -> Option<String> {
        self.layers().text(flag, variable::HEAD, None)
    }

    /// Returns the globs from flags, variables, file or the default.
    pub fn selection(&self, args: &GlobArgs, of: Of) -> Result<Selection, SettingsError> {
        let layers = self.layers();
        let (own_include, own_exclude) = self.own_globs(of);
        let (key, include) = match (own_include, &self.file.include, of) {
            (Some(own), _, Of::Review) => (Some("review.include"), Some(own)),
            (Some(own), _, Of::Publish) => (Some("publish.include"), Some(own)),
            (None, Some(common), _) => (Some("include"), Some(common)),
            (None, None, _) => (None, None),
        };
        let exclude = own_exclude.or(self.file.exclude.as_ref());
        let given = layers.list(args.include.clone(), variable::INCLUDE, whole, None)?;
        let given_exclude = layers.list(args.exclude.clone(), variable::EXCLUDE, whole, None)?;
        let include = layers.list(args.include.clone(), variable::INCLUDE, whole, include.cloned())?;
        let exclude = layers.list(args.exclude.clone(), variable::EXCLUDE, whole, exclude.cloned())?;
        Ok(Selection {
            key: key.filter(|_| given.is_empty()),
            given,
            given_exclude,
            ..Selection::new(&include, &exclude)?
        })
    }

    /// Returns the globs of the file's section for this purpose, which override the common keys.
    const fn own_globs(&self, of: Of) -> (Option<&Vec<String>>, Option<&Vec<String>>) {
        let (review, publish) = (&self.file.review, &self.file.publish);
        match of {
            Of::Review => (review.include.as_ref(), review.exclude.as_ref()),
            Of::Publish => (publish.include.as_ref(), publish.exclude.as_ref()),
        }
    }

    /// Returns the globs of the file's section for the review, unless the job overrides them.
    pub fn left_of_review(&self, args: &GlobArgs) -> Result<LeftOfReview, SettingsError> {
        let (include, exclude) = self.own_globs(Of::Review);
        let own = |given: &[String], variable: &str, own: Option<&Vec<String>>| {
            let is_given = !given.is_empty() || self.env.get(variable).is_some();
            let own = self.layers().list(Vec::new(), variable, whole, own.cloned())?;
            let globs = (!is_given && !own.is_empty()).then(|| globs(&own, SUCH_AS));
            globs.transpose()
        };
        Ok(LeftOfReview {
            include: own(&args.include, variable::INCLUDE, include)?,
            exclude: own(&args.exclude, variable::EXCLUDE, exclude)?,
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
