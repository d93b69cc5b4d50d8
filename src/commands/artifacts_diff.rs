//! Runs `sluicegate artifacts diff`: shows the changes for consumers between two versions or revisions.

use crate::exit::ExitStatus;
use crate::job::cli::{ArtifactsDiffArgs, NoteFormat};
use crate::publication::version_comparison::compare_versions;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_pipelines::interface::{list_changes, summarize_changes};
use sluicegate_reports::render_release_note;

/// Runs `sluicegate artifacts diff`: prints what changed for consumers between two versions. If there is no older
/// version to compare with, text output states this; with JSON or Markdown, a message on standard error states it.
pub(crate) fn run(session: &Session, args: &ArtifactsDiffArgs) -> CommandResult {
    let comparison = compare_versions(session, &args.versions)?;
    let new_name = comparison.new_offer.display_name();
    let text = match args.output {
        NoteFormat::Json => format_json(&comparison.to_json()),
        NoteFormat::Markdown => render_release_note(&comparison.prefix, &new_name, &comparison.compat),
        NoteFormat::Text if comparison.compat.is_first() => comparison.describe_missing_version() + "\n",
        NoteFormat::Text => {
            let compat = &comparison.compat;
            let heading = format!(
                "{} to {new_name}: {}",
                compat.old_name(),
                summarize_changes(compat)
            );
            let mut lines = vec![text::escape_line(&heading)];
            lines.extend(list_changes(compat));
            lines.join("\n") + "\n"
        }
    };
    if args.output != NoteFormat::Text {
        comparison.print_missing_version(session);
    }
    session.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}
