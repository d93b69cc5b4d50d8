//! Computes the text of a reference that leads to its previous file, or to the only file that it can mean.

use super::PathMove;
use crate::pipelines::{
    CallResolution, PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget, SpellingIndex,
    complete_path, file_name, is_expression, sibling_path,
};
use crate::project::{EarlierCallee, FindEarlierCallee, Renames};
use std::collections::HashMap;

/// The pipelines before and after a move.
pub struct Relocation<'m> {
    pub path_move: &'m PathMove,
    pub old_files: &'m PipelineFiles<'m>,
    pub new_files: &'m PipelineFiles<'m>,
}

/// A call of a pipeline in the root that reads like a call of the pipeline next to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameClash {
    /// The call read like that before the move.
    Kept,
    /// The move would create the clash.
    New,
}

impl Relocation<'_> {
    /// Returns the new text of a reference in the file `caller`, so that it refers to the same file after the move.
    /// Returns `None` if the text need not change, if the reference is an expression, or if it is a call that was
    /// already broken before the move. Returns an error if no text can refer to the file.
    pub fn find_new_target(&self, reference: &Reference, caller: &str) -> Option<Result<String, String>> {
        let ReferenceTarget::Path(target) = &reference.target else {
            return None;
        };
        let kind = match reference.kind {
            // A script is named by its full path, so the reference changes only if the script moves.
            ReferenceKind::Script => return self.find_new_script_path(target, caller),
            ReferenceKind::Pipeline(kind) => kind,
        };
        let old_resolution = self.old_files.resolve(target, kind, caller);
        let old_path = old_resolution.file()?;
        let new_path = self.path_move.path_after_move(old_path);
        let new_caller = self.path_move.path_after_move(caller);
        let new_resolution = self.new_files.resolve(target, kind, &new_caller);
        // The name of a pipeline in the root is its complete path. Elsewhere, the same text is a name without a folder.
        let loses_folder = matches!(old_resolution, CallResolution::File(_))
            && matches!(new_resolution, CallResolution::ByName(_));
        // The path of a file in the root has no folder, so a reader would take it for the other file.
        if self.find_clash(caller, old_path) == Some(NameClash::New) {
            return Some(Err(format!(
                "a reference to `{new_path}` in `{new_caller}` would read like the file of that name in its folder"
            )));
        }
        if new_resolution.file() == Some(&new_path) && !loses_folder {
            return None;
        }
        let new_target = self
            .new_files
            .find_call_target(target, kind, &new_path, &new_caller);
        Some(new_target.ok_or_else(|| describe_unreachable_path(&new_caller, &new_path)))
    }

    /// Returns the pipeline that a call means after the move, if several pipelines had its name before the move.
    pub fn find_narrowed_call(&self, reference: &Reference, caller: &str) -> Option<String> {
        let old_resolution = reference.resolve(self.old_files, caller);
        let new_caller = self.path_move.path_after_move(caller);
        let new_resolution = reference.resolve(self.new_files, &new_caller);
        if !matches!(old_resolution, CallResolution::Ambiguous(_)) {
            return None;
        }
        new_resolution.file().map(str::to_owned)
    }

    /// Returns the pipeline next to the caller for which a reader takes a call of a pipeline in the root. Returns
    /// `None` if there is no such pipeline, if the move created the clash, or if it moves neither of them.
    pub fn find_kept_clash(&self, reference: &Reference, caller: &str) -> Option<String> {
        let (ReferenceTarget::Path(target), ReferenceKind::Pipeline(kind)) =
            (&reference.target, reference.kind)
        else {
            return None;
        };
        let resolution = self.old_files.resolve(target, kind, caller);
        let old_path = resolution.file()?;
        let old_sibling = sibling_path(caller, old_path);
        let is_touched = [caller, &old_sibling]
            .iter()
            .any(|path| self.path_move.moved_path(path).is_some());
        let is_kept = self.find_clash(caller, old_path) == Some(NameClash::Kept);
        (is_touched && is_kept).then(|| self.path_move.path_after_move(&old_sibling))
    }

    /// Returns whether a call of `old_path` would read like a call of the file of that name next to the caller after
    /// the move, and whether it read like a call of the same file before.
    fn find_clash(&self, caller: &str, old_path: &str) -> Option<NameClash> {
        let new_caller = self.path_move.path_after_move(caller);
        let new_path = self.path_move.path_after_move(old_path);
        if !self
            .new_files
            .has_file_of_same_name_beside(&new_caller, &new_path)
        {
            return None;
        }
        let old_sibling = sibling_path(caller, old_path);
        let is_kept = self.old_files.has_file_of_same_name_beside(caller, old_path)
            && self.path_move.path_after_move(&old_sibling) == sibling_path(&new_caller, &new_path);
        Some(if is_kept { NameClash::Kept } else { NameClash::New })
    }

    /// Returns the new path of a script, or `None` if the script does not move. Returns an error if the new path would
    /// be read as an expression, because nothing checks an expression.
    fn find_new_script_path(&self, target: &str, caller: &str) -> Option<Result<String, String>> {
        let new_path = self.path_move.moved_path(target)?;
        if is_expression(&new_path) {
            let new_caller = self.path_move.path_after_move(caller);
            return Some(Err(describe_unreachable_path(&new_caller, &new_path)));
        }
        Some(Ok(new_path))
    }
}

