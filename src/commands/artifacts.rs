//! Runs `sluicegate artifacts`.

use crate::error::Failure;
use crate::job::cli::ArtifactsVerb;
use crate::operations::artifacts::{print_artifact, print_artifacts};
use crate::operations::versions::VersionSwitch;
use crate::session::{CommandResult, Run};

/// Runs `sluicegate artifacts`: lists, shows, enables, disables, rolls back and prunes published versions.
pub(crate) fn run(run: &Run, verb: ArtifactsVerb) -> CommandResult {
    let sources = run.read_setting_sources()?;
    let platform = run.create_platform_client(&sources.resolve_connection(&run.global)?)?;
    // The commands have no flag for it.
    let lookup_timeout = sources.resolve_lookup_timeout(None)?;
    match verb {
        ArtifactsVerb::List { prefix, output } => {
            let prefix = sources.resolve_optional_prefix(prefix)?;
            run.block_on(print_artifacts(run, platform, prefix, output))?
        }
        ArtifactsVerb::Show {
            version,
            prefix,
            version_name,
            output,
        } => {
            let prefix = sources.resolve_prefix(prefix)?;
            // The user passes the version as an argument or with the flag `--version-name`.
            run.block_on(print_artifact(
                run,
                platform,
                prefix,
                version.or(version_name),
                output,
            ))?
        }
        ArtifactsVerb::Enable(args) => {
            let prefix = sources.resolve_prefix(args.prefix.clone())?;
            run.block_on(VersionSwitch::new(run, &platform, prefix, lookup_timeout).enable(&args))?
        }
        ArtifactsVerb::Disable(args) => {
            let prefix = sources.resolve_prefix(args.version.prefix.clone())?;
            run.block_on(VersionSwitch::new(run, &platform, prefix, lookup_timeout).disable(&args))?
        }
        ArtifactsVerb::Rollback(args) => {
            let prefix = sources.resolve_prefix(args.prefix.clone())?;
            run.block_on(VersionSwitch::new(run, &platform, prefix, lookup_timeout).roll_back(&args))?
        }
        ArtifactsVerb::Prune(args) => {
            let prefix = sources.resolve_prefix(args.prefix.clone())?;
            run.block_on(VersionSwitch::new(run, &platform, prefix, lookup_timeout).prune_versions(&args))?
        }
        // `dispatch` runs these two elsewhere, because they compare the files of a repository.
        ArtifactsVerb::Diff(_) | ArtifactsVerb::Impact(_) => {
            Err(Failure::usage("this command is not a platform request"))
        }
    }
}
