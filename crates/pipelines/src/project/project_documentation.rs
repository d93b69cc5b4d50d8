//! Describes the checks of the project, for the terminal, the reference and the reports.

use super::ProjectCheck;
use crate::findings::DocumentationBlock;
use std::fmt::Write as _;

/// The description of a check.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectDocumentation {
    pub check: ProjectCheck,
    /// The requirement, in one sentence.
    pub summary: &'static str,
    pub reason: &'static str,
    /// The steps of the check, in sentences.
    pub details: &'static [&'static str],
    /// An example that fails, as YAML.
    pub fails: &'static str,
    /// How to fix a finding.
    pub fix: &'static str,
}

impl ProjectCheck {
    /// Returns the documentation of the check.
    pub const fn documentation(self) -> &'static ProjectDocumentation {
        match self {
            Self::Call => &CALL,
            Self::Script => &SCRIPT,
            Self::Link => &LINK,
            Self::Argument => &ARGUMENT,
            Self::Shared => &SHARED_PIPELINES,
            Self::Cycle => &CYCLE,
        }
    }
}

impl ProjectDocumentation {
    /// Returns the description of the check: summary, reason, details, configuration, an example that fails, and the
    /// fix.
    pub fn build_blocks(&self) -> Vec<DocumentationBlock> {
        let points = self.details.iter().map(|detail| (*detail).to_owned()).collect();
        vec![
            DocumentationBlock::Text(format!("{} This check covers the entire project.", self.summary)),
            DocumentationBlock::Heading("Why"),
            DocumentationBlock::Text(self.reason.to_owned()),
            DocumentationBlock::Heading("How it is checked"),
            DocumentationBlock::Points(points),
            DocumentationBlock::Heading("How to configure it"),
            DocumentationBlock::Text(
                "Set the level in `sluicegate.yaml` to `error`, `warn` (the default) or `off`.".to_owned(),
            ),
            DocumentationBlock::Yaml(format!("project-checks:\n  {}: error\n", self.check.key())),
            DocumentationBlock::Heading("What fails"),
            DocumentationBlock::Yaml(self.fails.to_owned()),
            DocumentationBlock::Heading("How to fix it"),
            DocumentationBlock::Text(self.fix.to_owned()),
        ]
    }
}

/// Renders the reference of all project checks as Markdown, to append to the reference of the rules.
pub fn render_project_checks_reference() -> String {
    let mut page = String::from(
        "\n# Project checks\n\n`check`, `review` and `ci` find broken references between files, locally and without a \
         platform. They report all broken\nreferences in the selected pipelines and, in the other pipelines, the broken \
         references that the change introduces.\n`--project-checks off` turns the checks off for a job.\n\n| check | requirement |\n|---|---|\n",
    );
    for check in ProjectCheck::ALL {
        let id = check.id();
        let summary = check.documentation().summary;
        let _ = writeln!(page, "| [{id}](#{}) | {summary} |", id.replace('/', ""));
    }
    for check in ProjectCheck::ALL {
        let _ = writeln!(page, "\n## {}", check.id());
        for block in check.documentation().build_blocks() {
            page.push_str(&block.to_markdown());
        }
    }
    page
}

/// The detail that the checks of paths have in common.
const UNCHECKED_PATHS: &str = "Values that contain a variable (`${…}`) and paths that match `project-checks.external` \
     are not checked.";

static CALL: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Call,
    summary: "Each called pipeline must exist in the project.",
    reason: "If a called pipeline was moved or deleted, its callers fail when they run.",
    details: &[
        "`orchestrationJob` and `transformationJob` contain the path of a pipeline from the repository \
         root, with or without its extension.",
        "`orchestrationJob` finds only files `*.orch.yaml`, and `transformationJob` only files `*.tran.yaml`. A call to a \
         file of the other kind is broken.",
        "A file name without a folder means the file in the repository root, otherwise the file in the caller's \
         folder, otherwise the only file with that name. For the last two, a finding is at most a warning. If \
         several other files have the name, the call is ambiguous.",
        "If such a name means another file than before the change, the finding is new, even if the change does not \
         edit the caller. It has the configured level only if the change renamed or deleted the file that the name \
         certainly meant before.",
        UNCHECKED_PATHS,
        "Skipped components are checked too, because they may be enabled again.",
    ],
    fails: "pipeline:\n  components:\n    Run load:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: \
            sales/moved away\n",
    fix: "Correct the path. The finding lists the files with that name and, if only one of them can be meant, the \
         command that writes its path. `sluicegate mv OLD NEW` moves a pipeline and updates its calls.",
};