/// Describes that no text in the file `caller` can refer to the path, and the reason if it is known.
fn describe_unreachable_path(caller: &str, path: &str) -> String {
    let reason = if is_expression(path) {
        ": a reference with `${` is an expression"
    } else {
        ""
    };
    format!("no reference in `{caller}` can point to `{path}`{reason}")
}

/// The files of a project, used to repair broken references.
pub struct ReferenceRepair<'m> {
    pipelines: PipelineFiles<'m>,
    /// The paths of all files by file name.
    paths_by_name: HashMap<&'m str, Vec<&'m str>>,
    spellings: SpellingIndex<'m>,
    renames: &'m Renames<'m>,
    find_earlier_callee: &'m FindEarlierCallee<'m>,
}

/// The reason why a broken reference cannot be repaired.
#[derive(Debug, PartialEq, Eq)]
pub enum RepairError {
    NoFile,
    /// The file exists, but it is a pipeline of this kind, not of the called kind.
    OtherKind(PipelineKind),
    /// Several files have the name.
    SeveralFiles(Vec<String>),
    /// This file has the name, but its path would be read as an expression.
    Expression(String),
    /// The change may have renamed the file to this path, but another file is equally similar.
    UncertainRename(String),
    /// The call meant this pipeline before the change, or could mean it, and now means another one or none.
    Redirected(EarlierCallee),
}

