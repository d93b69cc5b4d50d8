//! The messages for broken references, used by reviews and publishes. Each message follows the name of the component
//! and quotes names from the repository. Thousands of messages may repeat a name, so a very long name is shortened.

use super::EarlierCallee;
use crate::pipelines::{
    LinkRole, OtherSpelling, PipelineFiles, PipelineKind, SharedEntry, SharedParameter, SpellingDifference,
    complete_path,
};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::text::{self, List, format_more, shorten_name};

/// The message for a missing file, after `which`.
pub const MISSING_FILE: &str = "is not in the project";

/// The message for a shared pipeline whose file is not a pipeline, after `which`.
pub const NOT_A_PIPELINE: &str = "is not a pipeline file (`.orch.yaml`, `.tran.yaml`)";

/// The message for a file that the globs of the configuration file keep from being sent, after `which`.
pub(super) const UNPUBLISHED_FILE: &str = "the configuration file excludes from publishing";

/// The hint for a broken call if exactly one file has its name.
pub(super) const REPAIR_HINT: &str = "; `sluicegate mv --repair` writes that path";

/// The hint for a finding with a proven fix.
pub const FIX_HINT: &str = "; `sluicegate fix` corrects it";

/// The hint for a finding with a proven fix in the staged files: without --staged, the fix may have no base, and so
/// know no renames.
pub const STAGED_FIX_HINT: &str = "; `sluicegate fix --staged` corrects it";

/// The hint for a finding with a proven fix outside git: without a path, the fix needs a git repository.
pub const DIRECTORY_FIX_HINT: &str = "; `sluicegate fix PATH` corrects it";

/// Maximum number of paths in a sentence about a cycle.
const MAX_LISTED_IN_CYCLE: usize = 12;

/// Describes a call to a pipeline that does not exist, or that is not of the called kind. The text follows the
/// component's name.
pub fn describe_call_of_missing_pipeline(
    files: &PipelineFiles<'_>,
    kind: PipelineKind,
    target: &str,
) -> String {
    let reason = match files.find_other_kind(target, kind) {
        Some(other_kind) => format!("is {}", other_kind.name_with_article()),
        None => MISSING_FILE.to_owned(),
    };
    format!(
        "calls the {} `{}`, which {reason}",
        kind.name(),
        shorten_name(target)
    )
}

/// Describes a call by a name that several pipelines have. The text follows the component's name.
pub fn describe_ambiguous_call(kind: PipelineKind, target: &str, paths: &[&str]) -> String {
    format!(
        "calls the {} `{}` without its folder, but {} have that name",
        kind.name(),
        shorten_name(target),
        format_paths(paths)
    )
}

/// Describes a call that names a pipeline without its directory, with the full path to write instead. The text follows
/// the component's name.
pub(super) fn describe_bare_call(kind: PipelineKind, target: &str, path: &str) -> String {
    format!(
        "calls the {} `{}` without its folder: write the full path, `{}`",
        kind.name(),
        shorten_name(target),
        shorten_name(path)
    )
}

/// The step for a renamed shared pipeline, which follows [`format_rename_hint`].
pub(super) const ENTRY_STEP: &str = "; set `pipeline:` to this path, because publishing fails until then";

/// Describes a call whose name means another pipeline since the change. The text follows the component's name.
pub(super) fn describe_redirected_call(kind: PipelineKind, target: &str, path: &str) -> String {
    format!(
        "calls the {} `{}`, which now means `{}`",
        kind.name(),
        shorten_name(target),
        shorten_name(path)
    )
}

/// Returns the hint, to append to a message, which pipeline the call meant before the change. `is_uncertain_rename`
/// applies to its new path, if it has one.
pub(super) fn format_earlier_callee_hint(callee: &EarlierCallee, is_uncertain_rename: bool) -> String {
    let verb = if callee.is_certain { "meant" } else { "could mean" };
    let hint = format!("; before this change, it {verb} `{}`", shorten_name(&callee.path));
    match &callee.new_path {
        Some(new_path) => {
            let verb = if is_uncertain_rename {
                "may have been"
            } else {
                "was"
            };
            format!("{hint}, which {verb} renamed to `{}`", shorten_name(new_path))
        }
        None => hint,
    }
}

/// Returns the hint, to append to a message, that the change renamed the target of the reference.
pub(super) fn format_rename_hint(name: &str) -> String {
    format!("; it was renamed in this change to `{}`", shorten_name(name))
}

/// The hint for a reference to a file that the change deletes.
pub(super) const DELETION_HINT: &str =
    "; it was deleted in this change: restore it, or remove the reference to it";

/// Returns the hint, to append to a message, that the change may have renamed the target of the reference, but that
/// another file is equally similar.
pub(super) fn format_uncertain_rename_hint(path: &str) -> String {
    format!("; this change may have renamed it to `{}`", shorten_name(path))
}

/// Returns the hint, to append to a message, that a file's name differs only in its spelling.
pub(super) fn format_other_spelling_hint(spelling: OtherSpelling<'_>) -> String {
    let difference = match spelling.difference {
        SpellingDifference::NormalForm => "its Unicode normal form",
        SpellingDifference::LetterCase => "letter case",
        SpellingDifference::Both => "letter case and its Unicode normal form",
    };
    format!(
        "; the name of `{}` differs only in {difference}",
        shorten_name(spelling.path)
    )
}

