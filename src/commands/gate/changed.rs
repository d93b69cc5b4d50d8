//! What reports and pages say of a changed pipeline: numbers, words and a picture.

use crate::gate::ChangedContents;
use crate::model::diff::{Line, PipelineDiff, words};
use crate::model::findings::FileChange;
use crate::model::picture::Canvas;
use crate::model::yaml::DocumentError;
use crate::report::ChangedFile;

/// Pipelines that are drawn in one page, and the largest of them, in components: a page of hundreds stays usable.
pub(crate) const MOST_PICTURES: usize = 100;
const MOST_BOXES: usize = 600;

/// Links of a picture in a page, and of one that is a file of its own: a pipeline can have a million, which take minutes to draw.
const MOST_LINKS: usize = 4_000;
pub(crate) const MOST_LINKS_OF_A_FILE: usize = 40_000;

/// Pipelines whose change is told in words; of more, nobody reads them.
const MOST_TOLD: usize = 500;

/// The pipeline with what changed in it.
pub(crate) fn canvas(contents: &ChangedContents, diff: &PipelineDiff) -> Result<Canvas, DocumentError> {
    let [before, after] = contents.readable();
    Canvas::of_change(before, after, diff)
}

/// The change for a report; drawn if it is among the first.
pub(crate) fn told(contents: &ChangedContents, at: usize) -> ChangedFile {
    let diff = contents.diff();
    let is_drawn = at < MOST_PICTURES && diff.change != FileChange::Layout;
    let canvas = is_drawn.then(|| canvas(contents, &diff).ok()).flatten();
    let mut words = words(&diff, None).split_off(1);
    if at >= MOST_TOLD && !words.is_empty() {
        words = vec![Line::remark(
            "what exactly is not told, as too many pipelines changed",
        )];
    }
    ChangedFile {
        changed: diff.in_numbers(),
        words,
        picture: canvas.and_then(bounded),
    }
}

/// The picture, if it is not too large; else the part of it that changed.
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
