//! `sluicegate publish`: settle the commit, plan, send once, verify, leave a receipt.

use super::client::requests;
use super::deliver::{append_outputs, write_whole};
use super::failure::status_of;
use super::judgement::count;
use super::workspace::Workspace;
use super::{Outcome, Run};
use crate::cli::{IfExists, OnIgnored, PublishArgs, PublishFrom};
use crate::context::Subject;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{self, OutcomeKind, Plan, Progress, Receipt, Source, Wish, receipt};
use crate::settings::{Publish, Revisions};
use crate::text;
use crate::ui::Bar;
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) fn run(run: &Run, args: &PublishArgs) -> Outcome {
    let mut workspace = run.workspace()?;
    let settings = workspace.sources.publish(args)?;
    let connection = workspace.sources.connection(&run.global)?;
    let plan = plan(run, &mut workspace, &settings)?;
    for warning in &plan.warnings {
        run.ui.warn(warning);
    }
    if settings.dry_run {
        return dry_run(run, &plan, &settings);
    }
    let platform = run.platform(&connection)?;
    let what = count(plan.files.len(), "file");
    run.ui.say(&format!(
        "publishing {what} as version {} of {}",
        plan.version_name, plan.prefix
    ));
    let bar = run.ui.progress("publishing").bytes();
    let ended = requests(publish::publish(
        &platform,
        &plan,
        options(run, &settings),
        Some(show(&bar, &plan)),
    ))?;
    bar.clear();
    let status = tell(run, &plan, &ended)?;
    let hashes = ended.hashes.clone().unwrap_or_default();
    Ok(status.worse(record(run, &settings, &Receipt::of(&plan, &hashes, &ended))))
}

fn plan(run: &Run, workspace: &mut Workspace<'_>, settings: &Publish) -> Result<Plan, Failure> {
    let revisions = Revisions {
        all: true,
        base: None,
        head: settings.head.clone(),
        branch: settings.branch.clone(),
        deepen: settings.deepen,
    };
    workspace.deepen(run, &revisions, Subject::Commit)?;
    let target = workspace.target(run, revisions)?;
    let wish = Wish {
        prefix: settings.prefix.clone(),
        version_template: settings.version_name.clone(),
        include: &|path| settings.selection.includes(path),
        exclude: &|path| settings.selection.excludes(path),
        config_dir: workspace.global.config_dir.clone(),
        source: match settings.from {
            PublishFrom::Commit => Source::Commit,
            PublishFrom::Worktree => Source::Worktree,
        },
        branch: target.branch.clone(),
        tag: target.tag.clone(),
        run_number: target.run_number.clone(),
    };
    Ok(publish::plan(&workspace.repo, &target.head, &wish)?)
}

fn options(run: &Run, settings: &Publish) -> publish::Options {
    publish::Options {
        on_ignored: match settings.on_ignored {
            OnIgnored::Fail => publish::OnIgnored::Fail,
            OnIgnored::Disable => publish::OnIgnored::Disable,
            OnIgnored::Warn => publish::OnIgnored::Warn,
        },
        if_exists: match settings.if_exists {
            IfExists::Fail => publish::IfExists::Fail,
            IfExists::SameContent => publish::IfExists::SameContent,
        },
        verify: settings.verify,
        hash: wants_digest(run, settings),
    }
}

/// Content hashes cost time, so they are made only for who reads them.
fn wants_digest(run: &Run, settings: &Publish) -> bool {
    settings.receipt.is_some() || run.env.get(super::deliver::STEP_OUTPUT).is_some()
}

fn show(bar: &Bar, plan: &Plan) -> Progress {
    let (bar, total) = (bar.clone(), plan.total_bytes());
    Arc::new(move |sent| bar.set(sent, total))
}

