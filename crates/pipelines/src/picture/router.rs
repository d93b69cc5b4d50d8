//! Leads links from port to port: horizontally in the channels between two rows, vertically in the gaps between two
//! boxes of a row.
//!
//! Vertical lines are at multiples of [`SLOT_WIDTH`]. Two of them share a place in a channel only if all their links
//! share a source or a target and have the same change, so links never overlap.

use super::canvas::ChangeMark;
use super::grid::{BoxSpans, Grid};
use super::label::{self, LABEL_GAP};
use super::ports::{Clearance, Gap, LinkPlan, Port, PortRole, Ports, Side, gap_at};
use super::slots::{SLOT_WIDTH, nearest_slots, slots_between};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Minimum distance between a vertical line and the corner of a box whose upper or lower edge it meets.
const CORNER_DISTANCE: i32 = 12;

/// Maximum number of gaps of a row that are tried on either side of the best position of a line.
const MAX_TRIED_GAPS: usize = 6;

/// Maximum distance between a line and the best position in a gap.
const MAX_SLOT_DISTANCE: i32 = 240;

/// The ends of the outer gaps of a row, which are left and right of all boxes.
const OUTER_LEFT: i32 = i32::MIN / 2;
const OUTER_RIGHT: i32 = i32::MAX / 2;

/// A part of a link within one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub channel: usize,
    pub from_x: i32,
    pub to_x: i32,
}

/// The vertical lines that each gap needs space for.
pub(super) type GapLines = HashMap<Gap, BTreeSet<Port>>;

/// Leads the links through channels and gaps. Links that share a line have one *owner*: the port at which they all
/// begin or end. All positions are x coordinates in pixels.
pub(super) struct Router<'c> {
    grid: &'c Grid,
    ports: &'c Ports,
    spans: &'c BoxSpans,
    /// The used positions by channel, with the owner of the line at each position.
    used_slots: Vec<BTreeMap<i32, Port>>,
    port_positions: HashMap<Port, i32>,
    /// For each owner, the range of positions that is in all gaps with its lines, as far as these overlap.
    preferred_ranges: HashMap<Port, (i32, i32)>,
    /// The entry of the links that leave at an exit; `None` if they have several entries.
    only_entries: HashMap<Port, Option<Port>>,
    /// The exit of the links that arrive at an entry; `None` if they have several exits.
    only_exits: HashMap<Port, Option<Port>>,
    /// The positions where lines of an owner already cross a row.
    row_crossings: HashMap<(Port, usize), Vec<i32>>,
    pub gap_lines: GapLines,
    /// The ports at the upper or lower edge with space for their label.
    pub labeled_exits: HashSet<Port>,
    /// The gaps without space for a line.
    pub full_gaps: HashSet<Gap>,
}

impl<'c> Router<'c> {
    /// Creates the router for these links, with all positions unused. Records for each port whether all its links lead
    /// to the same other port, because such links can share a line. Ignores straight links, which do not have vertical
    /// lines.
    pub(super) fn new(grid: &'c Grid, ports: &'c Ports, spans: &'c BoxSpans) -> Self {
        let (mut only_entries, mut only_exits) = (HashMap::new(), HashMap::new());
        for link in ports.links.iter().filter(|link| link.channels.is_some()) {
            let only_entry = only_entries.entry(link.exit).or_insert(Some(link.entry));
            *only_entry = only_entry.filter(|entry| *entry == link.entry);
            let only_exit = only_exits.entry(link.entry).or_insert(Some(link.exit));
            *only_exit = only_exit.filter(|exit| *exit == link.exit);
        }
        Self {
            grid,
            ports,
            spans,
            used_slots: vec![BTreeMap::new(); grid.rows.len() + 1],
            port_positions: HashMap::new(),
            preferred_ranges: HashMap::new(),
            only_entries,
            only_exits,
            row_crossings: HashMap::new(),
            gap_lines: HashMap::new(),
            labeled_exits: HashSet::new(),
            full_gaps: HashSet::new(),
        }
    }

