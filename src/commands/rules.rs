//! Runs `sluicegate rules`: shows the rules, and creates or checks the rules file.

use crate::exit::ExitStatus;
use crate::job::cli::RulesVerb;
use crate::operations::rules::{create_rules_file, explain, lint, print_rules, team};
use crate::session::{CommandResult, Run};
use sluicegate_pipelines::{project, rules};

/// Runs `sluicegate rules`: lists and explains the rules, and writes or checks the rules file and the team rules.
pub(crate) fn run(run: &Run, verb: RulesVerb) -> CommandResult {
    match verb {
        RulesVerb::List { markdown: true, .. } => {
            run.ui.print_result(
                &(rules::render_rules_reference() + &project::render_project_checks_reference()),
            )?;
            Ok(ExitStatus::Success)
        }
        RulesVerb::List { output, .. } => print_rules(run, output),
        RulesVerb::Explain { id, output } => explain::explain_rule(run, &id, output.output),
        RulesVerb::Init { output } => create_rules_file(run, output.output),
        RulesVerb::New { id, output } => team::create_rule(run, &id, output.output),
        RulesVerb::Test { file, output } => team::test_rules(run, file.as_deref(), output.output),
        RulesVerb::Lint { file, output } => lint::lint_rules_files(run, file.as_deref(), output.output),
    }
}
