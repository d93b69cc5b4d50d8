//! The regular expression of a naming convention.
//!
//! Every pattern that allows it is matched by an engine whose time grows only with the length of the name. Patterns
//! with look-around or back-references need backtracking, which is limited, because a pattern of a few characters can
//! otherwise run practically forever.

use super::error::EvaluationError;
use fancy_regex::Expr;
use regex::{Regex, RegexBuilder};
use sluicegate_yaml::shorten;

/// Maximum size of a compiled pattern, and the maximum total size of the names that it is matched with, in bytes. The
/// time for each byte grows with the pattern: either limit keeps the largest pipeline under ten seconds. `[\w ]{1,255}`
/// needs about 5 MiB, because `\w` includes the letters of every script; patterns without such repetitions need some
/// kilobytes.
const LIMITS: [PatternLimit; 2] = [
    PatternLimit {
        compiled_bytes: 1 << 20,
        name_bytes: usize::MAX,
    },
    PatternLimit {
        compiled_bytes: 16 << 20,
        name_bytes: 1 << 20,
    },
];

/// The limits on sizes, as in [`LIMITS`], for the backtracking engine.
const BACKTRACKING_LIMIT: PatternLimit = PatternLimit {
    compiled_bytes: 1 << 20,
    name_bytes: 256 << 10,
};

/// Maximum number of backtracking steps for one name. A reasonable pattern needs a few dozen.
const MAX_STEPS: usize = 10_000;

/// Maximum length of a pattern and of a name for the backtracking engine, in bytes.
const MAX_BACKTRACKING_BYTES: usize = 1_000;

#[derive(Debug, Clone, Copy)]
struct PatternLimit {
    compiled_bytes: usize,
    name_bytes: usize,
}

/// A pattern that is matched against complete names.
#[derive(Debug)]
pub(super) struct Pattern {
    rule: &'static str,
    engine: PatternEngine,
    limit: PatternLimit,
}

#[derive(Debug)]
enum PatternEngine {
    Linear(Regex),
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// Compiles a pattern that must match complete names, for the rule with the id `rule`. Fails if the pattern is
    /// empty, invalid or too large.
    pub(super) fn for_whole_names(rule: &'static str, pattern: &str) -> Result<Self, EvaluationError> {
        if pattern.is_empty() {
            return Err(EvaluationError::EmptyRegexPattern { id: rule });
        }
        match compile_pattern(pattern) {
            Ok(Some((engine, limit))) => Ok(Self { rule, engine, limit }),
            Ok(None) => {
                let problem = "the expression is too large".to_owned();
                Err(EvaluationError::InvalidRegexPattern { id: rule, problem })
            }
            Err(problem) => Err(EvaluationError::InvalidRegexPattern { id: rule, problem }),
        }
    }

    /// Returns for each name, in order, whether it matches the pattern. Fails if matching would take too long.
    pub(super) fn match_names<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<Vec<bool>, EvaluationError> {
        if names.clone().map(str::len).sum::<usize>() > self.limit.name_bytes {
            return Err(self.costly_pattern_error("the pipeline has too many component names".to_owned()));
        }
        match &self.engine {
            PatternEngine::Linear(regex) => Ok(names.map(|name| regex.is_match(name)).collect()),
            PatternEngine::Backtracking(regex) => names
                .map(|name| self.match_with_backtracking(regex, name))
                .collect(),
        }
    }

    /// Returns whether a name matches, with the slower engine. Fails if the name is too long or needs too many steps.
    fn match_with_backtracking(
        &self,
        regex: &fancy_regex::Regex,
        name: &str,
    ) -> Result<bool, EvaluationError> {
        let shown_name = shorten(name);
        if name.len() > MAX_BACKTRACKING_BYTES {
            return Err(self.costly_pattern_error(format!(
                "the name \"{shown_name}\" has more than {MAX_BACKTRACKING_BYTES} bytes"
            )));
        }
        regex.is_match(name).map_err(|_| {
            self.costly_pattern_error(format!(
                "the expression needs more than {MAX_STEPS} steps for the name \"{shown_name}\""
            ))
        })
    }

    /// Builds the error that matching the pattern would take too long.
    fn costly_pattern_error(&self, problem: String) -> EvaluationError {
        let id = self.rule;
        EvaluationError::CostlyRegexPattern { id, problem }
    }
}