    /// Routes all links. Returns the hops of each link, one for each channel; a straight link has no hops.
    pub(super) fn route_links(&mut self, labels: &[Option<String>]) -> Vec<Vec<Hop>> {
        let links = &self.ports.links;
        // The labels of changed links come first: a narrow box has space for one.
        for is_changed in [true, false] {
            for (link, text) in links.iter().zip(labels) {
                if let Some((first_channel, _)) = link.channels
                    && matches!(link.exit.side, Side::Top | Side::Bottom)
                    && is_changed == (link.exit.mark != ChangeMark::Unchanged)
                {
                    self.assign_vertical_exit(link, first_channel, text.as_deref());
                }
            }
        }
        for link in links {
            if let Some((_, last_channel)) = link.channels
                && matches!(link.entry.side, Side::Top | Side::Bottom)
            {
                self.assign_vertical_entry(link, last_channel);
            }
        }
        // The rightmost exit comes first: a shared line that is left of it would lead its link backward.
        let mut routed_links: Vec<_> = links.iter().filter(|link| link.channels.is_some()).collect();
        routed_links.sort_by_key(|link| -self.spans.right(link.exit.canvas_box));
        // All links narrow the ranges of their owners before the first position is chosen within such a range.
        for link in &routed_links {
            self.narrow_preferred_range(link.exit, self.exit_owner(link));
            self.narrow_preferred_range(link.entry, self.entry_owner(link));
        }
        for link in routed_links {
            self.assign_side_port(link.exit, self.exit_owner(link));
            self.assign_side_port(link.entry, self.entry_owner(link));
        }
        links.iter().map(|link| self.route_link(link)).collect()
    }

    /// Returns the owner of the first vertical line of this link, the port that all links on the line share: the entry,
    /// if all links from this exit lead to it, otherwise the exit.
    fn exit_owner(&self, link: &LinkPlan) -> Port {
        let only_entry = self.only_entries.get(&link.exit).copied().flatten();
        only_entry.unwrap_or(link.exit)
    }

    /// Returns the owner of the lines of this link after its first vertical line, normally the entry. If all links to
    /// it come from one exit, they share all their lines, so the owner is that of the first vertical line.
    pub(super) fn entry_owner(&self, link: &LinkPlan) -> Port {
        match self.only_exits.get(&link.entry).copied().flatten() {
            Some(_) => self.exit_owner(link),
            None => link.entry,
        }
    }

    /// Returns whether `owner` can use the position in the channel: it is unused, or used by a line of this owner.
    fn is_slot_free(&self, channel: usize, x: i32, owner: Port) -> bool {
        let slot_owner = self.used_slots.get(channel).and_then(|slots| slots.get(&x));
        slot_owner.is_none_or(|slot_owner| *slot_owner == owner)
    }

    /// Reserves the position in the channel for lines of this owner.
    fn occupy_slot(&mut self, channel: usize, x: i32, owner: Port) {
        if let Some(slots) = self.used_slots.get_mut(channel) {
            slots.insert(x, owner);
        }
    }

    /// Returns the range of positions at which lines may meet the upper or lower edge of a box.
    fn edge_bounds(&self, index: usize) -> (i32, i32) {
        (
            self.spans.lefts[index] + CORNER_DISTANCE,
            self.spans.right(index) - CORNER_DISTANCE,
        )
    }

    /// Sets the position where an iteration link leaves its iterator, if possible with space for its label. Does
    /// nothing if another link already set the position of this port.
    fn assign_vertical_exit(&mut self, link: &LinkPlan, channel: usize, label_text: Option<&str>) {
        if self.port_positions.contains_key(&link.exit) {
            return;
        }
        let owner = self.exit_owner(link);
        let (low, high) = self.edge_bounds(link.exit.canvas_box);
        let label_width = label_text.map_or(0, |text| label::link_label_width(text) + LABEL_GAP);
        // The center or, for a wide label, further left. The label covers the positions to the right, so at least four
        // positions to the left remain for other links at this edge.
        let preferred_x = self
            .spans
            .center(link.exit.canvas_box)
            .min(self.spans.right(link.exit.canvas_box) - label_width - LABEL_GAP)
            .max(low + 4 * SLOT_WIDTH);
        // The owner of the positions that the label covers. No link has this port, so no line can use them.
        let label_owner = Port {
            role: PortRole::Stub,
            ..link.exit
        };
        let labeled_x = nearest_slots(low, high, preferred_x).find(|x| {
            self.is_slot_free(channel, *x, owner)
                && slots_between(*x + SLOT_WIDTH, *x + label_width)
                    .all(|label_x| self.is_slot_free(channel, label_x, label_owner))
        });
        let x = match labeled_x {
            Some(x) => {
                for label_x in slots_between(x + SLOT_WIDTH, x + label_width) {
                    self.occupy_slot(channel, label_x, label_owner);
                }
                self.labeled_exits.insert(link.exit);
                x
            }
            None => nearest_slots(low, high, preferred_x)
                .find(|x| self.is_slot_free(channel, *x, owner))
                .unwrap_or(preferred_x),
        };
        self.occupy_slot(channel, x, owner);
        self.port_positions.insert(link.exit, x);
    }

