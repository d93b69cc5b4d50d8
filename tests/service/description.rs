//! The description of the API against what is really answered.

use crate::platform::{ARTIFACTS, DETAILS, Platform, SHARED, refused, success};
use crate::publish::WHOLE;
use crate::repo::World;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use uuid::Uuid;

const PROJECT: Uuid = Uuid::from_u128(5);
const REVIEWS: &str = "/v1/projects/{projectId}/reviews";

struct Description(Value);

impl Description {
    async fn of(platform: &Platform) -> Self {
        Self(
            success(
                platform
                    .anonymous(Method::GET, "/openapi.json")
                    .send()
                    .await
                    .unwrap(),
            )
            .await,
        )
    }

    fn operations(&self) -> Vec<(String, String, &Value)> {
        let paths = self.0["paths"].as_object().unwrap();
        let mut found = Vec::new();
        for (path, item) in paths {
            for (method, operation) in item.as_object().unwrap() {
                found.push((method.to_uppercase(), path.clone(), operation));
            }
        }
        found
    }

    /// Holds an answer against the schema that the operation gives for its status.
    async fn holds(&self, operation: (&str, &str), response: Response) {
        let (method, path) = operation;
        let status = response.status().as_u16().to_string();
        let body: Value = response.json().await.unwrap();
        let answer = &self.0["paths"][path][method]["responses"][&status];
        let schema = &answer["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {path} does not describe {status}");
        let schema = json!({"allOf": [schema], "components": self.0["components"]});
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&body)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{method} {path} {status}: {errors:?}\n{body}");
    }
}

#[tokio::test]
async fn every_endpoint_is_described() {
    let platform = Platform::empty().await;
    let description = Description::of(&platform).await;
    let mut described: Vec<String> = description
        .operations()
        .into_iter()
        .map(|(method, path, _)| format!("{method} {path}"))
        .collect();
    described.sort();
    let mut expected = [
        format!("GET {SHARED}"),
        format!("GET {ARTIFACTS}"),
        format!("GET {DETAILS}"),
        format!("POST {ARTIFACTS}"),
        format!("PATCH {ARTIFACTS}"),
        format!("POST {REVIEWS}"),
        "GET /openapi.json".to_owned(),
    ];
    expected.sort();
    assert_eq!(described, expected);
    for (method, path, operation) in description.operations() {
        let request = platform.request("root", method.parse().unwrap(), &path.replace("{projectId}", "x"));
        let status = request.send().await.unwrap().status().as_u16();
        assert!(![404, 405].contains(&status), "{method} {path}: {status}");
        assert!(operation["responses"].get("200").is_some(), "{method} {path}");
        assert!(operation["operationId"].is_string(), "{method} {path}");
    }
}

#[tokio::test]
async fn every_reference_of_the_description_leads_somewhere() {
    let description = Description::of(&Platform::empty().await).await;
    let mut open = vec![&description.0];
    let mut references = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
        if let Some(Value::String(reference)) = value.get("$ref") {
            references += 1;
            let target = reference.strip_prefix('#').unwrap();
            assert!(description.0.pointer(target).is_some(), "{reference}");
        }
    }
    assert!(references > 10);
    assert_eq!(
        description.0["components"]["securitySchemes"]["token"],
        json!({"type": "http", "scheme": "bearer"})
    );
}

#[tokio::test]
async fn answers_are_as_described() {
    let world = World::new();
    world.write("a.orch.yaml", "type: orchestration\npipeline: {}");
    world.write("b.md", "");
    let commit = world.commit("first");
    world.push();
    let platform = Platform::with_project(PROJECT, world.remote()).await;
    let description = Description::of(&platform).await;

    for (prefix, version) in [("p", "v"), ("p", "v"), ("", "v")] {
        description
            .holds(
                ("post", ARTIFACTS),
                platform.publish(prefix, version, &WHOLE).await,
            )
            .await;
    }
    for (version, enabled) in [("v", false), ("v", true), ("none", true), ("", true)] {
        description
            .holds(
                ("patch", ARTIFACTS),
                platform.set_enabled("p", version, enabled).await,
            )
            .await;
    }
    for (path, query) in [
        (SHARED, ""),
        (SHARED, "?size=0"),
        (ARTIFACTS, ""),
        (ARTIFACTS, "?enabled=x"),
        (DETAILS, "?sharedPipelineIdPrefix=p"),
        (DETAILS, "?sharedPipelineIdPrefix=none"),
        (DETAILS, ""),
    ] {
        for token in ["admin", "member", "unknown"] {
            let response = platform
                .request(token, Method::GET, &format!("{path}{query}"))
                .send()
                .await
                .unwrap();
            description.holds(("get", path), response).await;
        }
    }
    for pipelines in [json!(["a.orch.yaml", "b.md"]), json!(["none"]), json!(7)] {
        let body = json!({"branchName": "main", "commitId": commit, "pipelines": pipelines});
        let path = REVIEWS.replace("{projectId}", &PROJECT.to_string());
        let request = platform
            .request("member", Method::POST, &path)
            .header("Agent-Version", "9")
            .json(&body);
        description
            .holds(("post", REVIEWS), request.send().await.unwrap())
            .await;
    }
}

#[tokio::test]
async fn the_description_has_one_method() {
    let platform = Platform::empty().await;
    refused(
        platform
            .request("member", Method::DELETE, "/openapi.json")
            .send()
            .await
            .unwrap(),
        405,
    )
    .await;
}
