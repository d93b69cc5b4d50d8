//! The fault matrix: wherever the server fails, the reported outcome matches the stored versions.

use crate::publish::faulty_server::{Fault, Faulty, Shows};
use crate::publish::planned_project::{CONFIG, pipeline, planned, shared, world};
use crate::support::World;
use futures_util::stream::{self, StreamExt as _};
use secrecy::SecretString;
use sluicegate::publish::{
    IfExists, LatestVersion, OnIgnored, Outcome, OutcomeKind, Plan, PublishOptions, execute_plan,
};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, Client, Delays, Settings, TokenSource};
use std::time::Duration;

/// Creates a plan with only a shared pipeline and its file, which the details can prove complete.
fn plain() -> (World, Plan) {
    let world = World::new();
    world.write("load.orch.yaml", pipeline("orchestration", &[]));
    world.write(CONFIG, shared(&[("load.orch.yaml", "load-it", true)]));
    let plan = planned(&world);
    (world, plan)
}

/// Creates a plan with a script, which the details do not include.
fn scripted() -> (World, Plan) {
    let world = world();
    let plan = planned(&world);
    (world, plan)
}

pub fn options() -> PublishOptions {
    PublishOptions {
        on_ignored: OnIgnored::Fail,
        if_exists: IfExists::Fail,
        verify: true,
        lookup_timeout: Duration::from_millis(300),
        needs_hashes: false,
    }
}

/// Longer than any response takes.
const PATIENT: Duration = Duration::from_secs(60);

