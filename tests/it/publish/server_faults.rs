//! The fault matrix: wherever the server fails, the reported outcome matches the stored versions.

use crate::publish::faulty_server::{Fault, Faulty, Shows};
use crate::publish::planned_project::{CONFIG, pipeline_with_parameters, plan_world, world_to_plan};
use crate::support::World;
use crate::support::publishing::shared_pipelines_file;
use futures_util::stream::{self, StreamExt as _};
use secrecy::SecretString;
use sluicegate::publish::{
    IfExists, LatestVersion, OnIgnored, Outcome, OutcomeKind, Plan, PublishOptions, PublishProblem,
    Withdrawal, execute_plan,
};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, Client, Delays, Settings, TokenSource};
use std::time::Duration;

/// Creates a plan with only a shared pipeline and its file, which the details can prove complete.
fn plain_plan() -> (World, Plan) {
    let world = World::new();
    world.write("load.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    world.write(
        CONFIG,
        shared_pipelines_file(&[("load.orch.yaml", "load-it", true)]),
    );
    let plan = plan_world(&world);
    (world, plan)
}

/// Creates a plan with a script, which the details do not include.
fn plan_with_script() -> (World, Plan) {
    let world = world_to_plan();
    let plan = plan_world(&world);
    (world, plan)
}

pub fn fast_publish_options() -> PublishOptions {
    PublishOptions {
        on_ignored: OnIgnored::Fail,
        if_exists: IfExists::Fail,
        verify: true,
        lookup_timeout: Duration::from_millis(300),
        needs_hashes: false,
        retries: 2,
    }
}

/// Longer than any response takes.
const PATIENT: Duration = Duration::from_secs(60);

pub async fn run_publish(server: &Faulty, plan: &Plan, options: PublishOptions) -> Outcome {
    run_within(PATIENT, &server.url, plan, options).await
}

async fn run_within(timeout: Duration, url: &str, plan: &Plan, options: PublishOptions) -> Outcome {
    run_trying(0, timeout, url, plan, options).await
}

async fn run_trying(
    retries: u32,
    timeout: Duration,
    url: &str,
    plan: &Plan,
    options: PublishOptions,
) -> Outcome {
    let settings = Settings {
        base_url: BaseUrl::parse(url).unwrap(),
        token: TokenSource::Value(SecretString::from("secret")),
        timeout,
        retries,
        ca_cert: None,
        client_certificate: None,
        observer: sluicegate_platform::http::Observer::default(),
    };
    let platform = Platform::new(Client::with_delays(settings, Delays::default()).unwrap());
    execute_plan(&platform, plan, options, None).await
}

/// A row: the faults of successive uploads, and the expected outcome.
struct Row {
    faults: &'static [Fault],
    lag: usize,
    shows: Shows,
    /// The outcomes for a plan that the details can prove complete, and for one that they cannot.
    ends: [OutcomeKind; 2],
    uploads: usize,
}

