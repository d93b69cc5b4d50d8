//! Runs `sluicegate artifacts impact`: finds the components that use a changed shared pipeline in local repositories.

use crate::exit::ExitStatus;
use crate::job::cli::{ImpactArgs, OutputFormat};
use crate::publication::consumer_impact::{ConsumerImpact, search_consumers};
use crate::publication::version_comparison::compare_versions;
use crate::session::output::json;
use crate::session::{CommandResult, Run};
use sluicegate_git::Repository;

pub(crate) fn run(run: &Run, args: &ImpactArgs) -> CommandResult {
    let found = compare_versions(run, &args.versions)?;
    let mut impact = ConsumerImpact::default();
    let here = run.env.current_dir();
    if args.repos.is_empty() {
        search_consumers(
            &mut impact,
            &found.workspace.repo,
            ".",
            &found.prefix,
            &found.compat,
        )?;
    }
    for folder in &args.repos {
        let repository = Repository::open(&here.join(folder))?;
        let shown = folder.display().to_string();
        search_consumers(&mut impact, &repository, &shown, &found.prefix, &found.compat)?;
    }
    for unread in &impact.unreadable_files {
        run.ui.warn(&format!("could not search {unread}"));
    }
    found.print_missing_version(run);
    let repositories = args.repos.len().max(1);
    let shown = match args.output.output {
        OutputFormat::Json => json(&impact.to_json(&found.prefix, &found.compat)),
        OutputFormat::Text => impact.to_text(repositories, &found.compat),
    };
    run.ui.print_result(&shown)?;
    Ok(ExitStatus::Success)
}
