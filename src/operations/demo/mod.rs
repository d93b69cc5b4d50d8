//! The demo: the complete workflow on a small project, with the same commands that a CI job runs.
//!
//! Each step runs the program with a separate environment, so that settings of the machine (a token, a CI host's
//! variables) have no effect, and the output is what a user would see.

mod demo_project;

use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{Annotations, Cli, Command, DemoArgs};
use crate::job::settings::variable;
use crate::session::step_report;
use crate::session::{CommandResult, Run};
use clap::Parser as _;
use demo_project::{ADDING_BRANCH, BAD_BRANCH, BREAKING_BRANCH, DemoProject, GOOD_BRANCH};
use secrecy::SecretString;
use sluicegate_base::text;
use sluicegate_local_platform::{Clock, Options, Role, Vocabulary};
use std::ffi::OsStr;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use uuid::Uuid;

/// Marks a directory created by a demo.
const MARKER_FILE: &str = ".sluicegate-demo";

/// The demo's project on the local platform.
const PROJECT: Uuid = Uuid::from_u128(0x5106_ca7e_0000_4000_8000_0000_0000_0001);

/// Maximum number of demos next to each other.
const MAX_DEMOS: usize = 100;

/// The address and the token for serving the demo's platform again by hand.
const LISTEN_ADDRESS: &str = "127.0.0.1:8080";
const TOKEN: &str = "demo-token";
/// The version name template, computed from the changes.
const NEXT_VERSION: &str = "{next}";
const AGENT_VERSION: &str = "1.0.0";

/// Every report format, and its file.
const REPORTS: [(&str, &str); 7] = [
    ("html", "review.html"),
    ("junit", "review.xml"),
    ("junit-strict", "review-strict.xml"),
    ("sarif", "review.sarif"),
    ("gitlab", "code-quality.json"),
    ("markdown", "comment.md"),
    ("json", "review.json"),
];

/// Runs a command, which is one of the steps.
pub(crate) type RunCommand = fn(&Run, Command) -> CommandResult;

/// Creates the project, and runs each step with `run_command`.
pub(crate) fn run_demo(run: &Run, args: &DemoArgs, run_command: RunCommand) -> CommandResult {
    let displayed_dir = choose_dir(run, &args.dir)?;
    let dir = run.env.current_dir().join(&displayed_dir);
    create_dir(&dir)?;
    let project = demo_project::create_demo_project(&dir)?;
    let token = Uuid::new_v4().to_string();
    let runtime = run.runtime()?;
    let platform = runtime.block_on(sluicegate_local_platform::start(build_platform_options(
        &project, &token,
    )))?;
    let demo = DemoRun {
        run,
        run_command,
        displayed_dir: &displayed_dir,
        dir,
        project,
        base_url: format!("http://{}", platform.address()),
        token,
    };
    let outcome = demo.run_steps();
    runtime.block_on(platform.stop());
    outcome
}

/// Returns the options of the local platform, with the demo's project and token.
fn build_platform_options(project: &DemoProject, token: &str) -> Options {
    Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        projects: vec![(PROJECT, project.remote.clone())],
        tokens: vec![(SecretString::from(token), Role::Admin)],
        vocabulary: Vocabulary::default(),
        clock: Clock::default(),
    }
}

/// Returns the directory to create: the requested one, or the next free one if it contains an earlier demo. Existing
/// work is never removed.
fn choose_dir(run: &Run, requested_dir: &Path) -> Result<PathBuf, Failure> {
    for number in 1..=MAX_DEMOS {
        let displayed_dir = numbered_dir(requested_dir, number);
        let dir = run.env.current_dir().join(&displayed_dir);
        let is_empty = fs::read_dir(&dir).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            return Ok(displayed_dir);
        }
        if !dir.join(MARKER_FILE).is_file() {
            let message = format!(
                "the directory {} is not empty and was not created by an earlier demo",
                dir.display()
            );
            return Err(Failure::usage(message).with_hint("set another directory with --dir"));
        }
        run.ui.say(&format!(
            "{} contains an earlier demo and is not changed",
            displayed_dir.display()
        ));
    }
    let message = format!(
        "{} and {MAX_DEMOS} more directories contain earlier demos",
        requested_dir.display()
    );
    Err(Failure::usage(message)
        .with_hint("remove demos that you do not need, or set another directory with --dir"))
}

/// Returns `requested_dir`, with the number appended to its name unless it is 1.
fn numbered_dir(requested_dir: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return requested_dir.to_owned();
    }
    let mut name = requested_dir.file_name().unwrap_or(OsStr::new("demo")).to_owned();
    name.push(format!("-{number}"));
    requested_dir.with_file_name(name)
}

