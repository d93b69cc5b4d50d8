//! Checks that the shared pipelines are complete: everything that they call, directly or indirectly, must be sent.
//!
//! A version can never be corrected once it is published, so a problem that would break a consumer stops the publish.
//! A problem of other pipelines, or one that cannot be determined, is a warning.

use super::content_reader::ContentReader;
use super::error::SharedPipelineProblem;
use super::file_listing::FileListing;
use super::pipeline_reader::{self, PipelineFile, PipelineToRead};
use super::pipeline_scripts::{Script, find_scripts, select_needed_scripts};
use super::plan_warnings::{Warning, WarningKind};
use super::shared_pipelines_file::PlannedSharedFile;
use super::unusable_scripts::reject_unusable_files;
use super::{FileSelection, PublishError, PublishRequest, offered_parameters};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_git::SnapshotFile;
use sluicegate_pipelines::pipelines::{
    CallResolution, CallWalk, PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget,
    file_name,
};
use sluicegate_pipelines::project::{self, CallSuggestions};
use sluicegate_yaml::DocumentError;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) struct ClosureInput<'a> {
    pub listing: &'a FileListing<'a>,
    pub contents: &'a ContentReader,
    pub request: &'a PublishRequest<'a>,
    pub shared_file: &'a PlannedSharedFile,
    pub sent_pipelines: BTreeMap<String, PipelineFile>,
}

pub(super) struct ClosureContents {
    pub problems: Vec<SharedPipelineProblem>,
    /// The number of problems that are parameters without a variable.
    pub undeclared_count: usize,
    pub warnings: Vec<Warning>,
    pub scripts: BTreeMap<String, SnapshotFile>,
    pub sent_pipelines: BTreeMap<String, PipelineFile>,
    /// The number of files that the shared pipelines need, with their scripts.
    pub needed_count: usize,
}

/// Checks that the offered pipelines and everything that they call are sent, because consumers could not run a pipeline
/// with missing parts. Returns the problems, the sent pipelines and their scripts. With `--select closure`, all
/// other pipelines are removed from the sent ones. Fails only if the content of a file cannot be read or used.
pub(super) fn check_closure(mut input: ClosureInput<'_>) -> Result<ClosureContents, PublishError> {
    let listing = input.listing;
    let files = PipelineFiles::new(listing.listed_files().keys().map(String::as_str));
    // The pipelines that a consumer needs: a missing part of any other pipeline is only a warning.
    let needed_paths = find_needed_pipelines(&mut input, &files)?;
    if input.request.selection == FileSelection::Closure {
        input.sent_pipelines.retain(|path, _| needed_paths.contains(path));
    }
    let scripts = find_scripts(listing, input.contents, input.request, &input.sent_pipelines)?;
    let mut check = ClosureCheck {
        input: &input,
        files,
        scripts: &scripts,
        unsent_paths_by_name: listing
            .listed_files()
            .keys()
            .filter(|path| !input.sent_pipelines.contains_key(*path))
            // In reverse order, the first path of each name is the one that remains.
            .rev()
            .map(|path| (file_name(path), path.as_str()))
            .collect(),
        suggestions: RefCell::default(),
        problems: Vec::new(),
        unusable: Vec::new(),
        warnings: Vec::new(),
    };
    check.record_entry_problems()?;
    let undeclared_parameters =
        offered_parameters::check_offered_parameters(input.shared_file, &input.sent_pipelines);
    let undeclared_count = undeclared_parameters.len();
    check.problems.extend(undeclared_parameters);
    for (path, file) in &input.sent_pipelines {
        check.record_pipeline_problems(path, file, needed_paths.contains(path));
    }
    let ClosureCheck {
        problems,
        unusable,
        warnings,
        ..
    } = check;
    reject_unusable_files(unusable)?;
    let needed_count =
        needed_paths.len() + select_needed_scripts(&input.sent_pipelines, &needed_paths, &scripts).len();
    let sent_scripts = scripts.into_iter().filter_map(|(path, script)| match script {
        Script::Sent(file) => Some((path, file)),
        Script::Missing(_) | Script::Omitted(_) | Script::Unusable(_) => None,
    });
    Ok(ClosureContents {
        problems,
        undeclared_count,
        warnings,
        scripts: sent_scripts.collect(),
        sent_pipelines: input.sent_pipelines,
        needed_count,
    })
}

/// Returns the paths of the enabled shared pipelines and of all pipelines that they call, directly or indirectly,
/// without those that are not sent. The search is breadth-first, so that the files of each step can be read together,
/// which is faster.
fn find_needed_pipelines(
    input: &mut ClosureInput<'_>,
    files: &PipelineFiles<'_>,
) -> Result<BTreeSet<String>, PublishError> {
    let mut needed_paths: BTreeSet<String> = BTreeSet::new();
    let mut walk = CallWalk::default();
    let mut current_step: BTreeSet<String> = input
        .shared_file
        .offered_entries()
        .map(|entry| entry.pipeline.clone())
        .collect();
    while !current_step.is_empty() {
        // Earlier steps may have found the same pipelines.
        current_step.retain(|path| input.sent_pipelines.contains_key(path) && !needed_paths.contains(path));
        needed_paths.extend(current_step.iter().cloned());
        read_skimmed_pipelines(input, &current_step)?;
        let mut next_step = BTreeSet::new();
        for path in &current_step {
            let Some(file) = input.sent_pipelines.get(path) else {
                continue;
            };
            for reference in file.references() {
                next_step.extend(walk.list_called_pipelines(files, reference, path));
            }
        }
        current_step = next_step.into_iter().map(str::to_owned).collect();
    }
    Ok(needed_paths)
}

