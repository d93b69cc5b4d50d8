//! Runs `sluicegate diff`: finds the base as `check` does, compares the versions, and prints the changes. Does not
//! evaluate rules or connect to the platform.

use crate::exit::ExitStatus;
use crate::job::cli::{DiffArgs, DiffFormat};
use crate::operations::diff::{
    PipelineResult, ResultKind, TextStyle, compared_sides, external_diff, plain_change,
};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate diff`: prints what changed in pipelines, in words or as a picture. With `--external`, runs as git's
/// external diff program. With `--exit-code`, exits with the status of a failed gate if more than the layout of a
/// pipeline changed, or if the interface of the shared pipelines changed.
pub(crate) fn run(session: &Session, args: &DiffArgs) -> CommandResult {
    if args.external {
        return external_diff::run(session, args);
    }
    let result_kind = ResultKind::for_format(args.output);
    let comparison = match args.files.as_slice() {
        [old, new] => {
            let contents = compared_sides::read_compared_files(session, old, new)?;
            if plain_change::is_plain_change(args, &contents) {
                return plain_change::print_plain_change(session, args, &contents);
            }
            compared_sides::compare_files(result_kind, old, new, &contents)
        }
        _ => compared_sides::compare_revisions(session, args, result_kind)?,
    };
    let has_changes = comparison
        .pipelines
        .iter()
        .any(PipelineResult::changes_more_than_layout)
        || comparison.interface.is_some();
    let text = match args.output {
        DiffFormat::Text => comparison.render_text(&TextStyle::for_terminal(session)),
        DiffFormat::Json => comparison.render_json(),
        DiffFormat::Mermaid | DiffFormat::Svg => comparison.render_picture(args.output)?,
        DiffFormat::Markdown => sluicegate_reports::changes_as_markdown(&comparison.into_page()),
        DiffFormat::Html => {
            sluicegate_reports::render_changes_page(&comparison.into_page(), env!("CARGO_PKG_VERSION"))
        }
    };
    session.ui.print_result(&text)?;
    if args.exit_code && has_changes {
        session.annotate_printed_failure(ExitStatus::GateFailed, plain_change::DIFFERENCE_REASON);
        return Ok(ExitStatus::GateFailed);
    }
    Ok(ExitStatus::Success)
}
