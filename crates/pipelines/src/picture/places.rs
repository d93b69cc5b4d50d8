//! The place of each box on the canvas, in the units of the canvas.
//!
//! Iterators that are stored at the place of their target are stacked on it, removed boxes make room for boxes that
//! still exist, and boxes without a position are arranged in layers along the links, below all others.

use super::canvas::{Canvas, ChangeMark};
use super::canvas_point::Point;
use super::label::BoxText;
use super::layers::assign_layers;
use std::collections::HashMap;

/// Maximum difference in height of two boxes in one row.
pub(super) const ROW_TOLERANCE: f64 = 20.0;

/// Maximum distance between an iterator and its target that share a place.
const MAX_TARGET_DISTANCE: f64 = 30.0;

/// Minimum distance at which two boxes in one row of the canvas do not overlap.
pub(super) const BOX_DISTANCE: f64 = 100.0;

/// Distances between the places that boxes without a position get.
const LAYER_DISTANCE: f64 = 200.0;
const LAYER_ROW_DISTANCE: f64 = 100.0;

/// Distance between the places that are tried for a removed box.
const TRIED_DISTANCE: f64 = 50.0;
const MAX_TRIED_PLACES: i32 = 40;

#[derive(Debug)]
pub(super) struct Places {
    /// The place of each box; a stacked box has the place of the lowest box in its stack.
    pub points: Vec<Point>,
    /// The lowest box of the stack of each box, which is the box itself if it is not stacked.
    pub stack_bases: Vec<usize>,
    /// The number of boxes below each box in its stack.
    pub stack_levels: Vec<usize>,
    /// A flag for each box: true if it was removed.
    pub removals: Vec<bool>,
}

impl Places {
    /// Computes the place of each box on the canvas. Stacks iterators on their targets, moves removed boxes away from
    /// occupied places, and arranges boxes without a position in layers.
    pub(super) fn for_canvas(canvas: &Canvas) -> Self {
        let (stack_bases, stack_levels) = build_stacks(&find_lower_boxes(canvas));
        let mut base_points: Vec<Option<Point>> = canvas
            .boxes
            .iter()
            .enumerate()
            .map(|(index, canvas_box)| canvas_box.position.filter(|_| stack_bases[index] == index))
            .collect();
        move_removed_boxes(canvas, &mut base_points);
        place_in_layers(canvas, &stack_bases, &mut base_points);
        let points = stack_bases
            .iter()
            .map(|stack_base| base_points[*stack_base].unwrap_or_default())
            .collect();
        Self {
            points,
            stack_bases,
            stack_levels,
            removals: canvas
                .boxes
                .iter()
                .map(|canvas_box| canvas_box.mark == ChangeMark::Removed)
                .collect(),
        }
    }

    /// Returns the width of each box. The boxes of a stack are as wide as the widest of them.
    pub(super) fn box_widths(&self, texts: &[BoxText]) -> Vec<i32> {
        let mut stack_widths = vec![0; texts.len()];
        for (text, stack_base) in texts.iter().zip(&self.stack_bases) {
            stack_widths[*stack_base] = text.width.max(stack_widths[*stack_base]);
        }
        self.stack_bases
            .iter()
            .map(|stack_base| stack_widths[*stack_base])
            .collect()
    }
}

