//! The commands against the local platform, as a user goes through them.

mod events;
mod pipelines;
mod projects;
mod streaming;
mod tasks;
mod variables;

use crate::program::{Call, Ended, PROJECT, Served, TOKEN};
use crate::repo::World;
use crate::world::pipeline;

/// An agent of the tests; any UUID is one.
pub const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

/// A project in git with one pipeline on its default branch, and the platform that serves it.
pub struct Local {
    pub world: World,
    served: Served,
}

impl Local {
    /// With a connection and the environments `test` and `production`.
    pub fn with_environments() -> Self {
        let local = Self::new();
        local
            .run(&[
                "connections",
                "create",
                "--name",
                "dwh",
                "--warehouse",
                "WAREHOUSE_B",
            ])
            .expect(0);
        for name in ["test", "production"] {
            let text = format!(
                "name: {name}\ndefaultAgentId: {AGENT}\ndefaultUserAccessLevel: readOnly\n\
                 defaultConnections: {{ DWH: {{ warehouse_b: dwh }} }}\nconnectionOverrides:\n  - connectionName: dwh\n\
                 \x20   connectionProperties:\n      port: {{ value: 5439 }}\n\
                 \x20     password: {{ secretName: pw, secretKey: k }}\n"
            );
            local.world.write("environment.yaml", text);
            local
                .run(&["environments", "create", "-f", "environment.yaml"])
                .expect(0);
        }
        local
    }

    /// With nothing but the project.
    pub fn new() -> Self {
        let world = World::new();
        world.write("load.orch.yaml", pipeline(&["Start", "Load", "Done"]));
        let failing = pipeline(&["Start", "Load", "Broken"]).replace("end-success", "end-failure");
        world.write("broken.orch.yaml", failing);
        world.commit("first");
        world.push();
        let project = format!("{PROJECT}={}", world.remote().display());
        let token = format!("{TOKEN}=super-admin");
        let served = Served::start(world.path(), &["--project", &project, "--token", &token]);
        Self { world, served }
    }

    /// A call of the program, which looks often.
    pub fn call(&self) -> Call {
        Call::with_platform(&self.world.work(), &self.served.url)
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_POLL_INTERVAL", "0.02")
    }

    pub fn run(&self, args: &[&str]) -> Ended {
        self.call().run(args)
    }
}
