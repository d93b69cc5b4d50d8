//! Runs `sluicegate artifacts diff`: shows the changes for consumers between two versions or revisions.

use crate::exit::ExitStatus;
use crate::job::cli::{ArtifactsDiffArgs, NoteFormat};
use crate::publication::version_comparison::compared;
use crate::report::release_note;
use crate::session::output::json;
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_pipelines::interface::{self, list_changes, summarize};

pub(crate) fn run(run: &Run, args: &ArtifactsDiffArgs) -> CommandResult {
    let found = compared(run, &args.versions)?;
    let to = found.to.name();
    let shown = match args.output {
        NoteFormat::Json => json(&found.json()),
        NoteFormat::Markdown => release_note(&found.prefix, &to, &found.compat),
        NoteFormat::Text if found.compat.is_first() => found.nothing() + "\n",
        NoteFormat::Text => {
            let compat = &found.compat;
            let class = compat.class.map_or("unknown", interface::ChangeClass::name);
            let heading = format!("{} to {to}: {class}, {}", compat.old_name(), summarize(compat));
            let mut lines = vec![text::line(&heading)];
            lines.extend(list_changes(compat));
            lines.join("\n") + "\n"
        }
    };
    if args.output != NoteFormat::Text {
        found.say_nothing(run);
    }
    run.ui.print_result(&shown)?;
    Ok(ExitStatus::Success)
}
