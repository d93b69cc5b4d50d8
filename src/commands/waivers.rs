//! Runs `sluicegate waivers`: edits the waivers file in the checkout by the findings of a local evaluation.

use crate::exit::ExitStatus;
use crate::gate::check_subject::check_rules::CheckRules;
use crate::job::cli::WaiversVerb;
use crate::operations::waivers::unevaluated_files::warn_of_unevaluated_files;
use crate::operations::waivers::{WaiversFile, add, list, prune};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate waivers`: adds, lists and prunes waivers. Evaluates the files on disk locally, to compare the
/// waivers with their findings.
pub(crate) fn run(session: &Session, verb: WaiversVerb) -> CommandResult {
    // Held until the file is written.
    let _lock = match verb {
        WaiversVerb::List { .. } => None,
        WaiversVerb::Add(_) | WaiversVerb::Prune { .. } => session.lock_checkout()?,
    };
    let workspace = session.open_workspace()?;
    let snapshot = workspace
        .repo
        .read_disk_snapshot(session.hook_index_path(&workspace.repo))?;
    // Pruning does not fall back to default rules: a waiver that matches none of their findings may match a finding of
    // a rules file that is still to be written.
    let rules = match &verb {
        WaiversVerb::Prune { .. } => CheckRules::Project(workspace.read_rules_at(&snapshot)?),
        WaiversVerb::Add(_) | WaiversVerb::List { .. } => {
            // The command has no flags for a base or a rules file.
            workspace.find_check_rules(session, &snapshot, &[], None)?
        }
    };
    if let Some(note) = rules.describe_other_rules() {
        session.ui.say(&note);
    }
    let file = WaiversFile::load_with_findings(&workspace, &snapshot, rules.into_rule_set())?;
    match verb {
        WaiversVerb::Add(args) => {
            // With `--all`, each current finding gets a waiver.
            if args.from.is_none() && args.rule.is_none() {
                warn_of_unevaluated_files(session, &file.run_findings);
            }
            add::add_waivers(session, &workspace, &snapshot, &file, &args)?;
        }
        WaiversVerb::List { output } => list::print_waivers(session, &workspace, &snapshot, file, output)?,
        WaiversVerb::Prune { output } => prune::prune_waivers(session, &workspace, &snapshot, file, output)?,
    }
    Ok(ExitStatus::Success)
}
