//! The lanes of a picture: a channel between two rows, and a gap between two boxes of a row. No box reaches into a
//! lane.
//!
//! Links run horizontally in channels and vertically in gaps, so they cross no box. Vertical lines are aligned to a
//! raster, and two of them never share a place in a channel unless they lead to the same box, so links never overlap.

use std::collections::BTreeMap;

/// The width of a box, in pixels, as all lengths here.
pub(super) const BOX_WIDTH: i32 = 168;

/// The height of a box.
pub(super) const BOX_HEIGHT: i32 = 60;

/// Vertical lines are at multiples of this distance.
pub(super) const SLOT_WIDTH: i32 = 6;

/// Minimum distance between a line and a box at which it does not end.
pub(super) const MIN_CLEARANCE: i32 = 12;

/// Maximum number of gaps of a row that are tried on either side of the best position of a line.
const MAX_TRIED_GAPS: usize = 6;

/// Maximum number of places that are tried in one gap.
const MAX_TRIED_SLOTS: i32 = 40;

/// The owner of a vertical line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOwner {
    /// All links to this box.
    Target(usize),
    /// The start of links from this box.
    Start(usize),
}

/// The positions of boxes in their rows, and the vertical lines in use.
#[derive(Debug)]
pub(super) struct Lanes {
    /// The left edges of the boxes of each row, ascending.
    row_lefts: Vec<Vec<i32>>,
    /// The used places by channel: channel `n` is directly above row `n`.
    used_slots: Vec<BTreeMap<i32, LineOwner>>,
    /// The left and right end of the picture.
    picture_bounds: (i32, i32),
}

/// A gap of a row, as the number of boxes to its left.
pub(super) type Gap = usize;

impl Lanes {
    pub(super) fn new(row_lefts: Vec<Vec<i32>>) -> Self {
        let left_edge = row_lefts.iter().flatten().copied().min().unwrap_or(0);
        let right_edge = row_lefts.iter().flatten().copied().max().unwrap_or(0) + BOX_WIDTH;
        Self {
            used_slots: vec![BTreeMap::new(); row_lefts.len() + 1],
            row_lefts,
            picture_bounds: (left_edge, right_edge),
        }
    }

    pub(super) fn is_free(&self, channel: usize, x: i32, owner: LineOwner) -> bool {
        let slot_owner = self.used_slots.get(channel).and_then(|used| used.get(&x));
        slot_owner.is_none_or(|current_owner| *current_owner == owner)
    }

    /// Returns whether there is no line at this place, regardless of its owner.
    pub(super) fn is_unused(&self, channel: usize, x: i32) -> bool {
        self.used_slots
            .get(channel)
            .is_none_or(|used| !used.contains_key(&x))
    }

    pub(super) fn occupy(&mut self, channel: usize, x: i32, owner: LineOwner) {
        if let Some(used) = self.used_slots.get_mut(channel) {
            used.insert(x, owner);
        }
    }

    /// Returns the free place in a channel, within these bounds, that is nearest to `preferred_x`.
    pub(super) fn find_free_slot(
        &self,
        channel: usize,
        low: i32,
        high: i32,
        preferred_x: i32,
        owner: LineOwner,
    ) -> Option<i32> {
        nearest_slots(low, high, preferred_x, high - low).find(|x| self.is_free(channel, *x, owner))
    }

    /// Returns the gap of the row that contains this place, or the nearest one.
    pub(super) fn gap_at(&self, row: usize, x: i32) -> Gap {
        let lefts = &self.row_lefts[row];
        let gap = lefts.partition_point(|left| left + BOX_WIDTH / 2 <= x);
        gap.min(lefts.len())
    }

    /// Returns the bounds for vertical lines in a gap.
    fn gap_bounds(&self, row: usize, gap: Gap) -> (i32, i32) {
        let lefts = &self.row_lefts[row];
        let low = match gap.checked_sub(1).and_then(|left_box| lefts.get(left_box)) {
            Some(left) => left + BOX_WIDTH + MIN_CLEARANCE,
            None => i32::MIN / 2,
        };
        let high = lefts.get(gap).map_or(i32::MAX / 2, |left| left - MIN_CLEARANCE);
        (low, high)
    }

    /// Returns whether a vertical line through the row at this place touches neither a box nor another line.
    pub(super) fn can_cross_row(&self, row: usize, x: i32, owner: LineOwner) -> bool {
        let (low, high) = self.gap_bounds(row, self.gap_at(row, x));
        low <= x && x <= high && self.is_free(row, x, owner) && self.is_free(row + 1, x, owner)
    }

    /// Returns places for a vertical line through the row: the nearest free place of each near gap, and one beside all
    /// boxes.
    pub(super) fn list_crossings(&self, row: usize, preferred_x: i32, owner: LineOwner) -> Vec<i32> {
        let nearest_gap = self.gap_at(row, preferred_x);
        let first_gap = nearest_gap.saturating_sub(MAX_TRIED_GAPS);
        let last_gap = (nearest_gap + MAX_TRIED_GAPS).min(self.row_lefts[row].len());
        let mut crossings: Vec<i32> = (first_gap..=last_gap)
            .filter_map(|gap| {
                let (low, high) = self.gap_bounds(row, gap);
                nearest_slots(low, high, preferred_x, MAX_TRIED_SLOTS * SLOT_WIDTH)
                    .find(|x| self.can_cross_row(row, *x, owner))
            })
            .collect();
        crossings.extend(self.find_crossing_beside_boxes(row, owner));
        crossings
    }

    /// Returns the nearest free place to the right of everything, which always exists.
    fn find_crossing_beside_boxes(&self, row: usize, owner: LineOwner) -> Option<i32> {
        let first_x = round_up_to_slot(self.picture_bounds.1 + MIN_CLEARANCE);
        let last_x = i32::MAX / 2;
        (first_x..last_x)
            .step_by(SLOT_WIDTH.unsigned_abs() as usize)
            .find(|x| self.can_cross_row(row, *x, owner))
    }
}

/// Returns the multiples of [`SLOT_WIDTH`] from `low` to `high`, beginning with the nearest, up to `max_distance`.
pub(super) fn nearest_slots(
    low: i32,
    high: i32,
    preferred_x: i32,
    max_distance: i32,
) -> impl Iterator<Item = i32> {
    let (low, high) = (round_up_to_slot(low), round_down_to_slot(high));
    let start = if low <= high {
        round_down_to_slot(preferred_x + SLOT_WIDTH / 2).clamp(low, high)
    } else {
        low
    };
    (0..=max_distance.max(0) / SLOT_WIDTH)
        .flat_map(move |step| {
            let slots = [start + step * SLOT_WIDTH, start - step * SLOT_WIDTH];
            slots.into_iter().take(if step == 0 { 1 } else { 2 })
        })
        .filter(move |x| low <= *x && *x <= high)
}

/// Rounds up to a multiple of [`SLOT_WIDTH`].
pub(super) const fn round_up_to_slot(x: i32) -> i32 {
    round_down_to_slot(x + SLOT_WIDTH - 1)
}

const fn round_down_to_slot(x: i32) -> i32 {
    x.div_euclid(SLOT_WIDTH) * SLOT_WIDTH
}
