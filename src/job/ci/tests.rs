//! Tests for each host and event, with variables and payloads like those of the real hosts.

use super::{BaseHint, CiContext, CiError, Host, Trigger, detect_context};
use crate::env::Env;
use proptest::prelude::*;
use serde_json::{Value, json};

const HEAD: &str = "1111111111111111111111111111111111111111";
const BASE: &str = "2222222222222222222222222222222222222222";
const MERGE: &str = "3333333333333333333333333333333333333333";
const ZEROS: &str = "0000000000000000000000000000000000000000";

fn env(variables: &[(&str, &str)]) -> Env {
    let owned = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Env::from_parts(owned, "/".into())
}

fn read(variables: &[(&str, &str)]) -> CiContext {
    detect_context(&env(variables), None).unwrap()
}

fn github(event: &str, reference: &str, payload: Value) -> Result<CiContext, CiError> {
    let variables = env(&[
        ("CI", "true"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_REF", reference),
        ("GITHUB_REPOSITORY", "owner/project"),
        ("GITHUB_RUN_NUMBER", "17"),
        ("GITHUB_SHA", MERGE),
    ]);
    detect_context(&variables.with_payload(payload), None)
}

fn pull_request(head_repository: &Value) -> Value {
    json!({
        "action": "synchronize",
        "pull_request": {
            "number": 7,
            "head": { "ref": "feature/x", "sha": HEAD, "repo": head_repository },
            "base": { "ref": "main", "sha": BASE, "repo": { "full_name": "owner/project" } }
        },
        "repository": { "full_name": "owner/project", "default_branch": "main" }
    })
}

#[test]
fn github_pull_request_is_about_the_head_not_the_trial_merge() {
    for event in ["pull_request", "pull_request_target", "pull_request_review"] {
        let payload = pull_request(&json!({ "full_name": "Owner/Project" }));
        let context = github(event, "refs/pull/7/merge", payload).unwrap();
        assert_eq!(context.host, Host::GitHub);
        assert_eq!(context.event, event);
        assert_eq!(context.branch.as_deref(), Some("feature/x"));
        assert_eq!(context.commit.as_deref(), Some(HEAD));
        assert_eq!(context.pull_request, Some(7));
        assert!(!context.fork);
        let seen_commit = Some(BASE.to_owned());
        assert_eq!(
            context.base,
            BaseHint::MergeBaseWith {
                branch: "main".to_owned(),
                seen_commit
            }
        );
        assert_eq!(context.run_number.as_deref(), Some("17"));
        assert_eq!(context.default_branch.as_deref(), Some("main"));
    }
}

#[test]
fn github_pull_request_of_other_or_deleted_repository_is_fork() {
    for repository in [json!({ "full_name": "somebody/project" }), Value::Null] {
        assert!(
            github("pull_request", "refs/pull/7/merge", pull_request(&repository))
                .unwrap()
                .fork
        );
    }
}

#[test]
fn github_payload_without_a_field_is_named_by_file_and_path() {
    let mut payload = pull_request(&json!({ "full_name": "owner/project" }));
    payload["pull_request"]["head"]["sha"] = json!(5);
    let error = github("pull_request", "refs/pull/7/merge", payload).unwrap_err();
    insta::assert_snapshot!(error, @"the event payload (no file) has no usable `pull_request.head.sha`, which `pull_request` always has");
}

#[test]
fn missing_or_invalid_github_payload_is_error_with_file() {
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_SHA", MERGE),
    ];
    assert!(matches!(
        detect_context(&env(&variables), None),
        Err(CiError::NoPayload { .. })
    ));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("event.json");
    std::fs::write(&file, "{").unwrap();
    let with_file = [&variables[..], &[("GITHUB_EVENT_PATH", file.to_str().unwrap())]].concat();
    let error = detect_context(&env(&with_file), None).unwrap_err();
    assert!(error.to_string().contains("event.json"), "{error}");
}

#[test]
fn github_push_has_previous_commit_as_base() {
    let payload = json!({ "before": BASE, "after": MERGE, "repository": { "default_branch": "trunk" } });
    let context = github("push", "refs/heads/feature/x", payload).unwrap();
    assert_eq!(context.branch.as_deref(), Some("feature/x"));
    assert_eq!(context.commit.as_deref(), Some(MERGE));
    assert_eq!(context.default_branch.as_deref(), Some("trunk"));
    assert!(matches!(context.base, BaseHint::PushedFrom { previous: before, .. } if before == BASE));
}

