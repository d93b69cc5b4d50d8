//! The core type of the program: every reviewer creates findings and every writer shows them.
//!
//! Remote reviews and local rules end here; reports, annotations and the terminal start here. This room does not know
//! where a result came from or where it goes.

mod block;
mod change_summary;
mod fail_on;
mod finding;
mod fingerprint;
mod known_limit;
mod report;
mod result;
mod show;
mod state;
mod totals;
mod waiver;

pub use block::Block;
pub(crate) use change_summary::format_counts;
pub use change_summary::{ChangeCounts, Changed, FileChange};
pub use fail_on::FailOn;
pub use finding::{Finding, Identity, UNREADABLE_RULE};
pub use fingerprint::Fingerprint;
pub use known_limit::{can_be_lower, too_many};
pub use report::{
    ComparedWith, Counts, Engine, Excluded, GateChange, Limit, LimitKind, Report, ReviewContext,
    ReviewPlatform, Shard, Unreviewed, Verdict,
};
pub use result::{Enforcement, FileResults, NO_ERROR_TYPE, Origin, RuleResult, Severity, Status, Violation};
pub use show::Show;
pub use state::State;
pub use totals::Totals;
pub use waiver::Waiver;
