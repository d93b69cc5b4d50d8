//! The pictures of changed pipelines on a page, while the pipelines are compared on several threads. Their number is
//! limited during the comparison, because a picture can need megabytes.

use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_pipelines::diff::DiffLine;
use sluicegate_pipelines::picture::Canvas;
use sluicegate_reports::{ChangedFile, OMITTED_PICTURE};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Maximum number of pipelines drawn on a page, so that a page with hundreds of pipelines remains usable.
pub(crate) const MAX_PICTURES: usize = 100;

/// Maximum number of attempts to draw a pipeline for a page. An attempt fails if the drawing is too large.
pub(crate) const MAX_PICTURE_ATTEMPTS: usize = 2 * MAX_PICTURES;

/// The rank of a pipeline among those to draw. Pictures that show a change come first, then the others, which only show
/// findings; each in the order of the list of changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PictureRank {
    is_unmarked: bool,
    change_index: usize,
}

impl PictureRank {
    const fn new(change_index: usize, is_marked: bool) -> Self {
        Self {
            is_unmarked: !is_marked,
            change_index,
        }
    }
}

/// The pictures of the first pipelines by rank, so that they do not depend on the order in which threads finish.
#[derive(Default)]
struct RankedPictures {
    /// The attempts; `None` if the pipeline could not be drawn.
    attempts: BTreeMap<PictureRank, Option<Canvas>>,
    /// The changes whose picture would show a change, drawn or not.
    marked_indices: BTreeSet<usize>,
}

impl RankedPictures {
    fn is_full(&self) -> bool {
        self.attempts.len() >= MAX_PICTURE_ATTEMPTS
            || self.attempts.values().flatten().count() >= MAX_PICTURES
    }

    fn last_rank(&self) -> Option<PictureRank> {
        self.attempts.last_key_value().map(|(rank, _)| *rank)
    }

    /// Adds an attempt, and removes the last ones that exceed the limits.
    fn add_attempt(&mut self, rank: PictureRank, canvas: Option<Canvas>) {
        self.attempts.insert(rank, canvas);
        let mut canvas_count = 0;
        let mut last_rank = rank;
        for (attempt_index, (attempt_rank, canvas)) in self.attempts.iter().enumerate() {
            canvas_count += usize::from(canvas.is_some());
            last_rank = *attempt_rank;
            if canvas_count == MAX_PICTURES || attempt_index + 1 == MAX_PICTURE_ATTEMPTS {
                break;
            }
        }
        self.attempts.retain(|attempt_rank, _| *attempt_rank <= last_rank);
    }
}

/// The pictures of a page, shared by the threads that compare its pipelines.
#[derive(Default)]
pub(crate) struct PagePictures {
    ranked_pictures: Mutex<RankedPictures>,
}

impl PagePictures {
    /// Draws the pipeline of a change, unless enough pipelines with a higher rank are drawn. `is_marked` states whether
    /// the picture shows a change.
    pub(crate) fn draw_change(
        &self,
        change_index: usize,
        is_marked: bool,
        draw: impl FnOnce() -> Option<Canvas>,
    ) {
        let rank = PictureRank::new(change_index, is_marked);
        {
            let mut pictures = lock_mutex(&self.ranked_pictures);
            if is_marked {
                pictures.marked_indices.insert(change_index);
            }
            if pictures.is_full() && pictures.last_rank() < Some(rank) {
                return;
            }
        }
        let canvas = draw();
        lock_mutex(&self.ranked_pictures).add_attempt(rank, canvas);
    }

    /// Moves the pictures into the files, each with the index of its change. If a picture that shows a change is
    /// omitted because of the limits, a remark says so.
    pub(crate) fn move_into_files<'f>(self, files: impl Iterator<Item = (usize, &'f mut ChangedFile)>) {
        let mut pictures = self
            .ranked_pictures
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let last_rank = pictures.last_rank().filter(|_| pictures.is_full());
        for (change_index, file) in files {
            let is_marked = pictures.marked_indices.contains(&change_index);
            let rank = PictureRank::new(change_index, is_marked);
            file.picture = pictures.attempts.remove(&rank).flatten();
            if is_marked && last_rank.is_some_and(|last_rank| last_rank < rank) {
                file.change_lines.push(DiffLine::remark(OMITTED_PICTURE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Offers these changes, and returns the kept indices and the number of drawings. A change whose index is a
    /// multiple of `undrawable_step` cannot be drawn.
    fn draw_in_order(indices: impl Iterator<Item = usize>, undrawable_step: usize) -> (Vec<usize>, usize) {
        let pictures = PagePictures::default();
        let drawing_count = Cell::new(0);
        for index in indices {
            pictures.draw_change(index, index >= 10, || {
                drawing_count.set(drawing_count.get() + 1);
                (index % undrawable_step != 0).then(Canvas::default)
            });
            let held_count = lock_mutex(&pictures.ranked_pictures)
                .attempts
                .values()
                .flatten()
                .count();
            assert!(held_count <= MAX_PICTURES, "{held_count}");
        }
        let pictures = lock_mutex(&pictures.ranked_pictures);
        let drawn_attempts = pictures.attempts.iter().filter(|(_, canvas)| canvas.is_some());
        (
            drawn_attempts.map(|(rank, _)| rank.change_index).collect(),
            drawing_count.get(),
        )
    }

    #[test]
    fn pictures_do_not_depend_on_order_and_are_bounded() {
        let (pictures, drawing_count) = draw_in_order(0..1000, usize::MAX);
        // The first ten are unmarked, so that the marked ones replace them.
        assert_eq!(pictures, (10..110).collect::<Vec<_>>());
        assert_eq!(drawing_count, 110);
        let (reversed_pictures, _) = draw_in_order((0..1000).rev(), usize::MAX);
        assert_eq!(reversed_pictures, pictures);
    }

    #[test]
    fn attempts_to_draw_are_bounded() {
        let (pictures, drawing_count) = draw_in_order(0..1000, 1);
        assert_eq!((pictures.len(), drawing_count), (0, MAX_PICTURE_ATTEMPTS + 10));
        let (pictures, _) = draw_in_order(0..1000, 2);
        assert_eq!(draw_in_order((0..1000).rev(), 2).0, pictures);
        assert_eq!(pictures.len(), MAX_PICTURES);
    }
}