/// Returns the hint, to append to a message, that asks whether this similar name is meant.
pub(super) fn format_similar_name_hint(name: &str) -> String {
    format!("; {}", text::did_you_mean(name))
}

/// Describes a reference to a script that does not exist. The text follows the component's name.
pub fn describe_missing_script(path: &str) -> String {
    format!("names the script `{}`, which {MISSING_FILE}", shorten_name(path))
}

/// Describes a reference to a path at which there is no regular file, but for example `a symbolic link, not a file`.
/// The text follows the component's name.
pub fn describe_irregular_script(path: &str, description: &str) -> String {
    format!(
        "names the script `{}`, which is {description}",
        shorten_name(path)
    )
}

/// Describes a reference to a file whose content is not a script, for example a Git LFS pointer. The text follows the
/// component's name.
pub fn describe_unusable_script(path: &str, defect: FileDefect) -> String {
    format!("names the script `{path}`, which {}", defect.reason())
}

/// Describes a call of a pipeline that a publish omits. The text follows the component's name.
pub(super) fn describe_unpublished_call(path: &str) -> String {
    format!("calls `{}`, which {UNPUBLISHED_FILE}", shorten_name(path))
}

/// Describes a reference to a script that a publish omits. The text follows the component's name.
pub(super) fn describe_unpublished_script(path: &str) -> String {
    format!(
        "names the script `{}`, which {UNPUBLISHED_FILE}",
        shorten_name(path)
    )
}

/// Describes a link to a component that does not exist. The text follows the component's name.
pub(super) fn describe_dangling_link(role: LinkRole, name: &str) -> String {
    let relation = match role {
        LinkRole::Transition => "has a transition to",
        LinkRole::IterationTarget => "iterates over",
        LinkRole::Source => "has the source",
    };
    format!(
        "{relation} `{}`, which is not a component of the pipeline",
        shorten_name(name)
    )
}

/// Describes a call that sets a variable that the called pipeline does not have. The text follows the component's name.
pub(super) fn describe_undeclared_variable(variable: &str, path: &str) -> String {
    let (variable, path) = (shorten_name(variable), shorten_name(path));
    format!("sets the variable `{variable}`, which `{path}` does not have")
}

/// Describes an entry of the shared-pipelines file whose pipeline is missing or invalid. `reason` is the text after
/// `which`, for example [`MISSING_FILE`].
pub fn describe_broken_entry(id: &str, path: &str, reason: &str) -> String {
    format!(
        "the shared pipeline `{}` is `{}`, which {reason}",
        shorten_name(id),
        shorten_name(path)
    )
}

/// Returns the hint, to append to a message, for an entry whose path lacks the extension of an existing pipeline.
/// Returns an empty text if there is no such pipeline.
pub(super) fn suggest_extension(files: &PipelineFiles<'_>, path: &str) -> String {
    if PipelineKind::from_path(path).is_some() {
        return String::new();
    }
    let paths = PipelineKind::ALL.map(|kind| complete_path(path, kind));
    let existing_path = paths.iter().find(|path| files.has_path(path));
    existing_path
        .map(|path| format_similar_name_hint(path))
        .unwrap_or_default()
}

/// Describes a parameter that is not a variable of its pipeline.
pub fn describe_undeclared_parameter(entry: &SharedEntry, parameter: &SharedParameter) -> String {
    format!(
        "the shared pipeline `{}` has the parameter `{}`, which is not a variable of `{}`",
        shorten_name(&entry.id),
        shorten_name(&parameter.name),
        shorten_name(&entry.pipeline)
    )
}

/// Describes a call that is part of a cycle. `paths` contains the pipelines of the cycle, without repeating the first.
/// The text follows the component's name.
pub(super) fn describe_cycle(paths: &[&str]) -> String {
    match paths {
        [own] => format!("calls its own pipeline, `{}`", shorten_name(own)),
        [first, ..] => {
            let list =
                List::with_limit(paths, MAX_LISTED_IN_CYCLE).map(|path| format!("`{}`", shorten_name(path)));
            let mut steps = list.items().to_vec();
            if list.omitted_count() > 0 {
                steps.push(format_more(list.omitted_count()));
            }
            steps.push(format!("`{}`", shorten_name(first)));
            format!("is part of a call cycle: {}", steps.join(" → "))
        }
        [] => "is part of a call cycle".to_owned(),
    }
}

/// Describes a call between pipelines of a group that is too large to find a single cycle. The text follows the
/// component's name.
pub(super) fn describe_large_cycle(callee: &str, size: usize) -> String {
    let callee = shorten_name(callee);
    format!("calls `{callee}`, one of {size} pipelines that call each other in cycles")
}

/// Returns the paths as a list for a sentence. Only the first paths of a long list are named; the others are counted.
pub(super) fn format_paths(paths: &[&str]) -> String {
    let list = List::new(paths).map(|path| format!("`{}`", shorten_name(path)));
    match list.items() {
        [first_paths @ .., final_path] if list.omitted_count() == 0 && !first_paths.is_empty() => {
            format!("{} and {final_path}", first_paths.join(", "))
        }
        _ => list.to_string(),
    }
}
