//! `sluicegate review`: requests to the platform, its responses, and the verdict.

mod agreement_with_check;
mod excused_failures;
mod platform_faults;
mod requests_and_results;
mod unavailable_platform;
mod untrustworthy_responses;
mod verdict_rules;
