//! The thread with the result on a pull request of Azure Repos.

use crate::support::{Call, Job, Platform, World, answer, bad_pipeline, change, good_pipeline};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wiremock::{Request, ResponseTemplate};

const TOKEN: &str = "azure-job-token";
const THREADS: &str = "^/org/p1/_apis/git/repositories/r1/pullRequests/7/threads$";

/// Creates a fake of Azure's API that stores the threads.
fn azure_api(threads: Vec<Value>) -> (Platform, Arc<Mutex<Vec<Value>>>) {
    azure_api_with_user(threads, &json!({ "id": "build-service" }))
}

fn azure_api_with_user(threads: Vec<Value>, user: &Value) -> (Platform, Arc<Mutex<Vec<Value>>>) {
    let host = Platform::new();
    let stored = Arc::new(Mutex::new(threads));
    host.respond_to(
        "GET",
        "^/org/_apis/connectionData$",
        answer(&json!({ "authenticatedUser": user })),
    );
    let list = Arc::clone(&stored);
    host.respond_to("GET", THREADS, move |_: &Request| {
        answer(&json!({ "value": *list.lock().unwrap() }))
    });
    let post = Arc::clone(&stored);
    host.respond_to("POST", THREADS, move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let content = &body["comments"][0]["content"];
        let comment = json!({ "id": 1, "content": content, "author": { "id": "build-service" } });
        post.lock()
            .unwrap()
            .push(json!({ "id": 40, "comments": [comment], "status": body["status"] }));
        ResponseTemplate::new(200).set_body_json(json!({}))
    });
    let update = Arc::clone(&stored);
    host.respond_to("PATCH", "/threads/40/comments/1$", move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let mut threads = update.lock().unwrap();
        let thread = threads.iter_mut().find(|thread| thread["id"] == 40).unwrap();
        thread["comments"][0]["content"] = body["content"].clone();
        ResponseTemplate::new(200).set_body_json(json!({}))
    });
    (host, stored)
}

fn on_azure(world: &World, host: &Platform) -> Call {
    Job::azure()
        .pull_request()
        .call(world)
        .variable("BUILD_REPOSITORY_PROVIDER", "TfsGit")
        .variable("BUILD_REPOSITORY_ID", "r1")
        .variable("SYSTEM_TEAMPROJECTID", "p1")
        .variable("SYSTEM_COLLECTIONURI", format!("{}/org/", host.server.uri()))
        .variable("SYSTEM_ACCESSTOKEN", TOKEN)
}

/// Otherwise each run would post a thread, because no thread would count as its own.
#[test]
fn comment_is_not_posted_if_azure_does_not_name_the_user() {
    let (host, threads) = azure_api_with_user(Vec::new(), &json!({}));
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    on_azure(&world, &host)
        .run("check --all --comment")
        .expect(1)
        .saying(&["could not send the comment", "authenticatedUser"]);
    assert_eq!(threads.lock().unwrap().len(), 0);
}

#[test]
fn thread_on_pull_request_of_azure_is_posted_and_then_updated() {
    let stranger = json!({ "id": 3, "comments": [{ "id": 1, "content": "<!-- sluicegate -->\nfine", "author": { "id": "someone" } }] });
    let (host, threads) = azure_api(vec![stranger.clone()]);
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let check = |code: i32| on_azure(&world, &host).run("check --all --comment").expect(code);
    check(1).saying(&["posted a comment"]);
    check(1).saying(&["the comment with the result is up to date"]);
    world.write("b.orch.yaml", good_pipeline());
    world.commit("fix");
    check(0).saying(&["updated the comment"]);
    let threads = threads.lock().unwrap();
    assert_eq!((threads.len(), &threads[0]), (2, &stranger));
    let content = threads[1]["comments"][0]["content"].as_str().unwrap();
    assert!(
        content.starts_with("<!-- sluicegate -->\n") && content.contains("Check passed"),
        "{content}"
    );
    assert_eq!(threads[1]["status"], "closed");
    let is_authorized =
        |request: &Request| request.headers["authorization"] == format!("Bearer {TOKEN}").as_str();
    assert!(host.requests().iter().all(is_authorized));
}

#[test]
fn missing_token_of_azure_is_warning_with_line_to_add() {
    let (host, threads) = azure_api(Vec::new());
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let call = on_azure(&world, &host);
    call.clone()
        .without("SYSTEM_ACCESSTOKEN")
        .run("check --all --comment")
        .expect(0)
        .saying(&["SYSTEM_ACCESSTOKEN: $(System.AccessToken)"]);
    let on_github = call.clone().variable("BUILD_REPOSITORY_PROVIDER", "GitHub");
    on_github
        .run("check --all --comment")
        .expect(0)
        .saying(&["not for the provider GitHub"]);
    call.run("check --all").expect(0);
    assert!(threads.lock().unwrap().is_empty() && host.requests().is_empty());
}

#[test]
fn duplicate_of_own_comment_on_azure_is_deleted() {
    let thread = |id: u64, author: &str| json!({ "id": id, "comments": [{ "id": 1, "content": "<!-- sluicegate -->\nold", "author": { "id": author } }] });
    // Two jobs of the change posted a comment at the same time.
    let (host, threads) = azure_api(vec![
        thread(41, "build-service"),
        thread(42, "someone"),
        thread(40, "build-service"),
    ]);
    let stored = Arc::clone(&threads);
    host.respond_to("DELETE", "/threads/41/comments/1$", move |_: &Request| {
        stored.lock().unwrap().retain(|thread| thread["id"] != 41);
        ResponseTemplate::new(204)
    });
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = on_azure(&world, &host);
    call.run("check --all --comment")
        .expect(1)
        .saying(&["updated the comment"]);
    call.run("check --all --comment")
        .expect(1)
        .saying(&["the comment with the result is up to date"]);
    let ids: Vec<Value> = threads
        .lock()
        .unwrap()
        .iter()
        .map(|thread| thread["id"].clone())
        .collect();
    assert_eq!(ids, [42, 40]);
}
