//! The jobs and configurations in the README, the book and the templates keep their promises: a rerun passes, two
//! publishes do not run at the same time, and a publishing job runs for the right events.

use super::book::{blocks, pages};
use super::read_workspace_file;
use serde_json::Value;
use sluicegate::publish::version_name::Placeholder;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Returns the parsed YAML blocks of the README and the book.
fn documents() -> Vec<(String, Value)> {
    let read = |(page, block): (String, String)| {
        let document =
            serde_yaml::from_str(&block).unwrap_or_else(|error| panic!("{page}: {error}\n{block}"));
        (page, document)
    };
    blocks("yaml").into_iter().map(read).collect()
}

/// Returns the inputs of the action in a workflow, or null for any other document.
fn inputs(document: &Value) -> &Value {
    let jobs = document["jobs"]
        .as_object()
        .into_iter()
        .flat_map(|jobs| jobs.values());
    let mut steps = jobs.flat_map(|job| job["steps"].as_array().into_iter().flatten());
    let is_ours = |step: &&Value| {
        step["uses"]
            .as_str()
            .is_some_and(|used| used.contains("/sluicegate@"))
    };
    steps.find(is_ours).map_or(&Value::Null, |step| &step["with"])
}

/// Joins a page into one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn job_examples_with_version_name_pass_on_rerun() {
    let mut tried = 0;
    for (page, document) in documents() {
        for part in [inputs(&document), &document["publish"]] {
            if part["version-name"].is_string() {
                assert_eq!(part["if-exists"], "same-content", "{page}: {part}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 4, "only {tried} were found");
    let template = read_workspace_file("templates/publish/template.yml");
    assert!(template.contains("SLUICEGATE_IF_EXISTS: same-content"));
}

#[test]
fn jobs_that_publish_keep_two_publishes_of_a_branch_apart() {
    let mut tried = Vec::new();
    for (page, document) in documents() {
        let name = page.rsplit('/').next().unwrap().to_owned();
        let publishes = document["on"]["push"].is_object() && inputs(&document)["command"] != "review";
        // Gitea's own page has no such key: not every version of Gitea and Forgejo reads `concurrency`.
        if publishes && name != "gitea.md" {
            let apart = &document["concurrency"];
            assert_eq!(apart["group"], "sluicegate-${{ github.ref }}", "{page}");
            let only_requests = "${{ github.event_name == 'pull_request' }}";
            assert_eq!(apart["cancel-in-progress"], only_requests, "{page}");
            tried.push(name);
        } else if document["sluicegate"]["script"].is_array() {
            let group = &document["sluicegate"]["resource_group"];
            assert_eq!(group, "sluicegate-$CI_COMMIT_REF_SLUG", "{page}");
            tried.push(name);
        } else if document["steps"].is_array() && name == "azure.md" {
            assert_eq!(document["trigger"]["batch"], "true", "{page}");
            tried.push(name);
        } else if name == "buildkite.md" {
            let step = &document["steps"][0];
            assert_eq!(step["concurrency"], 1, "{page}");
            let group = "sluicegate/$BUILDKITE_PIPELINE_SLUG/$BUILDKITE_BRANCH";
            assert_eq!(step["concurrency_group"], group, "{page}");
            tried.push(name);
        }
    }
    assert_eq!(
        tried,
        [
            "README.md",
            "attestation.md",
            "azure.md",
            "buildkite.md",
            "github-enterprise.md",
            "github.md",
            "gitlab.md",
            "recipes.md",
            "tags.md"
        ]
    );
    assert!(read_workspace_file("docs/book/jenkins.md").contains("\n        disableConcurrentBuilds()\n"));
    assert!(read_workspace_file("templates/publish/template.yml").contains("\n  resource_group: "));
}

/// Returns the variables that the job of a GitLab component sets.
fn component_variables(include: &Value) -> BTreeSet<String> {
    let component = include["component"].as_str().or(include["file"].as_str());
    let name = ["review", "publish"]
        .into_iter()
        .find(|name| component.is_some_and(|component| component.contains(&format!("/{name}"))))
        .unwrap();
    let template = read_workspace_file(&format!("templates/{name}/template.yml"));
    let (_, job) = template.split_once("\n---\n").unwrap();
    let job: Value = serde_yaml::from_str(job).unwrap();
    let variables = &job["$[[ inputs.job ]]"]["variables"];
    variables.as_object().unwrap().keys().cloned().collect()
}

/// In GitLab, the variables of a job override those of `variables:` and `workflow:`, even if they are empty. Rules of
/// the job override them.
#[test]
fn variables_beside_a_component_are_not_those_of_its_job() {
    let mut variable_count = 0;
    for (page, document) in documents() {
        let includes = document["include"].as_array().into_iter().flatten();
        let set_by_jobs: BTreeSet<String> = includes.flat_map(component_variables).collect();
        let rules = document["workflow"]["rules"].as_array().into_iter().flatten();
        let variables = rules
            .map(|rule| &rule["variables"])
            .chain([&document["variables"]])
            .filter_map(Value::as_object)
            .flat_map(|variables| variables.keys());
        for variable in variables {
            assert!(!set_by_jobs.contains(variable), "{page}: {variable}");
            variable_count += 1;
        }
    }
    assert!(variable_count > 0);
}

#[test]
fn page_about_tags_sets_version_name_in_the_rules_of_the_job() {
    let page = read_workspace_file("docs/book/tags.md");
    assert!(!page.contains("add `workflow:`"), "{page}");
    let template = read_workspace_file("templates/publish/template.yml");
    let job = documents()
        .into_iter()
        .find_map(|(_, document)| document.get("sluicegate-publish").cloned())
        .unwrap();
    assert!(template.contains("default: sluicegate-publish\n"));
    let rules = job["rules"].as_array().unwrap();
    assert_eq!(rules[0]["variables"]["SLUICEGATE_VERSION_NAME"], "{tag}");
    // The rules replace those of the component, and run the job in the same pipelines.
    for rule in rules {
        let condition = rule["if"].as_str().unwrap();
        assert!(
            template.contains(&format!("    - if: {condition}\n")),
            "{condition}"
        );
    }
}

/// Earlier jobs often run code of the change. GitLab passes their dotenv variables, which override those of the
/// project, and their files; Bitbucket passes the files of earlier steps.
#[test]
fn jobs_that_run_program_take_nothing_from_earlier_jobs() {
    let jobs = documents().into_iter().flat_map(|(page, document)| {
        let jobs = document.as_object().cloned().unwrap_or_default();
        jobs.into_iter().map(move |(_, job)| (page.clone(), job))
    });
    let runs_program = |job: &Value| {
        let lines = job["script"].as_array().into_iter().flatten();
        lines
            .filter_map(Value::as_str)
            .any(|line| line.contains("sluicegate "))
    };
    let mut gitlab_pages = Vec::new();
    for (page, job) in jobs.filter(|(_, job)| runs_program(job)) {
        assert_eq!(job["dependencies"], serde_json::json!([]), "{page}");
        assert_eq!(job["cache"], serde_json::json!([]), "{page}");
        gitlab_pages.push(page);
    }
    assert!(!gitlab_pages.is_empty());
    for template in [
        "templates/review/template.yml",
        "templates/publish/template.yml",
        "src/operations/init/templates/gitlab.yml",
    ] {
        assert!(
            read_workspace_file(template).contains("\n  dependencies: []\n  cache: []\n"),
            "{template}"
        );
    }
    let step = "\n        artifacts:\n          download: false\n";
    for job in [
        "docs/book/bitbucket.md",
        "src/operations/init/templates/bitbucket.yml",
    ] {
        assert!(read_workspace_file(job).contains(step), "{job}");
    }
}

#[test]
fn page_of_host_that_publishes_tags_explains_tag_jobs() {
    let mut tried = 0;
    for (page, text) in pages()
        .into_iter()
        .filter(|(_, text)| text.contains("\n  tags: [\"v*\"]\n"))
    {
        let message = flat(&text);
        for words in [
            "push: { branches: [main], tags: ['v*'] }",
            "$CI_COMMIT_TAG",
            "`{tag}`",
        ] {
            assert!(message.contains(words), "{page} does not say {words:?}");
        }
        tried += 1;
    }
    assert_eq!(tried, 1);
}

#[test]
fn page_about_control_lists_hosts_that_do_not_name_default_branch() {
    let hosts = fs::read_dir(super::root().join("src/job/ci")).unwrap();
    let hosts = hosts.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // Gitea is detected like GitHub, and `none` and `unknown` are not hosts with variables.
    let mut silent: Vec<String> = hosts
        .filter(|name| !["gitea.rs", "none.rs", "unknown.rs"].contains(&name.as_str()))
        .filter(|name| {
            let text = read_workspace_file(&format!("src/job/ci/{name}"));
            text.contains("const FULL_HISTORY_SETTING") && !text.contains("default_branch")
        })
        .collect();
    silent.sort();
    assert_eq!(silent, ["azure.rs", "bitbucket.rs", "circleci.rs"]);
    let expected_text = "Azure Pipelines, Bitbucket and CircleCI do not report the default branch, and Jenkins reports it only in builds of that branch";
    assert!(flat(&read_workspace_file("docs/book/control.md")).contains(expected_text));
}

#[test]
fn every_placeholder_of_a_version_name_is_named_where_they_are_listed() {
    let template = read_workspace_file("src/operations/init/templates/sluicegate.yaml");
    let page = read_workspace_file("docs/book/troubleshooting.md");
    let row = page
        .lines()
        .find(|line| line.contains("has the unknown placeholder"))
        .unwrap();
    for name in Placeholder::ALL.map(Placeholder::name) {
        let name = format!("{{{name}}}");
        assert!(template.contains(&name), "the template does not name {name}");
        assert!(row.contains(&name), "the book does not name {name}");
    }
}

#[test]
fn jobs_of_pull_requests_run_again_when_the_target_changes() {
    let mut tried = 0;
    let mut texts: Vec<(String, String)> = blocks("yaml");
    for template in ["github", "github-signed", "gitea"] {
        let path = format!("src/operations/init/templates/{template}.yml");
        texts.push((path.clone(), read_workspace_file(&path)));
    }
    for (page, text) in texts.iter().filter(|(_, text)| text.contains("pull_request")) {
        let document: Value = serde_yaml::from_str(text).unwrap();
        let types = &document["on"]["pull_request"]["types"];
        if document["on"].is_null() {
            continue;
        }
        for event in ["opened", "synchronize", "reopened", "edited"] {
            let has = types
                .as_array()
                .is_some_and(|types| types.iter().any(|known| known == event));
            assert!(has, "{page} does not run on `{event}`: {text}");
        }
        tried += 1;
    }
    assert!(tried >= 6, "only {tried} were found");
}

/// Returns the files in which users and the project's own workflows pin actions.
fn files_with_pins() -> Vec<(String, String)> {
    let directories = [".github/workflows", "src/operations/init/templates"];
    let entries = directories
        .iter()
        .flat_map(|directory| fs::read_dir(super::root().join(directory)).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()));
    files.chain(pages()).collect()
}

#[test]
fn actions_are_pinned_to_same_commit_everywhere() {
    let mut pins: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, text) in files_with_pins() {
        for (_, used) in text.lines().filter_map(|line| line.split_once("uses: ")) {
            // The project's own action, an image and the action of the checkout.
            if used.contains("/sluicegate") || used.starts_with(['_', '.']) {
                continue;
            }
            let (action, pin) = used.split_once('@').unwrap();
            let (commit, version) = pin.split_once(" # v").unwrap_or_else(|| panic!("{file}: {used}"));
            let is_commit = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_commit && version.split('.').count() == 3, "{file}: {used}");
            pins.entry(action.to_owned()).or_default().insert(pin.to_owned());
        }
    }
    assert!(pins.len() >= 5, "{pins:?}");
    for (action, found) in &pins {
        assert_eq!(found.len(), 1, "{action} has several pins: {found:?}");
    }
}

