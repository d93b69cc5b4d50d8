//! The list of subjects for the action `actions/attest`, which takes them separately from the predicate.

use super::Subject;
use std::fmt::Write as _;

/// Maximum number of subjects that the action accepts, see its input `subject-path`.
const MAX_SUBJECTS: usize = 1024;

/// Maximum size of the list in bytes: the runner passes it to the action in one environment variable, and Linux accepts
/// at most 128 KiB in one.
const MAX_LIST_BYTES: usize = 120 * 1024;

/// Returns the subjects with a SHA-256 for the action `actions/attest`, one per line in the format of `sha256sum`. The
/// action accepts only this digest, so the list does not contain the commit. Returns `None` if the list is too long for
/// the action.
pub(crate) fn format_subject_list(subjects: &[Subject]) -> Option<String> {
    let mut list = String::new();
    let mut subject_count = 0;
    for subject in subjects {
        let (Some(name), Some(sha256)) = (&subject.name, subject.sha256()) else {
            continue;
        };
        subject_count += 1;
        let _ = writeln!(list, "{sha256}  {}", escape_name(name));
    }
    let is_short = subject_count <= MAX_SUBJECTS && list.len() <= MAX_LIST_BYTES;
    is_short.then(|| list.trim_end_matches('\n').to_owned())
}

/// Escapes control characters, for example a line break as `%0A`, so that the name of a file cannot add a line with
/// another subject.
fn escape_name(name: &str) -> String {
    let mut escaped_name = String::new();
    for character in name.chars() {
        if character.is_control() {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                let _ = write!(escaped_name, "%{byte:02X}");
            }
        } else {
            escaped_name.push(character);
        }
    }
    escaped_name
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
        assert_eq!(format_subject_list(&subjects), Some(list));
        assert_eq!(format_subject_list(&subjects[..1]), Some(String::new()));
    }

    #[test]
    fn subject_list_keeps_name_with_line_break_on_one_line() {
        let forged = format!("x\n{}  y.orch.yaml\r", "b".repeat(64));
        let list = format_subject_list(&[subject(&forged)]).unwrap();
        assert_eq!(list.lines().count(), 1);
        assert!(list.contains("x%0A") && list.ends_with("%0D"), "{list}");
    }

    #[test]
    fn subject_list_over_limit_of_action_is_missing() {
        let subjects: Vec<Subject> = (0..=MAX_SUBJECTS)
            .map(|number| subject(&number.to_string()))
            .collect();
        assert!(format_subject_list(&subjects[1..]).is_some());
        assert_eq!(format_subject_list(&subjects), None);
        assert_eq!(format_subject_list(&[subject(&"n".repeat(MAX_LIST_BYTES))]), None);
    }
}
