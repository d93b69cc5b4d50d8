//! The lanes of a picture: a channel between two rows, and a gap between two boxes of a row. No box reaches into a
//! lane.
//!
//! Links run horizontally in channels and vertically in gaps, so they cross no box. Vertical lines are aligned to a
//! raster, and two of them never share a place in a channel unless they lead to the same box, so links never overlap.

use std::collections::BTreeMap;

/// The width of a box, in pixels, as all lengths here.
pub(super) const WIDTH: i32 = 168;

/// The height of a box.
pub(super) const HEIGHT: i32 = 60;

/// Vertical lines are at multiples of this distance.
pub(super) const SLOT: i32 = 6;

/// Minimum distance between a line and a box at which it does not end.
pub(super) const CLEAR: i32 = 12;

/// Maximum number of gaps of a row that are tried on either side of the best position of a line.
const TRIED_GAPS: usize = 6;

/// Maximum number of places that are tried in one gap.
const TRIED_PLACES: i32 = 40;

/// The owner of a vertical line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// All links to this box.
    To(usize),
    /// The start of links from this box.
    From(usize),
}

/// The positions of boxes in their rows, and the vertical lines in use.
#[derive(Debug)]
pub(super) struct Lanes {
    /// The left edges of the boxes of each row, ascending.
    rows: Vec<Vec<i32>>,
    /// The used places by channel: channel `n` is directly above row `n`.
    used: Vec<BTreeMap<i32, Owner>>,
    /// The left and right end of the picture.
    ends: (i32, i32),
}

/// A gap of a row, as the number of boxes to its left.
pub(super) type Gap = usize;

impl Lanes {
    pub(super) fn new(rows: Vec<Vec<i32>>) -> Self {
        let lefts = || rows.iter().flatten().copied();
        let ends = (lefts().min().unwrap_or(0), lefts().max().unwrap_or(0) + WIDTH);
        Self {
            used: vec![BTreeMap::new(); rows.len() + 1],
            rows,
            ends,
        }
    }

    pub(super) fn is_free(&self, channel: usize, x: i32, owner: Owner) -> bool {
        let used = self.used.get(channel).and_then(|used| used.get(&x));
        used.is_none_or(|known| *known == owner)
    }

    /// Returns whether there is no line at this place, regardless of its owner.
    pub(super) fn is_unused(&self, channel: usize, x: i32) -> bool {
        self.used.get(channel).is_none_or(|used| !used.contains_key(&x))
    }

    pub(super) fn take(&mut self, channel: usize, x: i32, owner: Owner) {
        if let Some(used) = self.used.get_mut(channel) {
            used.insert(x, owner);
        }
    }

    /// Returns the free place in a channel, within these bounds, that is nearest to `wish`.
    pub(super) fn place(
        &self,
        channel: usize,
        (low, high): (i32, i32),
        wish: i32,
        owner: Owner,
    ) -> Option<i32> {
        nearest((low, high), wish, high - low).find(|x| self.is_free(channel, *x, owner))
    }

    /// Returns the gap of the row that contains this place, or the nearest one.
    pub(super) fn gap_at(&self, row: usize, x: i32) -> Gap {
        let lefts = &self.rows[row];
        let at = lefts.partition_point(|left| left + WIDTH / 2 <= x);
        at.min(lefts.len())
    }

    /// Returns the bounds for vertical lines in a gap.
    fn bounds(&self, row: usize, gap: Gap) -> (i32, i32) {
        let lefts = &self.rows[row];
        let low = match gap.checked_sub(1).and_then(|before| lefts.get(before)) {
            Some(left) => left + WIDTH + CLEAR,
            None => i32::MIN / 2,
        };
        let high = lefts.get(gap).map_or(i32::MAX / 2, |left| left - CLEAR);
        (low, high)
    }

    /// Returns whether a vertical line through the row at this place touches neither a box nor another line.
    pub(super) fn passes(&self, row: usize, x: i32, owner: Owner) -> bool {
        let (low, high) = self.bounds(row, self.gap_at(row, x));
        low <= x && x <= high && self.is_free(row, x, owner) && self.is_free(row + 1, x, owner)
    }

    /// Returns places for a vertical line through the row: the nearest free place of each near gap, and one beside all
    /// boxes.
    pub(super) fn crossings(&self, row: usize, wish: i32, owner: Owner) -> Vec<i32> {
        let middle = self.gap_at(row, wish);
        let first = middle.saturating_sub(TRIED_GAPS);
        let last = (middle + TRIED_GAPS).min(self.rows[row].len());
        let in_gap = |gap: Gap| {
            let bounds = self.bounds(row, gap);
            let mut places = nearest(bounds, wish, TRIED_PLACES * SLOT);
            places.find(|x| self.passes(row, *x, owner))
        };
        let mut found: Vec<i32> = (first..=last).filter_map(in_gap).collect();
        found.extend(self.beside(row, owner));
        found
    }

    /// Returns the nearest free place to the right of everything, which always exists.
    fn beside(&self, row: usize, owner: Owner) -> Option<i32> {
        let first = up(self.ends.1 + CLEAR);
        let last = i32::MAX / 2;
        let mut places = (first..last).step_by(SLOT.unsigned_abs() as usize);
        places.find(|x| self.passes(row, *x, owner))
    }
}

/// Returns the multiples of [`SLOT`] within the bounds, beginning with the nearest, up to the distance `reach`.
pub(super) fn nearest((low, high): (i32, i32), wish: i32, reach: i32) -> impl Iterator<Item = i32> {
    let (low, high) = (up(low), down(high));
    let start = if low <= high {
        down(wish + SLOT / 2).clamp(low, high)
    } else {
        low
    };
    let steps = 0..=reach.max(0) / SLOT;
    let around = steps.flat_map(move |step| {
        let both = [start + step * SLOT, start - step * SLOT];
        both.into_iter().take(if step == 0 { 1 } else { 2 })
    });
    around.filter(move |x| low <= *x && *x <= high)
}

/// Rounds up to a multiple of [`SLOT`].
pub(super) const fn up(x: i32) -> i32 {
    down(x + SLOT - 1)
}

const fn down(x: i32) -> i32 {
    x.div_euclid(SLOT) * SLOT
}
