//! Kills the program at any moment under load: acknowledged changes exist at the next start.

use crate::support::platform_requests::{
    AGENT, ARTIFACTS, DETAILS, FORM, PUBLISH_PARTS, build_form, build_test_client, connection_request,
    environment_request, streaming_definition, task_request_body, text_variable, world_with_pipeline,
};
use crate::support::{PROJECT, ServerProcess, TOKEN};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

const WRITERS: usize = 16;
const KILLS: usize = 5;

const EVENTS: &str = "/v1/events";

/// The known state of each resource, or `None` if it was deleted. The key is the path of the resource, or the path of
/// its list and its name there. While a resource is being changed, it has no entry. For a repository, which cannot be
/// read, the value is the status of a second creation; for an event, only name and subject are known.
type Known = BTreeMap<String, Option<Value>>;

/// A client for one run of the platform.
#[derive(Clone)]
struct Remote {
    client: Client,
    url: String,
}

impl Remote {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.url))
            .bearer_auth(TOKEN)
    }

    /// Returns the resource at the path, or `None` if there is none.
    async fn read(&self, path: &str) -> Option<Value> {
        let response = self.request(Method::GET, path).send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        assert!([200, 404].contains(&status), "{path}: {status} {text}");
        (status == 200).then(|| serde_json::from_str(&text).unwrap())
    }

    /// Returns the status of a second creation.
    async fn second_try(&self, path: &str) -> Value {
        let request = self.request(Method::POST, path).json(&repository_request());
        request.send().await.unwrap().status().as_u16().into()
    }

    /// Returns all items of a list by name.
    async fn list(&self, path: &str) -> BTreeMap<String, Value> {
        let mut entries = BTreeMap::new();
        for page in 0.. {
            let answer = self.read(&format!("{path}?size=100&page={page}")).await;
            let items = answer.unwrap()["results"].as_array().unwrap().clone();
            if items.is_empty() {
                break;
            }
            for item in items {
                let name = name_of(path, &item);
                assert!(
                    entries.insert(name.clone(), item).is_none(),
                    "{path}: {name} stands twice"
                );
            }
        }
        entries
    }
}

fn name_of(list: &str, item: &Value) -> String {
    let members: &[&str] = match list {
        "/v1/projects" => &["id"],
        EVENTS => &["eventName", "eventSubjectId", "eventId"],
        ARTIFACTS => &["sharedPipelineIdPrefix", "versionName"],
        _ => &["name"],
    };
    let texts: Vec<&str> = members
        .iter()
        .map(|member| item[member].as_str().unwrap())
        .collect();
    texts.join(" ")
}

/// Changes all kinds of resources in turn until the platform is killed.
struct Writer {
    remote: Remote,
    name: String,
    known: Known,
    acknowledged: UnboundedSender<()>,
}

fn repository_request() -> Value {
    json!({"provider": "git_provider_a", "providerParameters": {"ownerName": "o"}, "repositoryName": "r"})
}

fn project_url() -> String {
    format!("/v1/projects/{PROJECT}")
}

impl Writer {
    async fn run(mut self, first: usize) -> Known {
        for number in first.. {
            let name = format!("{}-{number}", self.name);
            let done = match number % 12 {
                turn @ (0 | 6) => self.variable(&name, turn == 6).await,
                1 | 7 => self.project(&name).await,
                2 | 8 => self.version(&name).await,
                3 | 9 => self.stream(&name).await,
                turn @ (4 | 10) => self.task(&name, turn == 10).await,
                _ => self.execution(&name).await,
            };
            if done.is_none() {
                break;
            }
        }
        self.known
    }

    /// Sends a request and returns its response, or `None` if the platform was killed.
    async fn send(&self, request: RequestBuilder) -> Option<Value> {
        let response = request.send().await.ok()?;
        let status = response.status();
        let text = response.text().await.ok()?;
        assert!(status.is_success(), "{status} {text}");
        let _ = self.acknowledged.send(());
        Some(serde_json::from_str(if text.is_empty() { "null" } else { &text }).unwrap())
    }

    async fn post(&self, path: &str, body: Value) -> Option<Value> {
        self.send(self.remote.request(Method::POST, path).json(&body))
            .await
    }

    /// Changes the resource at `key`; its known state is then `after`.
    async fn change(&mut self, key: &str, request: RequestBuilder, after: Option<Value>) -> Option<()> {
        self.known.remove(key);
        self.send(request).await?;
        self.known.insert(key.to_owned(), after);
        Some(())
    }

