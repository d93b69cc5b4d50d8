//! Runs `sluicegate artifacts diff`: shows the changes for consumers between two versions or revisions.

use crate::exit::ExitStatus;
use crate::job::cli::{ArtifactsDiffArgs, NoteFormat};
use crate::publication::version_comparison::compare_versions;
use crate::report::render_release_note;
use crate::session::output::json;
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_pipelines::interface::{self, in_short, told};

pub(crate) fn run(run: &Run, args: &ArtifactsDiffArgs) -> CommandResult {
    let found = compare_versions(run, &args.versions)?;
    let to = found.new_side.display_name();
    let shown = match args.output {
        NoteFormat::Json => json(&found.to_json()),
        NoteFormat::Markdown => render_release_note(&found.prefix, &to, &found.compat),
        NoteFormat::Text if found.compat.is_first() => found.describe_missing_version() + "\n",
        NoteFormat::Text => {
            let compat = &found.compat;
            let class = compat.class.map_or("unknown", interface::Class::name);
            let heading = format!("{} to {to}: {class}, {}", compat.old_name(), in_short(compat));
            let mut lines = vec![text::escape_line(&heading)];
            lines.extend(told(compat));
            lines.join("\n") + "\n"
        }
    };
    if args.output != NoteFormat::Text {
        found.print_missing_version(run);
    }
    run.ui.print_result(&shown)?;
    Ok(ExitStatus::Success)
}
