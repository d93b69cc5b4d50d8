//! `sluicegate artifacts` while another job disables versions, too.

use crate::support::{Platform, World, answer, in_turn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use wiremock::{Request, ResponseTemplate};

fn version_entry(name: &str, is_enabled: bool) -> Value {
    json!({ "sharedPipelineIdPrefix": "sales", "versionName": name, "enabled": is_enabled,
        "createdAt": format!("2026-11-2{name}T09:30:00Z") })
}

/// Creates a platform with the enabled versions 1, 2 and 3. If `has_other_job` is set, another job disables all other
/// versions just before the first one is disabled. From then on, lookups of the latest version get `later_response`, if
/// it is set.
fn platform_with_three_versions(has_other_job: bool, later_response: Option<ResponseTemplate>) -> Platform {
    let failing_version = None;
    platform_with_failing_version(has_other_job, later_response, failing_version)
}

/// Creates the same platform, except that each request to disable `failing_version` fails.
fn platform_with_failing_version(
    has_other_job: bool,
    later_response: Option<ResponseTemplate>,
    failing_version: Option<&'static str>,
) -> Platform {
    let platform = Platform::new();
    let names = ["1", "2", "3"].map(str::to_owned);
    let states = Arc::new(Mutex::new(BTreeMap::from(names.map(|name| (name, true)))));
    let listed_states = Arc::clone(&states);
    platform.respond_to("GET", "/artifacts$", move |_: &Request| {
        let states = listed_states.lock().unwrap();
        let entries = states
            .iter()
            .map(|(name, is_enabled)| version_entry(name, *is_enabled));
        answer(&json!({ "results": entries.collect::<Vec<_>>() }))
    });
    let shown_states = Arc::clone(&states);
    platform.respond_to("GET", "/artifacts/details$", move |_: &Request| {
        let states = shown_states.lock().unwrap();
        let is_changed = states.values().any(|is_enabled| !is_enabled);
        if let Some(response) = later_response.clone().filter(|_| is_changed) {
            return response;
        }
        match states.iter().rev().find(|(_, is_enabled)| **is_enabled) {
            Some((name, _)) => {
                answer(&json!({ "artifactDetails": version_entry(name, true), "sharedPipelines": [] }))
            }
            None => ResponseTemplate::new(404),
        }
    });
    let is_other_job_due = AtomicBool::new(has_other_job);
    platform.respond_to("PATCH", "/artifacts$", move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let mut states = states.lock().unwrap();
        if is_other_job_due.swap(false, Ordering::SeqCst) {
            states.values_mut().for_each(|is_enabled| *is_enabled = false);
        }
        let name = body["versionName"].as_str().unwrap().to_owned();
        if failing_version == Some(name.as_str()) {
            return ResponseTemplate::new(400);
        }
        states.insert(name, body["enabled"] == true);
        answer(&json!({ "enabled": body["enabled"] }))
    });
    platform
}

