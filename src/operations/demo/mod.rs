//! The demo: the complete workflow on a small project, with the same commands that a CI job runs.
//!
//! Each step runs the program with a separate environment, so that settings of the machine (a token, a CI host's
//! variables) have no effect, and the output is what a user would see.

mod demo_project;

use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{Annotations, Cli, Command, DemoArgs, PROGRAM};
use crate::job::settings::variable;
use crate::session::step_report;
use crate::session::{CommandResult, Session};
use clap::Parser as _;
use demo_project::{BREAKING_BRANCH, DemoProject, UNCONNECTED_BRANCH};
use secrecy::SecretString;
use sluicegate_base::text;
use sluicegate_local_platform::{AgentBehavior, Clock, Options, Role, Vocabulary};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Marks a directory created by a demo.
const MARKER_FILE: &str = ".sluicegate-demo";

/// The hint if a demo cannot be created in a directory.
const DIR_HINT: &str = "set another directory with --dir";

/// The demo's project on the local platform.
const PROJECT: Uuid = Uuid::from_u128(0x5106_ca7e_0000_4000_8000_0000_0000_0001);

/// Maximum number of demos next to each other.
const MAX_DEMOS: usize = 100;

/// The address and the token with which the user can serve the demo's platform again.
const LISTEN_ADDRESS: &str = "127.0.0.1:8080";
const TOKEN: &str = "demo-token";

/// The page of the review, below the clone: the project's settings file names it.
const REVIEW_PAGE: &str = "reports/review.html";

/// The interval at which the clock of the demo's platform is advanced.
const TICK_INTERVAL: Duration = Duration::from_millis(10);
/// The speed of the clock of the demo's platform, relative to real time.
const CLOCK_SPEED: u32 = 20;

/// Seconds between two polls of a step that waits for the platform.
const POLL_INTERVAL: &str = "0.05";

/// Runs a command, which is one of the steps.
pub(crate) type RunCommand = fn(&Session, Command) -> CommandResult;

/// Creates the demo's project, starts a local platform for it, and runs each step of the demo. `run_command` runs the
/// command of a step.
pub(crate) fn run_demo(session: &Session, args: &DemoArgs, run_command: RunCommand) -> CommandResult {
    let displayed_dir = choose_dir(session, &args.dir)?;
    let dir = session.env.current_dir().join(&displayed_dir);
    session.reject_repository_link(&dir)?;
    let was_dir = dir.is_dir();
    create_marked_dir(&dir)?;
    let project = demo_project::create_demo_project(&dir).map_err(|failure| {
        remove_unfinished_demo(&dir, was_dir);
        failure.with_status(ExitStatus::Usage)
    })?;
    let token = Uuid::new_v4().to_string();
    let runtime = session.runtime()?;
    let clock = Clock::stepped_from(session.started_at);
    let platform = runtime.block_on(sluicegate_local_platform::start(build_platform_options(
        &project, &token, &clock,
    )))?;
    let ticks = runtime.spawn(advance_clock(clock));
    let demo = DemoRun {
        session,
        run_command,
        displayed_dir: &displayed_dir,
        project,
        base_url: format!("http://{}", platform.address()),
        token,
    };
    let outcome = demo.run_steps();
    ticks.abort();
    runtime.block_on(platform.stop());
    outcome
}

/// Returns the options of the local platform: a free port, the demo's project, and an administrator's token. Nothing is
/// stored.
fn build_platform_options(project: &DemoProject, token: &str, clock: &Clock) -> Options {
    Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        projects: vec![(PROJECT, project.remote.clone())],
        tokens: vec![(SecretString::from(token), Role::Admin)],
        vocabulary: Vocabulary::default(),
        clock: clock.clone(),
        agent_behavior: AgentBehavior::default(),
    }
}

/// Advances the platform's clock faster than real time, because the simulated agent takes seconds for its work. Never
/// returns.
async fn advance_clock(clock: Clock) {
    let mut ticks = tokio::time::interval(TICK_INTERVAL);
    loop {
        ticks.tick().await;
        clock.advance(TICK_INTERVAL * CLOCK_SPEED);
    }
}

