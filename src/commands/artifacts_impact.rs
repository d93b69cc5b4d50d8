//! Runs `sluicegate artifacts impact`: finds the components in local repositories that use a changed id or parameter.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{ImpactArgs, OutputFormat};
use crate::publication::consumer_impact::{ConsumerImpact, add_affected_components};
use crate::publication::version_comparison::compare_versions;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use sluicegate_base::text::format_path;
use sluicegate_git::{GitError, Repository};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeSet;

/// Runs `sluicegate artifacts impact`: prints which components use an id or parameter that changed between two published
/// versions. Searches the repositories of `--repos` or, without that flag, the current one. Prints a warning for each
/// file that cannot be searched, and a message if there is no older version to compare with.
pub(crate) fn run(session: &Session, args: &ImpactArgs) -> CommandResult {
    let comparison = compare_versions(session, &args.versions)?;
    let mut impact = ConsumerImpact::default();
    let current_dir = session.env.current_dir();
    if args.repos.is_empty() {
        add_affected_components(
            &mut impact,
            &comparison.workspace.repo,
            ".",
            &comparison.prefix,
            &comparison.compat,
        )?;
    }
    let mut searched_roots = BTreeSet::new();
    for dir in &args.repos {
        let repository = Repository::open(&current_dir.join(dir))
            .map_err(repository_failure)?
            .with_document_predicate(is_pipeline);
        // Two directories of one repository must not count its components twice.
        let root = repository.root();
        if !searched_roots.insert(root.canonicalize().unwrap_or_else(|_| root.to_owned())) {
            continue;
        }
        let displayed_dir = format_path(dir);
        add_affected_components(
            &mut impact,
            &repository,
            &displayed_dir,
            &comparison.prefix,
            &comparison.compat,
        )?;
    }
    for location in &impact.unreadable_files {
        session.ui.warn(&format!("could not search {location}"));
    }
    comparison.print_missing_version(session);
    // Without `--repos`, one repository was searched: the current one.
    let repository_count = searched_roots.len().max(1);
    let text = match args.output.output {
        OutputFormat::Json => format_json(&impact.to_json(&comparison.prefix, &comparison.compat)),
        OutputFormat::Text if comparison.compat.is_first() => String::new(),
        OutputFormat::Text => impact.to_text(
            repository_count,
            &comparison.compat,
            &comparison.new_offer.display_name(),
        ),
    };
    session.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}

/// Returns the failure for a directory of `--repos` that cannot be opened. The general hint for a missing repository
/// names another flag.
fn repository_failure(error: GitError) -> Failure {
    let is_missing = matches!(error, GitError::NotARepository { .. });
    let failure = Failure::from(error);
    if is_missing {
        return failure.with_hint("correct --repos: pass existing directories of clones");
    }
    failure
}
