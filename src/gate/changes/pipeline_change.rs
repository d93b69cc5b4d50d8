//! The change of a pipeline for reports and pages: counts, text and a drawing.

use crate::gate::ChangedContents;
use crate::report::ChangedFile;
use sluicegate_pipelines::diff::{Line, PipelineDiff, SideTrees, Sides, compare_trees, words};
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
    sides: Sides<'c>,
    /// An error if one of them cannot be read.
    trees: Result<SideTrees<'c>, String>,
}

impl<'c> ReadChange<'c> {
    pub(crate) fn of(contents: &'c ChangedContents) -> Self {
        let sides = contents.sides();
        Self {
            trees: sides.trees(),
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
            (None, Ok(trees)) => Canvas::of_change(trees, diff).map_err(|why| why.to_string()),
        }
    }

    /// Returns the facts about the pipeline in the head; `None` if it was deleted or one of the sides cannot be read.
    fn facts(&self) -> Option<PipelineFacts> {
        let after = self.trees.as_ref().ok()?.after.as_ref()?;
        let pipeline = Pipeline::of(after).ok()?;
        Some(PipelineFacts::of(&pipeline))
    }

    /// Returns the change for a report, with a drawing if it is among the first `MOST_PICTURES`.
    fn file(&self, at: usize) -> ChangedFile {
        let diff = self.diff();
        let is_drawn = at < MOST_PICTURES && diff.change != FileChange::Layout;
        let picture = is_drawn.then(|| self.canvas(&diff).ok().and_then(bounded));
        let mut words = words(&diff, None).split_off(1);
        if at >= MOST_TOLD && !words.is_empty() {
            words = vec![Line::remark(
                "details are omitted because too many pipelines changed",
            )];
        }
        ChangedFile {
            changed: diff.in_numbers(),
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
    let (part, _) = canvas.changed_part(MOST_BOXES);
    let left_out = canvas.boxes.len() - part.boxes.len();
    let is_drawn = !part.boxes.is_empty() && is_small(&part);
    is_drawn.then_some(Canvas { left_out, ..part })
}