impl<'m> ReferenceRepair<'m> {
    /// Creates the index of the project from the paths of all its regular files. A file that the change renamed is
    /// preferred to a file of the same name.
    pub fn new(
        paths: &[&'m str],
        renames: &'m Renames<'m>,
        find_earlier_callee: &'m FindEarlierCallee<'m>,
    ) -> Self {
        let mut paths_by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths {
            paths_by_name.entry(file_name(path)).or_default().push(path);
        }
        Self {
            pipelines: PipelineFiles::new(paths.iter().copied()),
            spellings: SpellingIndex::new(paths.iter().copied()),
            paths_by_name,
            renames,
            find_earlier_callee,
        }
    }

    /// Returns the correct text of a broken reference. For a call that names its pipeline without the folder, returns
    /// the complete path, because the platform itself rewrites such calls. Returns `None` for a correct reference, and
    /// for an expression, whose value is unknown.
    pub fn find_corrected_target(
        &self,
        reference: &Reference,
        caller: &str,
    ) -> Option<Result<String, RepairError>> {
        let ReferenceTarget::Path(target) = &reference.target else {
            return None;
        };
        match reference.kind {
            ReferenceKind::Pipeline(kind) => self.find_call_repair(reference, target, kind, caller),
            ReferenceKind::Script => self.find_script_repair(target),
        }
    }

    /// Returns the new text of a call whose pipeline was moved, or that names its pipeline without the folder. Returns
    /// `None` if the text is correct. Returns an error if no file or several files could be meant, or if no text can
    /// refer to the file.
    fn find_call_repair(
        &self,
        reference: &Reference,
        target: &str,
        kind: PipelineKind,
        caller: &str,
    ) -> Option<Result<String, RepairError>> {
        let resolution = self.pipelines.resolve(target, kind, caller);
        if let Some(renamed_path) = self.find_renamed_pipeline(reference, target, kind, caller, &resolution) {
            return Some(renamed_path.and_then(|path| self.find_target_of(&path, target, kind, caller)));
        }
        let same_name_path = match resolution {
            CallResolution::File(_) => return None,
            // The call names its pipeline without the folder.
            CallResolution::ByName(path) => Ok(path),
            CallResolution::Missing | CallResolution::Ambiguous(_) => {
                // A pipeline does not call itself: the call means a file that is missing.
                let paths = self.pipelines.files_named(target, kind).iter().copied();
                let other_paths: Vec<&str> = paths.filter(|path| *path != caller).collect();
                find_only_path(&other_paths)
            }
        };
        let path = match self.try_other_spelling(same_name_path, &complete_path(target, kind)) {
            Ok(path) => path,
            Err(RepairError::NoFile) => {
                let other_kind = self.pipelines.find_other_kind(target, kind);
                return Some(Err(other_kind.map_or(RepairError::NoFile, RepairError::OtherKind)));
            }
            Err(error) => return Some(Err(error)),
        };
        let new_target = self.find_target_of(path, target, kind, caller);
        (new_target.as_deref() != Ok(target)).then_some(new_target)
    }

    /// Returns the new path of the pipeline that the change renamed and that the call means. Returns an error if this
    /// is uncertain, or if the call means another pipeline since the change. Returns `None` if the change does not
    /// explain the call.
    fn find_renamed_pipeline(
        &self,
        reference: &Reference,
        target: &str,
        kind: PipelineKind,
        caller: &str,
        resolution: &CallResolution<'_>,
    ) -> Option<Result<String, RepairError>> {
        let current_path = resolution.file();
        match (self.find_earlier_callee)(caller, reference, current_path) {
            Some(old_pipeline) if !old_pipeline.is_certain => {
                Some(Err(RepairError::Redirected(old_pipeline)))
            }
            Some(EarlierCallee {
                new_path: Some(new_path),
                ..
            }) if current_path.is_none() || new_path.ends_with(kind.extension()) => {
                Some(self.require_rename_of_kind(new_path, kind))
            }
            Some(old_pipeline) => current_path.map(|_| Err(RepairError::Redirected(old_pipeline))),
            None if *resolution == CallResolution::Missing => {
                let new_path = self.renames.find_new_pipeline_path(target, kind)?;
                Some(self.require_rename_of_kind(new_path.to_owned(), kind))
            }
            None => None,
        }
    }

    /// Returns the new path of a renamed pipeline, or an error if a call of this kind cannot mean it, or if the rename
    /// is uncertain.
    fn require_rename_of_kind(&self, new_path: String, kind: PipelineKind) -> Result<String, RepairError> {
        match PipelineKind::from_path(&new_path) {
            Some(new_kind) if new_kind != kind => Err(RepairError::OtherKind(new_kind)),
            _ => self.require_certain_rename(new_path),
        }
    }

    /// Returns the new path of a renamed file, or an error if the rename is uncertain.
    fn require_certain_rename(&self, new_path: String) -> Result<String, RepairError> {
        if (self.renames.is_uncertain)(&new_path) {
            return Err(RepairError::UncertainRename(new_path));
        }
        Ok(new_path)
    }

    /// Returns the text with which the caller calls the pipeline at this path, or an error if no text can refer to it.
    fn find_target_of(
        &self,
        path: &str,
        old_target: &str,
        kind: PipelineKind,
        caller: &str,
    ) -> Result<String, RepairError> {
        match self.pipelines.find_call_target(old_target, kind, path, caller) {
            Some(new_target) => Ok(new_target),
            None if is_expression(path) => Err(RepairError::Expression(path.to_owned())),
            None => Err(RepairError::NoFile),
        }
    }

    /// Returns the new path of a script that was moved. Returns `None` if the path is correct, or an error if no file
    /// or several files could be meant.
    fn find_script_repair(&self, target: &str) -> Option<Result<String, RepairError>> {
        let same_name_paths = self
            .paths_by_name
            .get(file_name(target))
            .map_or(&[][..], Vec::as_slice);
        if same_name_paths.contains(&target) {
            return None;
        }
        let path = match (self.renames.find_script_path)(target) {
            Some(new_path) => self.require_certain_rename(new_path),
            None => self
                .try_other_spelling(find_only_path(same_name_paths), target)
                .map(str::to_owned),
        };
        Some(match path {
            // An expression would not mean the file.
            Ok(path) if is_expression(&path) => Err(RepairError::Expression(path)),
            _ => path,
        })
    }

    /// Returns `same_name_path`, the result of a search by file name. If that search found no file, searches for a file
    /// whose path differs from `path` only in its Unicode normal form or letter case.
    fn try_other_spelling(
        &self,
        same_name_path: Result<&'m str, RepairError>,
        path: &str,
    ) -> Result<&'m str, RepairError> {
        match same_name_path {
            Err(RepairError::NoFile) => match self.spellings.find_similar_spelling(path) {
                Some(other_spelling) => Ok(other_spelling.path),
                None => Err(RepairError::NoFile),
            },
            _ => same_name_path,
        }
    }
}

