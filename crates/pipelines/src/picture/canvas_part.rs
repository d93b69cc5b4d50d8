//! Selects a part of a canvas: the changed part, or one version.

use super::canvas::{Arrow, Canvas, CanvasBox, ChangeMark, Stub};
use std::collections::{HashMap, HashSet};

/// Share of added and of removed components above which before and after are two pictures, in percent.
const MAX_REPLACED_PERCENT: usize = 60;

impl Canvas {
    /// Returns the number of components on the canvas. Boxes of missing components are not counted.
    pub fn component_count(&self) -> usize {
        self.boxes
            .iter()
            .filter(|canvas_box| !canvas_box.is_missing)
            .count()
    }

    /// Returns the part of the canvas to look at first, and the number of boxes that `max_boxes` omits from it. The
    /// part contains both ends of each changed link, and at most `max_boxes` further boxes: changed components,
    /// components with findings, and their neighbors.
    pub fn select_changed_part(&self, max_boxes: usize) -> (Self, usize) {
        let (kept_indices, end_count) = self.list_boxes_near_changes();
        self.keep_first_boxes(kept_indices, end_count + max_boxes)
    }

    /// Returns the part of the canvas for a flowchart, with at most `max_boxes` boxes, and the number of omitted boxes.
    /// The part contains the boxes at and next to changes, or the first boxes of the canvas if nothing changed.
    pub fn select_flowchart_part(&self, max_boxes: usize) -> (Self, usize) {
        let kept_indices = if self.has_changes() {
            let (boxes_near_changes, _) = self.list_boxes_near_changes();
            boxes_near_changes
        } else {
            (0..self.boxes.len()).collect()
        };
        self.keep_first_boxes(kept_indices, max_boxes)
    }

    /// Returns the canvas before and the canvas after the change if most components were replaced, because one picture
    /// of both would show two unrelated pipelines; otherwise `None`.
    pub fn split_versions(&self) -> Option<[Self; 2]> {
        let [added_count, removed_count] = [ChangeMark::Added, ChangeMark::Removed].map(|mark| {
            self.boxes
                .iter()
                .filter(|canvas_box| canvas_box.mark == mark)
                .count()
        });
        let component_count = self.component_count();
        let (after_count, before_count) = (component_count - removed_count, component_count - added_count);
        let is_replaced = 100 * added_count > MAX_REPLACED_PERCENT * after_count
            && 100 * removed_count > MAX_REPLACED_PERCENT * before_count;
        is_replaced.then(|| {
            let mut base_version = self.without_mark(ChangeMark::Added);
            for canvas_box in &mut base_version.boxes {
                canvas_box.show_base();
            }
            [base_version, self.without_mark(ChangeMark::Removed)]
        })
    }

    /// Returns the canvas without the boxes and links that have this mark: without the added ones, it shows the old
    /// version. It has no stubs for links to excluded boxes, because these boxes do not exist in that version. A
    /// missing component is excluded if only excluded links name it.
    fn without_mark(&self, mark: ChangeMark) -> Self {
        let linked_indices: HashSet<usize> = self
            .arrows
            .iter()
            .filter(|arrow| arrow.mark != mark)
            .flat_map(|arrow| [arrow.from_box, arrow.to_box])
            .collect();
        let mut kept_indices = Vec::new();
        for (index, canvas_box) in self.boxes.iter().enumerate() {
            let is_linked = !canvas_box.is_missing || linked_indices.contains(&index);
            if canvas_box.mark != mark && is_linked {
                kept_indices.push(index);
            }
        }
        let mut version = self.keep_boxes(&kept_indices);
        version.arrows.retain(|arrow| arrow.mark != mark);
        version.stubs.clear();
        version
    }

    /// Returns the index of the first box with a change or findings, or else of the first box at an end of a changed
    /// link.
    pub fn find_first_changed_box(&self) -> Option<usize> {
        let changed_box = (0..self.boxes.len()).find(|index| self.is_changed_or_has_findings(*index));
        changed_box.or_else(|| {
            let (boxes_near_changes, _) = self.list_boxes_near_changes();
            boxes_near_changes.first().copied()
        })
    }

    /// Returns the indices of the boxes at the ends of changed links, followed by the boxes with a change or findings,
    /// by the neighbors of the latter, and then by the neighbors of the ends. Lists each box once. Also returns the
    /// number of boxes at the ends of changed links.
    fn list_boxes_near_changes(&self) -> (Vec<usize>, usize) {
        let mut box_indices: Vec<usize> = Vec::new();
        // A box is listed only if it can be inserted here, which fails for a box that is already listed.
        let mut listed_indices: HashSet<usize> = HashSet::new();
        let changed_ends = self
            .arrows
            .iter()
            .filter(|arrow| arrow.mark != ChangeMark::Unchanged)
            .flat_map(|arrow| [arrow.from_box, arrow.to_box]);
        box_indices.extend(changed_ends.filter(|index| listed_indices.insert(*index)));
        let end_count = box_indices.len();
        let link_ends = listed_indices.clone();
        let end_neighbors = self
            .arrows
            .iter()
            .filter(|arrow| link_ends.contains(&arrow.from_box) || link_ends.contains(&arrow.to_box))
            .flat_map(|arrow| [arrow.from_box, arrow.to_box]);
        let neighbors = self
            .arrows
            .iter()
            .filter(|arrow| {
                self.is_changed_or_has_findings(arrow.from_box)
                    || self.is_changed_or_has_findings(arrow.to_box)
            })
            .flat_map(|arrow| [arrow.from_box, arrow.to_box]);
        let marked_boxes = (0..self.boxes.len()).filter(|index| self.is_changed_or_has_findings(*index));
        box_indices.extend(
            marked_boxes
                .chain(neighbors)
                .chain(end_neighbors)
                .filter(|index| listed_indices.insert(*index)),
        );
        (box_indices, end_count)
    }

