//! Checks that the documents match the program.

mod agent_files;
mod api_coverage;
mod api_coverage_rows;
mod book;
mod code_names;
mod example_runs;
mod example_syntax;
mod example_world;
mod existing_repository;
mod job_examples;
mod project_address;
mod style_counts;
mod word_patterns;

use crate::support::root;
use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory as _};
use sluicegate::job::{cli::Cli, settings};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// Returns the directory of each package of the workspace.
fn package_dirs() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    [root()].into_iter().chain(crates).collect()
}

/// Returns the directories with the sources of all packages.
fn source_directories() -> Vec<PathBuf> {
    package_dirs().iter().map(|package| package.join("src")).collect()
}

/// Returns the sources of all packages, with the tests inside of them.
pub(crate) fn read_program_sources() -> Vec<String> {
    let mut files = Vec::new();
    for directory in source_directories() {
        style_counts::add_sources(&directory, &mut files);
    }
    files.into_iter().map(|(_, text)| text).collect()
}

fn read_workspace_file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn commands() -> Vec<Command> {
    Cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .cloned()
        .collect()
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// Returns the flags of a command and of its subcommands.
fn flags(command: &Command) -> Vec<Arg> {
    let own = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some() && !arg.is_global_set())
        .cloned();
    own.chain(command.get_subcommands().flat_map(flags)).collect()
}

/// Updates the text between two marks of a document if `UPDATE_DOCS` is set; otherwise checks that it is up to date.
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for whoever renews the documents"
)]
fn hold(path: &str, mark: &str, wanted: &str) {
    let document = read_workspace_file(path);
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = document
        .split_once(&begin)
        .unwrap_or_else(|| panic!("{path} has no {begin}"));
    let (_, after) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("{path} has no {end}"));
    let text = format!("{before}{begin}{wanted}{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(path), text).unwrap();
    } else {
        assert!(
            text == document,
            "{path} is stale: renew it by `UPDATE_DOCS=1 cargo test docs`"
        );
    }
}

#[test]
fn readme_is_read_in_a_minute() {
    let lines = read_workspace_file("README.md").lines().count();
    assert!(
        lines <= 150,
        "README has {lines} lines: what is looked up belongs to the book"
    );
}

#[test]
fn reference_lists_every_command() {
    let row = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("| `sluicegate {}` | {about} |\n", command.get_name())
    };
    let rows: String = commands().iter().map(row).collect();
    let table = format!("\n| command | what it does |\n|---|---|\n{rows}\n");
    hold("docs/book/reference.md", "commands", &table);
}

#[test]
fn book_lists_every_variable() {
    let code = |word: &str| match word {
        "" => String::new(),
        word => format!("`{word}`"),
    };
    let rows = settings::all_settings().map(|setting| {
        let key = if setting.kind.is_in_file() {
            setting.key
        } else {
            ""
        };
        let (flag, key) = (code(setting.flag), code(key));
        let (name, meaning) = (setting.variable, setting.description());
        // What has no key, the file cannot set.
        let said_by = if setting.key.is_empty() {
            "only the job"
        } else {
            setting.kind.describe_allowed_sources()
        };
        format!("| {} | {flag} | {key} | {said_by} | {meaning} |\n", code(name))
    });
    let table = format!(
        "\n| variable | flag | key | who may set it | meaning |\n|---|---|---|---|---|\n{}\n",
        rows.collect::<String>()
    );
    hold("docs/book/settings.md", "variables", &table);
}

#[test]
fn book_lists_fields_of_team_rules() {
    use sluicegate_pipelines::team_rules::RecordKind;
    let kinds = [
        (RecordKind::Pipeline, "every rule"),
        (RecordKind::Component, "`for: component`"),
        (RecordKind::Link, "`for: link`"),
        (RecordKind::Variable, "`for: variable`"),
        (RecordKind::Call, "`for: call`"),
        (RecordKind::Project, "every rule"),
    ];
    let mut table = String::from("| variable | exists in | fields |\n|---|---|---|\n");
    for (kind, place) in kinds {
        let fields = kind.fields().iter().map(|field| {
            format!(
                "`{}` ({}): {}",
                field.name,
                field.field_type.describe(),
                field.meaning
            )
        });
        let fields: Vec<String> = fields.collect();
        let _ = writeln!(table, "| `{}` | {place} | {} |", kind.name(), fields.join("; "));
    }
    hold("docs/book/team-rules.md", "team rule fields", &table);
}

