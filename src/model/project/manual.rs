//! The checks in words: one description of each, from which the terminal, the reference and every report are made.

use super::ProjectCheck;
use crate::model::findings::Block;
use std::fmt::Write as _;

/// What a check is, for people.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectDocumentation {
    pub check: ProjectCheck,
    /// What must hold: one sentence.
    pub summary: &'static str,
    pub reason: &'static str,
    /// How exactly it is checked: a sentence each.
    pub details: &'static [&'static str],
    /// What leads nowhere, as YAML.
    pub fails: &'static str,
    /// What to do about a finding.
    pub fix: &'static str,
}

impl ProjectCheck {
    pub const fn documentation(self) -> &'static ProjectDocumentation {
        match self {
            Self::Call => &CALL,
            Self::Script => &SCRIPT,
            Self::Link => &LINK,
            Self::Argument => &ARGUMENT,
            Self::Shared => &SHARED,
            Self::Cycle => &CYCLE,
        }
    }
}

impl ProjectDocumentation {
    /// What the check finds, why, how it is configured, what fails and what to do.
    pub fn blocks(&self) -> Vec<Block> {
        let points = self.details.iter().map(|detail| (*detail).to_owned()).collect();
        vec![
            Block::Text(format!("{} A check of the whole project.", self.summary)),
            Block::Heading("Why"),
            Block::Text(self.reason.to_owned()),
            Block::Heading("How it is checked"),
            Block::Points(points),
            Block::Heading("How to configure it"),
            Block::Text(
                "The level stands in `sluicegate.yaml`: `error`, `warn` (the default) or `off`.".to_owned(),
            ),
            Block::Yaml(format!("project-checks:\n  {}: error\n", self.check.key())),
            Block::Heading("What fails"),
            Block::Yaml(self.fails.to_owned()),
            Block::Heading("How to fix it"),
            Block::Text(self.fix.to_owned()),
        ]
    }
}

/// The reference of all checks, as Markdown, for the end of that of the rules.
pub fn reference() -> String {
    let mut page = String::from(
        "\n# Checks of the project\n\nWhat `check`, `review` and `ci` find between files, on this machine and without a platform: references \
         that lead nowhere.\nThey are found in the pipelines that are selected, and anywhere else where the base does not have them. `--project-checks off`\n\
         leaves them out of a job.\n\n| check | what must hold |\n|---|---|\n",
    );
    for check in ProjectCheck::ALL.map(ProjectCheck::documentation) {
        let id = check.check.id();
        let _ = writeln!(page, "| [{id}](#{}) | {} |", id.replace('/', ""), check.summary);
    }
    for check in ProjectCheck::ALL.map(ProjectCheck::documentation) {
        let _ = writeln!(page, "\n## {}", check.check.id());
        for block in check.blocks() {
            page.push_str(&block.markdown());
        }
    }
    page
}

/// What holds for every check that looks at a path.
const PATHS: &str = "A value with a variable in it (`${…}`) is not judged, nor is a path that `project-checks.external` names.";

static CALL: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Call,
    summary: "Each call of a pipeline leads to a pipeline of the project.",
    reason: "A pipeline that was moved or deleted is called until somebody runs its caller: then the run fails.",
    details: &[
        "`orchestrationJob` and `transformationJob` name a pipeline by its path from the repository root, with or without its extension.",
        "A bare file name means the file beside the caller, else the only file of that name: that is a warning at most. Of several files \
         none is meant.",
        PATHS,
        "Components that are skipped are judged as others: they may be switched on again.",
    ],
    fails: "pipeline:\n  components:\n    Run load:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: \
            sales/moved away\n",
    fix: "Write the path that the pipeline has now; the finding names the files of that name. `sluicegate mv --repair` writes it where exactly one file has \
             the name, and `sluicegate mv OLD NEW` moves a pipeline with its calls.",
};

static SCRIPT: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Script,
    summary: "Each script that a component names is a file of the project.",
    reason: "A component whose script was moved or deleted fails when it runs.",
    details: &[
        "`fileName` is judged where `scriptLocation` is `File`. It is a path from the repository root.",
        PATHS,
    ],
    fails: "pipeline:\n  components:\n    Run script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        \
            fileName: scripts/moved away.sql\n",
    fix: "Write the path that the script has now; `sluicegate mv --repair` does where exactly one file has its name.",
};

static LINK: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Link,
    summary: "Each link of a component leads to a component of the same pipeline.",
    reason: "A link to a component that was renamed or removed is never taken, so the components after it never run.",
    details: &[
        "Links are `transitions` and `iterationTarget` of an orchestration and `sources` of a transformation; names are compared as written.",
    ],
    fails: "pipeline:\n  components:\n    Start:\n      type: start\n      transitions:\n        unconditional: [Renamed]\n",
    fix: "Write the name that the component has now, or remove the link.",
};

static ARGUMENT: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Argument,
    summary: "Each variable that a call sets is a variable of the called pipeline.",
    reason: "A variable that was renamed keeps its default value when the pipeline is called, without a word.",
    details: &[
        "`setScalarVariables` are rows of a variable and its value, `setGridVariables` are maps that name a `variable`.",
        "A call that leads to no pipeline is told by `project/call` alone.",
    ],
    fails: "pipeline:\n  components:\n    Run load:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: \
            sales/load\n        setScalarVariables:\n          - [renamed, 1]\n",
    fix: "Write the name that the variable has now, or declare it in the called pipeline.",
};

static SHARED: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Shared,
    summary: "Each entry of the shared-pipelines file names a pipeline of the project, and parameters that are variables of it.",
    reason: "Anything else keeps `sluicegate publish` from sending, which nobody learns before the merge.",
    details: &[
        "The pipeline of each entry must be there, that of a disabled one too.",
        "The parameters of an enabled entry must be variables of its pipeline.",
        "A shared-pipelines file that cannot be read is a finding, too.",
    ],
    fails: "pipelines:\n  - { pipeline: sales/moved away.orch.yaml, id: load, displayName: load, enabled: true, parameters: {} }\n",
    fix: "Change the entry together with its pipeline.",
};

static CYCLE: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Cycle,
    summary: "No pipelines call each other in a circle.",
    reason: "Such a run ends only by a condition inside of it, or never.",
    details: &[
        "Each call that is part of a circle is one finding, which names the whole circle. A call of a pipeline to itself is one.",
        "Calls that may mean several files are left out.",
    ],
    fails: "# sales/load.orch.yaml\npipeline:\n  components:\n    Again:\n      type: run-orchestration\n      parameters:\n        \
            orchestrationJob: sales/load\n",
    fix: "Let an iterator or a schedule repeat the work instead.",
};
