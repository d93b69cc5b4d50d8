//! A small project with shared pipelines, and plans of it.

use crate::support::World;
use crate::support::publishing::shared_pipelines_file;
use sluicegate::publish::{FileSelection, FileSource, Plan, PublishError, PublishRequest, build_plan};
use sluicegate_git::{CommitId, Repository};
use sluicegate_pipelines::project::PublishGlobs;

/// Path of the project's shared-pipelines file.
pub const CONFIG: &str = ".platform/shared-pipelines.yaml";

/// Creates a project: `load` (shared as `load-it`) calls `jobs/clean` and runs a script; `old` is shared and disabled.
pub fn world_to_plan() -> World {
    let world = World::new();
    let components = [
        call_parameter("transformationJob", "jobs/clean"),
        script("sql/load.sql"),
    ];
    world.write(
        "load.orch.yaml",
        pipeline_with_parameters("orchestration", &components),
    );
    world.write(
        "jobs/clean.tran.yaml",
        pipeline_with_parameters("transformation", &[]),
    );
    world.write(
        ".hidden/other.orch.yaml",
        pipeline_with_parameters("orchestration", &[]),
    );
    world.write("old.orch.yaml", pipeline_with_parameters("orchestration", &[]));
    world.write("sql/load.sql", "select 1;\n");
    world.write("sql/unused.sql", "select 2;\n");
    world.write("README.md", "# not sent\n");
    world.write(
        CONFIG,
        shared_pipelines_file(&[
            ("load.orch.yaml", "load-it", true),
            ("old.orch.yaml", "old", false),
        ]),
    );
    world
}

/// Returns a pipeline with components that have these parameters; the first component's key is on line 4.
pub fn pipeline_with_parameters(kind: &str, parameters: &[String]) -> String {
    let component = |(n, parameters): (usize, &String)| {
        format!(
            "    Step {n}:\n      type: step\n      parameters:\n        componentName: Step {n}\n{parameters}"
        )
    };
    let components: String = parameters.iter().enumerate().map(component).collect();
    let components = if components.is_empty() {
        " {}\n".to_owned()
    } else {
        format!("\n{components}")
    };
    format!("type: {kind}\npipeline:\n  components:{components}")
}

/// Returns the parameters of a call, on the fifth line of the component.
pub fn call_parameter(key: &str, target: &str) -> String {
    format!("        {key}: \"{target}\"\n")
}

/// Returns the parameters of a script from a file.
pub fn script(path: &str) -> String {
    format!("        scriptLocation: File\n        fileName: \"{path}\"\n")
}

/// The settings of a publish request, as on the command line.
pub struct PlanInput {
    pub include: fn(&str) -> bool,
    pub exclude: fn(&str) -> bool,
    pub config_dir: Option<String>,
    pub source: FileSource,
    pub select: FileSelection,
}

impl Default for PlanInput {
    fn default() -> Self {
        Self {
            include: |path| path.ends_with(".orch.yaml") || path.ends_with(".tran.yaml"),
            exclude: |_| false,
            config_dir: None,
            source: FileSource::Commit,
            select: FileSelection::All,
        }
    }
}

impl PublishGlobs for PlanInput {
    fn selects_file(&self, path: &str) -> bool {
        (self.include)(path) && !self.excludes_file(path)
    }

    fn excludes_file(&self, path: &str) -> bool {
        (self.exclude)(path)
    }
}

impl PlanInput {
    /// Returns the plan of the project as committed or as on disk.
    pub fn plan(&self, world: &World) -> Result<Plan, PublishError> {
        let repository = Repository::discover(&world.work()).unwrap();
        self.plan_of(&repository, &repository.head().unwrap().commit)
    }

    /// Returns the plan of this commit.
    pub fn plan_of(&self, repository: &Repository, head: &CommitId) -> Result<Plan, PublishError> {
        let wish = PublishRequest {
            prefix: "demo".to_owned(),
            version_template: "1.0 {date}".to_owned(),
            globs: self,
            config_dir: self.config_dir.clone(),
            source: self.source,
            selection: self.select,
            branch: Some("main".to_owned()),
            tag: None,
            run_number: None,
            next_version: None,
        };
        build_plan(repository, head, &wish)
    }
}

/// Returns the plan of the committed project.
pub fn plan_world(world: &World) -> Plan {
    world.commit("all");
    PlanInput::default().plan(world).unwrap()
}

/// Returns the error that prevents publishing the committed project.
pub fn refused_plan_text(world: &World) -> String {
    world.commit("all");
    PlanInput::default().plan(world).unwrap_err().to_full_text()
}

/// Returns the paths of the planned files.
pub fn planned_paths(plan: &Plan) -> Vec<&str> {
    plan.files.iter().map(|file| file.path.as_str()).collect()
}
