//! The regular expression of a naming convention.
//!
//! An engine whose time grows with the name alone takes every pattern that it can. Look-around and back references are
//! beyond it: those patterns are matched with backtracking, within bounds, since a pattern of a few characters can
//! take longer than anybody waits.

use super::error::EvaluationError;
use crate::model::yaml::shortened;
use fancy_regex::Expr;
use regex::{Regex, RegexBuilder};

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

/// The same where the engine tracks back.
const BACKTRACKING: Limit = Limit {
    compiled: 1 << 20,
    names: 256 << 10,
};

/// How often the engine may track back in one name. A pattern that means what it says needs some dozens.
const MOST_STEPS: usize = 10_000;

/// The longest pattern and the longest name, in bytes, with which the engine tracks back.
const LONGEST: usize = 1_000;

#[derive(Debug, Clone, Copy)]
struct Limit {
    compiled: usize,
    names: usize,
}

/// A pattern, to be matched against all of a name.
#[derive(Debug)]
pub(super) struct Pattern {
    rule: &'static str,
    engine: PatternEngine,
    limit: Limit,
}

#[derive(Debug)]
enum PatternEngine {
    Linear(Regex),
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// The pattern of the rule `id`.
    ///
    /// It is compiled as it is written first, so that `a)|(b` does not become valid by what is put around it. It is
    /// then put in a group, and not merely tried for a match that ends with the name, because `a|ab` finds `a` in
    /// `ab`.
    pub(super) fn whole_name(rule: &'static str, pattern: &str) -> Result<Self, EvaluationError> {
        if pattern.is_empty() {
            return Err(EvaluationError::EmptyRegexPattern { id: rule });
        }
        let invalid = |problem| EvaluationError::InvalidRegexPattern { id: rule, problem };
        let [.., largest] = LIMITS;
        let (engine, limit) = match compile(pattern, largest) {
            Ok(_) => linear(pattern),
            Err(regex::Error::Syntax(words)) => backtracking(pattern).map_err(|problem| {
                let words = explanation(&words);
                invalid(if words.contains("not supported") {
                    problem
                } else {
                    words
                })
            })?,
            Err(_) => None,
        }
        .ok_or_else(|| invalid("too large".to_owned()))?;
        Ok(Self { rule, engine, limit })
    }

    /// Which of the names match, in their order. An error where that would take too long.
    pub(super) fn matches<'n>(
        &self,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<Vec<bool>, EvaluationError> {
        if names.clone().map(str::len).sum::<usize>() > self.limit.names {
            return Err(self.too_costly("the names of this pipeline are too many for it".to_owned()));
        }
        match &self.engine {
            PatternEngine::Linear(regex) => Ok(names.map(|name| regex.is_match(name)).collect()),
            PatternEngine::Backtracking(regex) => names.map(|name| self.tracked_back(regex, name)).collect(),
        }
    }

    fn tracked_back(&self, regex: &fancy_regex::Regex, name: &str) -> Result<bool, EvaluationError> {
        let shown = shortened(name);
        if name.len() > LONGEST {
            return Err(self.too_costly(format!("the name \"{shown}\" has more than {LONGEST} bytes")));
        }
        regex.is_match(name).map_err(|_| {
            self.too_costly(format!(
                "it takes more than {MOST_STEPS} steps on the name \"{shown}\""
            ))
        })
    }

    fn too_costly(&self, problem: String) -> EvaluationError {
        let id = self.rule;
        EvaluationError::CostlyRegexPattern { id, problem }
    }
}

/// Around a pattern. Where it ends in a comment, which it may after `(?x)`, the group must end on a line of its own.
fn forms(pattern: &str) -> [String; 2] {
    [format!(r"\A(?:{pattern})\z"), format!("\\A(?:{pattern}\n)\\z")]
}

fn linear(pattern: &str) -> Option<(PatternEngine, Limit)> {
    let forms = forms(pattern);
    LIMITS
        .iter()
        .flat_map(|limit| forms.iter().map(move |form| (form, *limit)))
        .find_map(|(form, limit)| Some((PatternEngine::Linear(compile(form, limit).ok()?), limit)))
}

fn compile(pattern: &str, limit: Limit) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(limit.compiled).build()
}

/// The pattern for the engine that tracks back; none where it is too large, an error where it is no pattern.
fn backtracking(pattern: &str) -> Result<Option<(PatternEngine, Limit)>, String> {
    if pattern.len() > LONGEST {
        return Ok(None);
    }
    refuse_what_is_rare(pattern)?;
    let build = |pattern: &str| {
        fancy_regex::RegexBuilder::new(pattern)
            .backtrack_limit(MOST_STEPS)
            .delegate_size_limit(BACKTRACKING.compiled)
            .build()
    };
    build(pattern).map_err(|why| shortened(&why.to_string()).into_owned())?;
    let found = forms(pattern).iter().find_map(|form| build(form).ok());
    Ok(found.map(|regex| (PatternEngine::Backtracking(regex), BACKTRACKING)))
}

/// Refuses what other engines do not know, above all calls of a group, which the compiler writes out: a few of them
/// one in another take all memory.
fn refuse_what_is_rare(pattern: &str) -> Result<(), String> {
    let tree = Expr::parse_tree(pattern).map_err(|why| shortened(&why.to_string()).into_owned())?;
    let is_rare = |part: &Expr| {
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
    };
    if is_rare(&tree.expr) || tree.expr.has_descendant(is_rare) {
        return Err("conditions, calls of a group and verbs are not supported".to_owned());
    }
    Ok(())
}

/// The last line of the compiler's words: those before it repeat the pattern.
fn explanation(words: &str) -> String {
    let last = words.lines().last().unwrap_or_default();
    shortened(last.trim_start_matches("error: ")).into_owned()
}