/// Returns the path if there is exactly one, otherwise an error, which lists several paths.
fn find_only_path<'f>(paths: &[&'f str]) -> Result<&'f str, RepairError> {
    match paths {
        [] => Err(RepairError::NoFile),
        [path] => Ok(path),
        paths => Err(RepairError::SeveralFiles(
            paths.iter().map(ToString::to_string).collect(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipelines::PipelineFacts;

    fn reference(parameter: &str, target: &str) -> Reference {
        let text = format!(
            "type: orchestration\npipeline:\n  components:\n    A:\n      parameters:\n        {parameter}: '{target}'\n        scriptLocation: File\n"
        );
        let mut references = PipelineFacts::parse(text.as_bytes())
            .unwrap()
            .references
            .into_vec();
        references.pop().unwrap()
    }

    const FILES: [&str; 5] = [
        "a/load.orch.yaml",
        "a/sub.orch.yaml",
        "b/sub.orch.yaml",
        "c/main.orch.yaml",
        "c/clean.tran.yaml",
    ];

    fn moved(from: &str, to: &str, caller: &str, target: &str) -> Option<String> {
        let moves = PathMove {
            old_path: from.to_owned(),
            new_path: to.to_owned(),
        };
        let after: Vec<String> = FILES.iter().map(|path| moves.path_after_move(path)).collect();
        let relocation = Relocation {
            path_move: &moves,
            old_files: &PipelineFiles::new(FILES),
            new_files: &PipelineFiles::new(after.iter().map(String::as_str)),
        };
        relocation
            .find_new_target(&reference("orchestrationJob", target), caller)
            .map(Result::unwrap)
    }

    #[test]
    fn call_leads_to_same_pipeline_after_move() {
        let main = "c/main.orch.yaml";
        let to = |target| moved("a/load.orch.yaml", "d/new.orch.yaml", main, target);
        assert_eq!(to("a/load").as_deref(), Some("d/new"));
        assert_eq!(to("a/load.orch.yaml").as_deref(), Some("d/new.orch.yaml"));
        assert_eq!(to("load").as_deref(), Some("d/new"), "a bare name");
        assert_eq!(to("a/sub"), None);
        assert_eq!(to("nowhere/load"), None);
        assert_eq!(to("${a/load}"), None);
        let folder = |caller, target| moved("a", "d/e", caller, target);
        assert_eq!(folder(main, "a/sub").as_deref(), Some("d/e/sub"));
        assert_eq!(folder("a/load.orch.yaml", "sub"), None, "it lies beside still");
        assert_eq!(folder("a/load.orch.yaml", "a/sub").as_deref(), Some("d/e/sub"));
        assert_eq!(folder(main, "load"), None, "the only one of that name still");
        let caller = |target| moved("a/load.orch.yaml", "b/load.orch.yaml", "a/load.orch.yaml", target);
        assert_eq!(
            caller("sub").as_deref(),
            Some("a/sub"),
            "another lies beside it now"
        );
        assert_eq!(caller("b/sub"), None);
    }

    #[test]
    fn reference_to_pipeline_that_leaves_the_root_gets_its_folder() {
        let moves = PathMove {
            old_path: "load.orch.yaml".to_owned(),
            new_path: "b/load.orch.yaml".to_owned(),
        };
        let relocation = Relocation {
            path_move: &moves,
            old_files: &PipelineFiles::new(["load.orch.yaml"]),
            new_files: &PipelineFiles::new(["b/load.orch.yaml"]),
        };
        let to = |target| relocation.find_new_target(&reference("orchestrationJob", target), "a/x.orch.yaml");
        assert_eq!(to("load"), Some(Ok("b/load".to_owned())));
        assert_eq!(to("load.orch.yaml"), Some(Ok("b/load.orch.yaml".to_owned())));
    }

    #[test]
    fn moved_script_is_referenced_by_new_path() {
        let moves = PathMove {
            old_path: "sql".to_owned(),
            new_path: "scripts".to_owned(),
        };
        let none = PipelineFiles::new([]);
        let relocation = Relocation {
            path_move: &moves,
            old_files: &none,
            new_files: &none,
        };
        let to = |target| relocation.find_new_target(&reference("fileName", target), "x.orch.yaml");
        assert_eq!(to("sql/a.sql"), Some(Ok("scripts/a.sql".to_owned())));
        assert_eq!(to("sqls/a.sql"), None);
    }

    #[test]
    fn path_that_would_be_an_expression_is_not_written() {
        let moves = PathMove {
            old_path: "a".to_owned(),
            new_path: "${x}".to_owned(),
        };
        let relocation = Relocation {
            path_move: &moves,
            old_files: &PipelineFiles::new(["a/load.orch.yaml"]),
            new_files: &PipelineFiles::new(["${x}/load.orch.yaml"]),
        };
        for (parameter, target) in [("orchestrationJob", "a/load"), ("fileName", "a/b.sql")] {
            let new_target = relocation.find_new_target(&reference(parameter, target), "c.orch.yaml");
            assert!(matches!(new_target, Some(Err(_))), "{target}");
        }
        let paths = ["${x}/load.orch.yaml", "${x}/b.sql"];
        let renames = Renames::NONE;
        let repair = ReferenceRepair::new(&paths, &renames, &|_, _, _| None);
        for (parameter, target, path) in [
            ("orchestrationJob", "a/load", "${x}/load.orch.yaml"),
            ("fileName", "a/b.sql", "${x}/b.sql"),
        ] {
            let new_target = repair.find_corrected_target(&reference(parameter, target), "c.orch.yaml");
            let expected = Some(Err(RepairError::Expression(path.to_owned())));
            assert_eq!(new_target, expected, "{target}");
        }
    }

    #[test]
    fn broken_reference_is_repaired_with_only_file_of_that_name() {
        let paths = [&FILES[..], &["x/a.sql", "x/b.sql", "y/b.sql"]].concat();
        let renames = Renames::NONE;
        let repair = ReferenceRepair::new(&paths, &renames, &|_, _, _| None);
        let call =
            |target| repair.find_corrected_target(&reference("orchestrationJob", target), "c/main.orch.yaml");
        let script =
            |target| repair.find_corrected_target(&reference("fileName", target), "c/main.orch.yaml");
        let several =
            |a: &str, b: &str| Some(Err(RepairError::SeveralFiles(vec![a.to_owned(), b.to_owned()])));
        assert_eq!(call("old/load"), Some(Ok("a/load".to_owned())));
        assert_eq!(call("load.orch.yaml"), Some(Ok("a/load.orch.yaml".to_owned())));
        assert_eq!(call("a/load"), None);
        assert_eq!(call("sub"), several("a/sub.orch.yaml", "b/sub.orch.yaml"));
        assert_eq!(call("old/clean"), Some(Err(RepairError::NoFile)));
        assert_eq!(script("a.sql"), Some(Ok("x/a.sql".to_owned())));
        assert_eq!(script("x/a.sql"), None);
        assert_eq!(script("b.sql"), several("x/b.sql", "y/b.sql"));
        assert_eq!(script("c.sql"), Some(Err(RepairError::NoFile)));
    }
}