/// Parses the pipelines among `paths` whose bytes were so far only searched for file names.
fn read_skimmed_pipelines(
    input: &mut ClosureInput<'_>,
    paths: &BTreeSet<String>,
) -> Result<(), PublishError> {
    let mut skimmed_paths = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        let is_skimmed = input
            .sent_pipelines
            .get(path)
            .is_some_and(PipelineFile::is_skimmed);
        if is_skimmed && let Some(file) = input.listing.listed_files().get(path) {
            skimmed_paths.push(path.clone());
            files.push(PipelineToRead {
                content: &file.content,
                is_needed: true,
            });
        }
    }
    let pipelines = pipeline_reader::read_pipelines(input.contents, &files)?;
    input
        .sent_pipelines
        .extend(skimmed_paths.into_iter().zip(pipelines));
    Ok(())
}

enum ReferenceState {
    Intact,
    /// The target is unknown, or the shared pipelines do not need it: always a warning.
    Uncertain(WarningKind, String),
    /// The target is not sent.
    Broken(String),
    /// The target is not a script.
    Unusable(String, FileDefect),
}

struct ClosureCheck<'a> {
    input: &'a ClosureInput<'a>,
    files: PipelineFiles<'a>,
    scripts: &'a BTreeMap<String, Script>,
    /// For each file name, the path of a file with this name that is not sent.
    unsent_paths_by_name: HashMap<&'a str, &'a str>,
    suggestions: RefCell<CallSuggestions<'a>>,
    problems: Vec<SharedPipelineProblem>,
    unusable: Vec<(FileDefect, SharedPipelineProblem)>,
    warnings: Vec<Warning>,
}

