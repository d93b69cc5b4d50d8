//! Checks that the shared pipelines are complete: everything that they call, directly or indirectly, must be sent.
//!
//! A version can never be corrected once it is published, so a problem that would break a consumer stops the publish.
//! A problem of other pipelines, or one that cannot be determined, is a warning.

use super::contents::PublishContents;
use super::error::Problem;
use super::listing::{Listing, refuse_unsure};
use super::references::{self, FileFacts, WantedFile};
use super::shared_file::SharedFile;
use super::unusable::{refuse_unusable, resolve_defect};
use super::warnings::{Warning, WarningKind};
use super::{PublishError, Select, Wish, parameters};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_git::{FileKind, SnapshotFile};
use sluicegate_pipelines::pipelines::{
    CallResolution, CallWalk, PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget,
    file_name,
};
use sluicegate_pipelines::project::{self, CallSuggestions};
use sluicegate_pipelines::yaml::DocumentError;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) struct Input<'a> {
    pub listing: &'a Listing<'a>,
    pub contents: &'a PublishContents,
    pub wish: &'a Wish<'a>,
    pub shared: &'a SharedFile,
    pub sent: BTreeMap<String, FileFacts>,
}

pub(super) struct CheckedClosure {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
    pub scripts: BTreeMap<String, SnapshotFile>,
    pub sent: BTreeMap<String, FileFacts>,
    /// The number of files that the shared pipelines need, with their scripts.
    pub needed_count: usize,
}

/// Checks the entries of the shared-pipelines file and the pipelines that they call, and finds the scripts.
pub(super) fn check(mut input: Input<'_>) -> Result<CheckedClosure, PublishError> {
    let listing = input.listing;
    let files = PipelineFiles::new(listing.known().keys().map(String::as_str));
    let needed = needed(&mut input, &files)?;
    if input.wish.select == Select::Closure {
        input.sent.retain(|path, _| needed.contains(path));
    }
    let scripts = scripts(&input)?;
    let unsent = listing
        .known()
        .keys()
        .filter(|path| !input.sent.contains_key(*path));
    let mut check = ClosureCheck {
        input: &input,
        files,
        scripts: &scripts,
        unsent: unsent
            .rev()
            .map(|path| (file_name(path), path.as_str()))
            .collect(),
        suggestions: RefCell::default(),
        problems: Vec::new(),
        unusable: Vec::new(),
        warnings: Vec::new(),
    };
    check.entries()?;
    check
        .problems
        .extend(parameters::undeclared(input.shared, &input.sent));
    for (path, facts) in &input.sent {
        check.pipeline(path, facts, needed.contains(path));
    }
    let ClosureCheck {
        problems,
        unusable,
        warnings,
        ..
    } = check;
    refuse_unusable(unusable)?;
    let needed_count = needed.len() + needed_scripts(&input, &needed, &scripts).len();
    let sent_scripts = scripts.into_iter().filter_map(|(path, script)| match script {
        Script::Sent(found) => Some((path, found)),
        Script::NotSent(_) | Script::Unusable(_) => None,
    });
    Ok(CheckedClosure {
        problems,
        warnings,
        scripts: sent_scripts.collect(),
        sent: input.sent,
        needed_count,
    })
}

/// Returns the scripts of the needed pipelines that are sent.
fn needed_scripts<'i>(
    input: &'i Input<'_>,
    needed: &BTreeSet<String>,
    scripts: &BTreeMap<String, Script>,
) -> BTreeSet<&'i str> {
    let facts = needed.iter().filter_map(|path| input.sent.get(path));
    let paths = facts
        .flat_map(FileFacts::references)
        .filter_map(Reference::script_path);
    paths
        .filter(|path| scripts.get(*path).is_some_and(|script| script.sent().is_some()))
        .collect()
}

/// Returns the enabled shared pipelines and all that they call directly or indirectly. Proceeds step by step, as the
/// files of a step are read together.
fn needed(input: &mut Input<'_>, files: &PipelineFiles<'_>) -> Result<BTreeSet<String>, PublishError> {
    let mut needed = BTreeSet::new();
    let mut walk = CallWalk::default();
    let mut step: BTreeSet<String> = input
        .shared
        .enabled()
        .map(|entry| entry.pipeline.clone())
        .collect();
    while !step.is_empty() {
        step.retain(|path| input.sent.contains_key(path) && needed.insert(path.clone()));
        read_skimmed(input, &step)?;
        let mut next = BTreeSet::new();
        for path in &step {
            for reference in input.sent.get(path).into_iter().flat_map(FileFacts::references) {
                next.extend(walk.list_called_pipelines(files, reference, path));
            }
        }
        step = next.into_iter().map(str::to_owned).collect();
    }
    Ok(needed)
}

