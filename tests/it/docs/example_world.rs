//! The world of the examples: a repository, its remote and a platform in which the names of the examples exist.

use super::example_syntax::{all_helps, file_of};
use super::read_workspace_file;
use crate::support::{PROJECT, ServerProcess, TOKEN, path_variable, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A directory that contains `work`, its remote `sales.git`, and the platform's `data`.
pub struct World(TempDir);

impl World {
    fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    pub fn serve(&self) -> ServerProcess {
        let project = format!("{PROJECT}=sales.git");
        let token = format!("{TOKEN}=super-admin");
        ServerProcess::start(
            self.path(),
            &["--data", "data", "--project", &project, "--token", &token],
        )
    }

    /// Returns a shell that runs these lines in `folder`, with the program in the search path.
    pub fn shell(&self, folder: &Path, url: &str, lines: &str) -> Command {
        let mut path = self.path().join("bin").into_os_string();
        path.push(":");
        path.push(path_variable());
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("set -euo pipefail\n{lines}")])
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path().join("home"))
            .envs([
                ("SLUICEGATE_BASE_URL", url),
                ("SLUICEGATE_PROJECT_ID", PROJECT),
                ("SLUICEGATE_AGENT_VERSION", "9.0.0"),
                ("SLUICEGATE_TOKEN", TOKEN),
                ("SLUICEGATE_RETRIES", "0"),
                ("SLUICEGATE_POLL_INTERVAL", "0.05"),
                ("DWH_PASSWORD", "a word"),
                ("GIT_AUTHOR_NAME", "A Tester"),
                ("GIT_AUTHOR_EMAIL", "tester@example.invalid"),
                ("GIT_COMMITTER_NAME", "A Tester"),
                ("GIT_COMMITTER_EMAIL", "tester@example.invalid"),
            ])
            .stdin(Stdio::null());
        command
    }

    /// Copies the world.
    pub fn copy(&self) -> Self {
        let other = scratch::create_scratch_directory();
        let mut copy = Command::new("cp");
        copy.args(["-a", "."]).arg(other.path()).current_dir(self.path());
        assert!(copy.status().unwrap().success());
        Self(other)
    }

    /// Creates the world with `tests/it/docs/example_world`.
    pub fn new() -> Self {
        let world = Self(scratch::create_scratch_directory());
        world.programs();
        for folder in [
            ".local/share/bash-completion/completions",
            ".zfunc",
            ".config/fish/completions",
        ] {
            fs::create_dir_all(world.path().join("home").join(folder)).unwrap();
        }
        world.prepare(world.path(), "", "repository");
        for (name, content) in files_of_helps() {
            fs::write(world.work().join(name), content).unwrap();
        }
        let server = world.serve();
        world.prepare(&world.work(), &server.url, "platform");
        drop(server);
        world.name_as_in_the_examples();
        world
    }

    /// Installs the program, and substitutes for the programs that process its output.
    fn programs(&self) {
        let bin = self.path().join("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sluicegate"), bin.join("sluicegate")).unwrap();
        std::os::unix::fs::symlink("/bin/true", bin.join("man")).unwrap();
        fs::write(bin.join("jq"), "#!/bin/sh\nexec cat\n").unwrap();
        fs::set_permissions(bin.join("jq"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn prepare(&self, folder: &Path, url: &str, script: &str) {
        let process_output = self
            .shell(
                folder,
                url,
                &read_workspace_file(&format!("tests/it/docs/example_world/{script}")),
            )
            .output();
        let done = process_output.unwrap();
        assert!(done.status.success(), "{script}: {}", describe_output(&done));
    }

    /// The platform generates IDs, so they are replaced in its database by those of the examples.
    fn name_as_in_the_examples(&self) {
        let database = rusqlite::Connection::open(self.path().join("data/platform.db")).unwrap();
        let named = |table: &str, row: u8, id: &str| {
            let change = format!(
                "UPDATE {table} SET id = ? WHERE rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {row})"
            );
            assert_eq!(database.execute(&change, [id]).unwrap(), 1, "{table}");
        };
        named("execution", 0, "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d");
        named("streaming_pipeline", 0, "5e8d2f47-91b0-4c6a-a3d8-2b7c0e9f1a34");
        named("task", 0, "e2d4b6a8-1357-4f9b-8c0d-5a7e9f1b3d2c");
        named("task", 1, "9f1b3d2c-5a7e-4c0d-8f9b-1357e2d4b6a8");
        named("task", 2, "4b6a8e2d-3579-4f1b-9c0d-2c5a7e9f1b3d");
    }
}

/// Returns the files shown in the help, by the names in its examples.
fn files_of_helps() -> Vec<(&'static str, String)> {
    let helps = all_helps();
    let file = |command: &str, before: &str| {
        let (_, help) = helps.iter().find(|(name, _)| name == command).unwrap();
        file_of(help, before)
    };
    vec![
        ("sales.yaml", file("sluicegate provision apply", "The file")),
        (
            "environment.yaml",
            file("sluicegate environments create", "The file"),
        ),
        (
            "tables.yaml",
            file("sluicegate pipelines run", "The file of a grid"),
        ),
        ("variables.yaml", file("sluicegate variables apply", "The file")),
        (
            "orders.yaml",
            file("sluicegate streaming create", "The definition"),
        ),
        (
            "task.md",
            "Create a step that leaves out orders without lines. Run it. Then commit.\n".to_owned(),
        ),
    ]
}

pub fn describe_output(process_output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "{}\n{}{}",
        process_output.status,
        text(&process_output.stdout),
        text(&process_output.stderr)
    )
}