pub async fn run(server: &Faulty, plan: &Plan, options: PublishOptions) -> Outcome {
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

const fn row(faults: &'static [Fault], ends: [OutcomeKind; 2], uploads: usize) -> Row {
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
    use OutcomeKind::{Conflict, Failed, Incomplete, Published, Unknown};
    const SAFE: [OutcomeKind; 2] = [Published, Published];
    const LOST: [OutcomeKind; 2] = [Published, Incomplete];
    let rows = [
        row(&[Fine], SAFE, 1),
        row(&[Slow], SAFE, 1),
        row(&[BeforeAccept, Fine], SAFE, 2),
        row(&[AfterHead, Fine], SAFE, 2),
        row(&[MidBody, Fine], SAFE, 2),
        row(&[Refused, Fine], SAFE, 2),
        row(&[Silent, Fine], SAFE, 2),
        row(&[AfterHead, MidBody, Refused], [Unknown; 2], 3),
        row(&[StoredThenGone], LOST, 1),
        row(&[StoredThen502], LOST, 1),
        row(&[StoredThenSilent], LOST, 1),
        row(&[AfterHead, StoredThenGone], LOST, 2),
        row(&[StoredThenNonsense], [Incomplete; 2], 1),
        row(&[StoredThenHalfAnAnswer], [Incomplete; 2], 1),
        // A proxy may ask the client to wait or redirect it after the platform has stored the version.
        row(&[StoredThen(429)], LOST, 1),
        row(&[StoredThen(503)], LOST, 1),
        row(&[StoredThen(500)], LOST, 1),
        row(&[StoredThen(504)], LOST, 1),
        row(&[StoredThen(408)], LOST, 1),
        row(&[StoredThen(425)], LOST, 1),
        row(&[StoredThen(301)], LOST, 1),
        row(&[StoredThen(303)], LOST, 1),
        row(&[StoredThen(307)], LOST, 2),
        row(&[StoredThen(308)], LOST, 2),
        row(&[Status(307)], SAFE, 2),
        row(&[Status(429)], [Unknown; 2], 1),
        row(&[Status(503)], [Unknown; 2], 1),
        row(&[Status(504), Fine], SAFE, 2),
        // A 2xx status that does not mean "done".
        row(&[StoredThen(202)], LOST, 1),
        row(&[StoredThen(206)], LOST, 1),
        row(&[Status(202), Status(202), Status(202)], [Unknown; 2], 3),
        row(&[TwinWins], [Conflict; 2], 1),
        row(&[TwinWinsThenGone], [Conflict; 2], 1),
        row(&[Refused, TwinWins], [Conflict; 2], 2),
        row(&[Status(400)], [Failed; 2], 1),
        row(&[Status(403)], [Failed; 2], 1),
        row(&[Refused, Status(401)], [Failed; 2], 2),
        // The details lag: once, then for longer than the client waits.
        Row {
            lag: 1,
            ..row(&[Fine], SAFE, 1)
        },
        Row {
            lag: 99,
            ..row(&[Fine], [Incomplete; 2], 1)
        },
        Row {
            lag: 1,
            ..row(&[StoredThenGone], LOST, 1)
        },
        // Sent again because the version was not visible yet, rejected as existing, and then identified as ours.
        Row {
            lag: 4,
            ..row(&[StoredThenGone, Fine], LOST, 2)
        },
        Row {
            lag: 99,
            ..row(&[StoredThenGone, Fine], [Unknown; 2], 2)
        },
        Row {
            shows: Shows::NoCommit,
            ..row(&[StoredThenGone], [Unknown; 2], 1)
        },
        Row {
            shows: Shows::Old,
            ..row(&[StoredThenGone], [Conflict; 2], 1)
        },
        Row {
            shows: Shows::Broken,
            ..row(&[StoredThenGone], [Unknown; 2], 1)
        },
        Row {
            shows: Shows::Broken,
            ..row(&[Fine], [Incomplete; 2], 1)
        },
    ];
    let plans = [plain(), scripted()];
    let all = rows.iter().flat_map(|row| {
        let ends = plans.iter().zip(row.ends);
        ends.map(move |((_world, plan), expected)| check(row, plan, expected))
    });
    stream::iter(all).buffer_unordered(12).collect::<()>().await;
}

async fn check(row: &Row, plan: &Plan, expected: OutcomeKind) {
    let server = Faulty::start(row.faults, row.lag, row.shows);
    let is_silent = |fault: &Fault| matches!(fault, Fault::Silent | Fault::StoredThenSilent);
    let timeout = if row.faults.iter().any(is_silent) {
        Duration::from_secs(3)
    } else {
        PATIENT
    };
    let outcome = run_within(timeout, &server.url, plan, options()).await;
    let told = format!(
        "{:?} (lag {}, {:?}): {outcome:#?}",
        row.faults, row.lag, row.shows
    );
    assert_eq!(outcome.kind, expected, "{told}");
    assert_eq!(server.uploads(), row.uploads, "{told}");
    let stored = server.stored();
    let ours = stored.iter().filter(|stored| stored.commit == plan.commit_hash);
    match (stored.len(), ours.count()) {
        // Nothing is stored: the outcome is not a success and does not claim a version.
        (0, _) => assert!(
            matches!(outcome.kind, OutcomeKind::Failed | OutcomeKind::Unknown),
            "{told}"
        ),
        (1, 0) => assert_eq!(outcome.kind, OutcomeKind::Conflict, "{told}"),
        // Our version is stored: the outcome does not deny it.
        (1, 1) => {
            assert_ne!(outcome.kind, OutcomeKind::Failed, "{told}");
            let parts = String::from_utf8_lossy(&stored[0].body)
                .matches("Content-Disposition: form-data; name=\"")
                .count();
            assert_eq!(parts, plan.files.len(), "{told}");
        }
        _ => panic!("a version is published twice: {told}"),
    }
    let is_success = outcome.kind == OutcomeKind::Published;
    assert!(is_success || !outcome.problems.is_empty(), "{told}");
}

/// An attempt that got a "retry later" response may be the one that was stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn our_own_publish_is_no_conflict_after_a_retry() {
    let (_world, plan) = plain();
    for fault in [Fault::StoredThen(429), Fault::StoredThen(503)] {
        let server = Faulty::start(&[fault], 0, Shows::Truth);
        let outcome = run_trying(2, PATIENT, &server.url, &plan, options()).await;
        assert_eq!(outcome.kind, OutcomeKind::Published, "{fault:?}: {outcome:#?}");
        assert_eq!((server.uploads(), server.stored().len()), (2, 1), "{fault:?}");
    }
    // Another client's version is still reported as a conflict.
    let server = Faulty::start(&[Fault::Status(429), Fault::TwinWins], 0, Shows::Truth);
    let outcome = run_trying(2, PATIENT, &server.url, &plan, options()).await;
    assert_eq!(outcome.kind, OutcomeKind::Conflict, "{outcome:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn existing_version_costs_no_upload() {
    let (_world, plan) = plain();
    let server = Faulty::start(&[], 0, Shows::Truth);
    let first = run(&server, &plan, options()).await;
    assert_eq!(first.kind, OutcomeKind::Published);
    let again = run(&server, &plan, options()).await;
    assert_eq!((again.kind, server.uploads()), (OutcomeKind::Conflict, 1));
    let same = PublishOptions {
        if_exists: IfExists::SameContent,
        ..options()
    };
    let green = run(&server, &plan, same).await;
    assert_eq!(
        (green.kind, green.verified, server.uploads()),
        (OutcomeKind::AlreadyPublished, true, 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn publish_race_of_two_jobs_has_one_winner() {
    let (_world, plan) = plain();
    for _ in 0..10 {
        let server = Faulty::start(&[], 0, Shows::Truth);
        let (one, other) = tokio::join!(run(&server, &plan, options()), run(&server, &plan, options()));
        let mut kinds = [one.kind, other.kind].map(|kind| kind.to_string());
        kinds.sort();
        assert_eq!(kinds, ["conflict", "published"]);
        assert_eq!(server.stored().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn disabled_version_leaves_one_before_or_nothing() {
    let (_world, plan) = scripted();
    let disabling = PublishOptions {
        on_ignored: OnIgnored::Disable,
        ..options()
    };
    let server = Faulty::start(&[Fault::StoredThenGone], 0, Shows::Truth);
    let outcome = run(&server, &plan, disabling).await;
    assert_eq!(
        (outcome.kind, outcome.disabled, outcome.latest),
        (OutcomeKind::Incomplete, true, Some(LatestVersion::NoneEnabled))
    );

    let server = Faulty::start(&[Fault::None, Fault::StoredThenNonsense], 0, Shows::Truth);
    let mut before = plan.clone();
    before.version_name = "0.9".to_owned();
    assert_eq!(
        run(&server, &before, options()).await.kind,
        OutcomeKind::Published
    );
    let outcome = run(&server, &plan, disabling).await;
    assert_eq!(outcome.latest, Some(LatestVersion::Enabled("0.9".to_owned())));
    assert!(!server.stored()[1].enabled && server.stored()[0].enabled);
}

#[tokio::test]
async fn publish_sends_nothing_if_version_lookup_fails() {
    let (_world, plan) = plain();
    let refused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", refused.local_addr().unwrap());
    drop(refused);
    let outcome = run_within(PATIENT, &url, &plan, options()).await;
    assert_eq!(outcome.kind, OutcomeKind::Failed);
    assert!(outcome.problems[0].contains("nothing was sent"), "{outcome:?}");
}
