//! `install.sh` in each available shell: it installs the release that `SHA256SUMS` describes, or nothing.
//!
//! `curl` and `wget` are replaced by scripts that copy from a directory; `tests/install/run` uses the real ones.

use crate::support::{find_program, root, scratch};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The programs that the script may use, apart from the one that downloads.
const TOOLS: &str = "awk cat chmod cp gzip mkdir mktemp mv rm sha256sum tar";

/// A shell with its arguments. `sh` and `bash` exist on every machine that builds the project.
const SHELLS: [&[&str]; 6] = [
    &["sh"],
    &["bash", "--posix"],
    &["dash"],
    &["busybox", "ash"],
    &["mksh"],
    &["zsh", "--emulate", "sh"],
];

/// Copies the file of a URL to the file of `--output` or `-O`.
const DOWNLOADER: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in --output | -O) file=$2 ;; esac
  shift
done
case $1 in "https://releases.example/v@VERSION@/"*) exec cp "@RELEASE@/${1##*/}" "$file" 2> /dev/null ;; *) exit 22 ;; esac
"#;

/// A machine: its programs, a release, an empty directory for temporary files, and a directory for the program.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new(downloader: &str) -> Self {
        let machine = Self {
            folder: scratch::create_scratch_directory(),
        };
        for name in ["bin", "release", "temporary", "home"] {
            fs::create_dir(machine.at(name)).unwrap();
        }
        for name in TOOLS.split(' ') {
            symlink(find_program(name).unwrap(), machine.at("bin").join(name)).unwrap();
        }
        let release = machine.at("release").display().to_string();
        let text = DOWNLOADER
            .replace("@RELEASE@", &release)
            .replace("@VERSION@", VERSION);
        machine.script(&format!("bin/{downloader}"), &text);
        machine.set_system("Linux", "x86_64");
        machine.release("x86_64-unknown-linux-musl", VERSION, "sluicegate");
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn script(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn set_system(&self, system: &str, cpu: &str) {
        let text = format!("#!/bin/sh\n[ \"$1\" = -m ] && echo {cpu} || echo {system}\n");
        self.script("bin/uname", &text);
    }

    /// Adds an archive whose program prints this version, and its line to `SHA256SUMS`.
    fn release(&self, target: &str, printed: &str, program: &str) {
        let name = format!("sluicegate-{VERSION}-{target}");
        let commands = format!(
            "set -e; mkdir {name}; printf '#!/bin/sh\\necho sluicegate {printed}\\n' > {name}/{program}; \
             chmod 755 {name}/{program}; tar -czf {name}.tar.gz {name}; rm -r {name}; \
             echo {}  other.tar.gz > SHA256SUMS; sha256sum {name}.tar.gz >> SHA256SUMS",
            "0".repeat(64)
        );
        let mut command = Command::new("sh");
        command.args(["-c", &commands]).current_dir(self.at("release"));
        assert!(command.status().unwrap().success());
    }

    /// Runs the script with these arguments in a shell.
    fn run(&self, shell: &[&str], script: &Path, args: &str) -> Output {
        let mut command = Command::new(find_program(shell[0]).unwrap());
        command
            .args(&shell[1..])
            .arg(script)
            .args(args.split_whitespace());
        command.env_clear().current_dir(self.folder.path());
        let directories = [("PATH", "bin"), ("TMPDIR", "temporary"), ("HOME", "home")];
        command.envs(directories.map(|(name, path)| (name, self.at(path))));
        command.output().unwrap()
    }

    /// Installs with `sh` from the release's address, and returns the exit code and the errors.
    fn install(&self, args: &str) -> (i32, String) {
        let args = format!("--from https://releases.example {args}");
        let output = self.run(SHELLS[0], &installer(), &args);
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), errors)
    }

    /// Returns the files below these directories, relative to the machine.
    fn files(&self) -> Vec<String> {
        let entries = ["temporary", "home"].map(|name| walkdir::WalkDir::new(self.at(name)));
        let entries = entries.into_iter().flatten().map(Result::unwrap);
        let paths = entries.filter(|entry| entry.depth() > 0 && !entry.file_type().is_dir());
        paths
            .map(|entry| {
                entry
                    .path()
                    .strip_prefix(self.folder.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect()
    }

    /// Checks that an installation fails with this message and leaves no file behind.
    #[track_caller]
    fn fails(&self, message: &str) {
        let (code, errors) = self.install("");
        assert_eq!(code, 1, "{errors}");
        assert!(errors.contains(message), "{errors}");
        assert_eq!(self.files(), Vec::<String>::new(), "{errors}");
        assert!(
            fs::read_dir(self.at("temporary")).unwrap().next().is_none(),
            "{errors}"
        );
    }
}

fn installer() -> PathBuf {
    root().join("install.sh")
}

#[test]
fn installer_in_each_shell_installs_release_and_leaves_no_other_file() {
    let available: Vec<&[&str]> = SHELLS
        .into_iter()
        .filter(|shell| find_program(shell[0]).is_some())
        .collect();
    assert!(available.len() >= 2, "{available:?}");
    for shell in available {
        for downloader in ["curl", "wget"] {
            let machine = Machine::new(downloader);
            let output = machine.run(shell, &installer(), "--from https://releases.example/");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{shell:?} with {downloader}: {output:?}");
            assert!(
                printed.starts_with(&format!("installed sluicegate {VERSION}: ")),
                "{printed}"
            );
            assert!(printed.contains("hint: add "), "{printed}");
            assert_eq!(machine.files(), ["home/.local/bin/sluicegate"], "{shell:?}");
            let left = fs::read_dir(machine.at("temporary")).unwrap().count();
            assert_eq!(left, 0, "{shell:?} leaves a temporary directory");
        }
    }
}

#[test]
fn installer_prints_absolute_directory_for_path() {
    let machine = Machine::new("curl");
    let output = machine.run(
        SHELLS[0],
        &installer(),
        "--from https://releases.example --to home/tools",
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    let hint = format!("hint: add {} to your PATH", machine.at("home/tools").display());
    assert!(printed.contains(&hint), "{printed}");
}

#[test]
fn installer_rejects_archive_with_another_hash() {
    let machine = Machine::new("curl");
    let archive = machine.at(&format!(
        "release/sluicegate-{VERSION}-x86_64-unknown-linux-musl.tar.gz"
    ));
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(b'x');
    fs::write(&archive, bytes).unwrap();
    machine.fails("has the wrong SHA-256 hash");
    fs::remove_file(&archive).unwrap();
    machine.fails("could not download https://releases.example/v");
    machine.release("riscv64gc-unknown-linux-musl", VERSION, "sluicegate");
    machine.fails("SHA256SUMS does not list");
    fs::remove_file(machine.at("release/SHA256SUMS")).unwrap();
    machine.fails("could not download https://releases.example/v");
}

#[test]
fn installer_keeps_old_program_if_new_one_does_not_run() {
    let machine = Machine::new("curl");
    assert_eq!(machine.install("").0, 0);
    let program = machine.at("home/.local/bin/sluicegate");
    fs::write(&program, "old").unwrap();
    machine.release("x86_64-unknown-linux-musl", "9.9.9", "sluicegate");
    let (code, errors) = machine.install("");
    assert!(
        code == 1 && errors.contains("prints 'sluicegate 9.9.9'"),
        "{errors}"
    );
    assert_eq!(fs::read_to_string(&program).unwrap(), "old");
    // Counterpart: the next good release replaces it.
    machine.release("x86_64-unknown-linux-musl", VERSION, "sluicegate");
    assert_eq!(machine.install("").0, 0);
    assert_ne!(fs::read_to_string(&program).unwrap(), "old");
    assert_eq!(machine.files(), ["home/.local/bin/sluicegate"]);
}

#[test]
fn installer_refuses_directory_in_place_of_the_program() {
    let machine = Machine::new("curl");
    let program = machine.at("home/.local/bin/sluicegate");
    fs::create_dir_all(&program).unwrap();
    machine.fails("home/.local/bin/sluicegate is a directory");
    fs::remove_dir(&program).unwrap();
    assert_eq!(machine.install("").0, 0);
    assert_eq!(machine.files(), ["home/.local/bin/sluicegate"]);
}

#[test]
fn installer_selects_archive_of_machine() {
    for (system, cpu, target, program) in [
        ("Linux", "aarch64", "aarch64-unknown-linux-musl", "sluicegate"),
        ("Darwin", "arm64", "aarch64-apple-darwin", "sluicegate"),
        ("Darwin", "x86_64", "x86_64-apple-darwin", "sluicegate"),
        (
            "MINGW64_NT-10.0",
            "x86_64",
            "x86_64-pc-windows-msvc",
            "sluicegate.exe",
        ),
    ] {
        let machine = Machine::new("curl");
        machine.set_system(system, cpu);
        machine.fails(&format!(
            "SHA256SUMS does not list sluicegate-{VERSION}-{target}.tar.gz"
        ));
        machine.release(target, VERSION, program);
        let directory = machine.at("home").display().to_string();
        assert_eq!(machine.install(&format!("--to {directory}")).0, 0);
        assert_eq!(machine.files(), [format!("home/{program}")]);
    }
    let machine = Machine::new("curl");
    machine.set_system("Linux", "riscv64");
    machine.fails("there is no release for Linux on riscv64");
}

/// `curl | sh` runs what arrived, also if the connection broke.
#[test]
fn installer_that_was_cut_off_does_nothing() {
    let machine = Machine::new("curl");
    let text = fs::read_to_string(installer()).unwrap();
    let last_line = text.trim_end().rfind('\n').unwrap();
    let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    for end in lines.into_iter().filter(|end| *end <= last_line) {
        machine.script("partial.sh", &text[..end]);
        machine.run(
            SHELLS[0],
            &machine.at("partial.sh"),
            "--from https://releases.example",
        );
        assert_eq!(machine.files(), Vec::<String>::new(), "cut off after byte {end}");
    }
}

#[test]
fn installer_rejects_wrong_arguments() {
    let machine = Machine::new("curl");
    for (args, message) in [
        ("--prefix x", "unknown argument: --prefix"),
        ("--to", "--to needs a value"),
        (
            "--version 9.9.9",
            "could not download https://releases.example/v9.9.9/",
        ),
    ] {
        let (code, errors) = machine.install(args);
        assert!(code == 1 && errors.contains(message), "{args}: {errors}");
    }
    // Neither program that downloads is installed.
    fs::remove_file(machine.at("bin/curl")).unwrap();
    machine.fails("curl or wget is needed");
}

#[test]
fn installer_has_version_and_address_of_program() {
    let text = fs::read_to_string(installer()).unwrap();
    assert!(text.contains(&format!("\nversion={VERSION}\n")), "{text}");
    let address = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");
    assert!(text.contains(&format!("\nreleases={address}\n")), "{text}");
}