    async fn variable(&mut self, name: &str, remove: bool) -> Option<()> {
        let list = format!("{}/variables", project_url());
        let (path, key) = (format!("{list}/{name}"), format!("{list}#{name}"));
        let request = self
            .remote
            .request(Method::POST, &list)
            .json(&text_variable(name, "a"));
        self.change(&key, request, Some(json!({"value": "a"}))).await?;
        let body = json!({"type": "NUMBER", "behaviour": "COPIED", "value": 7});
        let request = self.remote.request(Method::PATCH, &path).json(&body);
        self.change(&key, request, Some(body)).await?;
        let overrides = format!("{path}/environment-overrides");
        let body = json!({"overrides": [{"environmentName": "production", "value": 8}]});
        let request = self.remote.request(Method::POST, &overrides).json(&body);
        self.change(&overrides, request, Some(body)).await?;
        if remove {
            self.known.remove(&overrides);
            let request = self.remote.request(Method::DELETE, &path);
            self.change(&key, request, None).await?;
            self.known.insert(overrides, None);
        }
        Some(())
    }

    async fn project(&mut self, name: &str) -> Option<()> {
        let body = json!({"name": name, "warehouse": "WAREHOUSE_A", "agentDeploymentType": "HYBRID"});
        let response = self.post("/v1/projects", body).await?;
        let id = response["projectId"].as_str().unwrap();
        self.known
            .insert(format!("/v1/projects#{id}"), Some(json!({"name": name})));
        let path = format!("/v1/projects/{id}");
        let repositories = format!("{path}/repositories");
        self.post(&repositories, repository_request()).await?;
        self.known.insert(repositories, Some(json!(409)));
        self.post(
            &format!("{path}/data-platform-connections"),
            connection_request("main"),
        )
        .await?;
        let list = format!("{path}/environments");
        let request = self
            .remote
            .request(Method::POST, &list)
            .json(&environment_request(name));
        self.change(&format!("{list}#{name}"), request, Some(json!({})))
            .await?;
        let secret = json!({"name": name, "type": "DWH_PASSWORD", "key": "k", "value": {"k": "v"}});
        self.post(&format!("/v1/secrets/{AGENT}/secret-value"), secret)
            .await?;
        self.tell("Credentials created", &format!("{AGENT}/{name}"));
        Some(())
    }

    /// Expects an event with this name and subject.
    fn tell(&mut self, event: &str, subject: &str) {
        self.known
            .insert(format!("{EVENTS}#{event} {subject} "), Some(json!({})));
    }

    async fn version(&mut self, name: &str) -> Option<()> {
        let key = format!(
            "{DETAILS}?sharedPipelineIdPrefix={}&versionName={name}",
            self.name
        );
        let enabled = |enabled: bool| Some(json!({"artifactDetails": {"enabled": enabled}}));
        let request = self
            .remote
            .request(Method::POST, ARTIFACTS)
            .header("sharedPipelineIdPrefix", &self.name)
            .header("versionName", name)
            .header("content-type", FORM)
            .body(build_form(&PUBLISH_PARTS));
        self.change(&key, request, enabled(true)).await?;
        let body = json!({"sharedPipelineIdPrefix": self.name, "versionName": name, "enabled": false});
        let request = self.remote.request(Method::PATCH, ARTIFACTS).json(&body);
        self.change(&key, request, enabled(false)).await
    }

    async fn stream(&mut self, name: &str) -> Option<()> {
        let list = format!("{}/streaming-pipelines", project_url());
        let mut body = streaming_definition();
        body["name"] = name.into();
        let response = self.post(&list, body).await?;
        let id = response["streamingPipelineId"].as_str().unwrap();
        let path = format!("{list}/{id}");
        self.known.insert(path.clone(), Some(response.clone()));
        self.post(&format!("{path}/commands"), json!({"command": "start"}))
            .await?;
        self.tell("Streaming pipeline started", id);
        Some(())
    }

    async fn task(&mut self, name: &str, remove: bool) -> Option<()> {
        let response = self
            .post(
                "/v1/ai/agents/tasks",
                task_request_body(PROJECT, "ACT", name, &[]),
            )
            .await?;
        let path = format!("/v1/ai/agents/tasks/{}", response["taskId"].as_str().unwrap());
        let after = json!({"description": name, "grantedPermissions": [{"toolName": "git_push"}]});
        let request = self
            .remote
            .request(Method::PUT, &format!("{path}/permissions"))
            .json(&after);
        self.change(&path, request, Some(after)).await?;
        if remove {
            self.known.remove(&path);
            self.post(&format!("{path}/stop"), json!({})).await?;
            let request = self.remote.request(Method::DELETE, &path);
            self.change(&path, request, None).await?;
        }
        Some(())
    }

    async fn execution(&mut self, name: &str) -> Option<()> {
        let list = format!("{}/pipeline-executions", project_url());
        let body = json!({"pipelineName": "a", "environmentName": "production", "executionTag": name});
        let response = self.post(&list, body).await?;
        let path = format!("{list}/{}", response["pipelineExecutionId"].as_str().unwrap());
        self.known.insert(path.clone(), Some(json!({})));
        let request = self
            .remote
            .request(Method::PATCH, &path)
            .json(&json!({"status": "CANCELLED"}));
        self.change(&path, request, Some(json!({"result": {"status": "CANCELLED"}})))
            .await
    }
}

