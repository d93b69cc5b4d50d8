//! The facts about a pipeline that the text of a violation is compared with: the names with their lines, and the
//! numbers that rules limit.

use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_pipelines::findings::Violation;
use sluicegate_pipelines::pipelines::{Pipeline, SubjectIndex, SubjectMatch};
use sluicegate_pipelines::rules;
use std::collections::HashMap;
use std::sync::Mutex;

/// The positions of the named parts of a pipeline, and its sizes. Much smaller than the pipeline.
#[derive(Debug, Clone)]
pub(crate) struct PipelinePositions {
    subjects: SubjectIndex,
    /// The number that each counting rule limits, by rule.
    sizes: Vec<(&'static str, u64)>,
    /// The text of the violation of each rule that needs a part that the pipeline lacks, by rule.
    missing_parts: Vec<(&'static str, &'static str)>,
}

impl PipelinePositions {
    /// Collects the positions and the sizes of a pipeline.
    pub(crate) fn from_pipeline(pipeline: &Pipeline) -> Self {
        Self {
            subjects: pipeline.build_subject_index(),
            sizes: rules::rule_ids()
                .filter_map(|id| Some((id, rules::measure_pipeline(id, pipeline)?)))
                .collect(),
            missing_parts: rules::rule_ids()
                .filter_map(|id| Some((id, rules::describe_missing_part(id, pipeline)?)))
                .collect(),
        }
    }

    /// Returns the component or variable that the text of a violation names, and its line.
    pub(crate) fn find_subject(&self, text: &str) -> Option<SubjectMatch<'_>> {
        self.subjects.find_subject(text)
    }

    /// Returns the number that the counting rule `rule` limits, for example of components. Returns `None` for other
    /// rules.
    pub(crate) fn find_size(&self, rule: &str) -> Option<u64> {
        let mut sizes = self.sizes.iter();
        sizes.find(|(id, _)| *id == rule).map(|(_, size)| *size)
    }

    /// Sets the text that identifies the violation without a subject, if the pipeline lacks what the rule needs. If
    /// several violations have no subject, it is unknown which one is about that part, so their own texts identify
    /// them.
    pub(crate) fn identify_missing_part(&self, rule: &str, violations: &mut [Violation]) {
        let mut missing_parts = self.missing_parts.iter();
        let Some((_, text)) = missing_parts.find(|(id, _)| *id == rule) else {
            return;
        };
        let mut violations = violations
            .iter_mut()
            .filter(|violation| violation.about.is_none());
        if let (Some(violation), None) = (violations.next(), violations.next()) {
            violation.identity_text = Some(text);
        }
    }
}

/// The positions in pipelines of head, by path. One thread adds them while it compares the pipelines, and another takes
/// them to place the violations, so that it need not parse the pipelines again.
#[derive(Debug, Default)]
pub(crate) struct PositionCache(Mutex<HashMap<String, PipelinePositions>>);

impl PositionCache {
    /// Adds the positions in the pipeline at this path.
    pub(crate) fn add(&self, path: &str, positions: PipelinePositions) {
        let mut cached_positions = lock_mutex(&self.0);
        cached_positions.insert(path.to_owned(), positions);
    }

    /// Returns and removes the positions in the pipeline at this path. Returns `None` if they are not known, or not
    /// yet.
    pub(crate) fn take(&self, path: &str) -> Option<PipelinePositions> {
        let mut cached_positions = lock_mutex(&self.0);
        cached_positions.remove(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_test_support::orchestration_text;

    #[test]
    fn positions_name_lines_and_sizes_and_are_taken_once() {
        let text = orchestration_text(&["Start", "Load"]);
        let pipeline = Pipeline::parse(text.as_bytes()).unwrap();
        let cache = PositionCache::default();
        cache.add("a.orch.yaml", PipelinePositions::from_pipeline(&pipeline));
        let positions = cache.take("a.orch.yaml").unwrap();
        let found_subject = positions
            .find_subject("The component \"Load\" is not used")
            .unwrap();
        assert_eq!(found_subject.line, pipeline.components[1].position.line);
        assert_eq!(positions.find_size("maximum-components"), Some(2));
        assert_eq!(positions.find_size("unused-components"), None);
        assert!(cache.take("a.orch.yaml").is_none());
    }
}
