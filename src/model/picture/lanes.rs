//! The lanes of a picture: between two rows lies a channel that no box reaches into, and between two boxes of a row a gap.
//!
//! Links run level in channels and upright in gaps, so they cross no box. Upright lines stand on a raster, and two of them never share
//! a place in a channel unless they lead to the same box: so no link lies on another.

use std::collections::BTreeMap;

/// The width of a box, in pixels, as all lengths here.
pub(super) const WIDTH: i32 = 168;

/// The height of a box.
pub(super) const HEIGHT: i32 = 60;

/// Upright lines stand at multiples of this.
pub(super) const SLOT: i32 = 6;

/// A line stays so far from a box that it does not end at.
pub(super) const CLEAR: i32 = 12;

/// Gaps of a row that are tried on either side of where a line would best stand.
const TRIED_GAPS: usize = 6;

/// Places that are tried in one gap.
const TRIED_PLACES: i32 = 40;

/// Who uses an upright line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// All links that lead to this box.
    To(usize),
    /// The start of links from this box.
    From(usize),
}

/// Where boxes stand in their rows, and which upright lines are in use.
#[derive(Debug)]
pub(super) struct Lanes {
    /// The left edges of the boxes of each row, ascending.
    rows: Vec<Vec<i32>>,
    /// By channel: channel `n` is right above row `n`.
    used: Vec<BTreeMap<i32, Owner>>,
    /// The left and right end of everything.
    ends: (i32, i32),
}

/// A gap of a row: how many boxes are left of it.
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

    /// Whether no line stands there, whoever owns it.
    pub(super) fn is_unused(&self, channel: usize, x: i32) -> bool {
        self.used.get(channel).is_none_or(|used| !used.contains_key(&x))
    }

    pub(super) fn take(&mut self, channel: usize, x: i32, owner: Owner) {
        if let Some(used) = self.used.get_mut(channel) {
            used.insert(x, owner);
        }
    }

    /// The place in a channel within these bounds that is free and nearest to `wish`.
    pub(super) fn place(
        &self,
        channel: usize,
        (low, high): (i32, i32),
        wish: i32,
        owner: Owner,
    ) -> Option<i32> {
        nearest((low, high), wish, high - low).find(|x| self.is_free(channel, *x, owner))
    }

    /// The gap of the row in which this place is, or the nearest one.
    pub(super) fn gap_at(&self, row: usize, x: i32) -> Gap {
        let lefts = &self.rows[row];
        let at = lefts.partition_point(|left| left + WIDTH / 2 <= x);
        at.min(lefts.len())
    }

    /// Where upright lines may stand in a gap.
    fn bounds(&self, row: usize, gap: Gap) -> (i32, i32) {
        let lefts = &self.rows[row];
        let low = match gap.checked_sub(1).and_then(|before| lefts.get(before)) {
            Some(left) => left + WIDTH + CLEAR,
            None => i32::MIN / 2,
        };
        let high = lefts.get(gap).map_or(i32::MAX / 2, |left| left - CLEAR);
        (low, high)
    }

    /// Whether an upright line through the row at this place touches no box and no other line.
    pub(super) fn passes(&self, row: usize, x: i32, owner: Owner) -> bool {
        let (low, high) = self.bounds(row, self.gap_at(row, x));
        low <= x && x <= high && self.is_free(row, x, owner) && self.is_free(row + 1, x, owner)
    }

    /// Places for an upright line through the row: the nearest free one of each near gap, and one beside everything.
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

    /// The nearest free place right of everything, which there always is.
    fn beside(&self, row: usize, owner: Owner) -> Option<i32> {
        let first = up(self.ends.1 + CLEAR);
        let last = i32::MAX / 2;
        let mut places = (first..last).step_by(SLOT.unsigned_abs() as usize);
        places.find(|x| self.passes(row, *x, owner))
    }
}

/// The multiples of [`SLOT`] within the bounds, from the nearest on, at most so far away.
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

/// The next multiple of [`SLOT`].
pub(super) const fn up(x: i32) -> i32 {
    down(x + SLOT - 1)
}

const fn down(x: i32) -> i32 {
    x.div_euclid(SLOT) * SLOT
}
