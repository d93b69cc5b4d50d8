//! A platform, or a gateway in front of it, that returns the details of another version than the requested one.

use crate::support::publishing::{project_to_publish, publish_platform, upload_response, version_details};
use crate::support::{Platform, World, answer};
use serde_json::{Value, json};

const PUBLISH: &str = "publish --prefix p --version-name 1 --receipt receipt.json";

/// Publishes version 1, and writes a receipt.
fn published_project() -> World {
    let world = project_to_publish();
    publish_platform(&world, upload_response(&json!([])))
        .call(&world)
        .run(PUBLISH)
        .expect(0);
    world
}

fn platform_with_details(details: &Value) -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    platform.respond_to("GET", "/artifacts/details$", answer(details));
    platform
}

#[test]
fn details_of_other_version_are_refused_by_every_command() {
    let world = published_project();
    for (key, value, difference) in [
        (
            "versionName",
            "2",
            "the version name `1`, but the platform returned `2`",
        ),
        (
            "sharedPipelineIdPrefix",
            "q",
            "the prefix `p`, but the platform returned `q`",
        ),
    ] {
        let mut details = version_details(&world);
        details["artifactDetails"][key] = json!(value);
        let platform = platform_with_details(&details);
        for command in [
            "verify receipt.json",
            "artifacts show 1 --prefix p",
            "artifacts diff 1 --prefix p",
            PUBLISH,
        ] {
            platform
                .call(&world)
                .run(command)
                .expect(3)
                .logging(&["the request was for", difference]);
        }
    }
}

#[test]
fn details_of_requested_version_are_verified_and_shown() {
    let world = published_project();
    let platform = platform_with_details(&version_details(&world));
    for command in [
        "verify receipt.json",
        "artifacts show 1 --prefix p",
        "artifacts diff 1 --prefix p",
    ] {
        platform.call(&world).run(command).expect(0);
    }
}
