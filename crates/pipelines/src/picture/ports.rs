//! The ports of the boxes: where each link leaves and enters, and the space for their labels.
//!
//! A link leaves at the right edge and enters at the left edge, as in the designer; an iteration link leaves below or
//! above. The ports of the two boxes next to a gap are at different heights, so links of different kinds or changes
//! never share a line.

use super::canvas::{Arrow, Canvas, ChangeMark};
use super::grid::Grid;
use super::label::{self, LABEL_GAP};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Distance between the heights of two ports of a gap.
pub(super) const PORT_DISTANCE: i32 = 16;

/// Minimum space between a box and the vertical lines on its right and on its left side.
const RIGHT_CLEARANCE: i32 = 10;
const LEFT_CLEARANCE: i32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PortRole {
    /// Links of this kind leave; the kinds of a canvas are numbered.
    Exit(usize),
    Entry,
    Stub,
}

/// A place at the edge of a box where links leave or enter. Links share it only if they have the same change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Port {
    pub canvas_box: usize,
    pub side: Side,
    pub role: PortRole,
    pub mark: ChangeMark,
}

/// The ends of a link.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkPlan {
    pub exit: Port,
    pub entry: Port,
    /// The channels in which the link leaves and arrives: channel `n` is directly above row `n`. `None` for the
    /// straight link of two neighbors.
    pub channels: Option<(usize, usize)>,
}

/// A gap of a row: the row, and the number of boxes to the left of the gap.
pub(super) type Gap = (usize, usize);

/// The space next to the boxes of a gap that no vertical line enters: `left` is next to the box on the left of the gap,
/// `right` next to the box on its right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clearance {
    pub left: i32,
    pub right: i32,
}