impl ClosureCheck<'_> {
    /// Records a problem for each enabled entry in the shared-pipelines file whose pipeline is not sent. A disabled
    /// entry only leads to a warning, which also says whether its file is missing.
    fn record_entry_problems(&mut self) -> Result<(), PublishError> {
        let shared_file = self.input.shared_file;
        for entry in shared_file.all_entries() {
            let (id, path) = (&entry.id, &entry.pipeline);
            let exists = self.input.listing.find_file(path)?.is_some();
            if !entry.enabled {
                let (kind, description) = if exists {
                    let description =
                        format!("the shared pipeline `{id}` is disabled, so the version does not offer it");
                    (WarningKind::Disabled, description)
                } else {
                    let description = project::describe_broken_entry(id, path, project::MISSING_FILE)
                        + "; it is disabled, so no consumer needs it";
                    (WarningKind::DisabledWithoutFile, description)
                };
                // Without the pipeline, this warning would remain, so its summary must not suggest `--select closure`.
                let is_needed = true;
                self.add_warning(
                    kind,
                    &shared_file.build_problem(entry.position, description),
                    is_needed,
                );
            } else if let Some(reason) = self.find_omission_reason(path)? {
                let description = project::describe_broken_entry(id, path, &reason);
                self.problems
                    .push(shared_file.build_problem(entry.position, description));
            }
        }
        Ok(())
    }

    /// Returns the reason why a pipeline is not sent, or `None` if it is sent.
    fn find_omission_reason(&self, path: &str) -> Result<Option<String>, PublishError> {
        if self.input.sent_pipelines.contains_key(path) {
            return Ok(None);
        }
        let file = self.input.listing.find_file(path)?;
        Ok(Some(match file {
            None => {
                let mut suggestions = self.suggestions.borrow_mut();
                project::MISSING_FILE.to_owned() + &suggestions.suggest_entry(&self.files, path)
            }
            Some(_) if PipelineKind::from_path(path).is_none() => project::NOT_A_PIPELINE.to_owned(),
            Some(_) => "is not among the selected files".to_owned(),
        }))
    }

    /// Records the problems of a sent pipeline and its references. If no offered pipeline needs it, problems are only
    /// warnings, except that a defective file is always rejected.
    fn record_pipeline_problems(&mut self, path: &str, file: &PipelineFile, is_needed: bool) {
        if let Some(defect) = file.defect {
            let problem = SharedPipelineProblem {
                path: path.to_owned(),
                line: None,
                component: None,
                description: defect.reason().to_owned(),
            };
            self.unusable.push((defect, problem));
            return;
        }
        match &file.facts {
            Err(error) if is_needed => self.problems.push(build_unreadable_problem(path, error)),
            Err(error) => {
                self.add_warning(
                    WarningKind::Unreadable,
                    &build_unreadable_problem(path, error),
                    is_needed,
                );
            }
            Ok(facts) => {
                for reference in &facts.references {
                    self.record_reference_problems(path, reference, is_needed);
                }
            }
        }
    }

    /// Records a problem if the file that a component refers to is not sent or unusable. If no offered pipeline needs
    /// the pipeline at `path`, a missing file is only a warning. An unusable file always stops the publish.
    fn record_reference_problems(&mut self, path: &str, reference: &Reference, is_needed: bool) {
        match self.assess_reference(path, reference) {
            ReferenceState::Intact => {}
            ReferenceState::Uncertain(kind, description) => {
                self.add_warning(
                    kind,
                    &build_reference_problem(path, reference, description),
                    is_needed,
                );
            }
            ReferenceState::Broken(description) if is_needed => {
                self.problems
                    .push(build_reference_problem(path, reference, description));
            }
            ReferenceState::Broken(description) => {
                self.add_warning(
                    WarningKind::Unsent,
                    &build_reference_problem(path, reference, description),
                    is_needed,
                );
            }
            ReferenceState::Unusable(description, defect) => {
                self.unusable
                    .push((defect, build_reference_problem(path, reference, description)));
            }
        }
    }

    /// Adds a problem that does not stop the publish. `is_needed` is false if no offered pipeline needs the file; the
    /// summary of the warnings then suggests excluding the file.
    fn add_warning(&mut self, kind: WarningKind, problem: &SharedPipelineProblem, is_needed: bool) {
        self.warnings.push(Warning {
            kind,
            is_needed,
            location: problem.format_location(),
            text: problem.to_string(),
        });
    }

    /// Returns whether the file that a reference names is sent and usable. This is uncertain if the name is an
    /// expression, because only a run of the pipeline evaluates it.
    fn assess_reference(&self, path: &str, reference: &Reference) -> ReferenceState {
        match (&reference.target, reference.kind) {
            (ReferenceTarget::Expression(text), _) => {
                let description = format!(
                    "names `{text}`, which is an expression, so it is unknown whether its file is sent"
                );
                ReferenceState::Uncertain(WarningKind::Expression, description)
            }
            (ReferenceTarget::Path(target), ReferenceKind::Pipeline(kind)) => {
                self.assess_call(path, target, kind)
            }
            (ReferenceTarget::Path(path), ReferenceKind::Script) => match self.scripts.get(path) {
                Some(Script::Missing(description) | Script::Omitted(description)) => {
                    ReferenceState::Broken(description.clone())
                }
                Some(Script::Unusable(defect)) => {
                    ReferenceState::Unusable(project::describe_unusable_script(path, *defect), *defect)
                }
                // `find_scripts` returns every script that a sent pipeline names, so `None` does not occur.
                Some(Script::Sent(_)) | None => ReferenceState::Intact,
            },
        }
    }

    /// Returns the state of a component's call of a pipeline: intact if that pipeline is sent, otherwise broken. If
    /// several files have the called name, the call is uncertain, or broken if one of these files is not sent.
    fn assess_call(&self, caller: &str, target: &str, kind: PipelineKind) -> ReferenceState {
        let is_sent = |path: &str| self.input.sent_pipelines.contains_key(path);
        match self.files.resolve(target, kind, caller) {
            CallResolution::File(path) | CallResolution::ByName(path) if is_sent(path) => {
                ReferenceState::Intact
            }
            CallResolution::File(path) | CallResolution::ByName(path) => {
                ReferenceState::Broken(format!("calls `{path}`, which is not among the selected files"))
            }
            CallResolution::Missing => {
                // A publish needs a git repository, in which `sluicegate mv --repair` works.
                let can_repair = true;
                let mut suggestions = self.suggestions.borrow_mut();
                let hint = suggestions.suggest_pipeline(&self.files, target, kind, can_repair);
                ReferenceState::Broken(
                    project::describe_call_of_missing_pipeline(&self.files, kind, target)
                        + &hint.into_text_with_command(),
                )
            }
            CallResolution::Ambiguous(paths) => {
                let description = project::describe_ambiguous_call(kind, target, paths);
                // All these files have the same name, so the first path is enough to look the name up.
                let unsent_path = paths
                    .first()
                    .and_then(|path| self.unsent_paths_by_name.get(file_name(path)));
                match unsent_path {
                    None => ReferenceState::Uncertain(WarningKind::Ambiguous, description),
                    Some(path) => ReferenceState::Broken(format!(
                        "{description}: `{path}` is not among the selected files"
                    )),
                }
            }
        }
    }
}

/// Creates the problem for a reference in the pipeline at `path`, with its line and component.
fn build_reference_problem(path: &str, reference: &Reference, description: String) -> SharedPipelineProblem {
    SharedPipelineProblem {
        path: path.to_owned(),
        line: Some(reference.position.line),
        component: Some(reference.component.to_string()),
        description,
    }
}

/// Creates the problem for a file that cannot be parsed as a pipeline.
fn build_unreadable_problem(path: &str, error: &DocumentError) -> SharedPipelineProblem {
    SharedPipelineProblem {
        path: path.to_owned(),
        line: error.position.map(|position| position.line),
        component: None,
        description: format!("cannot be read as a pipeline: {}", error.message),
    }
}