/// Says how it ended, the most important first, and gives the exit status.
fn tell(run: &Run, plan: &Plan, ended: &publish::Outcome) -> Outcome {
    let status = match ended.kind {
        OutcomeKind::Published | OutcomeKind::AlreadyPublished => ExitStatus::Success,
        OutcomeKind::Conflict => ExitStatus::AlreadyExists,
        OutcomeKind::Incomplete => ExitStatus::Incomplete,
        OutcomeKind::Unknown => ExitStatus::Undecided,
        OutcomeKind::Failed => ended
            .error
            .as_ref()
            .map_or(ExitStatus::Undecided, |error| status_of(error.kind())),
    };
    let name = format!("version {} of {}", plan.version_name, plan.prefix);
    if status == ExitStatus::Success {
        for problem in &ended.problems {
            run.ui.warn(problem);
        }
        let checked = if ended.verified {
            ", and checked"
        } else {
            ", not checked"
        };
        let word = if ended.kind == OutcomeKind::AlreadyPublished {
            "already published"
        } else {
            "published"
        };
        run.ui.out(&text::line(&format!(
            "{word} {name}: {}{checked}",
            count(plan.files.len(), "file")
        )))?;
        run.ui.out("\n")?;
        return Ok(status);
    }
    let mut failure = Failure::new(status, anyhow::Error::msg(problems(&name, ended)));
    if let Some(hint) = hint(ended) {
        failure = failure.hint(hint);
    }
    Ok(run.ui.fail(&failure))
}

fn problems(name: &str, ended: &publish::Outcome) -> String {
    let mut said = match ended.kind {
        OutcomeKind::Conflict => format!("{name} exists already, nothing was published"),
        OutcomeKind::Incomplete => {
            format!("{name} is published, but it is incomplete or could not be verified")
        }
        OutcomeKind::Unknown => format!("it is not known whether {name} was published"),
        _ => format!("{name} was not published"),
    };
    if ended.disabled {
        said.push_str("; it was disabled, so that no consumer meets it");
    }
    for problem in &ended.problems {
        let _ = write!(said, "\n  {problem}");
    }
    if let Some(error) = &ended.error {
        let _ = write!(said, "\n  {error}");
    }
    said
}

fn hint(ended: &publish::Outcome) -> Option<String> {
    match ended.kind {
        OutcomeKind::Conflict => {
            Some("publish under another version name; --if-exists same-content lets a rerun of the same commit pass".into())
        }
        OutcomeKind::Incomplete if !ended.disabled => {
            Some("`sluicegate artifacts disable` takes the version away from consumers; then publish under another name".into())
        }
        OutcomeKind::Unknown => Some("`sluicegate artifacts show` tells whether it is there".into()),
        _ => ended.error.as_ref().and_then(crate::http::HttpError::hint),
    }
}

/// Writes the receipt and the step outputs; what cannot be written is named.
fn record(run: &Run, settings: &Publish, receipt: &Receipt<'_>) -> ExitStatus {
    let mut status = ExitStatus::Success;
    let mut check = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            status = status.worse(run.ui.fail(&failure));
        }
    };
    if let Some(path) = &settings.receipt {
        let written = write_whole(path, receipt::render(receipt).as_bytes());
        check(written.map_err(|error| {
            let what = format!("the receipt {} was not written", path.display());
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(what))
        }));
    }
    check(append_outputs(
        run,
        &[
            ("version-name", receipt.plan.version_name.clone()),
            ("digest", receipt.digest.clone()),
        ],
    ));
    status
}

fn dry_run(run: &Run, plan: &Plan, settings: &Publish) -> Outcome {
    let hashes = plan.hash_all()?;
    let receipt = Receipt::planned(plan, &hashes);
    let mut shown = format!("would publish {}\n", count(plan.files.len(), "file"));
    let none = || "(none)".to_owned();
    let facts = [
        ("prefix", plan.prefix.clone()),
        ("version", plan.version_name.clone()),
        ("commit", plan.commit_hash.clone()),
        ("branch", plan.branch.clone().unwrap_or_else(none)),
        ("digest", receipt.digest.clone()),
        ("bytes", plan.total_bytes().to_string()),
    ];
    for (name, value) in facts {
        let _ = writeln!(shown, "  {name:<8} {}", text::line(&value));
    }
    for (file, hash) in plan.files.iter().zip(&hashes) {
        let _ = writeln!(shown, "  {hash} {:>10}  {}", file.bytes, text::line(&file.path));
    }
    run.ui.out(&shown)?;
    Ok(record(run, settings, &receipt))
}
