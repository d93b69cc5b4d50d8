//! The types by which the platform's API identifies the errors of an evaluation, in `errorDetail.type`.

/// The error type of a pipeline that cannot be read.
pub(crate) const UNREADABLE_TYPE: &str = "designer/document-parse-error";
/// The error type of a pipeline without a start component: the only error that the content of a pipeline that can be
/// read causes.
pub(crate) const NO_START_TYPE: &str = "designer/no-start-component";
/// The error type of a commit without a rules file.
pub const MISSING_RULES_TYPE: &str = "designer/rules-file-retrieval-error";
pub(crate) const UNREADABLE_RULES_TYPE: &str = "designer/rules-file-parse-error";
pub(crate) const UNKNOWN_RULE_TYPE: &str = "designer/validator-not-found";
pub(crate) const INVALID_LEVEL_TYPE: &str = "designer/invalid-enforcement-level";
pub(crate) const INVALID_CONFIG_TYPE: &str = "designer/invalid-rule-configuration";
pub(crate) const EMPTY_PATTERN_TYPE: &str = "designer/empty-regex-pattern";
pub(crate) const INVALID_PATTERN_TYPE: &str = "designer/invalid-regex-pattern";
pub(crate) const DUPLICATE_RULE_TYPE: &str = "designer/duplicate-enabled-rule";
/// The error type of the team rules if their file, or the file that names it, cannot be used. The platform has no team
/// rules.
pub const UNUSABLE_TEAM_RULES_TYPE: &str = "team/unusable-file";

/// Error types that concern an entire file. Every rule returns the same error, so it is shown once.
pub(super) const FILE_ERROR_TYPES: [&str; 3] = [UNREADABLE_TYPE, UNREADABLE_RULES_TYPE, MISSING_RULES_TYPE];

/// Error types that concern the rules file or the team rules file. Every pipeline gets the same error.
pub(super) const RULES_FILE_ERROR_TYPES: [&str; 9] = [
    UNREADABLE_RULES_TYPE,
    MISSING_RULES_TYPE,
    UNKNOWN_RULE_TYPE,
    INVALID_LEVEL_TYPE,
    INVALID_CONFIG_TYPE,
    EMPTY_PATTERN_TYPE,
    INVALID_PATTERN_TYPE,
    DUPLICATE_RULE_TYPE,
    UNUSABLE_TEAM_RULES_TYPE,
];