#[test]
fn github_push_of_a_new_branch_has_no_before() {
    let context = github("push", "refs/heads/x", json!({ "before": ZEROS, "after": MERGE })).unwrap();
    assert_eq!(context.base, BaseHint::CreatedBranch);
    assert_eq!(context.idle_reason, None);
}

#[test]
fn github_push_that_deletes_leaves_nothing_to_do() {
    let context = github("push", "refs/heads/x", json!({ "before": BASE, "after": ZEROS })).unwrap();
    assert_eq!(context.idle_reason.as_deref(), Some("the branch `x` was deleted"));
}

#[test]
fn github_tag_names_no_branch_and_takes_everything() {
    let context = github("push", "refs/tags/v1", json!({ "before": ZEROS, "after": MERGE })).unwrap();
    assert_eq!((context.tag.as_deref(), context.branch), (Some("v1"), None));
    assert!(matches!(context.base, BaseHint::All { .. }));
}

#[test]
fn github_merge_group_is_about_the_queue_branch() {
    let group = json!({
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-abc", "head_sha": HEAD,
        "base_ref": "refs/heads/main", "base_sha": BASE
    });
    let context = github("merge_group", "refs/heads/x", json!({ "merge_group": group })).unwrap();
    assert_eq!(context.branch.as_deref(), Some("gh-readonly-queue/main/pr-7-abc"));
    assert_eq!(context.commit.as_deref(), Some(HEAD));
    let target = "main".to_owned();
    let expected = BaseHint::Commit {
        id: BASE.to_owned(),
        source: "merge_group.base_sha",
        target,
    };
    assert_eq!(context.base, expected);
}

#[test]
fn github_events_without_a_change_are_about_the_tip_of_their_ref() {
    for event in ["workflow_dispatch", "schedule", "release"] {
        let context = github(event, "refs/heads/x", json!({})).unwrap();
        assert_eq!(
            (context.branch.as_deref(), context.commit.as_deref()),
            (Some("x"), Some(MERGE))
        );
        assert_eq!(context.base, BaseHint::DefaultBranch);
    }
}

#[test]
fn gitea_and_forgejo_are_distinguished_from_github() {
    for mark in ["GITEA_ACTIONS", "FORGEJO_ACTIONS"] {
        let variables = env(&[
            ("GITHUB_ACTIONS", "true"),
            (mark, "true"),
            ("GITHUB_EVENT_NAME", "pull_request"),
            ("GITHUB_SHA", MERGE),
        ]);
        let context = detect_context(
            &variables.with_payload(pull_request(&json!({ "full_name": "owner/project" }))),
            None,
        );
        assert_eq!(context.as_ref().map(|context| context.host), Ok(Host::Gitea));
        assert_eq!(context.unwrap().commit.as_deref(), Some(HEAD));
    }
}

const GITLAB: [(&str, &str); 6] = [
    ("GITLAB_CI", "true"),
    ("CI", "true"),
    ("CI_COMMIT_SHA", MERGE),
    ("CI_DEFAULT_BRANCH", "main"),
    ("CI_PIPELINE_IID", "42"),
    ("CI_PROJECT_ID", "5"),
];

fn gitlab(more: &[(&str, &str)]) -> CiContext {
    read(&[&GITLAB[..], more].concat())
}

#[test]
fn gitlab_branch_pipeline_has_previous_commit_as_base() {
    let push = ("CI_PIPELINE_SOURCE", "push");
    let context = gitlab(&[push, ("CI_COMMIT_BRANCH", "x"), ("CI_COMMIT_BEFORE_SHA", BASE)]);
    assert_eq!((context.host, context.event.as_str()), (Host::GitLab, "push"));
    assert_eq!(
        (context.branch.as_deref(), context.commit.as_deref()),
        (Some("x"), Some(MERGE))
    );
    assert!(matches!(context.base, BaseHint::PushedFrom { previous: before, .. } if before == BASE));
    assert_eq!(context.run_number.as_deref(), Some("42"));
    let first = gitlab(&[push, ("CI_COMMIT_BRANCH", "x"), ("CI_COMMIT_BEFORE_SHA", ZEROS)]);
    assert_eq!(first.base, BaseHint::CreatedBranch);
}