/// Returns the directory to create: the requested one, or one with a number if earlier demos exist. Fails if the
/// directory contains other files, because the demo never changes existing work.
fn choose_dir(session: &Session, requested_dir: &Path) -> Result<PathBuf, Failure> {
    for number in 1..=MAX_DEMOS {
        let displayed_dir = numbered_dir(requested_dir, number);
        let dir = session.env.current_dir().join(&displayed_dir);
        // A directory that does not exist is free, too.
        let is_free = fs::read_dir(&dir).map_or(true, |mut entries| entries.next().is_none());
        if is_free {
            return Ok(displayed_dir);
        }
        if !dir.join(MARKER_FILE).is_file() {
            let message = format!(
                "the directory {} is not empty and was not created by an earlier demo",
                dir.display()
            );
            return Err(Failure::usage(message).with_hint(DIR_HINT));
        }
        session.ui.say(&format!(
            "{} contains an earlier demo and is not changed",
            displayed_dir.display()
        ));
    }
    let message = format!(
        "{} and {} more directories contain earlier demos",
        requested_dir.display(),
        MAX_DEMOS - 1
    );
    Err(Failure::usage(message)
        .with_hint("remove demos that you do not need, or set another directory with --dir"))
}

/// Returns the directory to try: for number 1 the requested one, otherwise one with the number appended to its name.
fn numbered_dir(requested_dir: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return requested_dir.to_owned();
    }
    let mut name = requested_dir.file_name().unwrap_or(OsStr::new("demo")).to_owned();
    name.push(format!("-{number}"));
    requested_dir.with_file_name(name)
}

/// Creates the directory, and in it the marker file by which a later run recognizes a demo. Fails if another run has
/// created the marker meanwhile.
fn create_marked_dir(dir: &Path) -> Result<(), Failure> {
    write_marker(dir).map_err(|error| {
        let context = format!("could not prepare the directory {}", dir.display());
        Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context)).with_hint(DIR_HINT)
    })
}

/// Creates the directory, unless it exists, and the marker file in it. If the marker cannot be written, removes again
/// what was created.
fn write_marker(dir: &Path) -> io::Result<()> {
    let was_dir = dir.is_dir();
    fs::create_dir_all(dir)?;
    let mut marker_file = File::create_new(dir.join(MARKER_FILE))?;
    marker_file
        .write_all(b"`sluicegate demo` created this directory. Each run uses a new directory.\n")
        .inspect_err(|_| remove_unfinished_demo(dir, was_dir))
}

/// Removes what this run created of a demo, so that the next run can use the directory. A directory that existed before
/// (`was_dir`), which was empty then, stays. If something cannot be removed, the next run uses another name.
fn remove_unfinished_demo(dir: &Path, was_dir: bool) {
    if !was_dir {
        let _ = fs::remove_dir_all(dir);
        return;
    }
    for name in demo_project::DIR_NAMES {
        let _ = fs::remove_dir_all(dir.join(name));
    }
    let _ = fs::remove_file(dir.join(MARKER_FILE));
}

/// Returns what a user has to type to start this program: its name if the shell finds it in `PATH`, otherwise its path.
fn choose_program_command(env: &Env) -> String {
    let Ok(program) = std::env::current_exe() else {
        return PROGRAM.to_owned();
    };
    let first_match = std::env::split_paths(env.get("PATH").unwrap_or_default())
        .map(|dir| dir.join(PROGRAM))
        .find(|path| path.is_file());
    let is_found = first_match.is_some_and(|path| path.canonicalize().ok() == program.canonicalize().ok());
    if is_found {
        return PROGRAM.to_owned();
    }
    format_program_path(&program, env.current_dir())
}

