//! The route of a link through the picture.

/// The upper or lower side of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BoxSide {
    Top,
    Bottom,
}

/// A part of a link within one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub channel: usize,
    pub from_x: i32,
    pub to_x: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A horizontal line from border to border of two neighbors, at this distance below the middle.
    Straight(i32),
    /// From a side of one box through channels to a side of the other.
    Channels { side: BoxSide, hops: Vec<Hop> },
}