#[test]
fn gitlab_tag_names_no_branch() {
    let context = gitlab(&[("CI_COMMIT_TAG", "v1"), ("CI_COMMIT_BEFORE_SHA", ZEROS)]);
    assert_eq!((context.tag.as_deref(), context.branch), (Some("v1"), None));
    assert!(matches!(context.base, BaseHint::All { .. }));
}

const MERGE_REQUEST: [(&str, &str); 7] = [
    ("CI_PIPELINE_SOURCE", "merge_request_event"),
    ("CI_MERGE_REQUEST_IID", "9"),
    ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
    ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", BASE),
    ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
    ("CI_COMMIT_BEFORE_SHA", ZEROS),
];

#[test]
fn gitlab_detached_merge_request_is_about_what_is_checked_out() {
    let empty = ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "");
    let context = gitlab(
        &[
            &MERGE_REQUEST[..],
            &[empty, ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")],
        ]
        .concat(),
    );
    assert_eq!(
        (context.branch.as_deref(), context.commit.as_deref()),
        (Some("feature"), Some(MERGE))
    );
    assert_eq!((context.pull_request, context.fork), (Some(9), false));
    let target = "main".to_owned();
    let source = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
    assert_eq!(
        context.base,
        BaseHint::Commit {
            id: BASE.to_owned(),
            source,
            target
        }
    );
}

#[test]
fn gitlab_merged_result_is_about_the_source_not_the_trial_merge() {
    let context = gitlab(
        &[
            &MERGE_REQUEST[..],
            &[("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", HEAD)],
        ]
        .concat(),
    );
    assert_eq!(context.commit.as_deref(), Some(HEAD));
}

#[test]
fn gitlab_merge_request_of_another_project_is_a_fork_wherever_it_runs() {
    let from_fork = ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "6");
    assert!(gitlab(&[&MERGE_REQUEST[..], &[from_fork]].concat()).fork);
    assert!(gitlab(&[&MERGE_REQUEST[..], &[from_fork, ("CI_PROJECT_ID", "6")]].concat()).fork);
}

#[test]
fn gitlab_without_its_commit_names_the_variable() {
    let error = detect_context(&env(&[("GITLAB_CI", "true")]), None).unwrap_err();
    assert_eq!(
        error,
        CiError::Variable {
            host: Host::GitLab,
            variable: "CI_COMMIT_SHA"
        }
    );
}

#[test]
fn azure_pull_request_and_push() {
    let base = [
        ("TF_BUILD", "True"),
        ("BUILD_SOURCEVERSION", MERGE),
        ("BUILD_REASON", "PullRequest"),
    ];
    for (source, target) in [("refs/heads/x", "refs/heads/main"), ("x", "main")] {
        let more = [
            ("SYSTEM_PULLREQUEST_SOURCEBRANCH", source),
            ("SYSTEM_PULLREQUEST_TARGETBRANCH", target),
            ("SYSTEM_PULLREQUEST_SOURCECOMMITID", HEAD),
            ("SYSTEM_PULLREQUEST_ISFORK", "True"),
            ("SYSTEM_PULLREQUEST_PULLREQUESTID", "3"),
        ];
        let context = read(&[&base[..], &more].concat());
        assert_eq!(
            (context.branch.as_deref(), context.commit.as_deref()),
            (Some("x"), Some(HEAD))
        );
        assert_eq!((context.fork, context.pull_request), (true, Some(3)));
        assert_eq!(
            context.base,
            BaseHint::MergeBaseWith {
                branch: "main".to_owned(),
                seen_commit: None
            }
        );
    }
    let push = [
        ("TF_BUILD", "True"),
        ("BUILD_SOURCEVERSION", MERGE),
        ("BUILD_REASON", "IndividualCI"),
        ("BUILD_SOURCEBRANCH", "refs/heads/a/b"),
    ];
    let push = read(&push);
    assert_eq!(
        (push.branch.as_deref(), push.base),
        (Some("a/b"), BaseHint::DefaultBranch)
    );
}

#[test]
fn bitbucket_pull_request_and_tag() {
    let base = [("BITBUCKET_BUILD_NUMBER", "4"), ("BITBUCKET_COMMIT", HEAD)];
    let more = [
        ("BITBUCKET_BRANCH", "x"),
        ("BITBUCKET_PR_ID", "2"),
        ("BITBUCKET_PR_DESTINATION_BRANCH", "main"),
    ];
    let context = read(&[&base[..], &more].concat());
    assert_eq!(
        (context.event.as_str(), context.pull_request),
        ("pull-requests", Some(2))
    );
    assert_eq!(
        context.base,
        BaseHint::MergeBaseWith {
            branch: "main".to_owned(),
            seen_commit: None
        }
    );
    assert_eq!(
        read(&[&base[..], &[("BITBUCKET_TAG", "v1")]].concat())
            .tag
            .as_deref(),
        Some("v1")
    );
}