    /// Sets the position where an iteration link enters its target, near the position where it leaves its iterator.
    /// Does nothing if another link already set the position of this port.
    fn assign_vertical_entry(&mut self, link: &LinkPlan, channel: usize) {
        if self.port_positions.contains_key(&link.entry) {
            return;
        }
        let owner = self.entry_owner(link);
        let (low, high) = self.edge_bounds(link.entry.canvas_box);
        let exit_x = self.port_positions.get(&link.exit).copied();
        let preferred_x = exit_x
            .unwrap_or_else(|| self.spans.center(link.entry.canvas_box))
            .clamp(low, high);
        let x = nearest_slots(low, high, preferred_x)
            .find(|x| self.is_slot_free(channel, *x, owner))
            // The line ends before it reaches a label at the other side of the channel.
            .or_else(|| nearest_slots(low, high, preferred_x).find(|x| self.has_far_label(channel, *x, link)))
            .unwrap_or(preferred_x);
        self.occupy_slot(channel, x, owner);
        self.port_positions.insert(link.entry, x);
    }

    /// Returns whether the position is used only by a label at the other side of the channel, which the line of the
    /// link does not reach.
    fn has_far_label(&self, channel: usize, x: i32, link: &LinkPlan) -> bool {
        let slot_owner = self.used_slots.get(channel).and_then(|slots| slots.get(&x));
        // Only the positions of labels have owners with this role, see `assign_vertical_exit`.
        slot_owner.is_some_and(|port| port.role == PortRole::Stub && port.side != link.entry.side)
    }

    /// Sets the position of the vertical line at a port at the left or right edge, unless another link already set it.
    /// If the gap has no space, records the gap as full, so that the layout can widen it. Does nothing for other ports.
    fn assign_side_port(&mut self, port: Port, owner: Port) {
        let Some(gap) = gap_at(self.grid, port) else {
            return;
        };
        if self.port_positions.contains_key(&port) {
            return;
        }
        self.gap_lines.entry(gap).or_default().insert(owner);
        let (low, high) = self.gap_bounds(gap);
        let preferred_x = self.preferred_position(owner);
        // A line in a gap may continue in the channel above the row and in the one below it.
        let (row, _) = gap;
        let free_slot = nearest_slots(low, high, preferred_x.clamp(low, high.max(low)))
            .find(|x| self.is_slot_free(row, *x, owner) && self.is_slot_free(row + 1, *x, owner));
        let x = free_slot.unwrap_or_else(|| {
            self.full_gaps.insert(gap);
            low
        });
        self.occupy_slot(row, x, owner);
        self.occupy_slot(row + 1, x, owner);
        self.port_positions.insert(port, x);
    }

    /// Returns the least and the greatest position for vertical lines in a gap, which leave its clearances free.
    fn gap_bounds(&self, gap: Gap) -> (i32, i32) {
        let (row, index) = gap;
        let Clearance { left, right } = self.ports.clearances.get(&gap).copied().unwrap_or_default();
        let boxes = &self.grid.rows[row];
        let low = match index.checked_sub(1).and_then(|left_index| boxes.get(left_index)) {
            Some(left_box) => self.spans.right(*left_box) + left,
            None => OUTER_LEFT,
        };
        let high = boxes
            .get(index)
            .map_or(OUTER_RIGHT, |right_box| self.spans.lefts[*right_box] - right);
        (low, high)
    }

    /// Narrows the preferred range of the owner's lines to the gap of `port`, so that one position suits all of them.
    /// The range does not change if it and the gap overlap by less than [`SLOT_WIDTH`], or if the port is at an upper
    /// or lower edge.
    fn narrow_preferred_range(&mut self, port: Port, owner: Port) {
        let Some(gap) = gap_at(self.grid, port) else {
            return;
        };
        let (low, high) = self.gap_bounds(gap);
        let range = self.preferred_ranges.entry(owner).or_insert((low, high));
        let (shared_low, shared_high) = (range.0.max(low), range.1.min(high));
        if shared_low + SLOT_WIDTH <= shared_high {
            *range = (shared_low, shared_high);
        }
    }

    /// Returns the best position for lines of this owner: the middle of their preferred range or, outside of all boxes,
    /// next to the outermost box.
    fn preferred_position(&self, owner: Port) -> i32 {
        match self.preferred_ranges.get(&owner).copied().unwrap_or_default() {
            (low, OUTER_RIGHT) => low.saturating_add(SLOT_WIDTH),
            (OUTER_LEFT, high) => high - SLOT_WIDTH,
            (low, high) => i32::midpoint(low, high),
        }
    }