/// Reads those of these files as YAML that were only skimmed.
fn read_skimmed(input: &mut Input<'_>, paths: &BTreeSet<String>) -> Result<(), PublishError> {
    let is_skimmed = |path: &&String| input.sent.get(*path).is_some_and(FileFacts::is_skimmed);
    let (paths, wanted): (Vec<&String>, Vec<WantedFile<'_>>) = paths
        .iter()
        .filter(is_skimmed)
        .filter_map(|path| Some((path, input.listing.known().get(path)?)))
        .map(|(path, found)| {
            (
                path,
                WantedFile {
                    content: &found.content,
                    is_needed: true,
                },
            )
        })
        .unzip();
    let facts = references::read_all(input.contents, &wanted)?;
    input.sent.extend(paths.into_iter().cloned().zip(facts));
    Ok(())
}

/// A script that a pipeline uses.
enum Script {
    Sent(SnapshotFile),
    /// The reason why it is not sent.
    NotSent(String),
    /// The content is not a script, so that the publish is refused.
    Unusable(FileDefect),
}

impl Script {
    const fn sent(&self) -> Option<&SnapshotFile> {
        match self {
            Self::Sent(file) => Some(file),
            Self::NotSent(_) | Self::Unusable(_) => None,
        }
    }
}

fn scripts(input: &Input<'_>) -> Result<BTreeMap<String, Script>, PublishError> {
    let references = input.sent.values().flat_map(FileFacts::references);
    let paths: BTreeSet<&str> = references.filter_map(Reference::script_path).collect();
    let mut found = input.listing.find_all(&paths)?;
    let mut scripts: BTreeMap<String, Script> = paths
        .into_iter()
        .map(|path| (path.to_owned(), script(input, path, found.remove(path))))
        .collect();
    refuse_unsure(scripts.values().filter_map(Script::sent))?;
    for (path, script) in &mut scripts {
        if let Script::Sent(file) = script
            && let Some(defect) = resolve_defect(input.contents, input.wish.source, path, file)?
        {
            *script = Script::Unusable(defect);
        }
    }
    Ok(scripts)
}

fn script(input: &Input<'_>, path: &str, found: Option<SnapshotFile>) -> Script {
    match found {
        Some(found) if found.kind == FileKind::Regular && !(input.wish.exclude)(path) => Script::Sent(found),
        Some(found) if found.kind == FileKind::Regular => {
            Script::NotSent(format!("names the script `{path}`, which is excluded"))
        }
        Some(found) if found.kind == FileKind::Symlink => Script::NotSent(format!(
            "names the script `{path}`, which is a symbolic link, not a file"
        )),
        _ => Script::NotSent(project::describe_missing_script(path)),
    }
}

enum Meaning {
    Fine,
    /// The target is unknown, or the shared pipelines do not need it: always a warning.
    Unsure(WarningKind, String),
    /// The target is not sent.
    Broken(String),
    /// The target is not a script.
    Unusable(String, FileDefect),
}

struct ClosureCheck<'a> {
    input: &'a Input<'a>,
    files: PipelineFiles<'a>,
    scripts: &'a BTreeMap<String, Script>,
    /// A file that is not sent for each file name that has one.
    unsent: HashMap<&'a str, &'a str>,
    suggestions: RefCell<CallSuggestions<'a>>,
    problems: Vec<Problem>,
    unusable: Vec<(FileDefect, Problem)>,
    warnings: Vec<Warning>,
}

