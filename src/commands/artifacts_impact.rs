//! Runs `sluicegate artifacts impact`: finds the components that use a changed shared pipeline in local repositories.

use crate::exit::ExitStatus;
use crate::job::cli::{ImpactArgs, OutputFormat};
use crate::publication::consumer_impact::{ConsumerImpact, search_consumers};
use crate::publication::version_comparison::compared;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Run};
use sluicegate_git::Repository;

pub(crate) fn run(run: &Run, args: &ImpactArgs) -> CommandResult {
    let comparison = compared(run, &args.versions)?;
    let mut impact = ConsumerImpact::default();
    let current_dir = run.env.current_dir();
    if args.repos.is_empty() {
        search_consumers(
            &mut impact,
            &comparison.workspace.repo,
            ".",
            &comparison.prefix,
            &comparison.compat,
        )?;
    }
    for dir in &args.repos {
        let repository = Repository::open(&current_dir.join(dir))?;
        let displayed_dir = dir.display().to_string();
        search_consumers(
            &mut impact,
            &repository,
            &displayed_dir,
            &comparison.prefix,
            &comparison.compat,
        )?;
    }
    for location in &impact.unread {
        run.ui.warn(&format!("could not search {location}"));
    }
    comparison.say_nothing(run);
    let repositories = args.repos.len().max(1);
    let text = match args.output.output {
        OutputFormat::Json => format_json(&impact.json(&comparison.prefix, &comparison.compat)),
        OutputFormat::Text => impact.text(repositories, &comparison.compat),
    };
    run.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}
