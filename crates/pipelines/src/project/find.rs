//! Derives findings from the facts of a project.

use super::circles::Calls;
use super::renames::Renames;
use super::shared_side::SharedSide;
use super::suggestions::{CallSuggestions, ComponentSuggestions};
use super::words::{
    NO_PIPELINE, NOT_THERE, REPAIR, ambiguous_call, bare_call, circle, dangling_link, did_you_mean,
    large_circle, missing_call, missing_script, shared_pipeline, undeclared_parameter, undeclared_variable,
    unusable_script,
};
use super::{CheckLevels, ProjectCheck};
use crate::findings::{Enforcement, FileResults, Origin, RuleResult, Severity, Status, Violation};
use crate::pipelines::{
    CallWalk, Kind, PipelineFacts, PipelineFiles, Reference, ReferenceKind, ReferenceTarget, Resolved,
    is_pipeline,
};
use crate::yaml::Position;
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::text::shorten_name;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The input of the checks: the files of a commit or of the working tree.
pub struct Project<'p> {
    /// All pipelines, so that calls can be resolved.
    pub files: &'p PipelineFiles<'p>,
    /// The facts of the checked pipelines; `None` if a pipeline cannot be read.
    pub facts: &'p BTreeMap<String, Option<PipelineFacts>>,
    /// The referenced scripts that exist, each with its defect.
    pub scripts: &'p BTreeMap<String, Option<FileDefect>>,
    pub shared: Option<&'p SharedSide>,
    /// Returns whether a reference intentionally leads out of the project.
    pub is_external: &'p dyn Fn(&str) -> bool,
    pub renames: &'p Renames<'p>,
}

struct Lead {
    check: ProjectCheck,
    line: u32,
    about: Option<String>,
    text: String,
    /// Whether it is a warning at most.
    is_doubt: bool,
}

/// The broken references of each file.
type Leads<'p> = BTreeMap<&'p str, Vec<Lead>>;

