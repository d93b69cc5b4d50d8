//! Runs `sluicegate init`: writes a configuration file and a CI job for this repository, with the detected values.
//!
//! All steps are planned first, so that a dry run shows exactly what a run writes. Existing files are never
//! overwritten: a job is written next to an existing one with instructions to include it, or printed so that the user
//! can add it.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci;
use crate::job::cli::{InitArgs, OutputFormat};
use crate::job::context::ContextError;
use crate::job::settings;
use crate::operations::init::init_plan::InitPlan;
use crate::operations::init::{git_diff, init_summary, new_files, repository_facts};
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::omitted_file::reject_omitted_file;

/// Runs `sluicegate init`: writes the configuration and the CI job for this repository, or with `--git-diff` sets up
/// `git diff` instead. A dry run only prints what would be written.
pub(crate) fn run(session: &Session, args: &InitArgs) -> CommandResult {
    if args.git_diff {
        return git_diff::run(session, args.dry_run);
    }
    reject_unusable_ci(session)?;
    let workspace = session.open_workspace()?;
    let facts = repository_facts::detect_repository_facts(session, &workspace, args)?;
    // Held until the files are written: the plan depends on the files that exist. Taken after the user's answers.
    let _lock = if args.dry_run {
        None
    } else {
        session.lock_checkout()?
    };
    let plan = InitPlan::from_facts(&facts);
    for path in plan.list_written_paths() {
        reject_omitted_file(&workspace.repo, path)?;
    }
    if !args.dry_run {
        new_files::write_files(&facts.root, &plan)?;
    }
    let text = match args.output.output {
        OutputFormat::Json => format_json(&init_summary::to_document(&facts, &plan, args.dry_run)),
        OutputFormat::Text => init_summary::render_summary(&facts, &plan, args.dry_run),
    };
    session.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}

/// Fails if the CI host of `--ci` does not run this command, because the flag describes the running job. `--host`
/// selects the host of the job to write.
fn reject_unusable_ci(session: &Session) -> Result<(), Failure> {
    let Some(host) = settings::requested_host(&session.global, &session.env)? else {
        return Ok(());
    };
    match ci::detect_context(&session.env, Some(host)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::from(ContextError::from(error)).with_hint(format!(
            "`--ci` and SLUICEGATE_CI describe the job that runs this command; to write a job for this CI host, unset \
             both and run `sluicegate init --host {host}`"
        ))),
    }
}