/// Returns the names of the versions that the requests enabled.
fn enabled_names(platform: &Platform) -> Vec<String> {
    let mut names = Vec::new();
    for request in platform.requests() {
        if request.method.as_str() != "PATCH" {
            continue;
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        if body["enabled"] == true {
            names.push(body["versionName"].as_str().unwrap().to_owned());
        }
    }
    names
}

const COMMANDS: [(&str, &str); 4] = [
    ("disable 1", "1"),
    ("disable 3", "3"),
    ("rollback", "3"),
    ("prune --keep 1 --yes", "2"),
];

#[test]
fn version_is_enabled_again_if_another_job_disables_the_others() {
    let world = World::new();
    for (args, name) in COMMANDS {
        let platform = platform_with_three_versions(true, None);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        let output = call.run(format!("artifacts {args}")).expect(3);
        output.saying(&[&format!("version {name} of sales was enabled again")]);
        assert_eq!(enabled_names(&platform), [name], "{args}");
    }
}

#[test]
fn prune_that_stops_enables_its_newest_version_again_if_no_version_is_enabled() {
    let world = World::new();
    for (has_other_job, failing_version, enabled) in [
        (true, "1", &["2"][..]),
        // Version 3 is still enabled.
        (false, "1", &[]),
        // The command disabled no version before the failure.
        (true, "2", &[]),
    ] {
        let platform = platform_with_failing_version(has_other_job, None, Some(failing_version));
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        let output = call.run("artifacts prune --keep 1 --yes");
        assert_ne!(output.code, 0, "{}", output.all());
        output.assert_logged(&[&format!("could not disable version {failing_version} of sales")]);
        let is_enabled_again = output.all().contains("version 2 of sales was enabled again");
        assert_eq!(is_enabled_again, !enabled.is_empty(), "{}", output.all());
        assert_eq!(enabled_names(&platform), enabled, "{}", output.all());
    }
}

#[test]
fn version_stays_disabled_if_only_the_lookup_of_the_latest_one_fails() {
    let world = World::new();
    for (response, reason) in [
        (ResponseTemplate::new(404), "does not show that all are disabled"),
        (ResponseTemplate::new(400), "could not determine which version"),
    ] {
        for (args, _) in COMMANDS {
            let platform = platform_with_three_versions(false, Some(response.clone()));
            let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
            let output = call
                .run(format!("artifacts {args}"))
                .expect(3)
                .saying(&[reason, "to see the enabled versions"]);
            assert_eq!(enabled_names(&platform), [] as [&str; 0], "{args}");
            // The versions that `prune` disabled are listed nevertheless.
            let is_listed = output.out.contains("disabled 2 versions of sales: 2, 1");
            assert_eq!(is_listed, args.starts_with("prune"), "{}", output.all());
        }
    }
}

#[test]
fn version_stays_disabled_if_another_version_is_enabled() {
    let world = World::new();
    for (args, _) in COMMANDS {
        let platform = platform_with_three_versions(false, None);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        call.run(format!("artifacts {args}")).expect(0);
        assert_eq!(enabled_names(&platform), [] as [&str; 0], "{args}");
    }
}

#[test]
fn forced_or_repeated_disable_enables_no_version() {
    let world = World::new();
    for args in ["disable 1 --force", "rollback --force"] {
        let platform = platform_with_three_versions(true, None);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        // Without `--force`, the second call changes nothing: the version is disabled already.
        for args in [args, "disable 1"] {
            let output = call.run(format!("artifacts {args}")).expect(0);
            output.saying(&["NO VERSION IS ENABLED"]);
        }
        assert_eq!(enabled_names(&platform), [] as [&str; 0], "{args}");
    }
}

#[test]
fn version_that_cannot_be_enabled_again_is_reported_with_the_command() {
    let (world, platform) = (World::new(), Platform::new());
    let list = json!([version_entry("2", true), version_entry("1", true)]);
    let later_list = json!([version_entry("2", false), version_entry("1", false)]);
    platform.respond_to(
        "GET",
        "/artifacts$",
        in_turn(vec![answer(&list), answer(&later_list)]),
    );
    platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
    let disabled = answer(&json!({ "enabled": false }));
    platform.respond_to(
        "PATCH",
        "/artifacts$",
        in_turn(vec![disabled, ResponseTemplate::new(500)]),
    );
    let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
    call.run("artifacts disable 1").expect(3).saying(&[
        "NO VERSION IS ENABLED",
        "could not determine whether version 1 of sales was enabled",
        "run `sluicegate artifacts enable 1 --prefix sales` now",
    ]);
}

/// Creates a platform with the enabled versions 1, 2 and 3. The first `lag` lookups of the latest version get
/// version 2, the next one gets version 3, and those after the change get `new_latest_name`.
fn platform_with_old_latest_version(lag: usize, new_latest_name: &str) -> Platform {
    let platform = Platform::new();
    let entries: Vec<Value> = ["1", "2", "3"].map(|name| version_entry(name, true)).to_vec();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": entries })));
    let details =
        |name: &str| answer(&json!({ "artifactDetails": version_entry(name, true), "sharedPipelines": [] }));
    let mut responses = vec![details("2"); lag];
    responses.push(details("3"));
    responses.push(details(new_latest_name));
    platform.respond_to("GET", "/artifacts/details$", in_turn(responses));
    platform.respond_to("PATCH", "/artifacts$", answer(&json!({ "enabled": false })));
    platform
}

/// Returns the names of the versions that the requests disabled.
fn disabled_names(platform: &Platform) -> Vec<String> {
    let requests = platform.requests();
    let changes = requests
        .iter()
        .filter(|request| request.method.as_str() == "PATCH");
    changes
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["versionName"].to_string())
        .collect()
}

#[test]
fn version_that_is_newer_than_the_latest_one_is_read_again() {
    let world = World::new();
    for (args, disabled, latest_name) in [
        ("prune --keep 1 --yes", vec![r#""2""#, r#""1""#], "3"),
        ("rollback", vec![r#""3""#], "2"),
    ] {
        let platform = platform_with_old_latest_version(1, latest_name);
        let call = platform
            .call(&world)
            .variable("SLUICEGATE_PREFIX", "sales")
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "5");
        call.run(format!("artifacts {args}")).expect(0);
        assert_eq!(disabled_names(&platform), disabled, "{args}");
        // If the responses stay contradictory, nothing is disabled.
        let platform = platform_with_old_latest_version(20, latest_name);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        call.run(format!("artifacts {args}")).expect(3).saying(&[
            "reports version 2, but lists the newer version 3 as enabled",
            "run `sluicegate artifacts disable 2 --prefix sales` or \
                 `sluicegate artifacts disable 3 --prefix sales`",
        ]);
        assert_eq!(disabled_names(&platform), [] as [&str; 0], "{args}");
    }
}

#[test]
fn forced_rollback_disables_the_reported_latest_version_although_a_newer_one_is_enabled() {
    let world = World::new();
    let platform = platform_with_old_latest_version(1, "3");
    let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
    let output = call.run("artifacts rollback --force").expect(0).saying(&[
        "version 2 may not be the latest version of sales",
        "lists the newer version 3 as enabled",
    ]);
    assert!(output.out.contains("get version 3 now"), "{}", output.out);
    assert_eq!(disabled_names(&platform), [r#""2""#]);
}

#[test]
fn latest_version_is_not_newer_than_itself() {
    let world = World::new();
    for (args, disabled) in [("prune --keep 1 --yes", "1"), ("rollback", "2")] {
        let platform = Platform::new();
        let mut listed_latest = version_entry("2", true);
        listed_latest["createdAt"] = json!("2026-11-22T09:30:00.5Z");
        let list = json!([version_entry("1", true), listed_latest]);
        platform.respond_to("GET", "/artifacts$", answer(&list));
        let details = |name: &str| {
            answer(&json!({ "artifactDetails": version_entry(name, true), "sharedPipelines": [] }))
        };
        let later_name = if disabled == "1" { "2" } else { "1" };
        platform.respond_to(
            "GET",
            "/artifacts/details$",
            in_turn(vec![details("2"), details(later_name)]),
        );
        platform.respond_to("PATCH", "/artifacts$", answer(&json!({ "enabled": false })));
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        call.run(format!("artifacts {args}")).expect(0);
        assert_eq!(disabled_names(&platform), [format!("\"{disabled}\"")], "{args}");
    }
}