impl Project<'_> {
    /// Returns the findings in the checked files: one result for each file, check and level.
    pub fn results(&self, levels: CheckLevels) -> Vec<FileResults> {
        let is_on = |check| levels.of(check).is_some();
        let reached = self.reached();
        let mut leads: Leads<'_> = BTreeMap::new();
        let calls = RefCell::new(CallSuggestions::default());
        let components = RefCell::new(ComponentSuggestions::default());
        for (path, facts) in self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path, facts.as_ref()?)))
        {
            calls.borrow_mut().enter(path);
            components.borrow_mut().enter();
            let finder = Finder {
                project: self,
                path,
                shared_by: reached.get(path.as_str()).copied(),
                calls: &calls,
                components: &components,
            };
            let found = finder.of_file(facts);
            leads.entry(path).or_default().extend(found);
        }
        if is_on(ProjectCheck::Cycle) {
            self.circles(&mut leads);
        }
        if let Some(shared) = self.shared {
            leads
                .entry(&shared.path)
                .or_default()
                .extend(self.of_shared(shared));
        }
        let results = leads
            .into_iter()
            .map(|(path, leads)| results(path, leads, levels));
        results.filter(|file| !file.results.is_empty()).collect()
    }

    /// Returns the pipelines that the file certainly calls.
    fn called<'s>(
        &'s self,
        path: &str,
        facts: &'s PipelineFacts,
    ) -> impl Iterator<Item = (&'s Reference, &'s str)> {
        facts.references.iter().filter_map(move |reference| {
            let (ReferenceKind::Pipeline(kind), ReferenceTarget::Path(target)) =
                (reference.kind, &reference.target)
            else {
                return None;
            };
            Some((reference, self.files.resolve(target, kind, path).file()?))
        })
    }

    /// Returns the pipelines that shared pipelines call directly or indirectly, each with the id of one of them. A
    /// broken reference there makes a publish fail.
    fn reached(&self) -> HashMap<&str, &str> {
        let mut reached: HashMap<&str, &str> = HashMap::new();
        let shared = self.shared.and_then(|shared| shared.content.as_ref().ok());
        let enabled = shared
            .iter()
            .flat_map(|shared| shared.entries.iter().filter(|entry| entry.enabled));
        let mut next: Vec<(&str, &str)> = enabled
            .map(|entry| (entry.pipeline.as_str(), entry.id.as_str()))
            .collect();
        let mut walk = CallWalk::default();
        while let Some((path, id)) = next.pop() {
            if reached.contains_key(path) {
                continue;
            }
            reached.insert(path, id);
            if let Some(Some(facts)) = self.facts.get(path) {
                let references = facts.references.iter();
                let called = references.flat_map(|reference| walk.called(self.files, reference, path));
                next.extend(called.map(|called| (called, id)));
            }
        }
        reached
    }

    fn circles<'s>(&'s self, leads: &mut Leads<'s>) {
        let known = self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path.as_str(), facts.as_ref()?)));
        let known: Vec<(&str, &PipelineFacts)> = known.collect();
        let numbers: HashMap<&str, usize> = known
            .iter()
            .enumerate()
            .map(|(at, (path, _))| (*path, at))
            .collect();
        let numbered = |path: &str, facts| {
            let called = self.called(path, facts);
            let called: BTreeSet<usize> = called
                .filter_map(|(_, path)| numbers.get(path).copied())
                .collect();
            called.into_iter().collect()
        };
        let calls = Calls::new(known.iter().map(|(path, facts)| numbered(path, facts)).collect());
        for (at, (path, facts)) in known.iter().enumerate() {
            let mut messages: HashMap<usize, String> = HashMap::new();
            for (reference, callee) in self.called(path, facts) {
                let Some(to) = numbers
                    .get(callee)
                    .copied()
                    .filter(|to| calls.is_in_circle(at, *to))
                else {
                    continue;
                };
                let text = messages.entry(to).or_insert_with(|| {
                    let circle = calls.circle(at, to);
                    let named = circle.map(|numbers| {
                        let paths = numbers.iter().filter_map(|number| known.get(*number));
                        paths.map(|(path, _)| *path).collect::<Vec<&str>>()
                    });
                    named.map_or_else(
                        || large_circle(callee, calls.size(at)),
                        |paths| self::circle(&paths),
                    )
                });
                leads
                    .entry(path)
                    .or_default()
                    .push(lead(ProjectCheck::Cycle, reference, text));
            }
        }
    }

    fn of_shared(&self, shared: &SharedSide) -> Vec<Lead> {
        let entries = match &shared.content {
            Ok(content) => &content.entries,
            Err(error) => {
                let line = error.position.map_or(1, |position| position.line);
                return vec![in_shared(
                    line,
                    None,
                    format!("cannot be read: {}", error.message),
                )];
            }
        };
        let mut leads = Vec::new();
        for entry in entries {
            let about = || Some(shorten_name(&entry.id).into_owned());
            let why = if !shared.there.contains(&entry.pipeline) {
                Some(NOT_THERE)
            } else if entry.enabled && !is_pipeline(&entry.pipeline) {
                Some(NO_PIPELINE)
            } else {
                None
            };
            leads.extend(why.map(|why| {
                let text = shared_pipeline(&entry.id, &entry.pipeline, why);
                Lead {
                    // A publish warns of a disabled entry.
                    is_doubt: !entry.enabled,
                    ..in_shared(entry.position.line, about(), text)
                }
            }));
            let facts = self.facts.get(&entry.pipeline).and_then(Option::as_ref);
            let facts = facts.filter(|facts| entry.enabled && !facts.is_skimmed);
            let undeclared = facts.iter().flat_map(|facts| entry.undeclared(facts));
            leads.extend(undeclared.map(|parameter| {
                let text = undeclared_parameter(entry, parameter);
                in_shared(parameter.position.line, about(), text)
            }));
        }
        leads
    }
}

fn in_shared(line: u32, about: Option<String>, text: String) -> Lead {
    Lead {
        check: ProjectCheck::Shared,
        line,
        about,
        text,
        is_doubt: false,
    }
}

fn lead(check: ProjectCheck, reference: &Reference, said: &str) -> Lead {
    at(check, &reference.component, reference.position, said)
}

/// Creates a lead; `said` is the text after the component's name.
fn at(check: ProjectCheck, component: &str, position: Position, said: &str) -> Lead {
    // A component may have thousands of references, links and arguments.
    let component = shorten_name(component);
    Lead {
        check,
        line: position.line,
        about: Some(component.clone().into_owned()),
        text: format!("component `{component}` {said}"),
        is_doubt: false,
    }
}

struct Finder<'f> {
    project: &'f Project<'f>,
    path: &'f str,
    /// A shared pipeline that calls the file directly or indirectly.
    shared_by: Option<&'f str>,
    calls: &'f RefCell<CallSuggestions<'f>>,
    components: &'f RefCell<ComponentSuggestions>,
}

