//! The change of a pipeline for reports and pages: counts, text and a drawing.

use crate::gate::ChangedContents;
use crate::model::diff::{Line, PipelineDiff, compare_trees, words};
use crate::model::findings::FileChange;
use crate::model::picture::Canvas;
use crate::report::ChangedFile;

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

/// Returns the change, and a drawing of the pipeline with the change marked if `wants` it. Both documents are read once.
pub(crate) fn drawn(
    contents: &ChangedContents,
    wants: impl FnOnce(&PipelineDiff) -> bool,
) -> (PipelineDiff, Option<Result<Canvas, String>>) {
    let sides = contents.sides();
    let trees = sides.trees();
    let diff = compare_trees(&sides, &trees);
    let canvas = wants(&diff).then(|| match (&diff.reason, &trees) {
        (Some(why), _) | (None, Err(why)) => Err(why.clone()),
        (None, Ok(trees)) => Canvas::of_change(trees, &diff).map_err(|why| why.to_string()),
    });
    (diff, canvas)
}

/// Returns the change for a report, with a drawing if it is among the first `MOST_PICTURES`.
pub(crate) fn told(contents: &ChangedContents, at: usize) -> ChangedFile {
    let (diff, canvas) = drawn(contents, |diff| {
        at < MOST_PICTURES && diff.change != FileChange::Layout
    });
    let mut words = words(&diff, None).split_off(1);
    if at >= MOST_TOLD && !words.is_empty() {
        words = vec![Line::remark(
            "details are omitted because too many pipelines changed",
        )];
    }
    ChangedFile {
        changed: diff.in_numbers(),
        words,
        picture: canvas.and_then(Result::ok).and_then(bounded),
    }
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
