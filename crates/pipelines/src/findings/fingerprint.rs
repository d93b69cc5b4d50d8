//! The identity of a finding across runs, so that hosts can distinguish new findings from known ones.
//!
//! A fingerprint contains the identity by which commits are compared ([`Finding::identity`]), so it stays when lines,
//! numbers or hints in the message change. Findings with the same identity are distinguished by their order. The hash
//! is SHA-256 over each part preceded by its length, so that it does not depend on the version of a library, and
//! different findings never have the same input.

use super::Finding;
use crate::pipelines::SubjectKind;
use sha2::{Digest as _, Sha256};
use sluicegate_base::text::to_hex;
use std::collections::HashMap;
use std::fmt;

/// The identity of a finding across runs; shown as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a finding from its parts. `ordinal` is the number of earlier findings with the same
    /// parts. Each part is preceded by its length, so that different parts never become the same bytes: otherwise,
    /// `ab` and `c` would have the same fingerprint as `a` and `bc`.
    pub fn new(parts: &[&str], ordinal: u64) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        hash.update(ordinal.to_be_bytes());
        Self(hash.finalize().into())
    }

    /// Computes the fingerprint of each finding, in the same order. Findings with the same parts are numbered, so that
    /// their fingerprints differ.
    pub fn for_findings(findings: &[Finding<'_>]) -> Vec<Self> {
        let mut ordinals: HashMap<[&str; 6], u64> = HashMap::with_capacity(findings.len());
        let mut fingerprints = Vec::with_capacity(findings.len());
        for finding in findings {
            let parts = fingerprint_parts(finding);
            let ordinal = ordinals.entry(parts).or_insert(0);
            fingerprints.push(Self::new(&parts, *ordinal));
            *ordinal += 1;
        }
        fingerprints
    }
}

/// Returns the parts of a finding that are the same in every report: outcome, rule, path, error type, subject (or text)
/// and the kind of the subject.
fn fingerprint_parts<'f>(finding: &'f Finding<'_>) -> [&'f str; 6] {
    let (outcome, error_type) = match finding.error_type {
        Some(error_type) => ("error", error_type),
        None => ("failed", ""),
    };
    let identity = finding.identity();
    let about_kind = identity.about_kind.map_or("", SubjectKind::name);
    // A saved report does not contain `identity_text`, so the finding's own text is used instead.
    let about = match finding.identity_text {
        Some(_) if finding.about.is_none() => finding.text.as_deref(),
        _ => identity.about,
    };
    let about = about.unwrap_or_default();
    [
        outcome,
        identity.rule,
        identity.path,
        error_type,
        about,
        about_kind,
    ]
}

impl fmt::Display for Fingerprint {
    /// Writes 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Origin, Severity};
    use std::collections::HashSet;

    fn finding(path: &'static str, line: u32, text: &'static str) -> Finding<'static> {
        Finding {
            path,
            line,
            rule: "r",
            origin: Origin::Platform,
            severity: Severity::Error,
            state: None,
            waiver: None,
            about: None,
            about_kind: None,
            identity_text: None,
            size: None,
            is_minor: false,
            error_type: None,
            text: Some(text.into()),
            fix: None,
        }
    }

    #[test]
    fn fingerprint_does_not_depend_on_line() {
        let before = [finding("a", 3, "x"), finding("a", 9, "y")];
        let after = [finding("a", 13, "x"), finding("a", 40, "y")];
        assert_eq!(
            Fingerprint::for_findings(&before),
            Fingerprint::for_findings(&after)
        );
    }

    #[test]
    fn fingerprint_does_not_depend_on_number_or_on_text_about_subject() {
        let about = |text| Finding {
            about: Some("Run"),
            ..finding("a", 3, text)
        };
        let counted = |text, size| Finding {
            size: Some(size),
            ..finding("a", 3, text)
        };
        let before = [about("calls `x`"), counted("has 7 components", 7)];
        let after = [
            about("calls `x`; did you mean `y`?"),
            counted("has 8 components", 8),
        ];
        assert_eq!(
            Fingerprint::for_findings(&before),
            Fingerprint::for_findings(&after)
        );
        assert_ne!(
            Fingerprint::for_findings(&[about("x")]),
            Fingerprint::for_findings(&[finding("a", 3, "x")])
        );
    }

    #[test]
    fn duplicates_have_different_fingerprints_in_order() {
        let one = [finding("a", 3, "x"), finding("a", 4, "x")];
        let prints = Fingerprint::for_findings(&one);
        assert_ne!(prints[0], prints[1]);
        let with_another_between = [finding("a", 3, "x"), finding("b", 3, "x"), finding("a", 4, "x")];
        let again = Fingerprint::for_findings(&with_another_between);
        assert_eq!((again[0], again[2]), (prints[0], prints[1]));
        assert_eq!(again.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn fingerprint_separates_parts_and_is_stable() {
        assert_ne!(
            Fingerprint::new(&["ab", "c"], 0),
            Fingerprint::new(&["a", "bc"], 0)
        );
        insta::assert_snapshot!(Fingerprint::new(&["failed", "r", "a", "", "x"], 0), @"d4d6c37723b73071ba55d6d76341a8eb502a00c16cb8bfd7e75f7c2031c4fae9");
    }
}