impl Finder<'_> {
    fn of_file(&self, facts: &PipelineFacts) -> Vec<Lead> {
        let links = facts.dangling.iter().map(|link| {
            let said = dangling_link(link.role, &link.name) + &self.link_help(facts, &link.name);
            at(ProjectCheck::Link, &link.component, link.position, &said)
        });
        let mut leads: Vec<Lead> = links.collect();
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            if (self.project.is_external)(target) {
                continue;
            }
            match reference.kind {
                ReferenceKind::Script => leads.extend(self.script(reference, target)),
                ReferenceKind::Pipeline(kind) => self.call(reference, target, kind, &mut leads),
            }
        }
        leads
    }

    /// Returns the finding for a script that does not exist, or that is not a script.
    fn script(&self, reference: &Reference, target: &str) -> Option<Lead> {
        let text = match self.project.scripts.get(target) {
            None => format!("{}{}", missing_script(target), self.reach()),
            Some(None) => return None,
            Some(Some(defect)) => format!(
                "{}; a publish refuses it: {}",
                unusable_script(target, *defect),
                defect.help()
            ),
        };
        Some(lead(ProjectCheck::Script, reference, &text))
    }

    fn call(&self, reference: &Reference, target: &str, kind: Kind, leads: &mut Vec<Lead>) {
        let files = self.project.files;
        // A glob may contain the path with its extension even if the call omits it.
        if (self.project.is_external)(&format!("{target}{}", kind.extension())) {
            return;
        }
        let resolved = files.resolve(target, kind, self.path);
        let (said, is_doubt) = match &resolved {
            Resolved::File(_) => (None, false),
            Resolved::Bare(path) => {
                let is_only = files.of_name(target, kind).len() == 1;
                let help = if is_only { REPAIR } else { "" };
                (Some(bare_call(kind, target, path) + help), true)
            }
            Resolved::Ambiguous(paths) => (Some(ambiguous_call(kind, target, paths)), false),
            Resolved::Missing => {
                let (said, help) = (missing_call(kind, target), self.help(target, kind));
                (Some(format!("{said}{help}{}", self.reach())), false)
            }
        };
        leads.extend(said.map(|said| Lead {
            is_doubt,
            ..lead(ProjectCheck::Call, reference, &said)
        }));
        if let Some(path) = resolved.file() {
            self.arguments(reference, path, leads);
        }
    }

    /// Returns a hint with the new path of a renamed pipeline, otherwise with the files of that name or a similar path.
    fn help(&self, target: &str, kind: Kind) -> String {
        let files = self.project.files;
        let renamed = self.project.renames.call_help(files, target, kind);
        renamed.unwrap_or_else(|| self.calls.borrow_mut().help(files, target, kind))
    }

    /// Returns a hint with the component that a broken link probably means.
    fn link_help(&self, facts: &PipelineFacts, name: &str) -> String {
        let names = facts.components.iter().map(String::as_str);
        let similar = || self.components.borrow_mut().find(names, name);
        let renamed = self.project.renames.link_help(self.path, name);
        renamed
            .or_else(|| Some(did_you_mean(&similar()?)))
            .unwrap_or_default()
    }

    /// Returns the consequence for a publish.
    fn reach(&self) -> String {
        let refused = |id| {
            let id = shorten_name(id);
            format!("; a publish is refused, as the shared pipeline `{id}` needs it")
        };
        self.shared_by.map(refused).unwrap_or_default()
    }

    fn arguments(&self, reference: &Reference, path: &str, leads: &mut Vec<Lead>) {
        let Some(Some(callee)) = self.project.facts.get(path) else {
            return;
        };
        if callee.is_skimmed || reference.arguments.is_empty() {
            return;
        }
        let unknown = reference.arguments.iter();
        let unknown = unknown.filter(|argument| !callee.declares(&argument.name));
        let unknown = unknown.filter(|argument| !argument.name.contains("${"));
        leads.extend(unknown.map(|argument| {
            let said = undeclared_variable(&argument.name, path);
            at(
                ProjectCheck::Argument,
                &reference.component,
                argument.position,
                &said,
            )
        }));
    }
}

/// Groups the leads into one result for each check and level, in the order of the checks.
fn results(path: &str, leads: Vec<Lead>, levels: CheckLevels) -> FileResults {
    let mut found: BTreeMap<(ProjectCheck, Enforcement), Vec<Violation>> = BTreeMap::new();
    for lead in leads {
        let Some(level) = levels.of(lead.check) else {
            continue;
        };
        let level = if lead.is_doubt { Enforcement::Warn } else { level };
        found.entry((lead.check, level)).or_default().push(Violation {
            line: Some(lead.line),
            about: lead.about,
            ..Violation::new(lead.text)
        });
    }
    let results = found.into_iter().map(|((check, level), mut violations)| {
        violations.sort_by_key(|violation| violation.line);
        let status = Status::Failed(Severity::of(level));
        RuleResult {
            origin: Origin::Project,
            ..RuleResult::new(check.id().to_owned(), status, Some(level), violations)
        }
    });
    FileResults {
        path: path.to_owned(),
        results: results.collect(),
    }
}
