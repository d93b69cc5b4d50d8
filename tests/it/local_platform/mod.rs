//! The commands against the local platform, in the order of a user's work.

mod access;
mod artifacts;
mod events;
mod pipelines;
mod projects;
mod provision;
mod reviews;
mod smoke_runs;
mod streaming;
mod tasks;
mod variables;

use crate::support::{Arguments, Call, PROJECT, ProgramOutput, RULES, TOKEN, World, orchestration_text};
use serde_json::Value;
use sluicegate_local_platform::{AgentBehavior, Clock, Options, Role, RunningPlatform, Vocabulary};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::runtime::Runtime;

/// An agent ID for the tests; the local platform accepts any UUID.
pub const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

/// Tokens of the other roles.
pub const ADMIN: &str = "the-token-of-an-admin";
pub const MEMBER: &str = "the-token-of-a-member";

/// A secret that no output may contain.
pub const SECRET: &str = "hunter2";

const SHARED: &str = "pipelines:\n  - { pipeline: load.orch.yaml, id: load, enabled: true }\n";

/// The interval of the commands' polls, and the time that passes on the platform in it while a command waits.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const TICK: Duration = Duration::from_millis(200);

/// A project in git with its pipelines on the default branch, and the platform that serves it. The platform's clock
/// stands still, except while a command waits, so what runs is still running when the next command starts.
pub struct Local {
    pub world: World,
    clock: Clock,
    running: RunningPlatform,
    runtime: Runtime,
}

impl Local {
    /// Creates a project with a connection and the environments `test` and `production`.
    pub fn with_environments() -> Self {
        let local = Self::new();
        let connection = "connections create --name dwh --warehouse WAREHOUSE_B";
        local.run(connection).expect(0);
        for name in ["test", "production"] {
            local.environment(name, "dwh").expect(0);
        }
        local
    }

    /// Creates an environment on this connection.
    pub fn environment(&self, name: &str, connection: &str) -> ProgramOutput {
        let text = format!(
            "name: {name}\ndefaultAgentId: {AGENT}\ndefaultUserAccessLevel: readOnly\n\
             defaultConnections: {{ DWH: {{ warehouse_b: {connection} }} }}\nconnectionOverrides:\n\
             \x20 - connectionName: {connection}\n    connectionProperties:\n      port: {{ value: '5439' }}\n\
             \x20     password: {{ secretName: pw, secretKey: k }}\n"
        );
        self.world.write("environment.yaml", text);
        self.run("environments create -f environment.yaml")
    }

    /// Creates only the project.
    pub fn new() -> Self {
        Self::with_agent(AgentBehavior::default())
    }

    /// Creates the project, and a platform whose agent has this behavior.
    pub fn with_agent(agent_behavior: AgentBehavior) -> Self {
        let world = World::new();
        world.write("load.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
        let failing = orchestration_text(&["Start", "Load", "Broken"]).replace("end-success", "end-failure");
        world.write("broken.orch.yaml", failing);
        world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
        world.write(".platform/shared-pipelines.yaml", SHARED);
        world.commit("first");
        world.push();
        world.git("remote set-head origin main");
        // Commands ask for the events until now.
        let clock = Clock::stepped_from(jiff::Timestamp::now());
        let tokens = [
            (TOKEN, Role::SuperAdmin),
            (ADMIN, Role::Admin),
            (MEMBER, Role::Member),
        ];
        let options = Options {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            data: None,
            projects: vec![(PROJECT.parse().unwrap(), world.remote())],
            tokens: tokens.map(|(token, role)| (token.into(), role)).to_vec(),
            vocabulary: Vocabulary::default(),
            clock: clock.clone(),
            agent_behavior,
        };
        let runtime = Runtime::new().unwrap();
        let running = runtime
            .block_on(sluicegate_local_platform::start(options))
            .unwrap();
        Self {
            world,
            clock,
            running,
            runtime,
        }
    }

    /// Returns a call of the program with short polling intervals.
    pub fn call(&self) -> Call {
        Call::with_platform(&self.world.work(), &format!("http://{}", self.running.address()))
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_PREFIX", "sales")
            .variable(
                "SLUICEGATE_POLL_INTERVAL",
                POLL_INTERVAL.as_secs_f64().to_string(),
            )
    }

    /// Runs the program to its end; time passes on the platform if the command waits.
    pub fn run(&self, args: impl Arguments) -> ProgramOutput {
        let args = args.into_list();
        let waits = args
            .iter()
            .any(|arg| ["--wait", "--follow", "--agent", "--smoke"].contains(&arg.as_str()));
        if waits {
            self.run_while_time_passes(&args)
        } else {
            self.call().run(&args)
        }
    }

    /// Runs the program to its end while time passes on the platform.
    pub fn run_while_time_passes(&self, args: impl Arguments) -> ProgramOutput {
        let clock = self.clock.clone();
        let ticking = self.runtime.spawn(async move {
            let mut ticks = tokio::time::interval(POLL_INTERVAL);
            loop {
                ticks.tick().await;
                clock.advance(TICK);
            }
        });
        let output = self.call().run(args);
        ticking.abort();
        output
    }

    /// Creates a project and returns its ID.
    pub fn project(&self, name: &str, deployment: &str) -> String {
        let create = format!("projects create --name {name} --warehouse WAREHOUSE_A");
        let response = self.json((&create, &["--agent-deployment-type", deployment]));
        response["projectId"].as_str().unwrap().to_owned()
    }

    /// Stores a secret that no output may contain, and returns the platform's response.
    pub fn secret(&self) -> Value {
        self.world.write("password", format!("{SECRET}\n"));
        let create = [
            "secrets",
            "create",
            "--agent-id",
            AGENT,
            "--name",
            "pw",
            "--key",
            "k",
        ];
        let output = self.run((&create[..], "--value-file password -o json"));
        assert!(!output.all().contains(SECRET));
        output.expect(0).json()
    }

    /// Runs the program and returns its JSON output.
    pub fn json(&self, args: impl Arguments) -> Value {
        self.run((args, "-o json")).expect(0).json()
    }

    /// Returns a call with another user's token.
    pub fn call_as(&self, token: &str) -> Call {
        self.call().variable("SLUICEGATE_TOKEN", token)
    }
}

/// Returns the values at `key` of all entries of a list.
pub fn column(list: &Value, key: &str) -> Vec<String> {
    let items = list["results"].as_array().unwrap();
    items
        .iter()
        .map(|entry| entry[key].as_str().unwrap().to_owned())
        .collect()
}