static SCRIPT: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Script,
    summary: "Each script of a component must exist in the project and be a script.",
    reason: "A component whose script was moved or deleted fails when it runs.",
    details: &[
        "`fileName` is checked if `scriptLocation` is `File`. It is a path from the repository root.",
        "A file that is not a script is reported too: a Git LFS pointer, a file that git-crypt encrypted, an empty file, \
         and a file with the conflict markers of a merge.",
        UNCHECKED_PATHS,
    ],
    fails: "pipeline:\n  components:\n    Run script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        \
            fileName: scripts/moved away.sql\n",
    fix: "Correct the path; `sluicegate mv --repair` corrects the path if exactly one file has the script's \
         name, or if the change renamed the script.",
};

static LINK: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Link,
    summary: "Each link of a component must lead to a component of the same pipeline.",
    reason: "A link to a renamed or removed component is never followed, so the components after it never \
         run.",
    details: &[
        "Links are `transitions` and `iterationTarget` of an orchestration and `sources` of a transformation; names are compared as written.",
    ],
    fails: "pipeline:\n  components:\n    Start:\n      type: start\n      transitions:\n        unconditional: [Renamed]\n",
    fix: "Use the component's current name, or remove the link.",
};

static ARGUMENT: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Argument,
    summary: "Each variable that a call sets must be a variable of the called pipeline.",
    reason: "If a variable was renamed, the called pipeline silently uses its default value.",
    details: &[
        "`setScalarVariables` is a list of pairs of variable and value; `setGridVariables` is a list of \
         maps with the key `variable`.",
        "A call to a missing pipeline is reported only by `project/call`.",
    ],
    fails: "pipeline:\n  components:\n    Run load:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: \
            sales/load\n        setScalarVariables:\n          - [renamed, 1]\n",
    fix: "Use the variable's current name, or declare the variable in the called pipeline.",
};

static SHARED_PIPELINES: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Shared,
    summary: "Each entry of the shared-pipelines file must refer to a pipeline of the project, and its \
         parameters must be variables of that pipeline.",
    reason: "If an entry does not match, `sluicegate publish` fails without an upload, but only after the \
         merge.",
    details: &[
        "The pipeline of each entry must exist. If the entry is disabled, the finding is only a warning.",
        "The parameters of an enabled entry must be variables of its pipeline.",
        "The globs of the configuration file (`publish.include` and `publish.exclude`, otherwise `include` and \
         `exclude`) must not exclude a file that an enabled entry needs: its pipeline, the pipelines that it calls \
         directly or indirectly, and their scripts.",
        "A shared-pipelines file that cannot be read, or that the change removes, is also reported.",
    ],
    fails: "pipelines:\n  - { pipeline: sales/moved away.orch.yaml, id: load, displayName: load, enabled: true, parameters: {} }\n",
    fix: "Correct the entry so that it matches its pipeline.",
};

static CYCLE: ProjectDocumentation = ProjectDocumentation {
    check: ProjectCheck::Cycle,
    summary: "Pipelines must not call each other in a cycle.",
    reason: "A run of such a cycle never ends unless a condition inside a pipeline stops the run.",
    details: &[
        "Each call in a cycle is one finding, which lists the pipelines of the cycle. A pipeline that \
         calls itself is a cycle.",
        "Ambiguous calls, which may mean several files, are ignored.",
    ],
    fails: "# sales/load.orch.yaml\npipeline:\n  components:\n    Again:\n      type: run-orchestration\n      parameters:\n        \
            orchestrationJob: sales/load\n",
    fix: "Use an iterator or a schedule to repeat the work.",
};
