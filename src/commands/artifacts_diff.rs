//! Runs `sluicegate artifacts diff`: shows the changes for consumers between two versions or revisions.

use crate::exit::ExitStatus;
use crate::job::cli::{ArtifactsDiffArgs, NoteFormat};
use crate::publication::version_comparison::compared;
use crate::report::release_note;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_pipelines::interface::{self, in_short, told};

pub(crate) fn run(run: &Run, args: &ArtifactsDiffArgs) -> CommandResult {
    let comparison = compared(run, &args.versions)?;
    let new_name = comparison.to.name();
    let text = match args.output {
        NoteFormat::Json => format_json(&comparison.json()),
        NoteFormat::Markdown => release_note(&comparison.prefix, &new_name, &comparison.compat),
        NoteFormat::Text if comparison.compat.is_first() => comparison.nothing() + "\n",
        NoteFormat::Text => {
            let compat = &comparison.compat;
            let class = compat.class.map_or("unknown", interface::Class::name);
            let heading = format!(
                "{} to {new_name}: {class}, {}",
                compat.old_name(),
                in_short(compat)
            );
            let mut lines = vec![text::line(&heading)];
            lines.extend(told(compat));
            lines.join("\n") + "\n"
        }
    };
    if args.output != NoteFormat::Text {
        comparison.say_nothing(run);
    }
    run.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}