impl Default for Clearance {
    /// Returns the clearance in a gap without labels. `left` is next to the right edge of the box on the left, so it
    /// gets [`RIGHT_CLEARANCE`].
    fn default() -> Self {
        Self {
            left: RIGHT_CLEARANCE,
            right: LEFT_CLEARANCE,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Ports {
    pub links: Vec<LinkPlan>,
    /// The height of each port at the left or right edge, below the middle of its box.
    pub offsets: HashMap<Port, i32>,
    pub clearances: HashMap<Gap, Clearance>,
    /// The maximum distance of a port from the middle of the boxes, by row.
    pub row_offsets: Vec<i32>,
}

/// The use of a port in its gap.
#[derive(Debug, Clone, Copy, Default)]
struct PortUse {
    /// The number of links from or to rows below, minus those above.
    direction: i32,
    is_straight: bool,
}

impl Ports {
    /// Assigns each link its ports: links of one kind with the same change leave a box at the same port. Reserves the
    /// space for labels next to the boxes, and sets the height of each port at a left or right edge.
    pub(super) fn for_canvas(canvas: &Canvas, grid: &Grid) -> Self {
        let mut kind_numbers: HashMap<&str, usize> = HashMap::new();
        let links: Vec<LinkPlan> = canvas
            .arrows
            .iter()
            .map(|arrow| {
                let next_number = kind_numbers.len();
                let kind_number = *kind_numbers.entry(&arrow.kind).or_insert(next_number);
                plan_link(grid, arrow, kind_number)
            })
            .collect();
        let mut ports = Self {
            row_offsets: vec![0; grid.rows.len()],
            ..Self::default()
        };
        ports.reserve_label_space(canvas, grid, &links);
        ports.assign_offsets(canvas, grid, &links);
        ports.links = links;
        ports
    }

    /// Widens the clearances of the gaps so that the labels of links and of stubs fit into them. The label of a link is
    /// on the left side of its gap, and the label of a stub is next to its box.
    fn reserve_label_space(&mut self, canvas: &Canvas, grid: &Grid, links: &[LinkPlan]) {
        for (link, text) in links.iter().zip(label::format_link_labels(canvas)) {
            let gap = gap_at(grid, link.exit);
            if let (Some(gap), Some(text)) = (gap, text) {
                let left = label::text_width(&text) + 3 * LABEL_GAP;
                self.widen_clearance(gap, Clearance { left, right: 0 });
            }
        }
        for stub in &canvas.stubs {
            let width = label::text_width(&label::format_stub_label(stub)) + 2 * LABEL_GAP;
            let (left, right) = if stub.is_outgoing { (width, 0) } else { (0, width) };
            if let Some(gap) = gap_at(grid, stub_port(stub.canvas_box, stub.is_outgoing)) {
                self.widen_clearance(gap, Clearance { left, right });
            }
        }
    }

    /// Widens the clearance of a gap on both sides to at least the widths of `minimum`.
    fn widen_clearance(&mut self, gap: Gap, minimum: Clearance) {
        let clearance = self.clearances.entry(gap).or_default();
        clearance.left = clearance.left.max(minimum.left);
        clearance.right = clearance.right.max(minimum.right);
    }

    /// Sets the heights of all ports at left and right edges, gap by gap. The ports at a gap have different heights,
    /// except for the two ends of a straight link.
    fn assign_offsets(&mut self, canvas: &Canvas, grid: &Grid, links: &[LinkPlan]) {
        // The used ports of each gap, each with the direction of its links.
        let mut gaps: BTreeMap<Gap, BTreeMap<Port, PortUse>> = BTreeMap::new();
        // The exits of links that are not straight.
        let mut routed_exits: HashSet<Port> = HashSet::new();
        for link in links {
            let Some(gap) = gap_at(grid, link.exit) else {
                continue;
            };
            let (row, _) = gap;
            let port_use = gaps.entry(gap).or_default().entry(link.exit).or_default();
            match link.channels {
                Some((channel, _)) => {
                    port_use.direction += channel_direction(channel, row);
                    routed_exits.insert(link.exit);
                }
                None => port_use.is_straight = true,
            }
        }
        // Links that enter at the end of a straight link join its line. If other links leave at its start, the lines
        // would overlap, so the links that enter get a height of their own.
        let exits_by_shared_entry: HashMap<Port, Port> = links
            .iter()
            .filter(|link| link.channels.is_none() && !routed_exits.contains(&link.exit))
            .map(|link| (link.entry, link.exit))
            .collect();
        for link in links {
            let Some((_, channel)) = link.channels else {
                continue;
            };
            if let Some(gap) = gap_at(grid, link.entry)
                && !exits_by_shared_entry.contains_key(&link.entry)
            {
                let (row, _) = gap;
                let port_use = gaps.entry(gap).or_default().entry(link.entry).or_default();
                port_use.direction += channel_direction(channel, row);
            }
        }
        for stub in &canvas.stubs {
            let port = stub_port(stub.canvas_box, stub.is_outgoing);
            if let Some(gap) = gap_at(grid, port) {
                gaps.entry(gap).or_default().entry(port).or_default();
            }
        }
        for ((row, _), uses) in gaps {
            self.spread_ports(row, uses);
        }
        for (entry, exit) in exits_by_shared_entry {
            if let Some(offset) = self.offsets.get(&exit).copied() {
                self.offsets.insert(entry, offset);
            }
        }
    }

    /// Sets the heights of the ports at a gap, and updates the maximum offset of the row. The order from top to bottom
    /// is: ports with more links above the row, ports of straight links, other ports such as those of stubs, and ports
    /// with more links below the row. The first straight link is at the middle of its boxes.
    fn spread_ports(&mut self, row: usize, uses: BTreeMap<Port, PortUse>) {
        let mut order: Vec<(Port, PortUse)> = uses.into_iter().collect();
        order.sort_by_key(|(_, port_use)| {
            let direction = if port_use.is_straight {
                0
            } else {
                port_use.direction.signum()
            };
            (direction, !port_use.is_straight)
        });
        // Twice the index of the straight link, or twice the middle of all indices: it gets the offset 0.
        let middle = order
            .iter()
            .position(|(_, port_use)| port_use.is_straight)
            .map_or(saturating_i32(order.len() - 1), |index| 2 * saturating_i32(index));
        for (index, (port, _)) in order.into_iter().enumerate() {
            let offset = (2 * saturating_i32(index) - middle) * PORT_DISTANCE / 2;
            self.row_offsets[row] = self.row_offsets[row].max(offset.abs());
            self.offsets.insert(port, offset);
        }
    }
}

/// Converts a count to an `i32`. A very large count is limited, so that its product with a distance does not overflow.
fn saturating_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / 100)
}

/// Returns the port of a stub: at the right edge for outgoing links, at the left edge for incoming links.
pub(super) const fn stub_port(canvas_box: usize, is_outgoing: bool) -> Port {
    Port {
        canvas_box,
        side: if is_outgoing { Side::Right } else { Side::Left },
        role: PortRole::Stub,
        mark: ChangeMark::Unchanged,
    }
}

/// Returns the gap next to a port at the left or right edge; `None` for a port at the upper or lower edge.
pub(super) fn gap_at(grid: &Grid, port: Port) -> Option<Gap> {
    let row = grid.box_rows[port.canvas_box];
    let row_index = grid.row_indices[port.canvas_box];
    match port.side {
        Side::Left => Some((row, row_index)),
        Side::Right => Some((row, row_index + 1)),
        Side::Top | Side::Bottom => None,
    }
}

/// Returns -1 (up) if the channel is the one directly above the row, otherwise 1 (down).
const fn channel_direction(channel: usize, row: usize) -> i32 {
    if channel == row { -1 } else { 1 }
}

/// Chooses the edges at which a link leaves and enters its boxes, and the channels in which it begins and ends. A link
/// between two neighbors in a row is straight and needs no channel. Within a row, other links to the right run above
/// the row; links to the left and iterations run below it.
fn plan_link(grid: &Grid, arrow: &Arrow, kind: usize) -> LinkPlan {
    let [from_row, to_row] = [arrow.from_box, arrow.to_box].map(|index| grid.box_rows[index]);
    let [from_index, to_index] = [arrow.from_box, arrow.to_box].map(|index| grid.row_indices[index]);
    let is_downward = from_row < to_row;
    let is_neighbor = from_row == to_row && from_index.abs_diff(to_index) == 1;
    let ((exit_side, entry_side), channels) = if is_neighbor && from_index < to_index {
        ((Side::Right, Side::Left), None)
    } else if is_neighbor {
        ((Side::Left, Side::Right), None)
    } else {
        // The channel `n` is directly above the row `n`, so `n + 1` is directly below it.
        let channels = match from_row.cmp(&to_row) {
            std::cmp::Ordering::Less => (from_row + 1, to_row),
            std::cmp::Ordering::Greater => (from_row, to_row + 1),
            std::cmp::Ordering::Equal if from_index < to_index && arrow.kind != "iteration" => {
                (from_row, from_row)
            }
            std::cmp::Ordering::Equal => (from_row + 1, from_row + 1),
        };
        let sides = match arrow.kind.as_str() {
            "iteration" if from_row == to_row => (Side::Bottom, Side::Bottom),
            "iteration" if is_downward => (Side::Bottom, Side::Top),
            "iteration" => (Side::Top, Side::Bottom),
            _ => (Side::Right, Side::Left),
        };
        (sides, Some(channels))
    };
    LinkPlan {
        exit: Port {
            canvas_box: arrow.from_box,
            side: exit_side,
            role: PortRole::Exit(kind),
            mark: arrow.mark,
        },
        entry: Port {
            canvas_box: arrow.to_box,
            side: entry_side,
            role: PortRole::Entry,
            mark: arrow.mark,
        },
        channels,
    }
}
