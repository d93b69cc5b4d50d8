//! The action's scripts in a job with a hostile checkout: the files of the change decide neither how the program is
//! built nor which program runs.

use crate::support::{Platform, TOKEN, path_variable, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A fake cargo that behaves like rustup's: the nearest toolchain file selects the toolchain. It creates a program that
/// prints the version, and logs its directory and environment.
const CARGO: &str = r#"#!/bin/sh
folder=$PWD
while [ -n "$folder" ]; do
  if [ -f "$folder/rust-toolchain.toml" ]; then
    exec "$(sed -n 's/^path = "\(.*\)"$/\1/p' "$folder/rust-toolchain.toml")/bin/cargo" "$@"
  fi
  folder=${folder%/*}
done
{ pwd -P; env; } > "@NOTED@"
for root; do :; done
mkdir -p "$root/bin"
printf '#!/bin/sh\necho sluicegate @VERSION@\n' > "$root/bin/sluicegate"
chmod 755 "$root/bin/sluicegate"
"#;

/// Stands in for curl on a machine without it: requests the last argument with bash alone, writes the body to the file
/// of `--output`, and prints the status.
const CURL: &str = r#"#!/bin/bash
while [ $# -gt 1 ]; do
  if [ "$1" = --output ]; then output=$2; fi
  shift
done
rest=${1#http://}
host=${rest%%/*}
exec 3<> "/dev/tcp/${host%:*}/${host##*:}"
printf 'GET /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "${rest#*/}" "$host" >&3
read -r _ status _ <&3
while read -r line <&3 && [ "$line" != $'\r' ]; do :; done
cat <&3 > "$output"
printf '%s' "$status"
"#;

/// A runner: its directories, a cargo, and a checkout that contains programs, a toolchain file and a cargo
/// configuration.
struct Runner {
    folder: TempDir,
}

impl Runner {
    fn new() -> Self {
        let runner = Self {
            folder: scratch::create_scratch_directory(),
        };
        for name in ["temp", "cache", "home"] {
            fs::create_dir(runner.path_in_checkout(name)).unwrap();
        }
        let message = runner.path_in_checkout("noted").display().to_string();
        let cargo = CARGO.replace("@NOTED@", &message).replace("@VERSION@", VERSION);
        runner.script("tools/cargo", &cargo);
        runner.script("instead/curl", CURL);
        let mark = runner.path_in_checkout("steered").display().to_string();
        let evil = format!("#!/bin/sh\necho \"$0\" >> '{mark}'\nexit 1\n");
        for name in [
            "cargo",
            "rustc",
            "curl",
            "sed",
            "tar",
            "git",
            "mktemp",
            "sha256sum",
        ] {
            runner.script(&format!("checkout/node_modules/.bin/{name}"), &evil);
        }
        runner.script("checkout/toolchain/bin/cargo", &evil);
        let toolchain = runner
            .path_in_checkout("checkout/toolchain")
            .display()
            .to_string();
        runner.write(
            "checkout/rust-toolchain.toml",
            &format!("[toolchain]\npath = \"{toolchain}\"\n"),
        );
        runner.write(
            "checkout/.cargo/config.toml",
            "[build]\nrustc = \"toolchain/bin/cargo\"\n",
        );
        runner
    }

    fn path_in_checkout(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path_in_checkout(path).parent().unwrap()).unwrap();
        fs::write(self.path_in_checkout(path), text).unwrap();
    }

    fn script(&self, path: &str, text: &str) {
        self.write(path, text);
        fs::set_permissions(self.path_in_checkout(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Unpacks the action into this directory, as the runner does.
    fn action(&self, folder: &str) -> PathBuf {
        for file in ["action/install", "action/path", "action/run", "Cargo.toml"] {
            let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
            self.write(&format!("{folder}/{file}"), &text);
        }
        self.path_in_checkout(folder)
    }

    /// Returns a call of the action's script in the checkout, with the checkout's programs first in the search path and
    /// secrets in the environment.
    fn call(&self, script: &Path) -> Command {
        let evil = self.path_in_checkout("checkout/node_modules/.bin");
        let path = format!(
            "{}:node_modules/.bin::{}:{}:{}",
            evil.display(),
            self.path_in_checkout("tools").display(),
            path_variable().to_string_lossy(),
            self.path_in_checkout("instead").display()
        );
        let mut command = Command::new("/bin/bash");
        command
            .arg(script)
            .current_dir(self.path_in_checkout("checkout"))
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path_in_checkout("home"))
            .env("CARGO_HOME", self.path_in_checkout("checkout/.cargo"))
            .env("GITHUB_WORKSPACE", self.path_in_checkout("checkout"))
            .env("GITHUB_OUTPUT", self.path_in_checkout("output"))
            .env("RUNNER_TEMP", self.path_in_checkout("temp"))
            .env("RUNNER_TOOL_CACHE", self.path_in_checkout("cache"));
        for secret in [
            "SLUICEGATE_TOKEN",
            "GITHUB_TOKEN",
            "SLUICEGATE_CLIENT_SECRET",
            "CLOUD_KEY",
            "work",
        ] {
            command.env(secret, TOKEN);
        }
        command
    }

    /// Runs `action/install`; returns whether it succeeded, its output, and the path of the program.
    fn install(&self, action: &Path, reference: &str, releases: &str) -> (bool, String, String) {
        fs::write(self.path_in_checkout("output"), "").unwrap();
        let result = self
            .call(&action.join("action/install"))
            .env("ACTION_REF", reference)
            .env("RELEASES", releases)
            .output()
            .unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&result.stdout),
            String::from_utf8_lossy(&result.stderr)
        );
        let output = fs::read_to_string(self.path_in_checkout("output")).unwrap();
        let program = output.trim().strip_prefix("program=").unwrap_or_default();
        (result.status.success(), text, program.to_owned())
    }

    /// Checks that no program of the change ran.
    #[track_caller]
    fn assert_unsteered(&self, expected_text: &str) {
        let ran = fs::read_to_string(self.path_in_checkout("steered")).unwrap_or_default();
        assert!(ran.is_empty(), "{ran} of the checkout ran: {expected_text}");
    }

    fn is_cached(&self) -> bool {
        walkdir::WalkDir::new(self.path_in_checkout("cache"))
            .into_iter()
            .any(|entry| {
                entry
                    .unwrap()
                    .path()
                    .extension()
                    .is_some_and(|end| end == "complete")
            })
    }
}

