//! The facts that limit the verdict of a review.

use serde::{Deserialize, Serialize};
use sluicegate_base::words::words;

/// The kind of a fact that limits the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKind {
    /// A gate configuration file in the checkout is not used, because the policy revision has a different version of
    /// the file or does not have the file.
    NotInForce,
    /// There is no base to compare findings with.
    NoBase,
    /// The target's tip has a stricter gate configuration.
    StricterTip,
    /// Files that may be pipelines escape the review.
    OutsideReview,
    /// The run passes although the verdict is undecided.
    Excused,
}

words!(LimitKind {
    NotInForce => "not-in-force",
    NoBase => "no-base",
    StricterTip => "stricter-tip",
    OutsideReview => "outside-review",
    Excused => "excused",
});

/// A fact that limits the verdict, for formats that do not show the other notes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictLimit {
    pub kind: LimitKind,
    /// The file that the fact is about; `None` if it is about the entire run.
    pub path: Option<String>,
    /// The sentence, which is also one of the notes.
    pub text: String,
}