#[test]
fn readme_and_the_book_use_only_flags_that_exist() {
    let names = |arg: &Arg| {
        let aliases = arg.get_visible_aliases().unwrap_or_default();
        arg.get_long()
            .into_iter()
            .chain(aliases)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let mut known: Vec<String> = commands()
        .iter()
        .flat_map(flags)
        .flat_map(|arg| names(&arg))
        .collect();
    known.extend(
        Cli::command()
            .get_arguments()
            .filter_map(|arg| arg.get_long().map(str::to_owned)),
    );
    known.extend(["help", "version"].map(str::to_owned));
    let of_cargo = ["git", "release", "locked", "path", "tag"];
    let of_installer = ["from", "to", "version"];
    let of_npm = ["save-dev"];
    let of_git = [
        "auto",
        "bare",
        "depth",
        "ext-diff",
        "filter",
        "no-ext-diff",
        "no-textconv",
        "prune",
        "quiet",
    ];
    let of_docker = ["rm", "target", "user", "volume"];
    let of_cosign = [
        "bundle",
        "certificate-identity-regexp",
        "certificate-oidc-issuer",
        "predicate",
        "statement",
        "yes",
    ];
    let of_gh = ["format", "jq", "predicate-type", "signer-workflow", "source-ref"];
    let of_others = [
        "check",
        "fail",
        "ignore-missing",
        "location",
        "proto-redir",
        "remote-name",
        "show-error",
        "silent",
        "strip-components",
    ];
    let foreign = [
        &of_cargo[..],
        &of_installer,
        &of_npm,
        &of_git,
        &of_docker,
        &of_cosign,
        &of_gh,
        &of_others,
    ]
    .concat();
    for (page, text) in book::pages() {
        let used = text
            .split([' ', '`', '\n', '='])
            .filter_map(|word| word.strip_prefix("--"))
            .filter(|word| !word.is_empty());
        for flag in used.filter(|flag| flag.chars().all(|c| c.is_ascii_lowercase() || c == '-')) {
            assert!(
                known.iter().any(|k| k == flag) || foreign.contains(&flag),
                "{page} names --{flag}, which does not exist"
            );
        }
    }
}

#[test]
fn every_variable_is_a_setting_whose_flag_names_it() {
    let mut all: Vec<Arg> = commands().iter().flat_map(flags).collect();
    all.extend(Cli::command().get_arguments().cloned());
    for setting in settings::all_settings().filter(|setting| !setting.flag.is_empty()) {
        let named =
            |arg: &Arg| arg.get_long() == Some(&setting.flag[2..]) && help(arg).contains(setting.variable);
        assert!(
            all.iter().any(named),
            "{} has no flag {}",
            setting.variable,
            setting.flag
        );
    }
}

#[test]
fn every_variable_stands_in_a_help_and_every_help_names_real_variables() {
    let mut helps: Vec<String> = commands().iter().flat_map(flags).map(|arg| help(&arg)).collect();
    helps.extend(Cli::command().get_arguments().map(help));
    let only_variables = [
        "SLUICEGATE_CLIENT_ID",
        "SLUICEGATE_CLIENT_SECRET",
        "SLUICEGATE_TOKEN_URL",
        "SLUICEGATE_TOKEN_AUDIENCE",
        "SLUICEGATE_BITBUCKET_PROXY",
    ];
    for name in settings::all_settings()
        .map(|setting| setting.variable)
        .filter(|name| !name.is_empty())
    {
        let named = helps.iter().any(|help| help.contains(name)) || only_variables.contains(&name);
        assert!(named, "{name} stands in no help");
    }
    for word in helps
        .iter()
        .flat_map(|help| help.split(|c: char| !(c.is_ascii_uppercase() || c == '_')))
    {
        if word.starts_with("SLUICEGATE_") {
            assert!(
                settings::all_settings().any(|setting| setting.variable == word),
                "{word} is no variable"
            );
        }
    }
}

#[test]
fn command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_an_example() {
    fn check(command: &Command) {
        let text = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            text.contains("sluicegate "),
            "{} has no example",
            command.get_name()
        );
        command.get_subcommands().for_each(check);
    }
    commands().iter().for_each(check);
}

#[test]
fn every_command_for_the_rest_of_the_platform_has_both_outputs() {
    fn check(command: &Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        let verbs: Vec<&Command> = command.get_subcommands().collect();
        for verb in &verbs {
            check(verb, &path);
        }
        // The command writes data in its own format.
        if !verbs.is_empty() || path == " events export" {
            return;
        }
        let output = command
            .get_arguments()
            .find(|entry| entry.get_short() == Some('o'))
            .unwrap_or_else(|| panic!("{path} has no -o"));
        let formats = output.get_possible_values();
        let names: Vec<&str> = formats.iter().map(PossibleValue::get_name).collect();
        assert!(names.starts_with(&["text", "json"]), "{path}: {names:?}");
    }
    let other = "review check report publish ci verify diff context init doctor rules mv serve demo schema completions man";
    let other: Vec<&str> = other.split_whitespace().collect();
    let all = commands();
    assert!(
        other
            .iter()
            .all(|name| all.iter().any(|it| it.get_name() == *name))
    );
    let those = all.iter().filter(|entry| !other.contains(&entry.get_name()));
    for command in those {
        check(command, "");
    }
}