/// Returns the path to type in `current_dir` to start the program. A shell would search `PATH` for a name without a
/// directory.
fn format_program_path(program: &Path, current_dir: &Path) -> String {
    match program.strip_prefix(current_dir) {
        Ok(name) if name.components().count() == 1 => Path::new(".").join(name).display().to_string(),
        Ok(relative_path) => relative_path.display().to_string(),
        Err(_) => program.display().to_string(),
    }
}

/// The steps, and their shared data.
struct DemoRun<'a> {
    session: &'a Session,
    run_command: RunCommand,
    /// The directory as the user typed it.
    displayed_dir: &'a Path,
    project: DemoProject,
    base_url: String,
    token: String,
}

/// A step of the demo, with its command and the expected exit status.
struct DemoStep {
    title: &'static str,
    command: String,
    expected_status: ExitStatus,
    meaning: &'static str,
    /// Before the step, the demo corrects the change in the working tree.
    needs_fixed_pipeline: bool,
}

/// Returns the steps of the demo in their order.
fn list_demo_steps() -> Vec<DemoStep> {
    let branch_flags = |branch: &str| format!("--branch {branch} --head origin/{branch}");
    vec![
        DemoStep {
            title: "What does the branch change?",
            command: format!("diff main..origin/{UNCONNECTED_BRANCH}"),
            expected_status: ExitStatus::Success,
            meaning: "The change is described in words. `-o html` draws the change.",
            needs_fixed_pipeline: false,
        },
        DemoStep {
            title: "Review the branch",
            command: format!("review {}", branch_flags(UNCONNECTED_BRANCH)),
            expected_status: ExitStatus::GateFailed,
            meaning: "Exit 1: the gate stays closed until the component is connected.",
            needs_fixed_pipeline: false,
        },
        DemoStep {
            title: "Let the agent fix the finding on a new branch",
            command: format!("fix --agent --quiet --head origin/{UNCONNECTED_BRANCH}"),
            expected_status: ExitStatus::Success,
            meaning: "Exit 0: the new branch was reviewed again. The reviewed branch is unchanged.",
            needs_fixed_pipeline: false,
        },
        DemoStep {
            title: "Publish the shared pipelines of the main branch",
            command: "publish".to_owned(),
            expected_status: ExitStatus::Success,
            meaning: "Exit 0: the platform has every file, and the published version was checked.",
            needs_fixed_pipeline: false,
        },
        DemoStep {
            title: "Publish a branch that removes a parameter which consumers use",
            command: format!("publish {}", branch_flags(BREAKING_BRANCH)),
            expected_status: ExitStatus::GateFailed,
            meaning: "Exit 1: nothing was sent to the platform.",
            needs_fixed_pipeline: false,
        },
        DemoStep {
            title: "Fix it locally",
            // Another path than that of the review's report, which is kept.
            command: "check --report html=reports/fixed.html".to_owned(),
            expected_status: ExitStatus::Success,
            meaning: "Exit 0: the component is connected in the working tree. `check` needs no platform.",
            needs_fixed_pipeline: true,
        },
    ]
}

