//! The version name: a template that is filled with facts about the commit and the run.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sluicegate_base::text;
use sluicegate_git::short_id;
use sluicegate_pipelines::interface::has_next_version_name;
use sluicegate_platform::api::{HeaderError, to_header_value};
use std::iter;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderValues {
    pub tag: Option<String>,
    pub branch: Option<String>,
    pub sha: String,
    /// Time of the commit, so that a rerun of the same commit gets the same version name. `None` if it is no date.
    pub committed_at: Option<Timestamp>,
    /// Run number of the CI host.
    pub run_number: Option<String>,
    /// Name after that of the latest enabled version.
    pub next_version: Option<String>,
}

/// Template for `auto`: names that sort by time and contain the commit.
const AUTO_TEMPLATE: &str = "{date}-{short-sha}";

/// The name by which consumers request the latest enabled version: no version may have it.
const LATEST_ALIAS: &str = "[Latest]";

/// The reason why the date of a commit is not a value.
const UNKNOWN_COMMIT_TIME: &str = "the time of the commit is out of range";

/// Letters that may precede a semantic version.
const VERSION_LETTERS: [char; 2] = ['v', 'V'];

/// Returns whether the template needs the next version's name.
pub fn needs_next_version(template: &str) -> bool {
    parse_template(template).any(|part| part == Ok(TemplatePart::Placeholder(Placeholder::Next)))
}

/// The origin of the version names of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameOrigin {
    /// The template has no placeholder, so it is the name.
    Literal,
    /// Only the tag, which a person pushed, determines the name.
    Tag,
    /// Facts about the commit or the run determine the name.
    Template,
}

/// Returns what determines the names of this template: its own text if it has no placeholder, the tag if `{tag}` is the
/// only placeholder, or else other facts, such as the commit.
pub fn find_name_origin(template: &str) -> NameOrigin {
    let mut origin = NameOrigin::Literal;
    for part in parse_template(template) {
        match part {
            Ok(TemplatePart::Text(_)) => {}
            Ok(TemplatePart::Placeholder(Placeholder::Tag)) => origin = NameOrigin::Tag,
            _ => return NameOrigin::Template,
        }
    }
    origin
}

/// A fact about the commit or the run that a template may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    Tag,
    Branch,
    Sha,
    /// The first 7 digits of the commit.
    ShortSha,
    /// The semantic version after the latest.
    Next,
    /// The day of the commit in UTC: `2026-11-20`.
    Date,
    /// The time of the commit in UTC: `20261120T093000Z`.
    DateTime,
    RunNumber,
}

impl Placeholder {
    /// The placeholders, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Tag,
        Self::Branch,
        Self::Sha,
        Self::ShortSha,
        Self::Next,
        Self::Date,
        Self::DateTime,
        Self::RunNumber,
    ];

    /// Returns the name between the braces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Branch => "branch",
            Self::Sha => "sha",
            Self::ShortSha => "short-sha",
            Self::Next => "next",
            Self::Date => "date",
            Self::DateTime => "datetime",
            Self::RunNumber => "run-number",
        }
    }

    /// Parses the name between the braces. Fails if there is no such placeholder.
    fn parse(name: &str) -> Result<Self, VersionNameError> {
        let placeholder = Self::ALL
            .into_iter()
            .find(|placeholder| placeholder.name() == name);
        placeholder.ok_or_else(|| VersionNameError::UnknownPlaceholder {
            name: name.to_owned(),
            nearest: text::find_nearest_word(name, &Self::ALL.map(Self::name)),
        })
    }
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
enum TemplatePart<'t> {
    Text(&'t str),
    Placeholder(Placeholder),
}

/// A template, prefix or version that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionNameError {
    /// The template has an unknown placeholder.
    #[error("the version name has the unknown placeholder `{{{name}}}`{}", suggest_placeholder(*nearest))]
    UnknownPlaceholder {
        name: String,
        nearest: Option<&'static str>,
    },
    /// The template has a placeholder without a value in this run.
    #[error("the version name uses `{{{name}}}`, but {reason}")]
    NoValue {
        name: &'static str,
        reason: &'static str,
    },
    /// A name that has another meaning for consumers.
    #[error(
        "`{LATEST_ALIAS}` cannot be the name of a version: consumers request the latest enabled version by this name"
    )]
    Reserved,
    /// A name without a number that `{next}` could increase.
    #[error("the version name `{name}` is not a semantic version, so {{next}} could not follow it")]
    NotSemantic { name: String },
    /// An unmatched brace.
    #[error("the version name `{template}` has an unmatched `{brace}`")]
    UnmatchedBrace {
        /// The complete template.
        template: String,
        brace: char,
    },
    /// The result, or the prefix, contains a character that is not printable ASCII.
    #[error("the {subject} `{value}` contains {character:?}: only printable ASCII is safe in a header")]
    NotAscii {
        /// `version name` or `prefix`.
        subject: &'static str,
        value: String,
        character: char,
    },
    /// The result, or the prefix, cannot be sent as a header.
    #[error("the {subject} `{value}` cannot be sent as a header: {reason}")]
    Header {
        /// `version name` or `prefix`.
        subject: &'static str,
        value: String,
        reason: HeaderError,
    },
}

