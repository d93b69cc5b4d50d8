//! The version name: a template that is filled with facts about the commit and the run.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sluicegate_base::text;
use sluicegate_git::short_id;
use sluicegate_pipelines::interface::has_next_version_name;
use sluicegate_platform::api::{HeaderError, to_header_value};

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

/// Placeholder for the name after that of the latest version.
const NEXT_PLACEHOLDER: &str = "next";

/// Letters that may precede a semantic version.
const VERSION_LETTERS: [char; 2] = ['v', 'V'];

/// Returns whether the template needs the next version's name.
pub fn needs_next_version(template: &str) -> bool {
    template.contains("{next}")
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
    if template == "auto" {
        return NameOrigin::Template;
    }
    // The text before the first brace is not a placeholder.
    let mut placeholders = template.split('{').skip(1);
    match placeholders.next() {
        None => NameOrigin::Literal,
        Some(first) if first.starts_with("tag}") && placeholders.all(|next| next.starts_with("tag}")) => {
            NameOrigin::Tag
        }
        Some(_) => NameOrigin::Template,
    }
}

/// The placeholders, in the order of the documentation.
pub const PLACEHOLDERS: [&str; 8] = [
    "tag",
    "branch",
    "sha",
    "short-sha",
    "next",
    "date",
    "datetime",
    "run-number",
];

/// A template, prefix or version that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionNameError {
    /// The template has an unknown placeholder.
    #[error("the version name has the unknown placeholder `{{{name}}}`{}", format_suggestion(*nearest))]
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

/// Replaces the placeholders of a version name: `{tag}`, `{branch}`, `{sha}`, `{short-sha}` (7 digits), `{next}` (the
/// semantic version after the latest), `{date}` (`2026-11-20`), `{datetime}` (`20261120T093000Z`; both of the commit,
/// in UTC) and `{run-number}`. The template `auto` is `{date}-{short-sha}`.
pub fn expand_template(template: &str, values: &PlaceholderValues) -> Result<String, VersionNameError> {
    let mut name = String::new();
    let mut remainder = if template == "auto" {
        AUTO_TEMPLATE
    } else {
        template
    };
    while let Some(brace_index) = remainder.find(['{', '}']) {
        name.push_str(&remainder[..brace_index]);
        let Some(after_brace) = remainder[brace_index..].strip_prefix('{') else {
            return Err(VersionNameError::for_unmatched_brace(template, '}'));
        };
        let Some((placeholder, after_placeholder)) = after_brace.split_once('}') else {
            return Err(VersionNameError::for_unmatched_brace(template, '{'));
        };
        let value = resolve_placeholder(placeholder, values)?;
        if placeholder == NEXT_PLACEHOLDER && name.ends_with(VERSION_LETTERS) {
            // Do not repeat a `v` that the template already contains.
            name.push_str(value.strip_prefix(VERSION_LETTERS).unwrap_or(&value));
        } else {
            name.push_str(&value);
        }
        remainder = after_placeholder;
    }
    name.push_str(remainder);
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

/// Returns the value of a placeholder, or the error that it is unknown or has no value in this run.
fn resolve_placeholder(name: &str, values: &PlaceholderValues) -> Result<String, VersionNameError> {
    match name {
        "tag" => require_value(values.tag.as_ref(), "tag", "this run is not for a tag"),
        "branch" => require_value(values.branch.as_ref(), "branch", "the branch is unknown"),
        "sha" => Ok(values.sha.clone()),
        "short-sha" => Ok(short_id(&values.sha).to_owned()),
        "date" => format_commit_time(values, "date", "%Y-%m-%d"),
        "datetime" => format_commit_time(values, "datetime", "%Y%m%dT%H%M%SZ"),
        NEXT_PLACEHOLDER => require_value(
            values.next_version.as_ref(),
            NEXT_PLACEHOLDER,
            "the published versions are not known in this run",
        ),
        "run-number" => require_value(
            values.run_number.as_ref(),
            "run-number",
            "the CI host provides no run number",
        ),
        unknown => Err(VersionNameError::UnknownPlaceholder {
            name: unknown.to_owned(),
            nearest: text::find_nearest_word(unknown, &PLACEHOLDERS),
        }),
    }
}

/// Returns the suggestion of a similar placeholder, with a colon before it; empty if there is none.
fn format_suggestion(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!(": {}", text::did_you_mean(&format!("{{{name}}}"))))
        .unwrap_or_default()
}

/// Returns the time of the commit in this format for the placeholder `name`, or the error that it is no date.
fn format_commit_time(
    values: &PlaceholderValues,
    name: &'static str,
    format: &str,
) -> Result<String, VersionNameError> {
    match values.committed_at {
        Some(time) => Ok(time.to_zoned_datetime(TimeZone::UTC).strftime(format).to_string()),
        None => Err(VersionNameError::NoValue {
            name,
            reason: "the time of the commit is out of range",
        }),
    }
}

/// Returns the value of the placeholder `name`, or the error that it is missing or empty in this run, with the reason.
fn require_value(
    value: Option<&String>,
    name: &'static str,
    reason: &'static str,
) -> Result<String, VersionNameError> {
    value
        .filter(|value| !value.is_empty())
        .cloned()
        .ok_or(VersionNameError::NoValue { name, reason })
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
        for name in PLACEHOLDERS {
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
