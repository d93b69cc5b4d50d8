//! The change to a pipeline for reports and pages: counts, text and a drawing.

use crate::gate::ChangedContents;
use crate::gate::changes::page_pictures::PagePictures;
use crate::gate::pipeline_positions::{PipelinePositions, PositionCache};
use sluicegate_git::find_changed_lines;
use sluicegate_pipelines::diff::{
    DiffLine, PipelineDiff, PipelineVersions, VersionTrees, compare_trees, describe_diff,
};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::picture::Canvas;
use sluicegate_pipelines::pipelines::{Pipeline, PipelineFacts};
use sluicegate_reports::ChangedFile;
use std::ops::RangeInclusive;

/// Maximum number of components in a drawing of a page.
const MAX_PICTURE_BOXES: usize = 600;

/// Maximum number of links in a drawing of a page, and in a drawing with its own file: a pipeline can have a million,
/// which take minutes to draw. A page with 100 drawings of 4,000 links would need 600 MB.
const MAX_PICTURE_LINKS: usize = 2_000;
pub(crate) const MAX_FILE_PICTURE_LINKS: usize = 40_000;

/// Maximum number of pipelines whose change is described in text.
const MAX_DESCRIBED_CHANGES: usize = 500;

/// Both versions of a changed pipeline, parsed as YAML.
pub(crate) struct ParsedChange<'c> {
    versions: PipelineVersions<'c>,
    /// The parsed trees, or the reason why one of the versions cannot be read.
    trees: Result<VersionTrees<'c>, String>,
}

impl<'c> ParsedChange<'c> {
    /// Parses both versions of a changed pipeline. A version that cannot be parsed is not an error: the description
    /// reports it.
    pub(crate) fn parse(contents: &'c ChangedContents) -> Self {
        let versions = contents.to_versions();
        Self {
            trees: versions.parse_trees(),
            versions,
        }
    }

    /// Compares both parsed versions of the pipeline.
    pub(crate) fn diff(&self) -> PipelineDiff {
        compare_trees(&self.versions, &self.trees)
    }

    /// Draws the pipeline with the change marked. The error is the reason why it cannot be drawn.
    pub(crate) fn draw(&self, diff: &PipelineDiff) -> Result<Canvas, String> {
        match (&diff.reason, &self.trees) {
            (Some(reason), _) | (None, Err(reason)) => Err(reason.clone()),
            (None, Ok(trees)) => Canvas::from_diff(trees, diff).map_err(|error| error.to_string()),
        }
    }

    /// Returns the pipeline in head. Returns `None` if the pipeline was deleted or one of its versions cannot be read.
    fn build_head_pipeline(&self) -> Option<Pipeline> {
        let new_tree = self.trees.as_ref().ok()?.head.as_ref()?;
        Pipeline::from_tree(new_tree).ok()
    }

    /// Returns the ranges of lines in head that the change touched. Returns `None` if there is no head, or if a version
    /// could not be read.
    fn find_touched_ranges(&self) -> Option<Vec<RangeInclusive<u32>>> {
        let old = self.versions.base.transpose().ok()?;
        let new = self.versions.head?.ok()?;
        Some(find_changed_lines(old, new))
    }

    /// Describes the change for a report, and adds its picture to `pictures`. `index` is its position in the list of
    /// changes: only the first [`MAX_DESCRIBED_CHANGES`] changes have details. A change that affects only the layout is
    /// not drawn. The touched lines are omitted.
    fn build_changed_file(&self, index: usize, pictures: &PagePictures) -> ChangedFile {
        let diff = self.diff();
        if diff.change != FileChange::Layout && diff.reason.is_none() {
            let is_marked = !diff.components.is_empty() || !diff.links.is_empty();
            pictures.draw_change(index, is_marked, || self.draw(&diff).ok().and_then(limit_canvas));
        }
        // The description is for a page of any width. Its first line repeats the summary of the file.
        let mut change_lines = describe_diff(&diff, None).split_off(1);
        if index >= MAX_DESCRIBED_CHANGES && !change_lines.is_empty() {
            change_lines = vec![DiffLine::remark(
                "details are omitted because too many pipelines changed",
            )];
        }
        ChangedFile {
            summary: diff.summarize(),
            change_lines,
            picture: None,
            touched_ranges: None,
        }
    }
}

/// Parses both versions and describes the change for a report. `index` is its position in the list of changes. The
/// picture is added to `pictures`.
pub(crate) fn build_changed_file(
    contents: &ChangedContents,
    index: usize,
    pictures: &PagePictures,
) -> ChangedFile {
    ParsedChange::parse(contents).build_changed_file(index, pictures)
}

/// Describes the change for a report with the touched lines, and returns the facts about the pipeline in head, so that
/// head is parsed only once. Adds the picture to `pictures` and the positions in head to `positions`.
pub(crate) fn build_changed_file_with_facts(
    contents: &ChangedContents,
    index: usize,
    pictures: &PagePictures,
    positions: Option<&PositionCache>,
) -> (ChangedFile, Option<PipelineFacts>) {
    let change = ParsedChange::parse(contents);
    let head_facts = change.build_head_pipeline().map(|pipeline| {
        if let Some(positions) = positions {
            positions.add(&contents.path, PipelinePositions::from_pipeline(&pipeline));
        }
        PipelineFacts::from_pipeline(&pipeline)
    });
    let file = ChangedFile {
        touched_ranges: change.find_touched_ranges(),
        ..change.build_changed_file(index, pictures)
    };
    (file, head_facts)
}