impl DemoRun<'_> {
    /// Runs all steps and prints them, with an introduction and the commands to continue manually. Before the last
    /// step, writes the fixed pipeline to the working tree.
    fn run_steps(&self) -> CommandResult {
        let dir = self.displayed_dir.display();
        self.print(&format!(
            "Created a small project in {dir}, with a remote repository, a clone and two branches. The \
             project's platform is {}.",
            self.base_url
        ))?;
        for (index, step) in list_demo_steps().into_iter().enumerate() {
            if step.needs_fixed_pipeline {
                self.project
                    .write_fixed_pipeline()
                    .map_err(|error| Failure::new(ExitStatus::Usage, error))?;
            }
            self.run_step(index + 1, &step)?;
        }
        self.print(&format!(
            "\nOpen {dir}/work/{REVIEW_PAGE} to see the failed review as a page, with a diagram of the change.\n{}",
            self.describe_manual_steps()
        ))?;
        Ok(ExitStatus::Success)
    }

    /// Returns shell commands to try the demo's project: they start the local platform again and request a review.
    fn describe_manual_steps(&self) -> String {
        let dir = self.displayed_dir.display().to_string();
        let project = text::quote_shell_word(&format!("{PROJECT}={dir}/remote.git"));
        let program = text::quote_shell_word(&choose_program_command(&self.session.env));
        format!(
            "To try the review yourself, serve the platform again, and review from another terminal:\n\
             {program} serve --listen {LISTEN_ADDRESS} --token {TOKEN}=admin --project {project}\n\
             export {}=http://{LISTEN_ADDRESS} {}={TOKEN}\n\
             {program} --repo {} review --branch {UNCONNECTED_BRANCH} --head origin/{UNCONNECTED_BRANCH}",
            variable::BASE_URL,
            variable::TOKEN,
            text::quote_shell_word(&format!("{dir}/work")),
        )
    }

    /// Prints the step's title and command, runs the command, and prints what the result means. Fails if the exit
    /// status is not the expected one.
    fn run_step(&self, number: usize, step: &DemoStep) -> Result<(), Failure> {
        self.print(&format!(
            "\n{number}. {}\n   $ sluicegate {}",
            step.title, step.command
        ))?;
        let status = self.run_step_command(step)?;
        if status != step.expected_status {
            let message = format!(
                "step {number} ended with exit {}, not {}",
                status.code(),
                step.expected_status.code()
            );
            return Err(Failure::from_message(ExitStatus::Undecided, message));
        }
        self.print(&format!("   {}", step.meaning))
    }

    /// Runs the command of the step in the clone, as if a user had typed it. A failure of the command is printed, and
    /// its exit status returned.
    fn run_step_command(&self, step: &DemoStep) -> CommandResult {
        let args = std::iter::once(PROGRAM).chain(step.command.split(' '));
        let cli = Cli::try_parse_from(args).map_err(|error| Failure::usage(error.to_string()))?;
        let ui = self.session.ui.with_quiet(cli.global.quiet);
        let mut session = Session::new(
            self.build_step_environment(),
            cli.global,
            ui,
            self.session.signals.clone(),
            step_report::failure_title(&cli.command),
        );
        session.annotations = Some(Annotations::None);
        session.runtime = Arc::clone(&self.session.runtime);
        match (self.run_command)(&session, cli.command) {
            Err(failure) => Ok(session.ui.print_failure(&failure)),
            result => result,
        }
    }

    /// Returns the variables for the commands of all steps. They contain the address of the demo's platform, and
    /// turn off the detection of a CI host. Variables of this process are not inherited.
    fn build_step_environment(&self) -> Env {
        let variables = [
            (variable::BASE_URL, self.base_url.clone()),
            (variable::TOKEN, self.token.clone()),
            (variable::CI, "none".to_owned()),
            (variable::POLL_INTERVAL, POLL_INTERVAL.to_owned()),
            (variable::ENVIRONMENT, "production".to_owned()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        Env::from_parts(variables, self.project.clone.clone())
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        self.session.ui.print_result(&format!("{text}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_that_existed_stays_if_demo_cannot_be_created() {
        for was_dir in [true, false] {
            let parent = tempfile::tempdir().unwrap();
            let dir = parent.path().join("demo");
            fs::create_dir_all(dir.join("remote.git/refs")).unwrap();
            fs::write(dir.join(MARKER_FILE), "").unwrap();
            remove_unfinished_demo(&dir, was_dir);
            assert_eq!(dir.is_dir(), was_dir);
            if was_dir {
                assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
            }
        }
    }

    #[test]
    fn program_of_current_directory_has_a_path() {
        let program = Path::new("/opt/tools/sluicegate");
        for (current_dir, expected_path) in [
            ("/opt/tools", "./sluicegate"),
            ("/opt", "tools/sluicegate"),
            ("/home", "/opt/tools/sluicegate"),
        ] {
            assert_eq!(
                format_program_path(program, Path::new(current_dir)),
                expected_path
            );
        }
    }
}
