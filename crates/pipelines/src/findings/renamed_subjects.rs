//! The old names of what findings are about: the components that a change renamed, and their links.

use crate::pipelines::{Pipeline, SubjectKind};
use std::collections::{BTreeMap, BTreeSet};

/// The text between the two components in the subject of a finding about a link.
pub(crate) const LINK_ARROW: &str = " -> ";

/// Maximum number of arrows in the subject of a link. A name with more arrows is not searched for two components.
const MAX_ARROWS: usize = 16;

/// The components of one pipeline that a change renamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenamedSubjects {
    /// The old name of each renamed component, by its new name.
    old_names: BTreeMap<String, String>,
    /// The names of all components of the new version.
    names: BTreeSet<String>,
}

impl RenamedSubjects {
    /// Creates the renames of a pipeline. `old_names` has the old name of each renamed component, by its new name.
    /// `pipeline` is the new version, if it can be read.
    pub fn new(old_names: BTreeMap<String, String>, pipeline: Option<&Pipeline>) -> Self {
        let components = pipeline.into_iter().flat_map(|pipeline| &pipeline.components);
        Self {
            old_names,
            names: components.map(|component| component.name.clone()).collect(),
        }
    }

    /// Returns whether no component was renamed.
    pub fn is_empty(&self) -> bool {
        self.old_names.is_empty()
    }

    /// Returns the new name of the component that had this name.
    pub fn find_new_name(&self, old_name: &str) -> Option<&str> {
        let mut renames = self.old_names.iter();
        renames
            .find(|(_, old)| *old == old_name)
            .map(|(new_name, _)| new_name.as_str())
    }

    /// Returns what a finding about `subject` was about before the change: the old name of the component, or the link
    /// with the old names of its ends. Returns `None` if the subject was not renamed. Only components are renamed,
    /// never variables.
    pub fn find_old_subject(&self, subject: &str, kind: Option<SubjectKind>) -> Option<String> {
        match kind {
            Some(SubjectKind::Variable) => None,
            Some(SubjectKind::Component) => self.old_names.get(subject).cloned(),
            None => (self.old_names.get(subject).cloned()).or_else(|| self.find_old_link(subject)),
        }
    }

    /// Returns the subject of a link with the old names of its ends. Returns `None` if neither end was renamed. Names
    /// may contain an arrow: returns `None`, too, if the subject could also be about a link between other components.
    fn find_old_link(&self, subject: &str) -> Option<String> {
        let mut renamed_link = None;
        for (link_count, (arrow, _)) in subject.match_indices(LINK_ARROW).enumerate() {
            let (source, target) = (subject.get(..arrow)?, subject.get(arrow + LINK_ARROW.len()..)?);
            let (old_source, old_target) = (self.old_names.get(source), self.old_names.get(target));
            let is_renamed = old_source.is_some() || old_target.is_some();
            let is_possible = is_renamed || (self.names.contains(source) && self.names.contains(target));
            if link_count == MAX_ARROWS || (is_possible && renamed_link.is_some()) {
                return None;
            }
            if is_possible {
                let [old_source, old_target] = [(old_source, source), (old_target, target)]
                    .map(|(old, name)| old.map_or(name, String::as_str));
                renamed_link = Some((is_renamed, format!("{old_source}{LINK_ARROW}{old_target}")));
            }
        }
        renamed_link
            .filter(|(is_renamed, _)| *is_renamed)
            .map(|(_, old_subject)| old_subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_test_support::orchestration_text;

    /// Returns the renames of `Old` to `New`, in a pipeline with these components.
    fn renames(names: &[&str]) -> RenamedSubjects {
        let pipeline = Pipeline::parse(orchestration_text(names).as_bytes()).unwrap();
        let old_names = BTreeMap::from([("New".to_owned(), "Old".to_owned())]);
        RenamedSubjects::new(old_names, Some(&pipeline))
    }

    #[test]
    fn link_is_followed_at_each_renamed_end_and_other_subjects_are_not() {
        let renames = renames(&["Start", "New", "End"]);
        for (subject, old_subject) in [
            ("New", Some("Old")),
            ("Start -> New", Some("Start -> Old")),
            ("New -> End", Some("Old -> End")),
            ("New -> New", Some("Old -> Old")),
            ("New -> Missing", Some("Old -> Missing")),
            ("Start -> End", None),
            ("Newer -> End", None),
        ] {
            let found = renames.find_old_subject(subject, None);
            assert_eq!(found.as_deref(), old_subject, "{subject}");
        }
        assert_eq!(renames.find_old_subject("New", Some(SubjectKind::Variable)), None);
        assert_eq!(
            renames.find_old_subject("New -> End", Some(SubjectKind::Component)),
            None
        );
        assert_eq!(renames.find_new_name("Old"), Some("New"));
    }

    #[test]
    fn subject_that_several_links_can_have_is_not_followed() {
        for names in [
            ["New", "B -> C", "New -> B", "C"],
            ["New", "New -> B", "C", "Other"],
        ] {
            assert_eq!(renames(&names).find_old_subject("New -> B -> C", None), None);
        }
        assert_eq!(
            renames(&["New", "B -> C"])
                .find_old_subject("New -> B -> C", None)
                .as_deref(),
            Some("Old -> B -> C")
        );
        let arrows = format!("New{}", " -> x".repeat(MAX_ARROWS + 1));
        assert_eq!(renames(&["New"]).find_old_subject(&arrows, None), None);
    }
}
