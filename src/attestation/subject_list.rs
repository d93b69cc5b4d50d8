//! The list of subjects for the action `actions/attest`, which takes them separately from the predicate.

use super::Subject;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum number of subjects that the action accepts, see its input `subject-path`.
const MAX_SUBJECTS: usize = 1024;

/// Maximum size of the list in bytes: the runner passes it to the action in one environment variable, and Linux accepts
/// at most 128 KiB in one.
const MAX_LIST_BYTES: usize = 120 * 1024;

/// Returns the subjects with a SHA-256 for the action `actions/attest`, one per line in the format of `sha256sum`. The
/// action accepts only this digest, so the list does not contain the commit. The error says why the action cannot sign
/// the statement.
pub(crate) fn format_subject_list(subjects: &[Subject]) -> Result<String, String> {
    let mut list = String::new();
    let mut subject_count = 0;
    for subject in subjects {
        let (Some(name), Some(sha256)) = (&subject.name, subject.sha256()) else {
            continue;
        };
        // A line break in the name would add a line, and the action has no escape for it.
        if name.contains(char::is_control) {
            let name = text::escape_line(name);
            return Err(format!("the name `{name}` contains a control character"));
        }
        subject_count += 1;
        let _ = writeln!(list, "{sha256}  {name}");
    }
    if subject_count > MAX_SUBJECTS {
        return Err(format!(
            "the list has {subject_count} subjects, and the action accepts at most {MAX_SUBJECTS}"
        ));
    }
    if list.len() > MAX_LIST_BYTES {
        let (size, limit) = (list.len() / 1024, MAX_LIST_BYTES / 1024);
        return Err(format!(
            "the list of subjects has {size} KiB, and a runner can pass at most {limit} KiB to the action"
        ));
    }
    Ok(list.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Subject {
        Subject::for_content(name, &"a".repeat(64))
    }

    #[test]
    fn subject_list_has_line_for_each_content_and_none_for_commit() {
        let subjects = [
            Subject::for_commit(Some("h/o/r"), &"1".repeat(40)),
            subject("a b.orch.yaml"),
            subject("ü.tran.yaml"),
        ];
        let hash = "a".repeat(64);
        let list = format!("{hash}  a b.orch.yaml\n{hash}  ü.tran.yaml");
        assert_eq!(format_subject_list(&subjects), Ok(list));
        assert_eq!(format_subject_list(&subjects[..1]), Ok(String::new()));
    }

    #[test]
    fn subject_list_with_line_break_in_name_is_refused() {
        let forged = format!("x\n{}  y.orch.yaml\r", "b".repeat(64));
        let reason = format_subject_list(&[subject(&forged)]).unwrap_err();
        assert!(reason.ends_with("contains a control character"), "{reason}");
        assert_eq!(reason.lines().count(), 1);
        // A name with `%` is not escaped, so that the signed name is that of the file.
        let list = format_subject_list(&[subject("x%0Ay.orch.yaml")]).unwrap();
        assert!(list.ends_with("  x%0Ay.orch.yaml"), "{list}");
    }

    #[test]
    fn subject_list_over_limit_of_action_is_missing() {
        let subjects: Vec<Subject> = (0..=MAX_SUBJECTS)
            .map(|number| subject(&number.to_string()))
            .collect();
        assert!(format_subject_list(&subjects[1..]).is_ok());
        let reason = format_subject_list(&subjects).unwrap_err();
        assert!(reason.contains("1025 subjects"), "{reason}");
        let reason = format_subject_list(&[subject(&"n".repeat(MAX_LIST_BYTES))]).unwrap_err();
        assert!(reason.contains("at most 120 KiB"), "{reason}");
    }
}
