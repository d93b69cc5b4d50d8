//! The change of a pipeline for reports and pages: counts, text and a drawing.

use crate::gate::ChangedContents;
use crate::report::ChangedFile;
use sluicegate_pipelines::diff::{
    DiffLine, PipelineDiff, PipelineVersions, VersionTrees, compare_trees, describe_diff,
};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::picture::Canvas;
use sluicegate_pipelines::pipelines::{Pipeline, PipelineFacts};

/// Maximum number of pipelines drawn in one page, and maximum size of each in components: keeps a page of hundreds
/// usable.
pub(crate) const MOST_PICTURES: usize = 100;
const MOST_BOXES: usize = 600;

/// Maximum number of links in a drawing of a page, and in a drawing with its own file: a pipeline can have a million,
/// which take minutes to draw.
const MOST_LINKS: usize = 4_000;
pub(crate) const MOST_LINKS_OF_A_FILE: usize = 40_000;

/// Maximum number of pipelines whose change is described in text.
const MOST_TOLD: usize = 500;

/// A changed pipeline, both sides of which were read as YAML.
pub(crate) struct ReadChange<'c> {
    sides: PipelineVersions<'c>,
    /// An error if one of them cannot be read.
    trees: Result<VersionTrees<'c>, String>,
}

impl<'c> ReadChange<'c> {
    pub(crate) fn of(contents: &'c ChangedContents) -> Self {
        let sides = contents.sides();
        Self {
            trees: sides.parse_trees(),
            sides,
        }
    }

    pub(crate) fn diff(&self) -> PipelineDiff {
        compare_trees(&self.sides, &self.trees)
    }

    /// Draws the pipeline with the change marked.
    pub(crate) fn canvas(&self, diff: &PipelineDiff) -> Result<Canvas, String> {
        match (&diff.reason, &self.trees) {
            (Some(why), _) | (None, Err(why)) => Err(why.clone()),
            (None, Ok(trees)) => Canvas::from_diff(trees, diff).map_err(|why| why.to_string()),
        }
    }

    /// Returns the facts about the pipeline in the head; `None` if it was deleted or one of the sides cannot be read.
    fn facts(&self) -> Option<PipelineFacts> {
        let after = self.trees.as_ref().ok()?.head.as_ref()?;
        let pipeline = Pipeline::from_tree(after).ok()?;
        Some(PipelineFacts::from_pipeline(&pipeline))
    }

    /// Returns the change for a report, with a drawing if it is among the first `MOST_PICTURES`.
    fn file(&self, at: usize) -> ChangedFile {
        let diff = self.diff();
        let is_drawn = at < MOST_PICTURES && diff.change != FileChange::Layout;
        let picture = is_drawn.then(|| self.canvas(&diff).ok().and_then(bounded));
        let mut words = describe_diff(&diff, None).split_off(1);
        if at >= MOST_TOLD && !words.is_empty() {
            words = vec![DiffLine::remark(
                "details are omitted because too many pipelines changed",
            )];
        }
        ChangedFile {
            changed: diff.summarize(),
            words,
            picture: picture.flatten(),
        }
    }
}

pub(crate) fn told(contents: &ChangedContents, at: usize) -> ChangedFile {
    ReadChange::of(contents).file(at)
}

/// Returns the change for a report, and the facts of the head, so that the head is read once.
pub(crate) fn told_with_facts(contents: &ChangedContents, at: usize) -> (ChangedFile, Option<PipelineFacts>) {
    let read = ReadChange::of(contents);
    (read.file(at), read.facts())
}

/// Returns the drawing if it is within the limits, otherwise the part of it that changed.
pub(crate) fn bounded(canvas: Canvas) -> Option<Canvas> {
    let is_small = |canvas: &Canvas| canvas.arrows.len() <= MOST_LINKS;
    if canvas.boxes.len() <= MOST_BOXES && is_small(&canvas) {
        return Some(canvas);
    }
    let (part, _) = canvas.select_changed_part(MOST_BOXES);
    let left_out = canvas.boxes.len() - part.boxes.len();
    let is_drawn = !part.boxes.is_empty() && is_small(&part);
    is_drawn.then_some(Canvas {
        omitted_count: left_out,
        ..part
    })
}