impl ClosureCheck<'_> {
    /// Checks that each entry's file exists, and that it is sent if the entry is enabled.
    fn entries(&mut self) -> Result<(), PublishError> {
        let shared = self.input.shared;
        for entry in shared.entries() {
            let (id, path) = (&entry.id, &entry.pipeline);
            let is_there = self.input.listing.find(path)?.is_some();
            if !entry.enabled {
                let what = if is_there {
                    format!("the shared pipeline `{id}` is disabled, so the version does not offer it")
                } else {
                    project::describe_broken_entry(id, path, project::MISSING_FILE)
                        + "; it is disabled, so no consumer needs it"
                };
                self.warn(WarningKind::Disabled, &shared.problem(entry.position, what), true);
            } else if let Some(why) = self.not_sent(path)? {
                let what = project::describe_broken_entry(id, path, &why);
                self.problems.push(shared.problem(entry.position, what));
            }
        }
        Ok(())
    }

    /// Returns the reason why a pipeline is not sent, or `None` if it is sent.
    fn not_sent(&self, path: &str) -> Result<Option<String>, PublishError> {
        if self.input.sent.contains_key(path) {
            return Ok(None);
        }
        let found = self.input.listing.find(path)?;
        Ok(Some(match found {
            None => project::MISSING_FILE.to_owned(),
            Some(_) if PipelineKind::from_path(path).is_none() => project::NOT_A_PIPELINE.to_owned(),
            Some(_) => "is not among the selected files".to_owned(),
        }))
    }

    fn pipeline(&mut self, path: &str, facts: &FileFacts, is_needed: bool) {
        if let Some(defect) = facts.defect {
            let problem = Problem {
                path: path.to_owned(),
                line: None,
                component: None,
                what: defect.reason().to_owned(),
            };
            self.unusable.push((defect, problem));
            return;
        }
        match &facts.facts {
            Err(error) if is_needed => {
                let (line, component, what) = unread(error);
                self.problems.push(problem(path, line, component, what));
            }
            Err(error) => {
                let (line, component, what) = unread(error);
                self.warn(WarningKind::Unread, &problem(path, line, component, what), false);
            }
            Ok(facts) => facts
                .references
                .iter()
                .for_each(|reference| self.reference(path, reference, is_needed)),
        }
    }

    fn reference(&mut self, path: &str, reference: &Reference, is_needed: bool) {
        let meaning = self.meaning(path, reference);
        let line = Some(reference.position.line);
        let component = Some(reference.component.to_string());
        match meaning {
            Meaning::Fine => {}
            Meaning::Unsure(kind, what) => self.warn(kind, &problem(path, line, component, what), is_needed),
            Meaning::Broken(what) if is_needed => self.problems.push(problem(path, line, component, what)),
            Meaning::Broken(what) => {
                self.warn(WarningKind::NotSent, &problem(path, line, component, what), false);
            }
            Meaning::Unusable(what, defect) => {
                self.unusable.push((defect, problem(path, line, component, what)));
            }
        }
    }

    fn warn(&mut self, kind: WarningKind, problem: &Problem, is_needed: bool) {
        self.warnings.push(Warning {
            kind,
            is_needed,
            place: problem.place(),
            text: problem.to_string(),
        });
    }

    fn meaning(&self, path: &str, reference: &Reference) -> Meaning {
        match (&reference.target, reference.kind) {
            (ReferenceTarget::Expression(text), _) => {
                let what = format!("names `{text}`, an expression: it is unknown whether its file is sent");
                Meaning::Unsure(WarningKind::Expression, what)
            }
            (ReferenceTarget::Path(target), ReferenceKind::Pipeline(kind)) => self.call(path, target, kind),
            (ReferenceTarget::Path(path), ReferenceKind::Script) => match self.scripts.get(path) {
                Some(Script::NotSent(what)) => Meaning::Broken(what.clone()),
                Some(Script::Unusable(defect)) => {
                    Meaning::Unusable(project::describe_unusable_script(path, *defect), *defect)
                }
                Some(Script::Sent(_)) | None => Meaning::Fine,
            },
        }
    }

    fn call(&self, caller: &str, target: &str, kind: PipelineKind) -> Meaning {
        let is_sent = |path: &str| self.input.sent.contains_key(path);
        match self.files.resolve(target, kind, caller) {
            CallResolution::File(path) | CallResolution::ByName(path) if is_sent(path) => Meaning::Fine,
            CallResolution::File(path) | CallResolution::ByName(path) => {
                Meaning::Broken(format!("calls `{path}`, which is not among the selected files"))
            }
            CallResolution::Missing => {
                let help = self.suggestions.borrow_mut().suggest(&self.files, target, kind);
                Meaning::Broken(project::describe_missing_call(kind, target) + &help)
            }
            CallResolution::Ambiguous(paths) => {
                let what = project::describe_ambiguous_call(kind, target, paths);
                let unsent = paths.first().and_then(|path| self.unsent.get(file_name(path)));
                match unsent {
                    None => Meaning::Unsure(WarningKind::Ambiguous, what),
                    Some(path) => {
                        Meaning::Broken(format!("{what}: `{path}` is not among the selected files"))
                    }
                }
            }
        }
    }
}

fn problem(path: &str, line: Option<u32>, component: Option<String>, what: String) -> Problem {
    Problem {
        path: path.to_owned(),
        line,
        component,
        what,
    }
}

fn unread(error: &DocumentError) -> (Option<u32>, Option<String>, String) {
    (
        error.position.map(|position| position.line),
        None,
        format!("cannot be read as a pipeline: {}", error.message),
    )
}