const fn fault_row(faults: &'static [Fault], ends: [OutcomeKind; 2], uploads: usize) -> Row {
    Row {
        faults,
        lag: 0,
        shows: Shows::Truth,
        ends,
        uploads,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reported_outcome_matches_stored_versions_for_each_fault() {
    use Fault::{
        AfterHead, BeforeAccept, MidBody, None as Fine, Refused, Silent, Slow, Status, StoredThen,
        StoredThen502, StoredThenGone, StoredThenHalfAnAnswer, StoredThenNonsense, StoredThenSilent,
        TwinWins, TwinWinsThenGone,
    };
    use OutcomeKind::{Conflict, Failed, Published, Unknown, Unverified};
    const SAFE: [OutcomeKind; 2] = [Published, Published];
    const LOST: [OutcomeKind; 2] = [Published, Unverified];
    let rows = [
        fault_row(&[Fine], SAFE, 1),
        fault_row(&[Slow], SAFE, 1),
        fault_row(&[BeforeAccept, Fine], SAFE, 2),
        fault_row(&[AfterHead, Fine], SAFE, 2),
        fault_row(&[MidBody, Fine], SAFE, 2),
        fault_row(&[Refused, Fine], SAFE, 2),
        fault_row(&[Silent, Fine], SAFE, 2),
        fault_row(&[AfterHead, MidBody, Refused], [Unknown; 2], 3),
        fault_row(&[StoredThenGone], LOST, 1),
        fault_row(&[StoredThen502], LOST, 1),
        fault_row(&[StoredThenSilent], LOST, 1),
        fault_row(&[AfterHead, StoredThenGone], LOST, 2),
        fault_row(&[StoredThenNonsense], [Unverified; 2], 1),
        fault_row(&[StoredThenHalfAnAnswer], [Unverified; 2], 1),
        // A proxy may ask the client to wait or redirect it after the platform has stored the version.
        fault_row(&[StoredThen(429)], LOST, 1),
        fault_row(&[StoredThen(503)], LOST, 1),
        fault_row(&[StoredThen(500)], LOST, 1),
        fault_row(&[StoredThen(504)], LOST, 1),
        fault_row(&[StoredThen(408)], LOST, 1),
        fault_row(&[StoredThen(425)], LOST, 1),
        fault_row(&[StoredThen(301)], LOST, 1),
        fault_row(&[StoredThen(303)], LOST, 1),
        fault_row(&[StoredThen(307)], LOST, 2),
        fault_row(&[StoredThen(308)], LOST, 2),
        fault_row(&[Status(307)], SAFE, 2),
        fault_row(&[Status(429)], [Unknown; 2], 1),
        fault_row(&[Status(503)], [Unknown; 2], 1),
        fault_row(&[Status(504), Fine], SAFE, 2),
        // A 2xx status that does not mean "done".
        fault_row(&[StoredThen(202)], LOST, 1),
        fault_row(&[StoredThen(206)], LOST, 1),
        // The platform may still be processing the upload, which is therefore never repeated.
        fault_row(&[Status(202), Fine], [Unverified; 2], 1),
        fault_row(&[Status(203), Fine], [Unverified; 2], 1),
        fault_row(&[Status(204), Fine], [Unverified; 2], 1),
        fault_row(&[Status(205), Fine], [Unverified; 2], 1),
        fault_row(&[Status(206), Fine], [Unverified; 2], 1),
        Row {
            shows: Shows::Broken,
            ..fault_row(&[Status(202), Fine], [Unknown; 2], 1)
        },
        fault_row(&[TwinWins], [Conflict; 2], 1),
        fault_row(&[TwinWinsThenGone], [Conflict; 2], 1),
        fault_row(&[Refused, TwinWins], [Conflict; 2], 2),
        fault_row(&[Status(400)], [Failed; 2], 1),
        fault_row(&[Status(403)], [Failed; 2], 1),
        fault_row(&[Refused, Status(401)], [Failed; 2], 2),
        // The details lag: once, then for longer than the client waits.
        Row {
            lag: 1,
            ..fault_row(&[Fine], SAFE, 1)
        },
        Row {
            lag: 99,
            ..fault_row(&[Fine], [Unverified; 2], 1)
        },
        Row {
            lag: 1,
            ..fault_row(&[StoredThenGone], LOST, 1)
        },
        // Sent again because the version was not visible yet, rejected as existing, and then identified as ours.
        Row {
            shows: Shows::AfterSecondUpload,
            ..fault_row(&[StoredThenGone, Fine], LOST, 2)
        },
        Row {
            lag: 99,
            ..fault_row(&[StoredThenGone, Fine], [Unknown; 2], 2)
        },
        Row {
            shows: Shows::NoCommit,
            ..fault_row(&[StoredThenGone], [Unknown; 2], 1)
        },
        Row {
            shows: Shows::Old,
            ..fault_row(&[StoredThenGone], [Conflict; 2], 1)
        },
        // Only the clock of the platform proves that another run published the version.
        Row {
            shows: Shows::OldWithoutDate,
            ..fault_row(&[StoredThenGone], [Unknown; 2], 1)
        },
        Row {
            shows: Shows::Broken,
            ..fault_row(&[StoredThenGone], [Unknown; 2], 1)
        },
        Row {
            shows: Shows::Broken,
            ..fault_row(&[Fine], [Unverified; 2], 1)
        },
    ];
    let plans = [plain_plan(), plan_with_script()];
    let all = rows.iter().flat_map(|row| {
        let ends = plans.iter().zip(row.ends);
        ends.map(move |((_world, plan), expected)| check_row(row, plan, expected))
    });
    stream::iter(all).buffer_unordered(12).collect::<()>().await;
}

async fn check_row(row: &Row, plan: &Plan, expected: OutcomeKind) {
    let server = Faulty::start(row.faults, row.lag, row.shows);
    let is_silent = |fault: &Fault| matches!(fault, Fault::Silent | Fault::StoredThenSilent);
    let timeout = if row.faults.iter().any(is_silent) {
        Duration::from_secs(3)
    } else {
        PATIENT
    };
    let mut options = fast_publish_options();
    // The second lookup shows the version, however long the first one takes.
    if row.lag == 1 {
        options.lookup_timeout = PATIENT;
    }
    let outcome = run_within(timeout, &server.url, plan, options).await;
    let text = format!(
        "{:?} (lag {}, {:?}): {outcome:#?}",
        row.faults, row.lag, row.shows
    );
    assert_eq!(outcome.kind, expected, "{text}");
    assert_eq!(server.uploads(), row.uploads, "{text}");
    let stored = server.stored_versions();
    let ours = stored.iter().filter(|stored| stored.commit == plan.commit_hash);
    match (stored.len(), ours.count()) {
        // Nothing is stored: the outcome is not a success and does not claim a version.
        (0, _) => assert!(
            matches!(outcome.kind, OutcomeKind::Failed | OutcomeKind::Unknown)
                || outcome.problems.contains(&PublishProblem::NotListed),
            "{text}"
        ),
        (1, 0) => assert_eq!(outcome.kind, OutcomeKind::Conflict, "{text}"),
        // Our version is stored: the outcome does not deny it.
        (1, 1) => {
            assert_ne!(outcome.kind, OutcomeKind::Failed, "{text}");
            let parts = String::from_utf8_lossy(&stored[0].body)
                .matches("Content-Disposition: form-data; name=\"")
                .count();
            assert_eq!(parts, plan.files.len(), "{text}");
        }
        _ => panic!("a version is published twice: {text}"),
    }
    let is_success = outcome.kind == OutcomeKind::Published;
    assert!(is_success || !outcome.problems.is_empty(), "{text}");
}

/// An attempt that got a "retry later" response may be the one that was stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn our_own_publish_is_no_conflict_after_a_retry() {
    let (_world, plan) = plain_plan();
    for fault in [Fault::StoredThen(429), Fault::StoredThen(503)] {
        let server = Faulty::start(&[fault], 0, Shows::Truth);
        let outcome = run_trying(2, PATIENT, &server.url, &plan, fast_publish_options()).await;
        assert_eq!(outcome.kind, OutcomeKind::Published, "{fault:?}: {outcome:#?}");
        assert_eq!(
            (server.uploads(), server.stored_versions().len()),
            (2, 1),
            "{fault:?}"
        );
    }
    // Another client's version is still reported as a conflict.
    let server = Faulty::start(&[Fault::Status(429), Fault::TwinWins], 0, Shows::Truth);
    let outcome = run_trying(2, PATIENT, &server.url, &plan, fast_publish_options()).await;
    assert_eq!(outcome.kind, OutcomeKind::Conflict, "{outcome:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn existing_version_costs_no_upload() {
    let (_world, plan) = plain_plan();
    let server = Faulty::start(&[], 0, Shows::Truth);
    let first = run_publish(&server, &plan, fast_publish_options()).await;
    assert_eq!(first.kind, OutcomeKind::Published);
    let second_run = run_publish(&server, &plan, fast_publish_options()).await;
    assert_eq!((second_run.kind, server.uploads()), (OutcomeKind::Conflict, 1));
    let same = PublishOptions {
        if_exists: IfExists::SameContent,
        ..fast_publish_options()
    };
    let green = run_publish(&server, &plan, same).await;
    assert_eq!(
        (green.kind, green.verified, server.uploads()),
        (OutcomeKind::AlreadyPublished, true, 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn publish_race_of_two_jobs_has_one_winner() {
    let (_world, plan) = plain_plan();
    for _ in 0..10 {
        let server = Faulty::start(&[], 0, Shows::Truth);
        let (one, other) = tokio::join!(
            run_publish(&server, &plan, fast_publish_options()),
            run_publish(&server, &plan, fast_publish_options())
        );
        let mut kinds = [one.kind, other.kind].map(|kind| kind.to_string());
        kinds.sort();
        assert_eq!(kinds, ["conflict", "published"]);
        assert_eq!(server.stored_versions().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn disabled_version_leaves_one_before_or_nothing() {
    let (_world, plan) = plan_with_script();
    let disabling = PublishOptions {
        on_ignored: OnIgnored::Disable,
        ..fast_publish_options()
    };
    let server = Faulty::start(&[Fault::StoredThenGone], 0, Shows::Truth);
    let outcome = run_publish(&server, &plan, disabling).await;
    assert_eq!(
        (outcome.kind, outcome.verified, outcome.withdrawal),
        (
            OutcomeKind::Unverified,
            true,
            Withdrawal::Disabled(LatestVersion::NoneEnabled)
        )
    );

    let server = Faulty::start(&[Fault::None, Fault::StoredThenNonsense], 0, Shows::Truth);
    let mut before = plan.clone();
    before.version_name = "0.9".to_owned();
    assert_eq!(
        run_publish(&server, &before, fast_publish_options()).await.kind,
        OutcomeKind::Published
    );
    let outcome = run_publish(&server, &plan, disabling).await;
    let latest = LatestVersion::Enabled("0.9".to_owned());
    assert_eq!(outcome.withdrawal, Withdrawal::Disabled(latest));
    assert!(!server.stored_versions()[1].enabled && server.stored_versions()[0].enabled);
}

#[tokio::test]
async fn publish_sends_nothing_if_version_lookup_fails() {
    let (_world, plan) = plain_plan();
    let refused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", refused.local_addr().unwrap());
    drop(refused);
    let outcome = run_within(PATIENT, &url, &plan, fast_publish_options()).await;
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert!(
        outcome.list_sentences()[0].contains("nothing was sent"),
        "{outcome:?}"
    );
}