#[test]
fn action_builds_in_its_own_folder_whatever_checkout_brings() {
    let (runner, releases) = (Runner::new(), Platform::new());
    let action = runner.action("_actions/your-org/sluicegate/main");
    let (result, output, program) = runner.install(&action, "main", &releases.server.uri());
    runner.assert_unsteered(&output);
    assert!(result && output.contains("from source"), "{output}");
    assert!(
        Path::new(&program).is_absolute() && Path::new(&program).is_file(),
        "{program}"
    );
    let text = fs::read_to_string(runner.path_in_checkout("noted")).unwrap();
    assert_eq!(text.lines().next(), Some(action.display().to_string().as_str()));
    assert!(!text.contains(TOKEN), "the build sees a secret: {text}");
    assert!(
        !text.contains("/checkout"),
        "the build is led into the checkout: {text}"
    );
    assert!(!runner.is_cached(), "what a branch meant is kept");
    // The reference is the action's own commit, so the program is cached.
    let (result, output, program) = runner.install(&action, COMMIT, &releases.server.uri());
    assert!(result && runner.is_cached(), "{output}");
    let second_result = runner.install(&action, COMMIT, &releases.server.uri());
    assert!(
        second_result.1.contains("tool cache") && second_result.2 == program,
        "{}",
        second_result.1
    );
    runner.assert_unsteered(&output);
}

#[test]
fn clone_of_action_at_another_commit_fills_no_cache() {
    let (runner, releases) = (Runner::new(), Platform::new());
    let action = runner.action("_actions/your-org/sluicegate/clone");
    let git = |args: &str| crate::support::git(&action, args);
    git("init -q");
    git("add -A");
    git("commit -q -m one");
    let (result, output, _) = runner.install(&action, COMMIT, &releases.server.uri());
    assert!(result && !runner.is_cached(), "{output}");
    let own = git("rev-parse HEAD");
    fs::write(action.join("Cargo.toml.orig"), "edited").unwrap();
    let (result, output, _) = runner.install(&action, &own, &releases.server.uri());
    assert!(result && !runner.is_cached(), "an edited clone is kept: {output}");
    // Counterpart: the clone is at the commit that the job names.
    fs::remove_file(action.join("Cargo.toml.orig")).unwrap();
    let (result, output, _) = runner.install(&action, &own, &releases.server.uri());
    assert!(result && runner.is_cached(), "{output}");
    runner.assert_unsteered(&output);
}

