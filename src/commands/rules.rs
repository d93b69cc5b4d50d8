//! Runs `sluicegate rules`: shows the rules, and creates or checks the rules file.

use crate::exit::ExitStatus;
use crate::job::cli::RulesVerb;
use crate::operations::rules::{create_rules_file, explain, lint, print_rules, team};
use crate::session::{CommandResult, Session};
use sluicegate_pipelines::{project, rules};

/// Runs `sluicegate rules`: lists and explains the rules, and writes or checks the rules file and the team rules.
pub(crate) fn run(session: &Session, verb: RulesVerb) -> CommandResult {
    match verb {
        RulesVerb::List { markdown: true, .. } => {
            session.ui.print_result(
                &(rules::render_rules_reference() + &project::render_project_checks_reference()),
            )?;
            Ok(ExitStatus::Success)
        }
        RulesVerb::List { output, .. } => print_rules(session, output),
        RulesVerb::Explain { id, output } => explain::explain_rule(session, &id, output.output),
        RulesVerb::Init { output } => create_rules_file(session, output.output),
        RulesVerb::New { id, output } => team::create_rule(session, &id, output.output),
        RulesVerb::Test { file, output } => team::test_rules(session, file.as_deref(), output.output),
        RulesVerb::Lint { file, output } => lint::lint_rules_files(session, file.as_deref(), output.output),
    }
}
