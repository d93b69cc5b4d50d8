//! Stacks of boxes: the platform stores an iterator at the position of its target, so it is drawn directly above the
//! target.

use super::canvas::{Canvas, ChangeMark, Point};

/// Maximum distance between an iterator and its target, in units of the canvas.
const MAX_TARGET_DISTANCE: f64 = 30.0;

/// A box and the iterators above it.
#[derive(Debug)]
pub(super) struct Stack {
    /// The boxes from the bottom up.
    pub boxes: Vec<usize>,
    /// The position on the canvas; `None` if it is unknown.
    pub position: Option<StackPosition>,
}

/// The position of a stack, with the range of its boxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackPosition {
    pub x: Extent,
    pub y: Extent,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub low: f64,
    pub anchor: f64,
    pub high: f64,
}

/// Returns all boxes in stacks, in the order of their lowest boxes.
pub(super) fn build_stacks(canvas: &Canvas) -> Vec<Stack> {
    let lower_boxes = find_lower_boxes(canvas);
    let mut upper_boxes: Vec<Vec<usize>> = vec![Vec::new(); canvas.boxes.len()];
    for (iterator, target) in lower_boxes.iter().enumerate() {
        if let Some(iterators) = target.and_then(|target| upper_boxes.get_mut(target)) {
            iterators.push(iterator);
        }
    }
    (0..canvas.boxes.len())
        .filter(|canvas_box| lower_boxes.get(*canvas_box).copied().flatten().is_none())
        .map(|lowest_box| build_stack(canvas, &upper_boxes, lowest_box))
        .collect()
}

fn build_stack(canvas: &Canvas, upper_boxes: &[Vec<usize>], lowest_box: usize) -> Stack {
    let mut boxes = Vec::new();
    let mut pending = vec![lowest_box];
    while let Some(canvas_box) = pending.pop() {
        boxes.push(canvas_box);
        pending.extend(upper_boxes.get(canvas_box).into_iter().flatten().rev());
    }
    let positions: Vec<Point> = boxes
        .iter()
        .filter_map(|canvas_box| canvas.boxes.get(*canvas_box)?.position)
        .collect();
    let x_extent = Extent::of_values(positions.iter().map(|position| position.x));
    let y_extent = Extent::of_values(positions.iter().map(|position| position.y));
    Stack {
        boxes,
        position: x_extent.zip(y_extent).map(|(x, y)| StackPosition { x, y }),
    }
}

impl Extent {
    /// Returns the extent of the values, whose first one is that of the lowest box.
    fn of_values(mut values: impl Iterator<Item = f64>) -> Option<Self> {
        let anchor = values.next()?;
        let mut extent = Self {
            anchor,
            low: anchor,
            high: anchor,
        };
        for value in values {
            extent.low = extent.low.min(value);
            extent.high = extent.high.max(value);
        }
        Some(extent)
    }
}

/// Returns the box below each iterator: a nearby target, preferably of a link that was not removed.
fn find_lower_boxes(canvas: &Canvas) -> Vec<Option<usize>> {
    let mut lower_boxes: Vec<Option<usize>> = vec![None; canvas.boxes.len()];
    let iterations = canvas.arrows.iter().filter(|arrow| arrow.kind == "iteration");
    let (removed_arrows, kept_arrows): (Vec<_>, Vec<_>) =
        iterations.partition(|arrow| arrow.mark == ChangeMark::Removed);
    for arrow in kept_arrows.into_iter().chain(removed_arrows) {
        let is_free = lower_boxes.get(arrow.from_box).is_some_and(Option::is_none);
        if is_free
            && is_near(canvas, arrow.from_box, arrow.to_box)
            && !is_stacked_on(&lower_boxes, arrow.to_box, arrow.from_box)
        {
            lower_boxes[arrow.from_box] = Some(arrow.to_box);
        }
    }
    lower_boxes
}

fn is_near(canvas: &Canvas, iterator: usize, target: usize) -> bool {
    let (Some(iterator), Some(target)) = (canvas.boxes.get(iterator), canvas.boxes.get(target)) else {
        return false;
    };
    if target.mark == ChangeMark::Removed && iterator.mark != ChangeMark::Removed {
        return false;
    }
    match (iterator.position, target.position) {
        (Some(iterator_position), Some(target_position)) => {
            (iterator_position.x - target_position.x).abs() <= MAX_TARGET_DISTANCE
                && (iterator_position.y - target_position.y).abs() <= MAX_TARGET_DISTANCE
        }
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Returns whether `upper` is `lower`, or above it in the stack.
fn is_stacked_on(lower_boxes: &[Option<usize>], upper: usize, lower: usize) -> bool {
    let mut next = Some(upper);
    while let Some(current) = next {
        if current == lower {
            return true;
        }
        next = lower_boxes.get(current).copied().flatten();
    }
    false
}
