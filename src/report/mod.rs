//! What people and hosts get to see: a file per format, and one place that picks.
//!
//! Writers are pure: a [`Report`] and an [`About`] in, text or bytes out. They read no environment and touch no file,
//! so each is tested with plain values, and one destination that cannot be written never harms another. The set of
//! formats is closed on purpose: the compiler lists what a new one still lacks.
//!
//! Everything that a review says comes from outside: rule names, violations and paths. Each host has an escape
//! function of its own, which stands beside the code that handles the host. All output can be printed in a CI job: no
//! line of it is read as a host's command, except the commands that are meant.

mod about;
mod annotation;
pub mod azure;
pub mod bitbucket;
mod document;
pub mod github;
mod gitlab;
mod html;
pub mod json;
mod junit;
mod markdown;
mod sarif;
mod shorten;
pub mod terminal;
mod uri;
mod wording;

pub use crate::findings::Verdict;
pub use about::{About, ChangedLines, Line, RuleText, Sources};
pub use document::comment;
pub use junit::{ExecutionRun, execution_junit};

use crate::findings::Report;
use std::fmt;
use std::str::FromStr;

/// A report format: what stands before the `=` in `--report FORMAT=PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// JUnit XML, as test tabs read it.
    Junit,
    /// JUnit XML, as the strict schemas want it.
    JunitStrict,
    /// The program's own JSON, schema `sluicegate.report/v1`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitLab's Code Quality JSON.
    Gitlab,
    /// Markdown for a comment.
    Markdown,
    /// A page of its own, for people.
    Html,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Junit,
        Self::JunitStrict,
        Self::Json,
        Self::Sarif,
        Self::Gitlab,
        Self::Markdown,
        Self::Html,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Junit => "junit",
            Self::JunitStrict => "junit-strict",
            Self::Json => "json",
            Self::Sarif => "sarif",
            Self::Gitlab => "gitlab",
            Self::Markdown => "markdown",
            Self::Html => "html",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat {
            name: name.to_owned(),
        })
    }
}

/// There is no report format of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no report format; there are {}", Format::ALL.map(Format::name).join(", "))]
pub struct UnknownFormat {
    name: String,
}

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The JUnit document could not be written.
    #[error("the JUnit report could not be written")]
    Junit(#[from] junit_report::Error),
    /// The JUnit document could not be completed.
    #[error("the JUnit report could not be completed")]
    Xml(#[from] quick_xml::Error),
    /// An element's attributes could not be read again.
    #[error("the JUnit report could not be completed")]
    Attribute(#[from] quick_xml::events::attributes::AttrError),
    /// The bytes could not be put together.
    #[error("the report could not be put together")]
    Io(#[from] std::io::Error),
    /// The JSON document could not be written.
    #[error("the JSON report could not be written")]
    Json(#[from] serde_json::Error),
}

/// The report as a file in this format, UTF-8 with a line break at its end. It can also go to standard output: no
/// line of it is a command to a CI host, and a parser reads the same from it.
pub fn render(format: Format, report: &Report, about: &About) -> Result<Vec<u8>, ReportError> {
    match format {
        Format::Junit => junit::render(report, about, junit::Dialect::Hosts),
        Format::JunitStrict => junit::render(report, about, junit::Dialect::Strict),
        Format::Json => json::render(report),
        Format::Sarif => sarif::render(report, about),
        Format::Gitlab => gitlab::render(report),
        Format::Markdown => Ok(comment(report, about).into_bytes()),
        Format::Html => Ok(html::render(report, about).into_bytes()),
    }
}

/// Which host's annotations are printed during a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationStyle {
    /// GitHub's workflow commands; Gitea and Forgejo read them too.
    Github,
    /// Azure's logging commands.
    Azure,
    /// No annotations.
    None,
}

/// The review's annotations in this style, one command a line, to be printed on standard output as they are.
pub fn annotations(style: AnnotationStyle, report: &Report, about: &About) -> Vec<String> {
    match style {
        AnnotationStyle::Github => github::annotations(report, about),
        AnnotationStyle::Azure => azure::annotations(report, about),
        AnnotationStyle::None => Vec::new(),
    }
}

#[cfg(test)]
mod sample;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_reads_back_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let refused = "xml".parse::<Format>().unwrap_err().to_string();
        insta::assert_snapshot!(refused, @"`xml` is no report format; there are junit, junit-strict, json, sarif, gitlab, markdown, html");
    }

    #[test]
    fn the_style_picks_the_host() {
        let (report, about) = (sample::report(), About::default());
        let shown = |style| annotations(style, &report, &about);
        assert!(shown(AnnotationStyle::Github)[0].starts_with("::error "));
        assert!(shown(AnnotationStyle::Azure)[0].starts_with("##vso[task.logissue "));
        assert!(shown(AnnotationStyle::None).is_empty());
    }
}
