//! Runs `sluicegate report`: reads JSON reports, merges them, delivers the result.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{Repository, Snapshot};
use crate::base::input;
use crate::commands::gate::compare;
use crate::commands::gate::deliver::{Delivery, DeliveryPlace, deliver_from};
use crate::commands::kit::named_file::read_bounded;
use crate::commands::{CommandResult, Run};
use crate::gate::{self, Positions};
use crate::job::ci::{self, CiContext};
use crate::job::cli::{GlobArgs, ReportArgs};
use crate::job::settings::{self, Of};
use crate::model::findings::Report;
use crate::report::json;
use std::io;
use std::path::Path;

/// Maximum size of a JSON report, in bytes.
pub(crate) const SIZE_LIMIT: u64 = 512 * 1024 * 1024;

/// Hint for reports that cannot be merged.
const ONE_REVIEW: &str =
    "merge only reports of one review: run each shard once, on the same commit, with the same settings";

pub(crate) fn run(run: &Run, args: &ReportArgs) -> CommandResult {
    let sources = run.sources()?;
    let destinations = sources.destinations(&args.destinations)?;
    let host = settings::host(&run.global, &run.env)?;
    let reports = args.files.iter().map(|file| read(run, file));
    let reports = reports.collect::<Result<Vec<Report>, Failure>>()?;
    let older = args.compare.as_deref().map(|file| read(run, file)).transpose()?;
    if let Some(older) = &older {
        compare::comparable(older, &reports)?;
    }
    let mut report =
        json::merge(reports).map_err(|why| Failure::new(ExitStatus::Usage, why).hint(ONE_REVIEW))?;
    if let Some(older) = older {
        compare::tell(&mut report, older);
    }
    let repo = run.repository();
    if let Some(repo) = &repo {
        run.refuse_linked_reports(repo, &destinations)?;
        name_again(repo, &mut report);
    }
    let ci = context(run, host);
    let snapshot = repo.as_ref().and_then(|repo| commit(repo, &report));
    let place = DeliveryPlace {
        files: repo.as_ref().zip(snapshot.as_ref()),
        ci: ci.as_ref(),
    };
    let status = gate::status(report.verdict);
    // The jobs of a pipeline usually share their variables.
    let selection = sources.selection(&GlobArgs::default(), Of::Review).ok();
    let delivery = Delivery {
        report: &report,
        to: &destinations,
        passes: status == ExitStatus::Success,
        selection: selection.as_ref(),
        by_tip: false,
        unchanged: None,
        is_policy_elsewhere: false,
        told: &[],
        wrong_rules: Vec::new(),
        folder_to_name: None,
        compared: None,
    };
    let delivered = deliver_from(run, &place, &delivery, None);
    Ok(status.worse(delivered))
}

/// Adds the components of findings, which older documents lack, from the files of the report's commit.
fn name_again(repo: &Repository, report: &mut Report) {
    let id = report.context.head.as_deref();
    let Some(commit) = id.and_then(|id| repo.commit_with_id(id)) else {
        return;
    };
    let mut positions = Positions::new(repo, &commit);
    let named = report.files.iter().filter(|file| !file.findings().is_empty());
    positions.find(&named.map(|file| file.path.as_str()).collect());
    for file in &mut report.files {
        positions.read(std::iter::once(file.path.as_str()));
        for result in &mut file.results {
            for violation in &mut result.violations {
                let text = violation.text.clone();
                let found = positions.violation(&file.path, &result.rule, &result.status, text);
                if violation.about.is_none() {
                    (violation.about, violation.about_kind) = (found.about, found.about_kind);
                }
            }
        }
    }
}

/// Returns the files of the report's commit, if the clone has it. A report could contain any revision; only a full id
/// is accepted.
fn commit<'r>(repo: &'r Repository, report: &Report) -> Option<Snapshot<'r>> {
    let id = report.context.head.as_deref().filter(|id| repo.has_commit(id))?;
    Some(repo.snapshot(repo.resolve(id).ok()?))
}

/// Returns the host's context; a report can be rendered without one.
fn context(run: &Run, host: Option<ci::Host>) -> Option<CiContext> {
    match ci::detect(&run.env, host) {
        Ok(context) => Some(context),
        Err(error) => {
            run.ui.warn(&format!("{error}; continuing without the CI host"));
            None
        }
    }
}

pub(crate) fn read(run: &Run, file: &Path) -> Result<Report, Failure> {
    let text = if file == Path::new("-") {
        input::bytes(io::stdin().lock(), SIZE_LIMIT)
            .map_err(|why| Failure::usage(format!("could not read standard input: {why}")))?
    } else {
        read_bounded(&run.env.current_dir().join(file), SIZE_LIMIT)?
    };
    understood(&text, &file.display().to_string())
}

/// Parses the report in this text, which came from `place`.
pub(crate) fn understood(text: &[u8], place: &str) -> Result<Report, Failure> {
    json::read(text).map_err(|why| {
        let what = format!("could not read the report {place}");
        Failure::new(ExitStatus::Usage, anyhow::Error::new(why).context(what))
    })
}
