//! A project with shared pipelines, and the local platform that serves it.

use crate::support::{
    Arguments, Call, PROJECT, ProgramOutput, RULES, ServerProcess, TOKEN, World, orchestration_text,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Returns a shared-pipelines file with these entries, each with its parameters.
pub fn offer(entries: &[(&str, &str)]) -> String {
    let entry = |(id, parameters): &(&str, &str)| {
        format!(
            "  - id: {id}\n    pipeline: {id}.orch.yaml\n    enabled: true\n    parameters:\n{parameters}"
        )
    };
    format!("pipelines:\n{}", entries.iter().map(entry).collect::<String>())
}

/// Returns the line of a parameter.
pub fn parameter(name: &str, rest: &str) -> String {
    format!("      {name}: {{ type: TEXT{rest} }}\n")
}

/// A project that shares `load` and `clean`, and the platform that serves it.
pub struct Shop {
    pub world: World,
    pub server: ServerProcess,
}

impl Shop {
    pub fn new() -> Self {
        let world = World::new();
        for id in ["load", "clean", "more"] {
            let text = orchestration_text(&["Start", "Work", "Done"])
                + "  variables:\n    day: {}\n    hour: {}\n    zone: {}\n";
            world.write(&format!("{id}.orch.yaml"), text);
        }
        world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
        let project = format!("{PROJECT}={}", world.remote().display());
        let token = format!("--token={TOKEN}=super-admin");
        let server = ServerProcess::start(world.path(), &["--project", &project, &token]);
        let shop = Self { world, server };
        shop.offer(&[
            ("load", &parameter("day", "")),
            ("clean", &parameter("day", ", default: x")),
        ]);
        shop.world.git("remote set-head origin main");
        shop
    }

    /// Commits and pushes another shared-pipelines file.
    pub fn offer(&self, entries: &[(&str, &str)]) {
        self.world
            .write(".platform/shared-pipelines.yaml", offer(entries));
        self.push();
    }

    pub fn push(&self) {
        self.world.commit("change");
        self.world.push();
    }

    pub fn call(&self) -> Call {
        self.call_in(&self.world.work())
    }

    pub fn call_in(&self, folder: &Path) -> Call {
        Call::with_platform(folder, &self.server.url)
            .variable("SLUICEGATE_RETRIES", "0")
            .variable("SLUICEGATE_PREFIX", "sales")
    }

    /// Publishes with a receipt and outputs.
    pub fn publish(&self, args: impl Arguments) -> ProgramOutput {
        let _ = fs::remove_file(self.world.path().join("outputs"));
        let receipt = self.world.path().join("receipt.json");
        let receipt = receipt.to_str().unwrap();
        self.call()
            .variable(
                "GITHUB_OUTPUT",
                self.world.path().join("outputs").to_str().unwrap(),
            )
            .run((&["publish", "--receipt", receipt, "--version-name"], args))
    }

    pub fn receipt(&self) -> Value {
        serde_json::from_slice(&fs::read(self.world.path().join("receipt.json")).unwrap()).unwrap()
    }

    pub fn outputs(&self) -> String {
        fs::read_to_string(self.world.path().join("outputs")).unwrap()
    }

    /// Returns the published versions, most recent first.
    pub fn versions(&self) -> Vec<String> {
        let report = self.call().run("artifacts list -o json").expect(0).json();
        let all = report["results"].as_array().unwrap();
        let mut names: Vec<String> = all
            .iter()
            .map(|entry| entry["versionName"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    /// Removes the parameter of `load`.
    pub fn break_it(&self) {
        self.offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]);
    }
}

/// Returns an output of the job.
pub fn job_output(outputs: &str, name: &str) -> String {
    let mut lines = outputs
        .lines()
        .skip_while(|line| !line.starts_with(&format!("{name}<<")));
    lines.nth(1).unwrap_or_default().to_owned()
}
