//! The rule `component-naming-convention`.

use super::config::Config;
use super::error::EvaluationError;
use super::rule::{Check, Documentation, Field, Rule};
use crate::pipelines::Kind;
use crate::yaml::shortened;
use regex::{Regex, RegexBuilder};

const ID: &str = "component-naming-convention";

/// How large a compiled pattern may be, and how many bytes of names it is then tried on. The time for a byte grows
/// with the pattern: either limit keeps the largest pipeline under ten seconds. `[\w ]{1,255}` takes about 5 MiB, as
/// `\w` knows the letters of every script; without such repetitions patterns take some kilobytes.
const LIMITS: [Limit; 2] = [
    Limit {
        compiled: 1 << 20,
        names: usize::MAX,
    },
    Limit {
        compiled: 16 << 20,
        names: 1 << 20,
    },
];

#[derive(Clone, Copy)]
struct Limit {
    compiled: usize,
    names: usize,
}

pub(super) struct ComponentNamingConvention;

impl Rule for ComponentNamingConvention {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn prepare(&self, config: &Config<'_, '_>) -> Result<Check, EvaluationError> {
        let pattern = config.text("regexMatchPattern")?;
        let (regex, limit) = whole_name(pattern)?;
        let problem = format!(
            "does not match the naming convention {}: rename it",
            shortened(pattern)
        );
        Ok(Box::new(move |subject| {
            let components = subject.pipeline.components.iter();
            if components.map(|component| component.name.len()).sum::<usize>() > limit.names {
                return Err(invalid("too large for the names of this pipeline"));
            }
            Ok(subject.violations_of_components(|_, component| !regex.is_match(&component.name), &problem))
        }))
    }
}

/// The pattern, to be matched against all of a name, with the limit that it needs.
///
/// It is compiled as it is written first, so that `a)|(b` does not become valid by what is put around it. It is then
/// put in a group, and not merely tried for a match that ends with the name, because `a|ab` finds `a` in `ab`.
fn whole_name(pattern: &str) -> Result<(Regex, Limit), EvaluationError> {
    if pattern.is_empty() {
        return Err(EvaluationError::EmptyRegexPattern { id: ID });
    }
    let [.., largest] = LIMITS;
    compile(pattern, largest).map_err(|error| invalid(&explanation(&error)))?;
    // Where the pattern ends in a comment, which it may after `(?x)`, the group must end on a line of its own.
    let forms = [format!(r"\A(?:{pattern})\z"), format!("\\A(?:{pattern}\n)\\z")];
    LIMITS
        .iter()
        .flat_map(|limit| forms.iter().map(move |form| (form, *limit)))
        .find_map(|(form, limit)| Some((compile(form, limit).ok()?, limit)))
        .ok_or_else(|| invalid("too large"))
}

fn compile(pattern: &str, limit: Limit) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(limit.compiled).build()
}

fn invalid(problem: &str) -> EvaluationError {
    EvaluationError::InvalidRegexPattern {
        id: ID,
        problem: problem.to_owned(),
    }
}

/// The last line of the compiler's words: those before it repeat the pattern.
fn explanation(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    shortened(last.trim_start_matches("error: ")).into_owned()
}

static DOCUMENTATION: Documentation = Documentation {
    id: ID,
    kinds: &Kind::ALL,
    summary: "Every component's name matches a regular expression.",
    reason: "Names that follow one convention tell a reader what a component does, and can be searched for.",
    details: &[
        "A component's name is its key in `pipeline.components`, as it is written; the parameter `componentName` \
         plays no part.",
        "One violation for each component whose name does not match, on the line of its key.",
        "The expression is compiled as it is written: an empty one is `designer/empty-regex-pattern`, one that does \
         not compile is `designer/invalid-regex-pattern`.",
    ],
    assumed: &[
        "The expression must match the whole name, also where it has no `^` and `$`.",
        "Expressions are those of the Rust `regex` crate, which has neither look-around nor back-references.",
    ],
    config: &[Field {
        name: "regexMatchPattern",
        meaning: "the regular expression that every name must match",
        default: "\".*\"",
    }],
    example_config: "regexMatchPattern: \"[A-Z][A-Za-z ]*\"",
    passes: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    Load orders:
      type: run-orchestration
",
    fails: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    load orders_v2 FINAL:
      type: run-orchestration
",
};