/// Returns the lowest box of the stack of each box, and the number of boxes below each box in its stack. Each box is
/// right above the box that it is stacked on, unless another box on the same target is there already.
fn build_stacks(lower_boxes: &[Option<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut stack_bases: Vec<usize> = (0..lower_boxes.len()).collect();
    let mut stack_levels = vec![0; lower_boxes.len()];
    let mut upper_boxes = vec![Vec::new(); lower_boxes.len()];
    for (index, lower_box) in lower_boxes.iter().enumerate().rev() {
        if let Some(lower_box) = lower_box {
            upper_boxes[*lower_box].push(index);
        }
    }
    for stack_base in (0..lower_boxes.len()).filter(|index| lower_boxes[*index].is_none()) {
        let mut level = 0;
        let mut pending_boxes = vec![stack_base];
        while let Some(index) = pending_boxes.pop() {
            stack_bases[index] = stack_base;
            stack_levels[index] = level;
            level += 1;
            pending_boxes.append(&mut upper_boxes[index]);
        }
    }
    (stack_bases, stack_levels)
}

/// Moves each removed box whose old place is occupied to the nearest free place above or below. Boxes that were
/// together on the canvas of the base do not occupy each other's places, however near they are. A box stays where it is
/// if no tried place is free.
fn move_removed_boxes(canvas: &Canvas, base_points: &mut [Option<Point>]) {
    let mut taken_points: Vec<Point> = Vec::new();
    // The places of living boxes that are new or moved.
    let mut new_points: Vec<Point> = Vec::new();
    for (canvas_box, place) in canvas.boxes.iter().zip(&*base_points) {
        if let Some(place) = *place
            && canvas_box.mark != ChangeMark::Removed
        {
            taken_points.push(place);
            if canvas_box.base_position != canvas_box.position {
                new_points.push(place);
            }
        }
    }
    let mut displaced_boxes = Vec::new();
    for (index, place) in base_points.iter().enumerate() {
        if let Some(place) = *place
            && canvas.boxes[index].mark == ChangeMark::Removed
        {
            if is_free(place, &new_points) {
                taken_points.push(place);
            } else {
                displaced_boxes.push((index, place));
            }
        }
    }
    for (index, old_place) in displaced_boxes {
        // The attempts are at both sides of the old place in turn, each time farther away.
        let free_place = (1..MAX_TRIED_PLACES)
            .map(|attempt| {
                let distance = f64::from((attempt + 1) / 2) * TRIED_DISTANCE;
                Point {
                    y: old_place.y + if attempt % 2 == 0 { -distance } else { distance },
                    ..old_place
                }
            })
            .find(|place| is_free(*place, &taken_points))
            .unwrap_or(old_place);
        taken_points.push(free_place);
        base_points[index] = Some(free_place);
    }
}

/// Returns whether a box at this place would overlap no box at the taken places.
fn is_free(place: Point, taken_points: &[Point]) -> bool {
    !taken_points
        .iter()
        .any(|point| (place.x - point.x).abs() < BOX_DISTANCE && (place.y - point.y).abs() <= ROW_TOLERANCE)
}

/// Sets the place of each stack that has no position on the canvas. Arranges these stacks in layers along the links,
/// below all other boxes.
fn place_in_layers(canvas: &Canvas, stack_bases: &[usize], base_points: &mut [Option<Point>]) {
    let unplaced_boxes: Vec<usize> = (0..base_points.len())
        .filter(|index| stack_bases[*index] == *index && base_points[*index].is_none())
        .collect();
    // The layers are computed for parts: one for each of these stacks, in the order of `unplaced_boxes`.
    let parts_by_base: HashMap<usize, usize> = unplaced_boxes
        .iter()
        .enumerate()
        .map(|(part, index)| (*index, part))
        .collect();
    let links: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .filter_map(|arrow| {
            let from_part = *parts_by_base.get(&stack_bases[arrow.from_box])?;
            let to_part = *parts_by_base.get(&stack_bases[arrow.to_box])?;
            Some((from_part, to_part))
        })
        .collect();
    let is_start = |part: usize| {
        unplaced_boxes
            .get(part)
            .is_some_and(|index| canvas.boxes[*index].kind.as_deref() == Some("start"))
    };
    let placed_points = base_points.iter().flatten();
    let left = placed_points.clone().map(|point| point.x).reduce(f64::min);
    let bottom = placed_points.map(|point| point.y).reduce(f64::max);
    let top = bottom.map_or(0.0, |bottom| bottom + LAYER_ROW_DISTANCE);
    let positions = assign_layers(unplaced_boxes.len(), &links, &is_start);
    // The first layer is at the left end of the other boxes, and the first row is below them.
    for (index, (layer, row)) in unplaced_boxes.iter().zip(positions) {
        base_points[*index] = Some(Point {
            x: left.unwrap_or_default() + scale_index(layer, LAYER_DISTANCE),
            y: top + scale_index(row, LAYER_ROW_DISTANCE),
        });
    }
}

/// Returns the coordinate of the item with this index in a series of items that are `distance` apart.
fn scale_index(index: usize, distance: f64) -> f64 {
    f64::from(u32::try_from(index).unwrap_or(u32::MAX)) * distance
}

/// Returns for each box the target to stack it on, if the box is an iterator that can be stacked. Prefers the targets
/// of links that still exist. Skips a target that is itself stacked on the iterator, because the stack would not have
/// an end.
fn find_lower_boxes(canvas: &Canvas) -> Vec<Option<usize>> {
    let mut lower_boxes: Vec<Option<usize>> = vec![None; canvas.boxes.len()];
    let iterations = canvas.arrows.iter().filter(|arrow| arrow.kind == "iteration");
    let (removed_arrows, kept_arrows): (Vec<_>, Vec<_>) =
        iterations.partition(|arrow| arrow.mark == ChangeMark::Removed);
    for arrow in kept_arrows.into_iter().chain(removed_arrows) {
        if lower_boxes[arrow.from_box].is_none()
            && can_stack_on_target(canvas, arrow.from_box, arrow.to_box)
            && !is_stacked_on(&lower_boxes, arrow.to_box, arrow.from_box)
        {
            lower_boxes[arrow.from_box] = Some(arrow.to_box);
        }
    }
    lower_boxes
}

/// Returns whether an iterator can be stacked on its target: it is at the same place or has no position. An iterator
/// that still exists is never stacked on a removed target.
fn can_stack_on_target(canvas: &Canvas, iterator_index: usize, target_index: usize) -> bool {
    let (iterator, target) = (&canvas.boxes[iterator_index], &canvas.boxes[target_index]);
    if target.mark == ChangeMark::Removed && iterator.mark != ChangeMark::Removed {
        return false;
    }
    match (iterator.position, target.position) {
        (Some(iterator_point), Some(target_point)) => {
            (iterator_point.x - target_point.x).abs() <= MAX_TARGET_DISTANCE
                && (iterator_point.y - target_point.y).abs() <= MAX_TARGET_DISTANCE
        }
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Returns whether the box `upper` is the box `lower`, or above it in its stack.
fn is_stacked_on(lower_boxes: &[Option<usize>], upper: usize, lower: usize) -> bool {
    let mut next = Some(upper);
    while let Some(current) = next {
        if current == lower {
            return true;
        }
        next = lower_boxes[current];
    }
    false
}
