//! The positions of the components on the platform's canvas.

use crate::pipelines::LAYOUT_KEY;
use sluicegate_yaml::NodeRef;
use std::collections::HashMap;

/// Coordinates beyond this value are ignored, because nobody can see them.
const MAX_COORDINATE: f64 = 1.0e6;

/// A position on the platform's canvas, in its units; y grows downward.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    /// Returns whether the point is near enough to the origin of the canvas to be visible.
    fn is_in_range(self) -> bool {
        self.x.abs() <= MAX_COORDINATE && self.y.abs() <= MAX_COORDINATE
    }
}

/// Returns the positions of the components by name, from `design.components.NAME.position`. Skips components without
/// a usable position.
pub(super) fn collect_positions(root: NodeRef<'_, '_>) -> HashMap<String, Point> {
    let design = root.get(LAYOUT_KEY).and_then(|design| design.get("components"));
    design
        .into_iter()
        .flat_map(NodeRef::entries)
        .filter_map(|(name, _, node)| Some((name.to_owned(), parse_position(node.get("position")?)?)))
        .collect()
}

/// Parses the coordinates of a position; `None` if one is missing or invalid, or if they are too far away to be
/// visible.
fn parse_position(node: NodeRef<'_, '_>) -> Option<Point> {
    let position = Point {
        x: node.get("x")?.text()?.parse().ok()?,
        y: node.get("y")?.text()?.parse().ok()?,
    };
    position.is_in_range().then_some(position)
}
