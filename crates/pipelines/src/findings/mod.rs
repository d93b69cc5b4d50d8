//! The core type of the program: every reviewer creates findings and every writer shows them.
//!
//! Remote reviews and local rules end here; reports, annotations and the terminal start here. This module does not know
//! where a result came from or where it goes.

mod change_summary;
mod documentation_block;
mod error_types;
mod fail_on;
mod finding;
mod finding_fix;
mod finding_state;
mod finding_totals;
mod fingerprint;
mod gate_change;
mod gate_fault;
mod known_limit;
mod missing_shards;
mod renamed_subjects;
mod report;
mod rule_result;
mod rules_file_error;
mod show_mode;
mod unfinished_reason;
mod unreviewed_file;
mod verdict_limit;
mod waiver;

pub use change_summary::{ChangeCounts, ChangeSummary, FileChange};
pub(crate) use change_summary::{format_copy_source, format_part_counts, format_rename};
pub use documentation_block::DocumentationBlock;
pub(crate) use error_types::{
    DUPLICATE_RULE_TYPE, EMPTY_PATTERN_TYPE, INVALID_CONFIG_TYPE, INVALID_LEVEL_TYPE, INVALID_PATTERN_TYPE,
    NO_START_TYPE, UNKNOWN_RULE_TYPE, UNREADABLE_RULES_TYPE, UNREADABLE_TYPE,
};
pub use error_types::{MISSING_RULES_TYPE, UNUSABLE_TEAM_RULES_TYPE};
pub use fail_on::FailOn;
pub use finding::{Finding, FindingIdentity, UNREADABLE_RULE};
pub use finding_fix::{Fix, ProposedFix};
pub use finding_state::FindingState;
pub use finding_totals::FindingTotals;
pub use fingerprint::Fingerprint;
pub use gate_change::GateChange;
pub use gate_fault::GateFault;
pub use known_limit::{describe_too_many_known, suggest_lower_known_limit};
pub use missing_shards::describe_missing_shards;
pub(crate) use renamed_subjects::LINK_ARROW;
pub use renamed_subjects::RenamedSubjects;
pub use report::{
    ComparedWith, Engine, ExcludedFile, Report, ResultCounts, ReviewContext, ReviewPlatform, Shard, Verdict,
};
pub(crate) use rule_result::NO_START_TEXT;
pub use rule_result::{
    Enforcement, FileResults, FindingMark, NO_ERROR_TYPE, Origin, RuleResult, Severity, Status, StatusName,
    TEAM_PREFIX, Violation, text_or_placeholder,
};
pub use rules_file_error::RulesFileError;
pub use show_mode::ShowMode;
pub use unfinished_reason::{UNFINISHED_NOTE, format_unfinished_note};
pub use unreviewed_file::{ReviewGap, UnreviewedFile, format_reason_with_step};
pub use verdict_limit::{LimitKind, VerdictLimit};
pub(crate) use waiver::is_waiver_expired;
pub use waiver::{Waiver, describe_expired_waivers};
