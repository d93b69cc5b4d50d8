//! Runs `sluicegate diff`: finds the base as `check` does, compares, shows. Evaluates no rule and needs no platform.

use crate::exit::ExitStatus;
use crate::job::cli::{DiffArgs, DiffFormat};
use crate::operations::diff::{Look, Made, Wants, external, sides};
use crate::report;
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, args: &DiffArgs) -> CommandResult {
    if args.external {
        return external::run(run, args);
    }
    let wants = Wants::of(args.output);
    let compared = match args.files.as_slice() {
        [old, new] => sides::of_files(run, wants, old, new)?,
        _ => sides::of_repository(run, args, wants)?,
    };
    let is_counted = compared.pipelines.iter().any(Made::counts) || compared.interface.is_some();
    let shown = match args.output {
        DiffFormat::Text => compared.text(&Look::of(run)),
        DiffFormat::Json => compared.json(),
        DiffFormat::Mermaid | DiffFormat::Svg => compared.picture(args.output)?,
        DiffFormat::Markdown => report::changes_as_markdown(&compared.page()),
        DiffFormat::Html => report::changes_as_html(&compared.page(), env!("CARGO_PKG_VERSION")),
    };
    run.ui.print_result(&shown)?;
    if args.exit_code && is_counted {
        return Ok(ExitStatus::GateFailed);
    }
    Ok(ExitStatus::Success)
}
