//! Detects file names that a person reads as a pipeline name, but the platform does not.
//!
//! Such a name can hide a pipeline from the gate, on purpose or by mistake.

use sluicegate_base::text::List;
use sluicegate_pipelines::pipelines::file_name;
use unicode_security::skeleton;

/// Endings of pipeline names, correct ones and common mistakes.
const PIPELINE_ENDINGS: [&str; 4] = [".orch.yaml", ".tran.yaml", ".orch.yml", ".tran.yml"];

/// Maximum number of names in a note.
const MAX_LISTED_NAMES: usize = 10;

/// The command whose output has all names.
const LIST_COMMAND: &str = "sluicegate context --all -o json";

/// Returns whether a person would take the file for a pipeline: its name has another case, similar letters of another
/// alphabet, trailing spaces or dots, or invisible characters. Such a file escapes the review, so it is reported. Also
/// returns true for the name of a real pipeline.
pub(crate) fn looks_like_pipeline(path: &str) -> bool {
    let name = file_name(path);
    if name.is_ascii() {
        return ends_like_pipeline(name);
    }
    let visible_name: String = name.chars().filter(|c| !is_invisible_in_skeleton(*c)).collect();
    has_confusable_ending(&visible_name)
}

/// Removes trailing spaces, dots and control characters.
fn trim_ignored_end(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_whitespace() || c.is_control() || c == '.')
}

/// Returns whether the end of the name is confusable with that of a pipeline, as Unicode defines it: both have the same
/// skeleton (UTS #39). Letters are compared in lower case, because an alphabet may have a confusable letter in one case
/// only. Trailing spaces and dots are removed from the skeleton, because other alphabets have such characters, too.
fn has_confusable_ending(name: &str) -> bool {
    let to_skeleton = |text: &str| skeleton(&text.to_lowercase()).collect::<String>();
    let name_skeleton = to_skeleton(name);
    let trimmed_skeleton = trim_ignored_end(&name_skeleton);
    PIPELINE_ENDINGS
        .iter()
        .any(|ending| trimmed_skeleton.ends_with(&to_skeleton(ending)))
}

/// Returns whether the name ends like that of a pipeline. Case and trailing spaces, dots and control characters are
/// ignored.
fn ends_like_pipeline(name: &str) -> bool {
    let name = trim_ignored_end(name);
    PIPELINE_ENDINGS.iter().any(|ending| {
        let start = name.len().checked_sub(ending.len());
        let end = start.and_then(|start| name.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
    })
}

/// Returns whether the character is invisible but is still in a skeleton. The characters that Unicode calls ignorable,
/// such as joiners, direction marks and fillers, need no check here, because a skeleton does not contain them.
fn is_invisible_in_skeleton(c: char) -> bool {
    c.is_control() || ('\u{fff9}'..='\u{fffb}').contains(&c)
}

/// Returns a sentence about files whose names only look like a pipeline's. Returns `None` if `paths` is empty.
/// Invisible characters are shown as escapes.
pub(crate) fn describe_lookalikes(paths: &[String]) -> Option<String> {
    let summary = match paths.len() {
        0 => return None,
        1 => "1 file has a name that only looks like the name of a pipeline, and was not reviewed".to_owned(),
        count => {
            format!("{count} files have names that only look like names of pipelines, and were not reviewed")
        }
    };
    let list = List::with_limit(paths, MAX_LISTED_NAMES).map(|path| format!("{path:?}"));
    let remedy = if paths.len() > MAX_LISTED_NAMES {
        format!(" (`{LIST_COMMAND}` lists all in `lookalikes`)")
    } else {
        String::new()
    };
    Some(format!("{summary}: {list}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::looks_like_pipeline;

    #[test]
    fn name_that_reads_as_pipeline_looks_like_pipeline() {
        for name in [
            "a.orch.yaml",
            "x/a.ORCH.YAML",
            "a.orch.yml",
            "a.Tran.Yaml",
            "a.orch.yaml ",
            "a.orch.yaml.",
            "a.orch.yaml\u{a0}",
            "a.orch\u{200b}.yaml",
            "a.orch.yaml\u{feff}",
            "a.o\u{ad}rch.yaml",
            "a.\u{ff4f}rch.yaml",
            "a.orch.yaml\u{1}",
            "a.orch.yaml\u{ff0e}",
            // Full-width letters and full stops.
            "a\u{ff0e}\u{ff4f}\u{ff52}\u{ff43}\u{ff48}\u{ff0e}\u{ff59}\u{ff41}\u{ff4d}\u{ff4c}",
            "a\u{ff0e}\u{ff34}\u{ff32}\u{ff21}\u{ff2e}\u{ff0e}\u{ff39}\u{ff2d}\u{ff2c}",
            "ü\u{2060}.orch.yml",
            "a.orch.yaml\n",
            // Cyrillic а, о and с; a one dot leader; a Cherokee letter.
            "a.orch.y\u{430}ml",
            "a.\u{43e}r\u{441}h.yaml",
            "a\u{2024}orch.yaml",
            "a.OR\u{421}H.Y\u{410}ML",
            "a.tr\u{430}n.yml",
            "a.tr\u{430}n.yml.",
            "a.tr\u{430}n.yml\u{a0}",
        ] {
            assert!(looks_like_pipeline(name), "{name:?}");
        }
        for name in [
            "a.yaml",
            "orch.yaml",
            "a.orch.yaml/b",
            "a.orch.yaml.bak",
            "ü.yml",
            "",
            "a.orch.json",
            "а.yaml",
            "отчёт.json",
        ] {
            assert!(!looks_like_pipeline(name), "{name:?}");
        }
    }

    #[test]
    fn invisible_characters_do_not_hide_the_name_of_a_pipeline() {
        let first_and_last = "\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}\u{180f}\u{200b}\u{200f}\u{202a}\u{202e}\
             \u{2060}\u{206f}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{fffb}\u{e0000}\u{e0fff}\u{85}";
        for c in first_and_last.chars() {
            assert!(looks_like_pipeline(&format!("a.or{c}ch.yaml")), "{c:?}");
        }
    }
}
