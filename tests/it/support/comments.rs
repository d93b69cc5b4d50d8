//! A fake of the hosts' APIs for comments.

use crate::support::{Platform, answer, in_turn};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use wiremock::{Request, ResponseTemplate};

/// A host's comments, stored as the host stores them.
pub struct Comments {
    pub host: Platform,
    pub stored_comments: Arc<Mutex<Vec<Value>>>,
}

fn id_of(request: &Request) -> u64 {
    request
        .url
        .path_segments()
        .unwrap()
        .next_back()
        .unwrap()
        .parse()
        .unwrap()
}

impl Comments {
    /// Creates the fake API. `list` and `one` are its paths, `author` is the host's author object, `update` the method
    /// for updates.
    pub fn new(list: &str, one: &str, author: Value, update: &'static str, before: Vec<Value>) -> Self {
        let host = Platform::new();
        let kept = Arc::new(Mutex::new(before));
        let all = Arc::clone(&kept);
        host.respond_to("GET", list, move |request: &Request| {
            let page: usize = request
                .url
                .query_pairs()
                .find(|(k, _)| k == "page")
                .unwrap()
                .1
                .parse()
                .unwrap();
            let all = all.lock().unwrap();
            answer(&Value::Array(
                all.iter().skip((page - 1) * 100).take(100).cloned().collect(),
            ))
        });
        let all = Arc::clone(&kept);
        host.respond_to("POST", list, move |request: &Request| {
            let mut comment = author.clone();
            let mut all = all.lock().unwrap();
            let latest_id = all.iter().filter_map(|c| c["id"].as_u64()).max();
            comment["id"] = json!(latest_id.unwrap_or(1_000) + 1);
            comment["body"] = serde_json::from_slice::<Value>(&request.body).unwrap()["body"].clone();
            all.push(comment.clone());
            ResponseTemplate::new(201).set_body_json(comment)
        });
        let all = Arc::clone(&kept);
        host.respond_to(update, one, move |request: &Request| {
            let mut all = all.lock().unwrap();
            let comment = all.iter_mut().find(|c| c["id"] == id_of(request)).unwrap();
            comment["body"] = serde_json::from_slice::<Value>(&request.body).unwrap()["body"].clone();
            answer(comment)
        });
        let all = Arc::clone(&kept);
        host.respond_to("DELETE", one, move |request: &Request| {
            all.lock().unwrap().retain(|c| c["id"] != id_of(request));
            ResponseTemplate::new(204)
        });
        Self {
            host,
            stored_comments: kept,
        }
    }

    pub fn github(before: Vec<Value>) -> Self {
        let bot = json!({ "user": { "id": 7, "login": "github-actions[bot]", "type": "Bot" } });
        let comments = Self::new(
            "^/repos/o/r/issues/12/comments$",
            "^/repos/o/r/issues/comments/[0-9]+$",
            bot,
            "PATCH",
            before,
        );
        let rejection = ResponseTemplate::new(403)
            .set_body_json(json!({ "message": "Resource not accessible by integration" }));
        comments
            .host
            .respond_to("GET", "^/user$", in_turn(vec![rejection]));
        comments
    }

    pub fn gitlab(before: Vec<Value>) -> Self {
        Self::new(
            "^/api/v4/projects/3/merge_requests/4/notes$",
            "^/api/v4/projects/3/merge_requests/4/notes/[0-9]+$",
            json!({ "author": { "id": 5 } }),
            "PUT",
            before,
        )
    }

    pub fn bodies(&self) -> Vec<String> {
        let all = self.stored_comments.lock().unwrap();
        all.iter()
            .map(|c| c["body"].as_str().unwrap().to_owned())
            .collect()
    }

    pub fn url(&self) -> String {
        self.host.server.uri()
    }
}
