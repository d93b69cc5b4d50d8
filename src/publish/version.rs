//! The version name: a template that is filled with facts about the commit and the run.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sluicegate_base::text;
use sluicegate_git::short_id;
use sluicegate_platform::api::{HeaderError, header_value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFacts {
    pub tag: Option<String>,
    pub branch: Option<String>,
    pub sha: String,
    /// Time of the commit, so that a rerun of the same commit gets the same version name.
    pub committed_at: Timestamp,
    /// Run number of the CI host.
    pub run_number: Option<String>,
    /// Name after that of the latest enabled version.
    pub next: Option<String>,
}

/// Template for `auto`: names that sort by time and contain the commit.
const AUTO: &str = "{date}-{short-sha}";

/// The name by which consumers request the latest enabled version: no version may have it.
const LATEST: &str = "[Latest]";

/// Placeholder for the name after that of the latest version.
const NEXT: &str = "next";

/// Letters that may precede a semantic version.
const V: [char; 2] = ['v', 'V'];

/// Returns whether the template needs the next version's name.
pub fn asks_for_next(template: &str) -> bool {
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

/// Returns the origin of the names of this template.
pub fn name_origin(template: &str) -> NameOrigin {
    if template == "auto" {
        return NameOrigin::Template;
    }
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
pub enum VersionError {
    /// The template has an unknown placeholder.
    #[error("the version name has the unknown placeholder `{{{name}}}`{}", suggestion(*nearest))]
    Unknown {
        name: String,
        nearest: Option<&'static str>,
    },
    /// The template has a placeholder without a value in this run.
    #[error("the version name uses `{{{name}}}`, but {why}")]
    NoValue { name: &'static str, why: &'static str },
    /// A name that has another meaning for consumers.
    #[error("no version can be called `{LATEST}`: consumers request the latest enabled version by this name")]
    Reserved,
    /// An unmatched brace.
    #[error("the version name `{template}` has an unmatched `{brace}`")]
    Brace {
        /// The complete template.
        template: String,
        brace: char,
    },
    /// The result, or the prefix, contains a character that is not printable ASCII.
    #[error("the {what} `{value}` contains {found:?}: only printable ASCII is safe in a header")]
    NotAscii {
        /// `version name` or `prefix`.
        what: &'static str,
        value: String,
        found: char,
    },
    /// The result, or the prefix, cannot be sent as a header.
    #[error("the {what} `{value}` cannot be sent as a header: {why}")]
    Header {
        /// `version name` or `prefix`.
        what: &'static str,
        value: String,
        why: HeaderError,
    },
}

/// Returns the version name for the template. Placeholders: `{tag}`, `{branch}`, `{sha}`, `{short-sha}` (7 digits),
/// `{next}` (the semantic version after the latest), `{date}` (`2026-11-20`), `{datetime}` (`20261120T093000Z`; both of
/// the commit, in UTC) and `{run-number}`. The template `auto` is `{date}-{short-sha}`.
pub fn expand(template: &str, facts: &VersionFacts) -> Result<String, VersionError> {
    let unpaired = |brace| VersionError::Brace {
        template: template.to_owned(),
        brace,
    };
    let mut name = String::new();
    let mut rest = if template == "auto" { AUTO } else { template };
    while let Some(at) = rest.find(['{', '}']) {
        name.push_str(&rest[..at]);
        let (inside, after) = match rest[at..].strip_prefix('{').map(|inside| inside.split_once('}')) {
            Some(Some(parts)) => parts,
            Some(None) => return Err(unpaired('{')),
            None => return Err(unpaired('}')),
        };
        let value = value(inside, facts)?;
        // Do not repeat a `v` that the template already contains.
        let is_doubled = inside == NEXT && name.ends_with(V) && value.starts_with(V);
        name.push_str(&value[usize::from(is_doubled)..]);
        rest = after;
    }
    name.push_str(rest);
    if name.eq_ignore_ascii_case(LATEST) {
        return Err(VersionError::Reserved);
    }
    header("version name", name)
}

fn value(name: &str, facts: &VersionFacts) -> Result<String, VersionError> {
    let utc = || facts.committed_at.to_zoned_datetime(TimeZone::UTC);
    let given = |value: &Option<String>, name, why| {
        value
            .clone()
            .filter(|value| !value.is_empty())
            .ok_or(VersionError::NoValue { name, why })
    };
    match name {
        "tag" => given(&facts.tag, "tag", "this run has no tag"),
        "branch" => given(&facts.branch, "branch", "the branch is unknown"),
        "sha" => Ok(facts.sha.clone()),
        "short-sha" => Ok(short_id(&facts.sha).to_owned()),
        "date" => Ok(utc().strftime("%Y-%m-%d").to_string()),
        "datetime" => Ok(utc().strftime("%Y%m%dT%H%M%SZ").to_string()),
        NEXT => given(&facts.next, NEXT, "the published versions are unknown here"),
        "run-number" => given(
            &facts.run_number,
            "run-number",
            "the CI host provides no run number",
        ),
        unknown => Err(VersionError::Unknown {
            name: unknown.to_owned(),
            nearest: text::nearest(unknown, &PLACEHOLDERS),
        }),
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    let question = nearest.map(|name| format!(": {}", text::did_you_mean(&format!("{{{name}}}"))));
    question.unwrap_or_default()
}

/// Returns the value if it can be sent as a header that every server reads in the same way.
pub(super) fn header(what: &'static str, value: String) -> Result<String, VersionError> {
    if let Some(found) = value.chars().find(|c| !c.is_ascii() && !c.is_control()) {
        return Err(VersionError::NotAscii { what, value, found });
    }
    match header_value(&value) {
        Ok(_) => Ok(value),
        Err(why) => Err(VersionError::Header { what, value, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> VersionFacts {
        VersionFacts {
            tag: Some("v1.2.3".to_owned()),
            branch: Some("release/1".to_owned()),
            sha: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            committed_at: "2026-11-20T09:30:00Z".parse().unwrap(),
            run_number: None,
            next: Some("v1.2.4".to_owned()),
        }
    }

    #[test]
    fn every_placeholder_has_its_value() {
        let template = "{tag} {branch} {short-sha} {date} {datetime}";
        assert_eq!(
            expand(template, &facts()).unwrap(),
            "v1.2.3 release/1 0123456 2026-11-20 20261120T093000Z"
        );
        assert_eq!(expand("{sha}", &facts()).unwrap(), facts().sha);
        assert_eq!(expand("{tag}", &facts()).unwrap(), "v1.2.3");
        assert_eq!(expand("auto", &facts()).unwrap(), "2026-11-20-0123456");
        let run = VersionFacts {
            run_number: Some("41".to_owned()),
            ..facts()
        };
        assert_eq!(expand("1.0.{run-number}", &run).unwrap(), "1.0.41");
        assert_eq!(expand("{next}", &run).unwrap(), "v1.2.4");
        assert_eq!(expand("v{next}+{short-sha}", &run).unwrap(), "v1.2.4+0123456");
        for name in PLACEHOLDERS {
            assert!(expand(&format!("{{{name}}}"), &run).is_ok(), "{name}");
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
            assert_eq!(name_origin(template), origin, "{template}");
        }
    }

    #[test]
    fn invalid_version_name_is_named() {
        let tries = [
            "[latest]",
            "{short_sha}",
            "{run-number}",
            "a{b",
            "a}b",
            "",
            " a",
            "a\nb",
        ];
        let errors: Vec<String> = tries
            .iter()
            .map(|t| expand(t, &facts()).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(errors.join("\n"), @r"
        no version can be called `[Latest]`: consumers request the latest enabled version by this name
        the version name has the unknown placeholder `{short_sha}`: did you mean `{short-sha}`?
        the version name uses `{run-number}`, but the CI host provides no run number
        the version name `a{b` has an unmatched `{`
        the version name `a}b` has an unmatched `}`
        the version name `` cannot be sent as a header: it is empty
        the version name ` a` cannot be sent as a header: it begins or ends with a blank
        the version name `a
        b` cannot be sent as a header: it contains the control character '\n', which no header allows
        ");
    }

    proptest! {
        #[test]
        fn version_is_always_header_value(template in "(\\PC|[{}\\x00-\\x1f]|\\{sha\\}|\\{branch\\}){0,20}", branch in "\\PC{0,10}") {
            let facts = VersionFacts { branch: Some(branch), ..facts() };
            if let Ok(version) = expand(&template, &facts) {
                prop_assert!(!version.is_empty() && version.trim() == version);
                prop_assert!(version.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
            }
        }
    }
}