/// Scanners of workflows report an action that is pinned by a tag. Only the project's own tags are an exception: a page
/// cannot contain the commit that it belongs to.
#[test]
fn examples_with_tag_of_action_name_exception() {
    let mut example_count = 0;
    for (page, text) in pages() {
        for line in text
            .lines()
            .filter(|line| line.contains("uses: ") && line.contains("/sluicegate@v"))
        {
            assert!(
                line.ends_with(" # zizmor: ignore[unpinned-uses]"),
                "{page}: {line}"
            );
            example_count += 1;
        }
    }
    assert!(example_count >= 8, "only {example_count} were found");
}

/// Inputs for settings of `sluicegate.yaml` are in the second part of the list.
#[test]
fn first_part_of_action_inputs_has_no_setting_of_file() {
    let text = read_workspace_file("action.yml");
    let (first, second) = text
        .split_once("  # These settings can also be in sluicegate.yaml")
        .unwrap();
    let schema = sluicegate::job::settings::json_schema().to_string();
    let names = |part: &str| -> Vec<String> {
        let lines = part
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        lines
            .filter_map(|line| Some(line.trim().strip_suffix(':')?.to_owned()))
            .collect()
    };
    let (_, first) = first.split_once("inputs:\n").unwrap();
    let (second, _) = second.split_once("\noutputs:").unwrap();
    let variable = |name: &str| format!("variable: SLUICEGATE_{}.", name.to_uppercase().replace('-', "_"));
    for name in names(first) {
        assert!(
            !schema.contains(&variable(&name)),
            "{name} is a setting of the file"
        );
    }
    let second = names(second);
    assert!(second.len() > 20, "{second:?}");
    for name in second {
        assert!(
            schema.contains(&variable(&name)),
            "{name} is no setting of the file"
        );
    }
}