#[test]
fn recipes_name_files_that_exist() {
    let document = read_workspace_file("CONTRIBUTING.md");
    let words = document.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = words
        .filter(|word| {
            ["src/", "crates/", "tests/"]
                .iter()
                .any(|start| word.starts_with(start))
        })
        .collect();
    assert!(paths.len() > 15, "the recipes were not read: {paths:?}");
    for path in paths {
        assert!(
            root().join(path).exists(),
            "CONTRIBUTING.md names {path}, which does not exist"
        );
    }
}

/// Returns the crates in the build, each with its features.
fn crates(edges: &str) -> HashSet<String> {
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--locked",
        "--offline",
        "--prefix=none",
        "--format={p} {f}",
        "--workspace",
        "--exclude=sluicegate-test-support",
    ]);
    let listed = cargo
        .args(["--edges", edges])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    String::from_utf8(listed.stdout)
        .unwrap()
        .lines()
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect()
}

#[test]
fn tests_switch_on_no_feature_of_programs_crates() {
    let (program, tests) = (crates("no-dev"), crates("all"));
    assert!(program.len() > 100 && tests.len() > program.len());
    let again: Vec<&String> = program.difference(&tests).collect();
    assert!(
        again.is_empty(),
        "`cargo test` would build these again: {again:#?}"
    );
}

#[test]
fn every_dependency_is_explained() {
    let manifests: Vec<String> = package_dirs()
        .iter()
        .map(|package| fs::read_to_string(package.join("Cargo.toml")).unwrap())
        .collect();
    let document = read_workspace_file("docs/DEPENDENCIES.md");
    let reasons = document.split("\n## Build\n").next().unwrap();
    let mut named: Vec<&str> = reasons
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('|').next())
        .flat_map(|cell| cell.split(['`', ' ', ',', '(', ')']))
        .filter(|word| !word.is_empty() && !["the", "package", "serde-saphyr"].contains(word))
        .collect();
    let sections = manifests.iter().flat_map(|manifest| manifest.split("\n["));
    let sections = sections.filter_map(|section| {
        let (name, lines) = section.split_once("]\n")?;
        name.ends_with("dependencies").then_some(lines)
    });
    let mut used: Vec<&str> = sections
        .flat_map(str::lines)
        .filter_map(|line| line.split([' ', '=', '.']).next())
        .filter(|n| !n.is_empty() && *n != "#" && !n.starts_with("sluicegate-"))
        .collect();
    named.sort_unstable();
    used.sort_unstable();
    used.dedup();
    named.dedup();
    assert_eq!(named, used);
}

#[test]
fn action_hands_over_every_setting_by_environment() {
    let action: serde_json::Value = serde_yaml::from_str(&read_workspace_file("action.yml")).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    let scripts: Vec<&str> = steps.iter().map(|step| step["run"].as_str().unwrap()).collect();
    assert!(
        scripts.iter().all(|script| !script.contains("${{")),
        "an input stands in a script: {scripts:?}"
    );
    let handed: Vec<(&str, &str)> = steps
        .iter()
        .flat_map(|step| step["env"].as_object().unwrap())
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    for name in settings::all_settings()
        .map(|setting| setting.variable)
        .filter(|name| !name.is_empty())
    {
        let local = [
            "SLUICEGATE_CONFIG",
            "SLUICEGATE_RULES",
            "SLUICEGATE_TOKEN_FILE",
            "SLUICEGATE_TOKEN_COMMAND",
            "SLUICEGATE_REPO",
            "SLUICEGATE_BITBUCKET_PROXY",
            "SLUICEGATE_CA_CERT",
            "SLUICEGATE_CI",
            "SLUICEGATE_COLOR",
            "SLUICEGATE_NO_VERIFY",
            // A job publishes without it.
            "SLUICEGATE_PUBLISH",
            "SLUICEGATE_CANCEL_STATUS",
            "SLUICEGATE_WAREHOUSE_A",
            "SLUICEGATE_WAREHOUSE_B",
            "SLUICEGATE_GIT_PROVIDER",
            "SLUICEGATE_KEY_VAULT",
        ];
        assert!(
            handed.iter().any(|(handed, _)| *handed == name) || local.contains(&name),
            "{name} has no input"
        );
    }
    let mut inputs = BTreeSet::new();
    for (name, value) in &handed {
        let Some(expression) = value.strip_prefix("${{ inputs.") else {
            continue;
        };
        // If the input is empty, the job's own value is used.
        let end = if name.starts_with("SLUICEGATE_") {
            format!(" || env.{name} }}}}")
        } else {
            " }}".to_owned()
        };
        let input = expression.strip_suffix(&end);
        inputs.insert(input.unwrap_or_else(|| panic!("{name}: {value} does not end in {end}")));
    }
    let declared = action["inputs"].as_object().unwrap();
    assert_eq!(inputs, declared.keys().map(String::as_str).collect());
    // A default would hide the job's own value.
    for (name, value) in handed.iter().filter(|(_, value)| value.contains(" || env.")) {
        let input = value["${{ inputs.".len()..].split(' ').next().unwrap();
        assert_eq!(declared[input]["default"], "", "{name}");
    }
}