#[test]
fn action_of_checkout_fills_no_cache_and_takes_no_toolchain_of_it() {
    let (runner, releases) = (Runner::new(), Platform::new());
    let action = runner.action("checkout/tools/sluicegate");
    for (gone, named) in [
        (
            "rust-toolchain.toml",
            "checkout/rust-toolchain.toml belongs to the checkout",
        ),
        (
            ".cargo/config.toml",
            "checkout/.cargo/config.toml belongs to the checkout",
        ),
    ] {
        let (result, output, program) = runner.install(&action, COMMIT, &releases.server.uri());
        runner.assert_unsteered(&output);
        assert!(
            !result && output.contains(named) && program.is_empty(),
            "{output}"
        );
        fs::remove_file(runner.path_in_checkout("checkout").join(gone)).unwrap();
    }
    let (result, output, _) = runner.install(&action, COMMIT, &releases.server.uri());
    runner.assert_unsteered(&output);
    assert!(result && !runner.is_cached(), "{output}");
}

#[test]
fn action_runs_program_by_path_without_tools_of_checkout() {
    let runner = Runner::new();
    let action = runner.action("_actions/your-org/sluicegate/main");
    runner.script(
        "mine/sluicegate",
        "#!/bin/sh\necho \"$0 $*\"\necho \"path $PATH\"\ngit --version\n",
    );
    let result = runner
        .call(&action.join("action/run"))
        .env("PROGRAM", runner.path_in_checkout("mine/sluicegate"))
        .env("INPUT_COMMAND", "ci")
        .output()
        .unwrap();
    let stdout = String::from_utf8(result.stdout).unwrap();
    runner.assert_unsteered(&stdout);
    let first = format!("{} ci\n", runner.path_in_checkout("mine/sluicegate").display());
    assert!(
        stdout.starts_with(&first) && stdout.contains("git version"),
        "{stdout}"
    );
    assert!(!stdout.contains("node_modules"), "{stdout}");
    // A program in the checkout may come from the change: it runs only if the job allows it, and with a warning.
    runner.script(
        "checkout/bin/sluicegate",
        &format!("#!/bin/sh\necho sluicegate {VERSION}\n"),
    );
    let result = runner
        .call(&action.join("action/install"))
        .env("PROGRAM", "bin/sluicegate")
        .output()
        .unwrap();
    let stdout = String::from_utf8(result.stdout).unwrap();
    assert!(
        stdout.contains("::warning") && stdout.contains("is in the checkout"),
        "{stdout}"
    );
    let program = fs::read_to_string(runner.path_in_checkout("output")).unwrap();
    assert_eq!(
        program,
        format!(
            "program={}\n",
            runner.path_in_checkout("checkout/bin/sluicegate").display()
        )
    );
}

#[test]
fn tool_cache_in_checkout_is_not_used() {
    let (runner, releases) = (Runner::new(), Platform::new());
    let action = runner.action("_actions/your-org/sluicegate/main");
    let cache = runner.path_in_checkout("checkout/cache");
    fs::create_dir_all(&cache).unwrap();
    let result = runner
        .call(&action.join("action/install"))
        .env("ACTION_REF", COMMIT)
        .env("RELEASES", releases.server.uri())
        .env("RUNNER_TOOL_CACHE", &cache)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{stderr}");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "{stderr}");
}

#[test]
fn empty_command_of_action_runs_ci() {
    for (command, arguments) in [("", "arguments: ci\n"), ("check", "arguments: check\n")] {
        assert_eq!(run_action(command, ""), arguments);
    }
}

#[test]
fn private_key_instead_of_its_path_is_masked() {
    let key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
    assert_eq!(
        run_action("check", key),
        "::add-mask::-----BEGIN PRIVATE KEY-----\n::add-mask::c2VjcmV0\n\
         ::add-mask::-----END PRIVATE KEY-----\narguments: check\n"
    );
    // Counterpart: a path is no secret.
    assert_eq!(run_action("check", "keys/client.pem"), "arguments: check\n");
}

/// Runs the action with this command and client key, and returns its output: the masked lines and the arguments of the
/// program.
fn run_action(command: &str, key: &str) -> String {
    let runner = Runner::new();
    let action = runner.action("_actions/your-org/sluicegate/main");
    runner.script("mine/sluicegate", "#!/bin/sh\necho \"arguments: $*\"\n");
    let result = runner
        .call(&action.join("action/run"))
        .env("PROGRAM", runner.path_in_checkout("mine/sluicegate"))
        .env("INPUT_COMMAND", command)
        .env("GITHUB_ACTIONS", "true")
        .envs([("SLUICEGATE_TOKEN", ""), ("SLUICEGATE_CLIENT_SECRET", "")])
        .env("SLUICEGATE_CLIENT_KEY", key)
        .output()
        .unwrap();
    String::from_utf8(result.stdout).unwrap()
}
