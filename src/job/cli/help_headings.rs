//! Each flag is under the heading of its subject in `--help`: a heading of clap also applies to the flags that follow.

use super::Cli;
use clap::CommandFactory as _;

/// The flags that may be under a heading.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "Selection",
        &[
            "all",
            "base",
            "branch",
            "deepen",
            "exclude",
            "external",
            "files",
            "head",
            "include",
            "rules",
            "shard",
            "staged",
            "stdin-path",
        ],
    ),
    (
        "Verdict",
        &[
            "accept-breaking",
            "compat",
            "fail-on",
            "fork",
            "max-known",
            "new-only",
            "on-unavailable",
            "project-checks",
        ],
    ),
    (
        "Reports",
        &[
            "annotations",
            "attestation",
            "attestation-predicate",
            "category",
            "changes",
            "comment",
            "output",
            "report",
            "show",
        ],
    ),
    (
        "Connection",
        &["batch-size", "concurrency", "data-warehouse", "review-request"],
    ),
    (
        "Publish",
        &[
            "against",
            "attestation",
            "attestation-predicate",
            "from",
            "if-exists",
            "junit",
            "lookup-timeout",
            "no-verify",
            "on-ignored",
            "on-smoke-failure",
            "prefix",
            "publish",
            "publish-attestation",
            "publish-attestation-predicate",
            "publish-on-branch",
            "publish-on-tag",
            "receipt",
            "require-review",
            "require-review-engine",
            "select",
            "smoke",
            "smoke-environment",
            "smoke-project",
            "smoke-timeout",
            "version-name",
        ],
    ),
    (
        "Fix by the agent",
        &[
            "agent",
            "allow",
            "branch",
            "environment",
            "from",
            "head",
            "plan",
            "poll-interval",
            "target-branch",
            "timeout",
        ],
    ),
];

#[test]
fn each_flag_is_under_heading_of_its_subject() {
    let mut checked_count = 0;
    for command in Cli::command().get_subcommands() {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let (Some(flag), Some(heading)) = (argument.get_long(), argument.get_help_heading()) else {
                continue;
            };
            let Some((_, flags)) = HEADINGS.iter().find(|(name, _)| *name == heading) else {
                assert_eq!(heading, super::global::HEADING, "{} --{flag}", command.get_name());
                continue;
            };
            assert!(
                flags.contains(&flag),
                "{} --{flag} is under {heading}",
                command.get_name()
            );
            checked_count += 1;
        }
    }
    assert!(checked_count > 80, "{checked_count}");
}