/// Parses the template into its parts. The template `auto` is `{date}-{short-sha}`. An error is in the place of its
/// part.
fn parse_template(template: &str) -> impl Iterator<Item = Result<TemplatePart<'_>, VersionNameError>> {
    let mut remainder = if template == "auto" {
        AUTO_TEMPLATE
    } else {
        template
    };
    iter::from_fn(move || (!remainder.is_empty()).then(|| take_part(&mut remainder, template)))
}

/// Removes the first part from the remainder of the template and parses it.
fn take_part<'t>(remainder: &mut &'t str, template: &str) -> Result<TemplatePart<'t>, VersionNameError> {
    let source = *remainder;
    let (text, after_text) = source.split_at(source.find(['{', '}']).unwrap_or(source.len()));
    *remainder = after_text;
    if !text.is_empty() {
        return Ok(TemplatePart::Text(text));
    }
    let Some(after_brace) = source.strip_prefix('{') else {
        *remainder = &source[1..];
        return Err(VersionNameError::for_unmatched_brace(template, '}'));
    };
    let Some((name, after_placeholder)) = after_brace.split_once('}') else {
        *remainder = "";
        return Err(VersionNameError::for_unmatched_brace(template, '{'));
    };
    *remainder = after_placeholder;
    Placeholder::parse(name).map(TemplatePart::Placeholder)
}

/// Replaces the placeholders of a version name with their values.
pub fn expand_template(template: &str, values: &PlaceholderValues) -> Result<String, VersionNameError> {
    let mut name = String::new();
    for part in parse_template(template) {
        match part? {
            TemplatePart::Text(text) => name.push_str(text),
            TemplatePart::Placeholder(placeholder) => {
                let value = resolve_placeholder(placeholder, values)?;
                if placeholder == Placeholder::Next && name.ends_with(VERSION_LETTERS) {
                    // Do not repeat a `v` that the template already contains.
                    name.push_str(value.strip_prefix(VERSION_LETTERS).unwrap_or(&value));
                } else {
                    name.push_str(&value);
                }
            }
        }
    }
    if name.eq_ignore_ascii_case(LATEST_ALIAS) {
        return Err(VersionNameError::Reserved);
    }
    validate_header_value("version name", name)
}

/// Fails if the template cannot become a version name, whatever the commit and the run are.
pub fn reject_unusable_template(template: &str) -> Result<(), VersionNameError> {
    let sample_values = PlaceholderValues {
        tag: Some("v1.0.0".to_owned()),
        branch: Some("main".to_owned()),
        sha: "0".repeat(40),
        committed_at: Some(Timestamp::UNIX_EPOCH),
        run_number: Some("1".to_owned()),
        next_version: Some("1.0.0".to_owned()),
    };
    let name = expand_template(template, &sample_values)?;
    if needs_next_version(template) {
        reject_name_without_next(&name)?;
    }
    Ok(())
}

/// Fails if the name is not a semantic version, because a publish with `{next}` could not increase it.
pub fn reject_name_without_next(name: &str) -> Result<(), VersionNameError> {
    if has_next_version_name(name) {
        return Ok(());
    }
    Err(VersionNameError::NotSemantic {
        name: name.to_owned(),
    })
}

/// Fails if the prefix cannot be sent to the platform.
pub fn reject_unusable_prefix(prefix: &str) -> Result<(), VersionNameError> {
    validate_header_value("prefix", prefix.to_owned()).map(drop)
}

/// Returns the value of a placeholder, or the error that it has no value in this run.
fn resolve_placeholder(
    placeholder: Placeholder,
    values: &PlaceholderValues,
) -> Result<String, VersionNameError> {
    let (value, reason) = match placeholder {
        Placeholder::Tag => (values.tag.clone(), "this run is not for a tag"),
        Placeholder::Branch => (values.branch.clone(), "the branch is unknown"),
        Placeholder::Sha => return Ok(values.sha.clone()),
        Placeholder::ShortSha => return Ok(short_id(&values.sha).to_owned()),
        Placeholder::Date => (format_commit_time(values, "%Y-%m-%d"), UNKNOWN_COMMIT_TIME),
        Placeholder::DateTime => (format_commit_time(values, "%Y%m%dT%H%M%SZ"), UNKNOWN_COMMIT_TIME),
        Placeholder::Next => (
            values.next_version.clone(),
            "the published versions are not known in this run",
        ),
        Placeholder::RunNumber => (values.run_number.clone(), "the CI host provides no run number"),
    };
    let name = placeholder.name();
    value
        .filter(|value| !value.is_empty())
        .ok_or(VersionNameError::NoValue { name, reason })
}