/// Creates the directory of the demo, with a file that explains it.
fn create_dir(dir: &Path) -> Result<(), Failure> {
    let marker_text = "`sluicegate demo` created this directory; another run uses another directory.\n";
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(dir.join(MARKER_FILE), marker_text))
        .map_err(|error| {
            let context = format!("could not prepare the directory {}", dir.display());
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
        })
}

/// The steps, and their shared data.
struct DemoRun<'a> {
    run: &'a Run,
    run_command: RunCommand,
    /// The directory as the user typed it.
    displayed_dir: &'a Path,
    dir: PathBuf,
    project: DemoProject,
    base_url: String,
    token: String,
}

/// A step: its title, the command, and the expected exit status.
struct DemoStep {
    title: &'static str,
    name: &'static str,
    args: Vec<String>,
    expected_status: ExitStatus,
    meaning: &'static str,
}

impl DemoRun<'_> {
    /// Runs all steps, and prints what each one shows.
    fn run_steps(&self) -> CommandResult {
        let dir = self.displayed_dir.display();
        self.print(&format!(
            "Created a small project in {dir}: a remote repository (remote.git), a clone of it (work),\n\
             and four branches with one change each. The platform runs locally at {}.",
            self.base_url
        ))?;
        for (index, step) in self.list_steps().into_iter().enumerate() {
            self.run_step(index + 1, &step)?;
        }
        self.print(&format!(
            "\nThat was the complete workflow: a good change passed, a bad one failed, the merged pipelines were\n\
             published once, an existing version was not published again, and a version that breaks its consumers\n\
             was not published.\n\n\
             Look at:\n  \
             {dir}/reports/bad/review.html   the findings as a page; open it in a browser\n  \
             {dir}/reports/bad               reports for each host: JUnit, SARIF, Code Quality, a comment, JSON,\n  \
             {dir}/reports/good              and the files of a GitHub step (summary.md, outputs.txt)\n  \
             {dir}/reports/publish           receipt.json\n  \
             {dir}/work                      the project, to change it and run the commands yourself\n\n\
             {}\n\
             The same commands work in your own repository with SLUICEGATE_BASE_URL, SLUICEGATE_PROJECT_ID,\n\
             SLUICEGATE_AGENT_VERSION and SLUICEGATE_TOKEN set.",
            self.describe_manual_steps()
        ))?;
        Ok(ExitStatus::Success)
    }

    /// Returns commands to serve the demo's platform again after the demo ended, ready to copy.
    fn describe_manual_steps(&self) -> String {
        let dir = self.displayed_dir.display().to_string();
        let project = text::quote_shell_word(&format!("{PROJECT}={dir}/remote.git"));
        format!(
            "To continue on your own, serve the project again:\n\n\
             sluicegate serve --listen {LISTEN_ADDRESS} --token {TOKEN}=admin --project {project}\n\n\
             and in another terminal:\n\n\
             export {}=http://{LISTEN_ADDRESS}\n\
             export {}={PROJECT}\n\
             export {}={AGENT_VERSION}\n\
             export {}={TOKEN}\n\
             cd {}\n\
             sluicegate review --branch {BAD_BRANCH} --head origin/{BAD_BRANCH}\n",
            variable::BASE_URL,
            variable::PROJECT_ID,
            variable::AGENT_VERSION,
            variable::TOKEN,
            text::quote_shell_word(&format!("{dir}/work")),
        )
    }

    /// Returns the commands of the demo, each with its expected status.
    fn list_steps(&self) -> Vec<DemoStep> {
        vec![
            DemoStep {
                title: "Review a good branch",
                name: "good",
                args: self.build_review_args("good", GOOD_BRANCH),
                expected_status: ExitStatus::Success,
                meaning: "Exit 0: the change may be merged.",
            },
            DemoStep {
                title: "Review a bad branch",
                name: "bad",
                args: self.build_review_args("bad", BAD_BRANCH),
                expected_status: ExitStatus::GateFailed,
                meaning: "Exit 1: the gate fails until the errors are fixed. The warning alone would pass.",
            },
            DemoStep {
                title: "Publish the shared pipelines of the main branch",
                name: "publish",
                args: self.build_publish_args("receipt.json", NEXT_VERSION, None),
                expected_status: ExitStatus::Success,
                meaning: "Exit 0: the platform has every file, and the published version was checked.",
            },
            DemoStep {
                title: "Publish the same version again",
                name: "publish-again",
                args: self.build_publish_args("second-receipt.json", "1.0.0", None),
                expected_status: ExitStatus::AlreadyExists,
                meaning: "Exit 5: a version is never overwritten.",
            },
            DemoStep {
                title: "Publish a branch that removes a parameter of consumers",
                name: "break",
                args: self.build_publish_args(
                    "receipt-of-the-break.json",
                    NEXT_VERSION,
                    Some(BREAKING_BRANCH),
                ),
                expected_status: ExitStatus::GateFailed,
                meaning: "Exit 1: consumers would break, so nothing was sent. Allow it with --accept-breaking REASON.",
            },
            DemoStep {
                title: "Publish a branch with an addition for consumers",
                name: "addition",
                args: self.build_publish_args(
                    "receipt-of-the-addition.json",
                    NEXT_VERSION,
                    Some(ADDING_BRANCH),
                ),
                expected_status: ExitStatus::Success,
                meaning: "Exit 0: published as 1.1.0, because the addition breaks no consumer.",
            },
        ]
    }

    /// Returns the arguments that review a branch and write its reports.
    fn build_review_args(&self, name: &str, branch: &str) -> Vec<String> {
        let mut args: Vec<String> = ["review", "--branch", branch, "--head"].map(str::to_owned).into();
        args.push(format!("origin/{branch}"));
        for (format, file) in REPORTS {
            let report = format!("{format}={}", self.report_dir(name).join(file).display());
            args.extend(["--report".to_owned(), report]);
        }
        args
    }

    /// Returns the arguments that publish a version, of the main branch or of another one.
    fn build_publish_args(&self, receipt: &str, version: &str, branch: Option<&str>) -> Vec<String> {
        let receipt = self.report_dir("publish").join(receipt).display().to_string();
        let mut args: Vec<String> = ["publish", "--prefix", "sales", "--version-name", version]
            .map(str::to_owned)
            .into();
        if let Some(branch) = branch {
            let head = format!("origin/{branch}");
            args.extend(["--compat", "fail", "--branch", branch, "--head", &head].map(str::to_owned));
        }
        args.extend(["--receipt".to_owned(), receipt]);
        args
    }

    fn report_dir(&self, name: &str) -> PathBuf {
        self.dir.join("reports").join(name)
    }

    /// Prints a command, runs it and checks its status.
    fn run_step(&self, number: usize, step: &DemoStep) -> Result<(), Failure> {
        let dir = format!("{}/", self.displayed_dir.display());
        let displayed_args: Vec<String> = step
            .args
            .iter()
            .map(|arg| text::quote_shell_word(&arg.replace(&dir, "../")))
            .collect();
        self.print(&format!(
            "\n{number}. {}\n   $ sluicegate {}\n",
            step.title,
            displayed_args.join(" ")
        ))?;
        let status = self.run_program(step)?;
        if status != step.expected_status {
            let message = format!(
                "step {number} ended with exit {}, not {}",
                status.code(),
                step.expected_status.code()
            );
            return Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message)));
        }
        self.print(&format!("   {}", step.meaning))
    }

    /// Runs the program in the clone, as a user would.
    fn run_program(&self, step: &DemoStep) -> CommandResult {
        let report_dir = self.report_dir(step.name);
        fs::create_dir_all(&report_dir).map_err(|error| Failure::new(ExitStatus::Usage, error))?;
        let args = std::iter::once("sluicegate".to_owned()).chain(step.args.clone());
        let cli = Cli::try_parse_from(args).map_err(|error| Failure::usage(error.to_string()))?;
        let mut run = Run::new(
            self.build_step_environment(&report_dir),
            cli.global,
            self.run.ui,
            self.run.signals.clone(),
            step_report::failure_title(&cli.command),
            Some(Annotations::None),
        );
        run.runtime = Arc::clone(&self.run.runtime);
        match (self.run_command)(&run, cli.command) {
            Err(failure) => Ok(run.ui.print_failure(&failure)),
            result => result,
        }
    }

    /// Returns the variables of a step: the connection to the local platform, and files in place of a host's.
    fn build_step_environment(&self, report_dir: &Path) -> Env {
        let variables = [
            (variable::BASE_URL, self.base_url.clone()),
            (variable::PROJECT_ID, PROJECT.to_string()),
            (variable::AGENT_VERSION, AGENT_VERSION.to_owned()),
            (variable::TOKEN, self.token.clone()),
            (variable::CI, "none".to_owned()),
            (
                "GITHUB_STEP_SUMMARY",
                report_dir.join("summary.md").display().to_string(),
            ),
            (
                "GITHUB_OUTPUT",
                report_dir.join("outputs.txt").display().to_string(),
            ),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        Env::from_parts(variables, self.project.clone.clone())
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        self.run.ui.print_result(&format!("{text}\n"))
    }
}