/// Compiles the pattern, anchored to complete names, for the linear engine, or with backtracking if the linear engine
/// rejects it as invalid. Returns `None` if it is too large. If both engines reject the pattern, or if it is too long
/// for backtracking, the error has the message of the linear engine, unless this only says that a construct is not
/// supported.
fn compile_pattern(pattern: &str) -> Result<Option<(PatternEngine, PatternLimit)>, String> {
    let [.., largest_limit] = LIMITS;
    // The pattern is first compiled unchanged, because the anchored group would make `a)|(b` valid.
    match build_linear(pattern, largest_limit) {
        Ok(_) => Ok(compile_linear(pattern)),
        Err(regex::Error::Syntax(message)) => {
            let explanation = summarize_error(&message);
            let is_unsupported = ["not supported", "unrecognized flag", "unrecognized escape"]
                .iter()
                .any(|words| explanation.contains(words));
            match compile_backtracking(pattern) {
                Ok(Some(compiled_pattern)) => Ok(Some(compiled_pattern)),
                Ok(None) if is_unsupported => Ok(None),
                Err(problem) if explanation.contains("not supported") => Err(problem),
                Ok(None) | Err(_) => Err(explanation),
            }
        }
        // The pattern exceeds the limit.
        Err(_) => Ok(None),
    }
}

/// Returns two forms of a pattern that match only complete names. Both put the pattern in an anchored group: `a|ab`
/// finds only `a` in `ab`, so it is not enough to compare the end of the match with the end of the name. The second
/// form is for a pattern with `(?x)` that ends in a comment: its group is closed on a new line.
fn anchor_pattern(pattern: &str) -> [String; 2] {
    [format!(r"\A(?:{pattern})\z"), format!("\\A(?:{pattern}\n)\\z")]
}

/// Compiles the pattern, anchored to complete names, for the engine with linear time. Tries both forms of
/// [`anchor_pattern`], first with the small limit, because a small pattern may be matched with more names. Returns
/// `None` if the pattern exceeds all limits.
fn compile_linear(pattern: &str) -> Option<(PatternEngine, PatternLimit)> {
    let forms = anchor_pattern(pattern);
    LIMITS
        .iter()
        .flat_map(|limit| forms.iter().map(move |form| (form, *limit)))
        .find_map(|(form, limit)| Some((PatternEngine::Linear(build_linear(form, limit).ok()?), limit)))
}

/// Compiles the pattern for the engine with linear time, without anchoring it. Fails if the pattern is invalid or
/// exceeds the size limit.
fn build_linear(pattern: &str, limit: PatternLimit) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .size_limit(limit.compiled_bytes)
        .build()
}

/// Compiles the pattern, anchored to complete names, for the backtracking engine. Returns `None` if the pattern is too
/// long, or if no form of [`anchor_pattern`] compiles. The pattern is first compiled unchanged, so that an error is
/// about the pattern itself.
fn compile_backtracking(pattern: &str) -> Result<Option<(PatternEngine, PatternLimit)>, String> {
    reject_rare_constructs(pattern)?;
    if pattern.len() > MAX_BACKTRACKING_BYTES {
        return Ok(None);
    }
    build_backtracking(pattern).map_err(|error| shorten(&error.to_string()).into_owned())?;
    let regex = anchor_pattern(pattern)
        .iter()
        .find_map(|form| build_backtracking(form).ok());
    Ok(regex.map(|regex| (PatternEngine::Backtracking(regex), BACKTRACKING_LIMIT)))
}

/// Compiles the pattern for the backtracking engine, without anchoring it. A match fails after [`MAX_STEPS`] steps. The
/// size limit applies to each part of the pattern that the engine delegates to `regex`.
fn build_backtracking(pattern: &str) -> Result<fancy_regex::Regex, fancy_regex::Error> {
    fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(MAX_STEPS)
        .delegate_size_limit(BACKTRACKING_LIMIT.compiled_bytes)
        .build()
}

/// Rejects constructs that few regex engines support, in particular subroutine calls: the compiler expands them, so a
/// few nested calls would use all memory.
fn reject_rare_constructs(pattern: &str) -> Result<(), String> {
    let tree = Expr::parse_tree(pattern).map_err(|error| shorten(&error.to_string()).into_owned())?;
    if is_unsupported_construct(&tree.expr) || tree.expr.has_descendant(is_unsupported_construct) {
        return Err(
            "conditionals `(?(1)…)`, subroutine calls `(?1)` and verbs `(*SKIP)` are not supported"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns whether this part of a pattern is a construct that patterns of rules must not use. Few regex engines have
/// these constructs.
fn is_unsupported_construct(part: &Expr) -> bool {
    !matches!(
        part,
        Expr::Empty
            | Expr::Any { .. }
            | Expr::Assertion(_)
            | Expr::GeneralNewline { .. }
            | Expr::Literal { .. }
            | Expr::Concat(_)
            | Expr::Alt(_)
            | Expr::Group(_)
            | Expr::LookAround(..)
            | Expr::Repeat { .. }
            | Expr::Delegate { .. }
            | Expr::Backref { .. }
            | Expr::AtomicGroup(_)
    )
}

/// Returns the last line of the compiler's message; the lines before it repeat the pattern.
fn summarize_error(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    shorten(last.trim_start_matches("error: ")).into_owned()
}
