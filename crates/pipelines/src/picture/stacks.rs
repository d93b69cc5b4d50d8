//! Stacks of boxes: the platform stores an iterator at the position of its target, so it is drawn directly above the
//! target.

use super::canvas::{Canvas, Mark, Point};

/// Maximum distance between an iterator and its target, in units of the canvas.
const NEAR: f64 = 30.0;

/// A box and the iterators above it.
#[derive(Debug)]
pub(super) struct Stack {
    /// The boxes from the bottom up.
    pub boxes: Vec<usize>,
    /// The position on the canvas; `None` if it is unknown.
    pub place: Option<StackPlace>,
}

/// The position of a stack, with the range of its boxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct StackPlace {
    pub x: Range,
    pub y: Range,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub low: f64,
    pub own: f64,
    pub high: f64,
}

/// Returns all boxes in stacks, in the order of their lowest boxes.
pub(super) fn stacks(canvas: &Canvas) -> Vec<Stack> {
    let under = targets(canvas);
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); canvas.boxes.len()];
    for (iterator, target) in under.iter().enumerate() {
        if let Some(above) = target.and_then(|target| above.get_mut(target)) {
            above.push(iterator);
        }
    }
    let lowest = (0..canvas.boxes.len()).filter(|at| under.get(*at).copied().flatten().is_none());
    lowest.map(|at| stack(canvas, &above, at)).collect()
}

fn stack(canvas: &Canvas, above: &[Vec<usize>], lowest: usize) -> Stack {
    let mut boxes = Vec::new();
    let mut next = vec![lowest];
    while let Some(at) = next.pop() {
        boxes.push(at);
        next.extend(above.get(at).into_iter().flatten().rev());
    }
    let places: Vec<Point> = boxes
        .iter()
        .filter_map(|at| canvas.boxes.get(*at)?.place)
        .collect();
    let range = |pick: fn(&Point) -> f64| {
        let own = places.first().map(pick)?;
        Some(Range {
            own,
            low: places.iter().map(pick).fold(own, f64::min),
            high: places.iter().map(pick).fold(own, f64::max),
        })
    };
    let place = range(|point| point.x).zip(range(|point| point.y));
    Stack {
        boxes,
        place: place.map(|(x, y)| StackPlace { x, y }),
    }
}

/// Returns the box below each iterator: a nearby target, preferably of a link that was not removed.
fn targets(canvas: &Canvas) -> Vec<Option<usize>> {
    let mut under: Vec<Option<usize>> = vec![None; canvas.boxes.len()];
    let iterations = canvas.arrows.iter().filter(|arrow| arrow.kind == "iteration");
    let (gone, living): (Vec<_>, Vec<_>) = iterations.partition(|arrow| arrow.mark == Mark::Removed);
    for arrow in living.into_iter().chain(gone) {
        let is_free = under.get(arrow.from).is_some_and(Option::is_none);
        if is_free && is_near(canvas, arrow.from, arrow.to) && !stands_on(&under, arrow.to, arrow.from) {
            under[arrow.from] = Some(arrow.to);
        }
    }
    under
}

fn is_near(canvas: &Canvas, iterator: usize, target: usize) -> bool {
    let (Some(iterator), Some(target)) = (canvas.boxes.get(iterator), canvas.boxes.get(target)) else {
        return false;
    };
    if target.mark == Mark::Removed && iterator.mark != Mark::Removed {
        return false;
    }
    match (iterator.place, target.place) {
        (Some(one), Some(other)) => (one.x - other.x).abs() <= NEAR && (one.y - other.y).abs() <= NEAR,
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Returns whether `at` is `lower`, or above it in the stack.
fn stands_on(under: &[Option<usize>], at: usize, lower: usize) -> bool {
    let mut next = Some(at);
    while let Some(at) = next {
        if at == lower {
            return true;
        }
        next = under.get(at).copied().flatten();
    }
    false
}
