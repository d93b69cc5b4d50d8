//! Enables and disables versions, without accidentally leaving consumers without one.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{DisableArgs, OutputArgs, OutputFormat, PrefixArgs, PruneArgs, VersionArgs};
use crate::publish::{LatestVersion, is_last_enabled, list_surplus_versions, look_up_latest_without};
use crate::session::output::json;
use crate::session::published::{latest_in_words, not_published, versions_of};
use crate::session::{CommandResult, Run};
use serde_json::{Value, json as value};
use sluicegate_base::text::{self, format_count};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::ErrorKind;
use std::time::Duration;

/// Maximum delay until the details reflect a change.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Versions<'a> {
    run: &'a Run,
    platform: &'a Platform,
    prefix: String,
}

impl<'a> Versions<'a> {
    pub(crate) const fn new(run: &'a Run, platform: &'a Platform, prefix: String) -> Self {
        Self {
            run,
            platform,
            prefix,
        }
    }

    pub(crate) async fn enable(self, args: &VersionArgs) -> CommandResult {
        let version = args.version.name();
        let answer = self.switch(version, true).await?;
        let said = format!("enabled version {version} of {}", self.prefix);
        self.show(args.output, &answer, &said)
    }

    pub(crate) async fn disable(self, args: &DisableArgs) -> CommandResult {
        let version = args.version.version.name();
        if !args.force {
            self.refuse_the_last(version).await?;
        }
        let answer = self.switch(version, false).await?;
        let said = format!("disabled version {version} of {}", self.prefix);
        self.show(args.version.output, &answer, &said)
    }

    /// Disables the version that consumers of \[Latest\] get.
    pub(crate) async fn roll_back(self, args: &PrefixArgs) -> CommandResult {
        let version = self.latest().await?;
        if !args.force {
            self.refuse_the_last(&version).await?;
        }
        self.switch(&version, false).await?;
        let latest = look_up_latest_without(self.platform, &self.prefix, &version, PATIENCE).await;
        let now = match &latest {
            LatestVersion::Enabled(version) => Some(version),
            LatestVersion::NoneEnabled | LatestVersion::Unknown(_) => None,
        };
        let said = latest_in_words(&latest);
        if let LatestVersion::Unknown(_) = latest {
            let message = format!(
                "could not check the rollback of version {version} of {}: {said}",
                self.prefix
            );
            return Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
                .hint("run `sluicegate artifacts list` to see the enabled versions"));
        }
        if now.is_none() {
            self.run.ui.warn(&said);
        }
        let answer = value!({ "sharedPipelineIdPrefix": self.prefix, "disabled": version, "latest": now });
        self.show(
            args.output,
            &answer,
            &format!("disabled version {version} of {}: {said}", self.prefix),
        )
    }

    /// Disables the old versions, or lists them without `--yes`.
    pub(crate) async fn prune(self, args: &PruneArgs) -> CommandResult {
        let versions = versions_of(self.platform, &self.prefix).await?;
        let latest = self.latest().await?;
        let keep = usize::try_from(args.keep).unwrap_or(usize::MAX);
        let old = list_surplus_versions(&versions, &latest, keep).map_err(|why| {
            Failure::new(ExitStatus::Undecided, why).hint("disable the versions one by one")
        })?;
        if args.yes {
            for (done, version) in old.iter().enumerate() {
                let switched = self.switch(version, false).await;
                switched.map_err(|failure| self.stopped(failure, &old[..done], old.len()))?;
                let prefix = &self.prefix;
                self.run
                    .ui
                    .say(&format!("disabled version {version} of {prefix}"));
            }
        }
        let all = format_count(old.len(), "version");
        let said = match (old.as_slice(), args.yes) {
            ([], _) => format!(
                "no version to disable: {} has no enabled version besides the {keep} newest",
                self.prefix
            ),
            (old, true) => format!("disabled {all} of {}: {}", self.prefix, old.join(", ")),
            (old, false) => {
                format!(
                    "would disable {all} of {}: {}; pass --yes to do it",
                    self.prefix,
                    old.join(", ")
                )
            }
        };
        let answer = value!({ "sharedPipelineIdPrefix": self.prefix, "latest": latest, "disabled": old, "done": args.yes });
        self.show(args.output, &answer, &said)
    }

    /// Adds the progress to the failure of an interrupted prune.
    fn stopped(&self, failure: Failure, done: &[String], all: usize) -> Failure {
        let before = match done {
            [] => "no version was disabled".to_owned(),
            done => format!("disabled before that: {}", done.join(", ")),
        };
        let prefix = &self.prefix;
        failure.context(format!(
            "stopped after {} of {all} versions of {prefix} ({before})",
            done.len()
        ))
    }

    async fn switch(&self, version: &str, enabled: bool) -> Result<Value, Failure> {
        let told = self
            .platform
            .set_artifact_enabled(&self.prefix, version, enabled)
            .await;
        match told {
            Ok(answer)
                if answer
                    .get("enabled")
                    .is_some_and(|it| *it == Value::Bool(!enabled)) =>
            {
                let still = if enabled { "disabled" } else { "enabled" };
                let message =
                    format!("according to the platform's response, version {version} is still {still}");
                Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)))
            }
            Ok(answer) => Ok(answer),
            Err(error) => {
                let is_missing = error.kind() == ErrorKind::NotFound;
                let failure = not_published(self.platform, &self.prefix, Some(version), error).await;
                if is_missing {
                    return Err(failure);
                }
                let verb = if enabled { "enable" } else { "disable" };
                Err(failure.context(format!("could not {verb} version {version} of {}", self.prefix)))
            }
        }
    }

    async fn latest(&self) -> Result<String, Failure> {
        let details = match self.platform.artifact_details(&self.prefix, None).await {
            Ok(details) => details,
            Err(error) => return Err(not_published(self.platform, &self.prefix, None, error).await),
        };
        details.artifact.version_name.ok_or_else(|| {
            let message = format!("the platform reports no latest version of {}", self.prefix);
            Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
        })
    }

    async fn refuse_the_last(&self, version: &str) -> Result<(), Failure> {
        if !is_last_enabled(&versions_of(self.platform, &self.prefix).await?, version) {
            return Ok(());
        }
        let message = format!(
            "version {version} is the last enabled version of {}: without it, consumers fail when they run",
            self.prefix
        );
        Err(Failure::usage(message).hint("publish or enable another version first, or pass --force"))
    }

    fn show(&self, output: OutputArgs, answer: &Value, said: &str) -> CommandResult {
        let shown = match output.output {
            OutputFormat::Json => json(answer),
            OutputFormat::Text => text::escape_line(said) + "\n",
        };
        self.run.ui.print_result(&shown)?;
        Ok(ExitStatus::Success)
    }
}