#[test]
fn jenkins_change_may_be_a_merge_made_in_the_clone() {
    let base = [
        ("JENKINS_URL", "http://ci/"),
        ("BUILD_ID", "1"),
        ("GIT_COMMIT", MERGE),
        ("BRANCH_NAME", "PR-3"),
    ];
    let more = [
        ("CHANGE_ID", "3"),
        ("CHANGE_BRANCH", "x"),
        ("CHANGE_TARGET", "main"),
        ("CHANGE_FORK", "someone"),
    ];
    let context = read(&[&base[..], &more].concat());
    assert_eq!(
        (
            context.branch.as_deref(),
            context.may_be_local_merge,
            context.fork
        ),
        (Some("x"), true, true)
    );
    let branch = read(&base);
    assert_eq!(
        (branch.branch.as_deref(), branch.may_be_local_merge),
        (Some("PR-3"), false)
    );
}

#[test]
fn circleci_marks_forks() {
    let base = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", HEAD),
        ("CIRCLE_BRANCH", "pull/8"),
    ];
    let fork = [
        ("CIRCLE_PR_REPONAME", "project"),
        ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/8"),
    ];
    let context = read(&[&base[..], &fork].concat());
    assert_eq!((context.fork, context.pull_request), (true, Some(8)));
    assert!(read(&base).fork);
    assert!(!read(&[&base[..2], &[("CIRCLE_BRANCH", "pull/8/other")]].concat()).fork);
}

#[test]
fn buildkite_commit_may_read_head_and_pull_request_false() {
    let base = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_BRANCH", "x"),
        ("BUILDKITE_REPO", "git@github.com:o/p.git"),
    ];
    let none = [("BUILDKITE_COMMIT", "HEAD"), ("BUILDKITE_PULL_REQUEST", "false")];
    let context = read(&[&base[..], &none].concat());
    assert_eq!(
        (context.commit, context.pull_request, context.fork),
        (None, None, false)
    );
    for (repository, fork) in [
        ("git://github.com/o/p.git", false),
        ("git://github.com/someone/p.git", true),
    ] {
        let more = [
            ("BUILDKITE_COMMIT", HEAD),
            ("BUILDKITE_PULL_REQUEST", "5"),
            ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
            ("BUILDKITE_PULL_REQUEST_REPO", repository),
        ];
        assert_eq!(read(&[&base[..], &more].concat()).fork, fork, "{repository}");
    }
}

#[test]
fn environment_without_ci_variable_is_local() {
    for variables in [
        &[][..],
        &[("CI", "")],
        &[("CI", "false")],
        &[("CI", "0"), ("PROJECT_ID", "5")],
        &[("BUILD_ID", "5")],
    ] {
        let context = read(variables);
        assert_eq!((context.host, context.event.as_str()), (Host::None, "local"));
        assert_eq!((context.branch, context.commit), (None, None));
    }
}

#[test]
fn environment_of_other_host_is_unknown_host() {
    for variables in [
        &[("CI", "true")][..],
        &[("CI", "1")],
        &[("CI", "woodpecker")],
        &[("CI", "false"), ("TEAMCITY_VERSION", "2025.1")],
        &[("CODEBUILD_BUILD_ID", "p:1")],
        &[("DRONE", "true")],
        &[("TRAVIS", "true")],
        &[("SEMAPHORE", "true")],
        &[("CIRRUS_CI", "true")],
        &[("HARNESS_BUILD_ID", "3")],
        &[("APPVEYOR", "True")],
        &[("BUILD_ID", "5"), ("PROJECT_ID", "p")],
        &[("TEKTON_PIPELINE_RUN", "r")],
        &[("CI_SYSTEM_NAME", "woodpecker")],
        &[("bamboo_planKey", "P")],
        // Known hosts without the variables that identify them.
        &[("JENKINS_URL", "http://ci/")],
        &[("GITHUB_ACTIONS", "1")],
        &[("GITLAB_CI", "1")],
    ] {
        let context = read(variables);
        assert_eq!(context.host, Host::Unknown, "{variables:?}");
        assert_eq!((context.branch, context.commit), (None, None));
    }
}