/// Returns the drawing, or only its changed part if the drawing exceeds the limits. A changed part with too many
/// components is truncated. Returns `None` if the part has too many links.
pub(crate) fn limit_canvas(canvas: Canvas) -> Option<Canvas> {
    let has_few_links = |canvas: &Canvas| canvas.arrows.len() <= MAX_PICTURE_LINKS;
    if canvas.component_count() <= MAX_PICTURE_BOXES && has_few_links(&canvas) {
        return Some(canvas);
    }
    let (mut changed_part, _) = canvas.select_changed_part(MAX_PICTURE_BOXES);
    // The part has all ends of changed links, however many there are.
    if changed_part.component_count() > MAX_PICTURE_BOXES {
        (changed_part, _) = canvas.select_flowchart_part(MAX_PICTURE_BOXES);
    }
    let omitted_count = canvas.component_count() - changed_part.component_count();
    let is_drawn = !changed_part.boxes.is_empty() && has_few_links(&changed_part);
    is_drawn.then_some(Canvas {
        omitted_count,
        ..changed_part
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_test_support::orchestration_text;

    fn rename_with_change(old_content: String, new_content: String) -> ChangedContents {
        ChangedContents {
            path: "b.orch.yaml".to_owned(),
            previous_path: Some("a.orch.yaml".to_owned()),
            old_content: Some(Ok(old_content.into_bytes())),
            new_content: Some(Ok(new_content.into_bytes())),
        }
    }

    /// Returns a pipeline with this number of components, each linked to the next one.
    fn pipeline_chain(component_count: usize) -> String {
        let names: Vec<String> = (0..component_count).map(|number| format!("C{number}")).collect();
        orchestration_text(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Draws a change to the second component of a chain.
    fn draw_changed_chain(component_count: usize) -> Canvas {
        let content = pipeline_chain(component_count);
        let edited = content.replace("componentName: \"C1\"", "componentName: \"C1\", query: new");
        assert_ne!(edited, content);
        let contents = rename_with_change(content, edited);
        let change = ParsedChange::parse(&contents);
        change.draw(&change.diff()).unwrap()
    }

    #[test]
    fn details_of_a_change_are_omitted_from_a_position_on() {
        let list_lines = |change: &ChangedContents, index: usize| -> Vec<String> {
            let lines = build_changed_file(change, index, &PagePictures::default()).change_lines;
            lines.iter().map(|line| line.text.clone()).collect()
        };
        let change = rename_with_change(
            orchestration_text(&["Start", "Done"]),
            orchestration_text(&["Start", "Load", "Done"]),
        );
        let details = list_lines(&change, MAX_DESCRIBED_CHANGES - 1).join("\n");
        assert!(details.contains("Load"), "{details}");
        assert_eq!(
            list_lines(&change, MAX_DESCRIBED_CHANGES),
            ["details are omitted because too many pipelines changed"]
        );
        let rename = rename_with_change(
            orchestration_text(&["Start", "Done"]),
            orchestration_text(&["Start", "Done"]),
        );
        assert_eq!(list_lines(&rename, MAX_DESCRIBED_CHANGES), [""; 0]);
    }

    #[test]
    fn canvas_with_too_many_boxes_is_reduced_to_its_changed_part() {
        let canvas = draw_changed_chain(MAX_PICTURE_BOXES);
        assert_eq!(limit_canvas(canvas.clone()), Some(canvas));
        let changed_part = limit_canvas(draw_changed_chain(MAX_PICTURE_BOXES + 1)).unwrap();
        // The changed component and its two neighbors.
        assert_eq!(changed_part.boxes.len(), 3);
        assert_eq!(changed_part.omitted_count, MAX_PICTURE_BOXES + 1 - 3);
        let unchanged = pipeline_chain(MAX_PICTURE_BOXES + 1);
        let unchanged_canvas = Canvas::from_pipeline(unchanged.as_bytes()).unwrap();
        assert_eq!(limit_canvas(unchanged_canvas), None);
    }

    #[test]
    fn missing_component_is_not_counted_in_a_limited_canvas() {
        for (component_count, omitted_count) in [
            (MAX_PICTURE_BOXES, 0),
            (MAX_PICTURE_BOXES + 1, MAX_PICTURE_BOXES - 2),
        ] {
            let mut canvas = draw_changed_chain(component_count);
            let mut missing_box = canvas.boxes[9].clone();
            missing_box.is_missing = true;
            canvas.boxes.push(missing_box);
            assert_eq!(limit_canvas(canvas).unwrap().omitted_count, omitted_count);
        }
    }

    #[test]
    fn canvas_with_too_many_changed_links_has_no_more_boxes_than_allowed() {
        let contents = rename_with_change(pipeline_chain(2), pipeline_chain(3 * MAX_PICTURE_BOXES));
        let change = ParsedChange::parse(&contents);
        let changed_part = limit_canvas(change.draw(&change.diff()).unwrap()).unwrap();
        assert_eq!(changed_part.boxes.len(), MAX_PICTURE_BOXES);
        assert_eq!(changed_part.omitted_count, 2 * MAX_PICTURE_BOXES);
    }

    #[test]
    fn canvas_with_too_many_links_is_not_drawn() {
        let mut canvas = draw_changed_chain(3);
        canvas.arrows = vec![canvas.arrows[0].clone(); MAX_PICTURE_LINKS];
        assert!(limit_canvas(canvas.clone()).is_some());
        canvas.arrows.extend_from_within(..1);
        assert_eq!(limit_canvas(canvas), None);
    }
}