    /// Returns the part of the canvas with the first `max_boxes` of these boxes, and the number of the omitted
    /// components.
    fn keep_first_boxes(&self, mut kept_indices: Vec<usize>, max_boxes: usize) -> (Self, usize) {
        let omitted_count = kept_indices
            .iter()
            .skip(max_boxes)
            .filter_map(|index| self.boxes.get(*index))
            .filter(|canvas_box| !canvas_box.is_missing)
            .count();
        kept_indices.truncate(max_boxes);
        kept_indices.sort_unstable();
        (self.keep_boxes(&kept_indices), omitted_count)
    }

    /// Returns whether a box has a change or findings.
    fn is_changed_or_has_findings(&self, index: usize) -> bool {
        self.boxes
            .get(index)
            .is_some_and(|canvas_box| canvas_box.mark != ChangeMark::Unchanged || canvas_box.badge.is_some())
    }

    /// Returns the part of the canvas with these boxes in this order and the links between them. Links to other boxes
    /// become stubs.
    fn keep_boxes(&self, kept_indices: &[usize]) -> Self {
        let new_indices: HashMap<usize, usize> = kept_indices
            .iter()
            .enumerate()
            .map(|(new_index, old_index)| (*old_index, new_index))
            .collect();
        let boxes = kept_indices
            .iter()
            .filter_map(|index| self.boxes.get(*index).cloned())
            .collect();
        let arrows = self.arrows.iter().filter_map(|arrow| {
            Some(Arrow {
                from_box: *new_indices.get(&arrow.from_box)?,
                to_box: *new_indices.get(&arrow.to_box)?,
                ..arrow.clone()
            })
        });
        Self {
            // The caller sets this number if the canvas is too large to draw.
            omitted_count: 0,
            boxes,
            arrows: arrows.collect(),
            stubs: self.build_stubs(kept_indices, &new_indices),
            state: self.state,
        }
    }

    /// Returns the stubs that replace the links between kept and excluded boxes, one for each box and direction. A stub
    /// counts the excluded boxes that can be reached through it. If this canvas is itself a part and its box already
    /// has a stub in this direction, the new stub also counts the boxes of that stub. `new_indices` maps the index of
    /// each kept box in this canvas to its index in the part.
    fn build_stubs(&self, kept_indices: &[usize], new_indices: &HashMap<usize, usize>) -> Vec<Stub> {
        let mut stubs = Vec::new();
        for is_outgoing in [false, true] {
            let neighbors = self.list_excluded_neighbors(new_indices, is_outgoing);
            for (new_index, index) in kept_indices.iter().enumerate() {
                let existing_stub = self
                    .stubs
                    .iter()
                    .find(|stub| stub.canvas_box == *index && stub.is_outgoing == is_outgoing);
                let count = count_reachable(&neighbors, *index) + existing_stub.map_or(0, |stub| stub.count);
                if count > 0 {
                    stubs.push(Stub {
                        canvas_box: new_index,
                        is_outgoing,
                        count,
                    });
                }
            }
        }
        stubs
    }

    /// Returns, for each box of this canvas, the excluded boxes at the far ends of its outgoing or incoming links. A
    /// box is excluded if `new_indices` does not contain it.
    fn list_excluded_neighbors(
        &self,
        new_indices: &HashMap<usize, usize>,
        is_outgoing: bool,
    ) -> Vec<Vec<usize>> {
        let mut neighbors: Vec<Vec<usize>> = vec![Vec::new(); self.boxes.len()];
        for arrow in &self.arrows {
            let (near_box, far_box) = if is_outgoing {
                (arrow.from_box, arrow.to_box)
            } else {
                (arrow.to_box, arrow.from_box)
            };
            if !new_indices.contains_key(&far_box) {
                neighbors[near_box].push(far_box);
            }
        }
        neighbors
    }
}

impl CanvasBox {
    /// Shows the component as it is in the base: at its old position and under its old name.
    fn show_base(&mut self) {
        self.position = self.base_position;
        if let Some(previous_name) = self.previous_name.take() {
            self.name = previous_name;
            // The note contains the old name.
            self.note = None;
        }
    }
}

/// Returns the number of boxes that can be reached from the box `start` in one or more steps. `neighbors` contains the
/// next boxes of each box.
fn count_reachable(neighbors: &[Vec<usize>], start: usize) -> usize {
    // A dense pipeline has many links, and this walk starts at each kept box: a set of indices would be ten times
    // slower.
    let mut is_reached = vec![false; neighbors.len()];
    let mut reached_count = 0;
    let mut pending = vec![start];
    while let Some(index) = pending.pop() {
        for neighbor in neighbors.get(index).into_iter().flatten() {
            if let Some(is_reached @ false) = is_reached.get_mut(*neighbor) {
                *is_reached = true;
                reached_count += 1;
                pending.push(*neighbor);
            }
        }
    }
    reached_count
}