#[test]
fn change_without_target_names_variable() {
    let jenkins = [("JENKINS_URL", "http://ci/"), ("BUILD_ID", "1")];
    for (host, variables, missing) in [
        (&jenkins[..], &[("CHANGE_ID", "7")][..], "CHANGE_TARGET"),
        (&jenkins, &[("gitlabMergeRequestIid", "7")], "gitlabTargetBranch"),
        (&jenkins, &[("ghprbPullId", "7")], "ghprbTargetBranch"),
        (&jenkins, &[("GERRIT_CHANGE_NUMBER", "7")], "GERRIT_BRANCH"),
        (
            &[("BITBUCKET_BUILD_NUMBER", "1"), ("BITBUCKET_COMMIT", HEAD)],
            &[("BITBUCKET_PR_ID", "7")],
            "BITBUCKET_PR_DESTINATION_BRANCH",
        ),
        (
            &[("BUILDKITE", "true")],
            &[("BUILDKITE_PULL_REQUEST", "7")],
            "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
        ),
        (
            &[("GITLAB_CI", "true"), ("CI_COMMIT_SHA", HEAD)],
            &[
                ("CI_PIPELINE_SOURCE", "external_pull_request_event"),
                ("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME", "x"),
            ],
            "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME",
        ),
    ] {
        let error = detect_context(&env(&[host, variables].concat()), None).unwrap_err();
        assert!(
            matches!(error, CiError::Variable { variable, .. } if variable == missing),
            "{error}"
        );
    }
}

#[test]
fn jenkins_plugins_name_change_and_target() {
    let base = [
        ("JENKINS_URL", "http://ci/"),
        ("BUILD_ID", "1"),
        ("GIT_COMMIT", MERGE),
        ("GIT_BRANCH", "origin/main"),
    ];
    let gitlab = [
        ("gitlabActionType", "MERGE"),
        ("gitlabMergeRequestIid", "7"),
        ("gitlabTargetBranch", "release"),
        ("gitlabSourceBranch", "x"),
        ("gitlabMergeRequestLastCommit", HEAD),
        ("gitlabTargetRepoHttpUrl", "https://git.invalid/o/p.git"),
    ];
    let own = [("gitlabSourceRepoHttpUrl", "https://git.invalid/O/p.git")];
    let fork = [("gitlabSourceRepoHttpUrl", "https://git.invalid/someone/p.git")];
    let ssh = [("gitlabSourceRepoHttpUrl", "ssh://git@git.invalid:2222/o/p.git")];
    let scm = [("gitlabSourceRepoHttpUrl", "https://git.invalid/scm/o/p.git")];
    let nested = [("gitlabSourceRepoHttpUrl", "https://git.invalid/sandbox/o/p.git")];
    let ghprb = [
        ("ghprbPullId", "7"),
        ("ghprbTargetBranch", "release"),
        ("ghprbSourceBranch", "x"),
        ("ghprbActualCommit", HEAD),
        ("ghprbGhRepository", "o/p"),
        ("ghprbAuthorRepoGitUrl", "https://github.com/o/p.git"),
    ];
    for (more, is_fork) in [
        ([&gitlab[..], &own].concat(), false),
        ([&gitlab[..], &fork].concat(), true),
        ([&gitlab[..], &ssh].concat(), false),
        ([&gitlab[..], &scm].concat(), false),
        ([&gitlab[..], &nested].concat(), true),
        (ghprb.to_vec(), false),
    ] {
        let context = read(&[&base[..], &more].concat());
        assert_eq!(context.trigger, Trigger::Change);
        assert_eq!(
            (context.branch.as_deref(), context.commit.as_deref()),
            (Some("x"), Some(HEAD))
        );
        assert_eq!((context.fork, context.pull_request), (is_fork, Some(7)));
        assert!(matches!(context.base, BaseHint::MergeBaseWith { branch, .. } if branch == "release"));
    }
    // A push also has a target for that plugin, and a merged change in Gerrit is a push.
    for push in [
        [("gitlabActionType", "PUSH"), ("gitlabTargetBranch", "main")],
        [
            ("GERRIT_CHANGE_NUMBER", "7"),
            ("GERRIT_EVENT_TYPE", "change-merged"),
        ],
    ] {
        let context = read(&[&base[..], &push].concat());
        assert_eq!(
            (context.trigger, context.branch.as_deref()),
            (Trigger::Commit, Some("main"))
        );
    }
}

