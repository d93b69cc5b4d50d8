//! Compares the API description with real responses.

use crate::platform::{Platform, SHARED, expect_problem, success};
use reqwest::{Method, Response};
use serde_json::{Value, json};
use sluicegate_test_support::World;
use sluicegate_test_support::json_schema::validate;
use sluicegate_test_support::platform_requests::{ARTIFACTS, DETAILS, PUBLISH_PARTS};
use uuid::Uuid;

const PROJECT: Uuid = Uuid::from_u128(5);
const REVIEWS: &str = "/v1/projects/{projectId}/reviews";

/// The API description.
pub struct Description(Value);

impl Description {
    /// Fetches the description from the platform.
    pub async fn fetch(platform: &Platform) -> Self {
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
        let mut lines = Vec::new();
        for (path, item) in paths {
            for (method, operation) in item.as_object().unwrap() {
                lines.push((method.to_uppercase(), path.clone(), operation));
            }
        }
        lines
    }

    /// Returns the path template that matches a path.
    fn template(&self, path: &str) -> &str {
        let fits = |template: &&String| {
            let (mut asked, mut known_args) = (path.split('/'), template.split('/'));
            loop {
                match (asked.next(), known_args.next()) {
                    (None, None) => return true,
                    (Some(asked), Some(known)) if asked == known || known.starts_with('{') => {}
                    _ => return false,
                }
            }
        };
        let paths = self.0["paths"].as_object().unwrap();
        // A path without parameters takes precedence over one with parameters.
        let exact = paths.keys().find(|template| *template == path);
        exact
            .or_else(|| paths.keys().find(fits))
            .unwrap_or_else(|| panic!("{path} is not described"))
    }

    /// Checks a response against the schema that the operation has for its status.
    async fn holds(&self, operation: (&str, &str), response: Response) {
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        self.holds_value(operation, status, &body);
    }

    /// Checks a request body against the schema of the operation.
    #[track_caller]
    pub fn holds_request(&self, (method, path): (&str, &str), body: &Value) {
        let (method, path) = (method.to_lowercase(), path.split('?').next().unwrap());
        let path = self.template(path);
        let body_of = &self.0["paths"][path][&method]["requestBody"];
        let schema = &body_of["content"]["application/json"]["schema"];
        self.fits(schema, body, &format!("a request of {method} {path}"));
    }

    #[track_caller]
    fn fits(&self, schema: &Value, value: &Value, place: &str) {
        let schema = json!({"allOf": [schema], "components": self.0["components"]});
        assert_eq!(validate(&schema, value), Ok(()), "{place}");
    }

    /// Checks a response body against the schema that the operation has for the status; null means no body.
    #[track_caller]
    pub fn holds_value(&self, (method, path): (&str, &str), status: u16, body: &Value) {
        let (method, path) = (method.to_lowercase(), path.split('?').next().unwrap());
        let path = self.template(path);
        let answer = &self.0["paths"][path][&method]["responses"][status.to_string()];
        assert!(answer.is_object(), "{method} {path} does not describe {status}");
        let schema = &answer["content"]["application/json"]["schema"];
        assert_eq!(
            schema.is_object(),
            !body.is_null(),
            "{method} {path} {status}: {body}"
        );
        if body.is_null() {
            return;
        }
        self.fits(schema, body, &format!("{method} {path} {status}"));
    }
}

#[tokio::test]
async fn every_described_endpoint_is_served() {
    let platform = Platform::empty().await;
    let description = Description::fetch(&platform).await;
    for (method, path, operation) in description.operations() {
        let concrete = path.replace('{', "x").replace('}', "");
        let request = platform.request("root", method.parse().unwrap(), &concrete);
        let status = request.send().await.unwrap().status().as_u16();
        assert!(![404, 405].contains(&status), "{method} {path}: {status}");
        let answers = operation["responses"].as_object().unwrap();
        let succeeds = answers.keys().filter(|status| status.starts_with('2')).count();
        assert_eq!(succeeds, 1, "{method} {path}");
        assert!(operation["operationId"].is_string(), "{method} {path}");
    }
}

#[tokio::test]
async fn every_reference_of_the_description_leads_somewhere() {
    let description = Description::fetch(&Platform::empty().await).await;
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
    let description = Description::fetch(&platform).await;

    for (prefix, version) in [("p", "v"), ("p", "v"), ("", "v")] {
        description
            .holds(
                ("post", ARTIFACTS),
                platform.publish(prefix, version, &PUBLISH_PARTS).await,
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
async fn description_states_the_defaults_of_all_pages() {
    let description = Description::fetch(&Platform::empty().await).await;
    let mut defaults = Vec::new();
    for (method, path, operation) in description.operations() {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            if ["page", "size", "limit"].contains(&name) {
                let default = &parameter["schema"]["default"];
                assert!(default.is_u64(), "{method} {path} {name}");
                defaults.push(format!("{path} {name} {default}"));
            }
        }
    }
    for expected in [
        "/v1/projects/{projectId}/variables page 0",
        "/v1/projects/{projectId}/variables size 25",
        "/v1/projects size 20",
        "/v1/ai/agents/tasks/{taskId}/messages limit 25",
    ] {
        assert!(
            defaults.iter().any(|entry| entry == expected),
            "{expected}: {defaults:?}"
        );
    }
}

#[tokio::test]
async fn description_needs_no_token() {
    let description = Description::fetch(&Platform::empty().await).await;
    for (method, path, operation) in description.operations() {
        let needs_token = !operation["responses"]["401"].is_null();
        assert_eq!(needs_token, path != "/openapi.json", "{method} {path}");
    }
}

#[tokio::test]
async fn description_has_one_method() {
    let platform = Platform::empty().await;
    expect_problem(
        platform
            .request("member", Method::DELETE, "/openapi.json")
            .send()
            .await
            .unwrap(),
        405,
    )
    .await;
}
