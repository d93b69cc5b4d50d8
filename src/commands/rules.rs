//! Runs `sluicegate rules`: shows the rules, and creates or checks the rules file.

use crate::exit::ExitStatus;
use crate::job::cli::RulesVerb;
use crate::operations::rules::{explain, init, lint, list};
use crate::session::{CommandResult, Run};
use sluicegate_pipelines::{project, rules};

pub(crate) fn run(run: &Run, verb: RulesVerb) -> CommandResult {
    match verb {
        RulesVerb::List { markdown: true, .. } => {
            run.ui
                .print_result(&(rules::render_reference() + &project::render_reference()))?;
            Ok(ExitStatus::Success)
        }
        RulesVerb::List { output, .. } => list(run, output),
        RulesVerb::Explain { id, output } => explain::explain(run, &id, output.output),
        RulesVerb::Init => init(run),
        RulesVerb::Lint { file, output } => lint::lint(run, file.as_deref(), output.output),
    }
}