#[test]
fn jenkins_outside_multibranch_takes_branch_from_git_branch() {
    let base = [
        ("JENKINS_URL", "http://ci/"),
        ("BUILD_ID", "1"),
        ("GIT_COMMIT", HEAD),
    ];
    let branch = |more: &[(&str, &str)]| read(&[&base[..], more].concat()).branch;
    for (reference, expected) in [
        ("origin/develop", Some("develop")),
        ("origin/release/1.0", Some("release/1.0")),
        ("refs/remotes/origin/develop", Some("develop")),
        ("refs/heads/feature/x", Some("feature/x")),
        ("develop", Some("develop")),
        ("detached", None),
        ("HEAD", None),
        ("origin/HEAD", None),
        ("origin/pr/7/merge", None),
        ("refs/pull/7/merge", None),
        // The first part may be a remote or belong to the name.
        ("upstream/develop", None),
    ] {
        assert_eq!(
            branch(&[("GIT_BRANCH", reference)]).as_deref(),
            expected,
            "{reference}"
        );
    }
    let local = |name| branch(&[("GIT_BRANCH", "upstream/develop"), ("GIT_LOCAL_BRANCH", name)]);
    assert_eq!(local("develop").as_deref(), Some("develop"));
    assert_eq!(local("main"), None);
    let tag = read(&[&base[..], &[("GIT_BRANCH", "refs/tags/v1")]].concat());
    assert_eq!((tag.tag.as_deref(), tag.branch), (Some("v1"), None));
    let multibranch = [("GIT_BRANCH", "origin/other"), ("BRANCH_NAME", "main")];
    assert_eq!(branch(&multibranch).as_deref(), Some("main"));
}

#[test]
fn gitlab_external_pull_request_names_its_target() {
    let external = [
        ("CI_PIPELINE_SOURCE", "external_pull_request_event"),
        ("CI_EXTERNAL_PULL_REQUEST_IID", "7"),
        ("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME", "x"),
        ("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA", HEAD),
        ("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME", "release"),
        ("CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA", BASE),
        ("CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY", "o/p"),
        ("CI_COMMIT_BRANCH", "x"),
    ];
    let source = "CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY";
    let context = gitlab(&[&external[..], &[(source, "O/p")]].concat());
    assert_eq!((context.trigger, context.fork), (Trigger::Change, false));
    assert_eq!(
        (context.branch.as_deref(), context.commit.as_deref()),
        (Some("x"), Some(HEAD))
    );
    let seen_commit = Some(BASE.to_owned());
    let branch = "release".to_owned();
    assert_eq!(context.base, BaseHint::MergeBaseWith { branch, seen_commit });
    // No merge request of GitLab has this number, so none gets a comment.
    assert_eq!(context.pull_request, None);
    assert!(gitlab(&[&external[..], &[(source, "someone/p")]].concat()).fork);
    assert!(gitlab(&external).fork);
}

#[test]
fn forced_host_wins_over_environment() {
    let variables = [&GITLAB[..], &[("GITHUB_ACTIONS", "true")]].concat();
    assert_eq!(
        detect_context(&env(&variables), Some(Host::None)).unwrap().host,
        Host::None
    );
    assert_eq!(
        detect_context(&env(&variables), Some(Host::GitLab)).unwrap().host,
        Host::GitLab
    );
}

#[test]
fn every_host_is_parsed_from_its_own_name() {
    for host in Host::ALL {
        assert_eq!(host.to_string().parse::<Host>().as_ref(), Ok(host));
    }
    insta::assert_snapshot!(
        "travis".parse::<Host>().unwrap_err(),
        @"`travis` is not a CI host (--ci, SLUICEGATE_CI); valid values: auto, gitea, github, gitlab, azure, bitbucket, circleci, buildkite, jenkins, unknown, none"
    );
}

proptest! {
    #[test]
    fn no_payload_makes_a_panic(event in "push|pull_request|merge_group|schedule", field in "[a-z_.]{0,12}", text in ".{0,60}") {
        let mut payload = pull_request(&json!({ "full_name": text }));
        payload["before"] = json!(text);
        payload["after"] = json!([text]);
        payload["pull_request"][&field] = json!(text);
        let context = github(&event, &text, payload);
        if let Ok(context) = context {
            prop_assert_eq!(context.event, event);
        }
    }
}