    /// Returns the index of the gap of the row that contains this position or, within a box, of the nearest gap.
    fn nearest_gap(&self, row: usize, x: i32) -> usize {
        self.grid.rows[row].partition_point(|index| self.spans.center(*index) <= x)
    }

    /// Returns whether a vertical line can cross the row here without touching a box or a line of another owner.
    fn can_cross_row(&self, row: usize, x: i32, owner: Port) -> bool {
        let (low, high) = self.gap_bounds((row, self.nearest_gap(row, x)));
        low <= x && x <= high && self.is_slot_free(row, x, owner) && self.is_slot_free(row + 1, x, owner)
    }

    /// Returns the positions for a vertical line through the row: the nearest free position of each near gap, unless it
    /// is too far from the best one, and of the outer gap on the right, which is never full.
    fn list_crossings(&self, row: usize, preferred_x: i32, owner: Port) -> Vec<i32> {
        let nearest_gap = self.nearest_gap(row, preferred_x);
        let last_gap = self.grid.rows[row].len();
        let near_gaps =
            nearest_gap.saturating_sub(MAX_TRIED_GAPS)..=(nearest_gap + MAX_TRIED_GAPS).min(last_gap);
        near_gaps
            .chain([last_gap])
            .filter_map(|index| {
                let (low, high) = self.gap_bounds((row, index));
                let best_x = preferred_x.clamp(low, high.max(low));
                // The largest distance is no limit, but small enough for calculations.
                let is_last = index == last_gap;
                let max_distance = if is_last { i32::MAX / 4 } else { MAX_SLOT_DISTANCE };
                nearest_slots(low, high, best_x)
                    .take_while(|x| (x - best_x).abs() <= max_distance)
                    .find(|x| self.is_slot_free(row, *x, owner) && self.is_slot_free(row + 1, *x, owner))
            })
            .collect()
    }

    /// Returns the hops of a link, which are empty for a straight link. The link crosses one row after another until it
    /// is in the channel where it ends, and reserves the positions where it crosses.
    fn route_link(&mut self, link: &LinkPlan) -> Vec<Hop> {
        let Some((mut channel, last_channel)) = link.channels else {
            return Vec::new();
        };
        let [mut x, end_x] =
            [link.exit, link.entry].map(|port| self.port_positions.get(&port).copied().unwrap_or_default());
        let owner = self.entry_owner(link);
        let mut hops = Vec::new();
        while channel != last_channel {
            let is_downward = channel < last_channel;
            let row = if is_downward { channel } else { channel - 1 };
            let crossing_x = self.cross_row(owner, row, x, end_x);
            hops.push(Hop {
                channel,
                from_x: x,
                to_x: crossing_x,
            });
            (x, channel) = (crossing_x, if is_downward { channel + 1 } else { channel - 1 });
        }
        hops.push(Hop {
            channel,
            from_x: x,
            to_x: end_x,
        });
        hops
    }

    /// Returns the best position for a link at `x` to cross the row on its way to `end_x`, and reserves it. The best
    /// position is `x` or `end_x`; if the row is blocked at both, it is the free position with the shortest detour.
    fn cross_row(&mut self, owner: Port, row: usize, x: i32, end_x: i32) -> i32 {
        let mut candidates: Vec<i32> = [x, end_x]
            .into_iter()
            .filter(|x| self.can_cross_row(row, *x, owner))
            .collect();
        if candidates.is_empty() {
            candidates = self.list_crossings(row, x, owner);
            candidates.extend(self.list_crossings(row, end_x, owner));
            // The link can also join a line of its owner that already crosses the row.
            candidates.extend(self.row_crossings.get(&(owner, row)).into_iter().flatten());
        }
        // The end of the link that it shares with all links of its owner.
        let shared_x = if owner.role == PortRole::Entry { end_x } else { x };
        let crossing_x = candidates
            .into_iter()
            .min_by_key(|candidate| {
                let is_on_shared_line = *candidate == shared_x;
                (
                    (candidate - x).abs() + (candidate - end_x).abs(),
                    !is_on_shared_line,
                    *candidate,
                )
            })
            .unwrap_or(x);
        // The link would best cross near its end, so the next attempt of the layout makes space in the gap there.
        let wanted_gap = (row, self.nearest_gap(row, end_x));
        self.gap_lines.entry(wanted_gap).or_default().insert(owner);
        self.occupy_slot(row, crossing_x, owner);
        self.occupy_slot(row + 1, crossing_x, owner);
        let crossings = self.row_crossings.entry((owner, row)).or_default();
        if !crossings.contains(&crossing_x) {
            crossings.push(crossing_x);
        }
        crossing_x
    }
}