/// Returns the suggestion of a similar placeholder; empty if there is none.
fn suggest_placeholder(nearest: Option<&str>) -> String {
    let placeholder = nearest.map(|name| format!("{{{name}}}"));
    text::suggestion_after_colon(placeholder.as_deref())
}

/// Returns the time of the commit in this format; `None` if it is no date.
fn format_commit_time(values: &PlaceholderValues, format: &str) -> Option<String> {
    let time = values.committed_at?;
    Some(time.to_zoned_datetime(TimeZone::UTC).strftime(format).to_string())
}

impl VersionNameError {
    /// Creates the error of a brace without a counterpart.
    fn for_unmatched_brace(template: &str, brace: char) -> Self {
        Self::UnmatchedBrace {
            template: template.to_owned(),
            brace,
        }
    }
}

/// Returns the value if it can be sent as an HTTP header. Only ASCII is accepted, because servers read other characters
/// differently. `subject` names the value in the error.
pub(super) fn validate_header_value(
    subject: &'static str,
    value: String,
) -> Result<String, VersionNameError> {
    // `to_header_value` reports control characters.
    if let Some(character) = value.chars().find(|c| !c.is_ascii() && !c.is_control()) {
        return Err(VersionNameError::NotAscii {
            subject,
            value,
            character,
        });
    }
    match to_header_value(&value) {
        Ok(_) => Ok(value),
        Err(reason) => Err(VersionNameError::Header {
            subject,
            value,
            reason,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> PlaceholderValues {
        PlaceholderValues {
            tag: Some("v1.2.3".to_owned()),
            branch: Some("release/1".to_owned()),
            sha: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            committed_at: Some("2026-11-20T09:30:00Z".parse().unwrap()),
            run_number: None,
            next_version: Some("v1.2.4".to_owned()),
        }
    }

    #[test]
    fn every_placeholder_has_its_value() {
        let template = "{tag} {branch} {short-sha} {date} {datetime}";
        assert_eq!(
            expand_template(template, &facts()).unwrap(),
            "v1.2.3 release/1 0123456 2026-11-20 20261120T093000Z"
        );
        assert_eq!(expand_template("{sha}", &facts()).unwrap(), facts().sha);
        assert_eq!(expand_template("{tag}", &facts()).unwrap(), "v1.2.3");
        assert_eq!(expand_template("auto", &facts()).unwrap(), "2026-11-20-0123456");
        let run = PlaceholderValues {
            run_number: Some("41".to_owned()),
            ..facts()
        };
        assert_eq!(expand_template("1.0.{run-number}", &run).unwrap(), "1.0.41");
        assert_eq!(expand_template("{next}", &run).unwrap(), "v1.2.4");
        assert_eq!(
            expand_template("v{next}+{short-sha}", &run).unwrap(),
            "v1.2.4+0123456"
        );
        for name in Placeholder::ALL.map(Placeholder::name) {
            assert!(expand_template(&format!("{{{name}}}"), &run).is_ok(), "{name}");
        }
    }

    #[test]
    fn name_origin_distinguishes_tags_from_other_placeholders() {
        for (template, origin) in [
            ("1.2.0", NameOrigin::Literal),
            ("autumn", NameOrigin::Literal),
            ("{tag}", NameOrigin::Tag),
            ("sales-{tag}", NameOrigin::Tag),
            ("auto", NameOrigin::Template),
            ("{tag}-{run-number}", NameOrigin::Template),
            ("{branch}", NameOrigin::Template),
            ("v{next}", NameOrigin::Template),
        ] {
            assert_eq!(find_name_origin(template), origin, "{template}");
        }
    }

    #[test]
    fn invalid_version_name_is_rejected_with_reason() {
        let templates = [
            "[latest]",
            "{short_sha}",
            "{run-number}",
            "a{b",
            "a}b",
            "",
            " a",
            "a\nb",
        ];
        let errors: Vec<String> = templates
            .iter()
            .map(|template| expand_template(template, &facts()).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(errors.join("\n"), @r"
        `[Latest]` cannot be the name of a version: consumers request the latest enabled version by this name
        the version name has the unknown placeholder `{short_sha}`: did you mean `{short-sha}`?
        the version name uses `{run-number}`, but the CI host provides no run number
        the version name `a{b` has an unmatched `{`
        the version name `a}b` has an unmatched `}`
        the version name `` cannot be sent as a header: the value is empty
        the version name ` a` cannot be sent as a header: the value begins or ends with a blank
        the version name `a
        b` cannot be sent as a header: the value contains the control character '\n', which no header allows
        ");
    }

    proptest! {
        #[test]
        fn version_name_is_always_header_value(template in "(\\PC|[{}\\x00-\\x1f]|\\{sha\\}|\\{branch\\}){0,20}", branch in "\\PC{0,10}") {
            let facts = PlaceholderValues { branch: Some(branch), ..facts() };
            if let Ok(version) = expand_template(&template, &facts) {
                prop_assert!(!version.is_empty() && version.trim() == version);
                prop_assert!(version.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
            }
        }
    }
}