/// Returns whether a value matches its known state; it may have further members.
fn is_as_known(values: &Value, known: &Value) -> bool {
    match (values, known) {
        (Value::Object(found), Value::Object(known)) => known
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| is_as_known(found, value))),
        _ => values == known,
    }
}

/// Checks that every resource is in its known state.
async fn nothing_is_lost(remote: &Remote, known: &Known) {
    let mut lists: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for (key, known) in known {
        let matches = match key.split_once('#') {
            None if key.ends_with("/repositories") => Some(remote.second_try(key).await),
            None => remote.read(key).await,
            Some((list, name)) => {
                if !lists.contains_key(list) {
                    lists.insert(list.to_owned(), remote.list(list).await);
                }
                let mut from = lists[list].range(name.to_owned()..);
                let is_it = |found: &str| found == name || (list == EVENTS && found.starts_with(name));
                from.next()
                    .filter(|(found, _)| is_it(found))
                    .map(|(_, item)| item.clone())
            }
        };
        let fits = match (&matches, known) {
            (Some(found), Some(known)) => is_as_known(found, known),
            (found, known) => found.is_none() && known.is_none(),
        };
        assert!(fits, "{key}: {matches:?} instead of {known:?}");
    }
}

/// Checks that every change has its event and that every version has all its parts.
async fn nothing_is_half_there(remote: &Remote) {
    let events = remote.list(EVENTS).await;
    let told = |name: &str| -> Vec<String> {
        let of_name = events.values().filter(|event| event["eventName"] == name);
        of_name
            .map(|event| event["eventSubjectId"].as_str().unwrap().to_owned())
            .collect()
    };
    let projects = remote.list("/v1/projects").await;
    let project_ids: BTreeSet<String> = projects.into_keys().filter(|id| id != PROJECT).collect();
    let told_of = told("Project created");
    assert_eq!(told_of.len(), project_ids.len());
    assert_eq!(told_of.into_iter().collect::<BTreeSet<_>>(), project_ids);
    let versions = remote.list(ARTIFACTS).await;
    assert_eq!(told("Artifact created").len(), versions.len());
    for version in versions.values() {
        let [prefix, name] =
            ["sharedPipelineIdPrefix", "versionName"].map(|member| version[member].as_str().unwrap());
        let path = format!("{DETAILS}?sharedPipelineIdPrefix={prefix}&versionName={name}");
        let details = remote.read(&path).await.unwrap();
        assert_eq!(
            details["sharedPipelines"].as_array().unwrap().len(),
            2,
            "{details}"
        );
    }
    let disabled = versions.values().filter(|version| version["enabled"] == false);
    assert_eq!(told("Artifact disabled").len(), disabled.count());
}

/// Runs writers until this many changes are acknowledged, kills the platform, and returns the known state.
fn write_until_killed(
    runtime: &Runtime,
    (mut server, remote): (ServerProcess, Remote),
    round: usize,
    changes: usize,
) -> Known {
    let (acknowledged, mut heard) = unbounded_channel();
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let writer = Writer {
                remote: remote.clone(),
                name: format!("r{round}w{number}"),
                known: Known::new(),
                acknowledged: acknowledged.clone(),
            };
            runtime.spawn(writer.run(number))
        })
        .collect();
    drop(acknowledged);
    for _ in 0..changes {
        heard.blocking_recv().unwrap();
    }
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    writers
        .into_iter()
        .flat_map(|writer| runtime.block_on(writer).unwrap())
        .collect()
}

#[test]
fn kill_under_load_loses_no_acknowledged_change() {
    let world = world_with_pipeline();
    let token = format!("{TOKEN}=super-admin");
    let data = world.path().join("data").display().to_string();
    let given = format!("{PROJECT}={}", world.remote().display());
    let args = ["--data", &data, "--project", &given, "--token", &token];
    let runtime = Runtime::new().unwrap();
    let client = build_test_client();
    let start = || {
        let server = ServerProcess::start(world.path(), &args);
        let remote = Remote {
            client: client.clone(),
            url: server.url.clone(),
        };
        (server, remote)
    };
    let mut chance = fastrand::Rng::with_seed(7);
    let mut known = Known::new();
    let mut running = start();
    let main = [
        ("data-platform-connections", connection_request("main")),
        ("environments", environment_request("production")),
    ];
    for (place, body) in main {
        let request = running
            .1
            .request(Method::POST, &format!("{}/{place}", project_url()));
        let response = runtime.block_on(request.json(&body).send()).unwrap();
        assert_eq!(response.status(), 201);
    }
    for round in 0..KILLS {
        known.extend(write_until_killed(
            &runtime,
            running,
            round,
            chance.usize(20..400),
        ));
        running = start();
        runtime.block_on(nothing_is_lost(&running.1, &known));
        runtime.block_on(nothing_is_half_there(&running.1));
    }
    assert!(known.len() > KILLS * WRITERS, "{}", known.len());
}