#[test]
fn configuration_among_settings_is_accepted() {
    let page = "docs/book/settings.md";
    let settings = read_workspace_file(page);
    let example = settings
        .split("```yaml\n")
        .find(|block| block.starts_with("# sluicegate.yaml"))
        .unwrap();
    accept_configuration(page, example.split("```").next().unwrap());
}

/// Checks that the program accepts the text of a configuration file in a document.
fn accept_configuration(page: &str, text: &str) {
    let file = sluicegate::job::policy::GateFile {
        deciding_version: sluicegate::job::policy::DecidingVersion::Text(
            sluicegate::job::policy::NamedText {
                name: "sluicegate.yaml".to_owned(),
                text: text.to_owned(),
            },
        ),
        ..Default::default()
    };
    let env = sluicegate::env::Env::from_parts([], PathBuf::new());
    if let Err(reason) =
        settings::SettingSources::new(&env, &file, None, sluicegate::job::policy::UnusableFile::Reject)
    {
        panic!("{page}: {reason}");
    }
}

#[test]
fn each_threat_names_existing_tests() {
    let document = read_workspace_file("SECURITY.md");
    let threats = document.split("## Threats").nth(1).unwrap();
    let mut test_count = 0;
    for row in threats.lines().filter(|line| line.starts_with("| ")) {
        let tests = row.split(" | ").nth(2).unwrap();
        if tests == "tests |" {
            continue;
        }
        let tests: Vec<&str> = tests.split('`').filter(|text| text.contains("::")).collect();
        assert!(!tests.is_empty(), "no test holds: {row}");
        for test in tests {
            let (file, name) = test.split_once("::").unwrap();
            let declaration = format!("fn {name}(");
            assert!(
                read_workspace_file(file).contains(&declaration),
                "{file} has no test {name}"
            );
            test_count += 1;
        }
    }
    assert!(test_count > 80, "only {test_count} tests are named");
}

/// The files that editors and SchemaStore read are those that the program prints.
#[test]
#[expect(clippy::disallowed_methods, reason = "the variable is that of the tests")]
fn schemas_in_repository_are_those_of_program() {
    let folder = crate::support::scratch::create_scratch_directory();
    for (name, file) in [
        ("settings", "sluicegate.json"),
        ("waivers", "waivers.json"),
        ("rules", "rules.json"),
        ("shared-pipelines", "shared-pipelines.json"),
        ("report", "report.json"),
        ("receipt", "receipt.json"),
        ("attestation", "attestation.json"),
        ("team-rules", "team-rules.json"),
        ("variables", "variables.json"),
        ("provisioning", "provisioning.json"),
    ] {
        let schema = crate::support::Call::new(folder.path())
            .run(format!("schema {name}"))
            .expect(0)
            .out;
        let path = root().join("schemas").join(file);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &schema).unwrap();
        }
        assert_eq!(
            fs::read_to_string(&path).unwrap_or_default(),
            schema,
            "{file} is stale: renew it by `UPDATE_DOCS=1 cargo test docs`"
        );
    }
    let catalog: serde_json::Value =
        serde_json::from_str(&read_workspace_file("schemas/catalog.json")).unwrap();
    let entries = catalog["schemas"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    for entry in entries {
        let url = entry["url"].as_str().unwrap();
        let directory = format!("{}/raw/main/schemas/", env!("CARGO_PKG_REPOSITORY"));
        let file = url.strip_prefix(&directory).unwrap();
        assert!(root().join("schemas").join(file).exists(), "{file}");
        assert!(entry["fileMatch"][0].as_str().unwrap().starts_with("sluicegate"));
    }
}
