//! The positions that vertical lines of links can have.

/// Vertical lines are at multiples of this distance, in pixels.
pub(super) const SLOT_WIDTH: i32 = 6;

/// Returns the multiples of [`SLOT_WIDTH`] from `low` to `high`, beginning with the nearest to `preferred_x`.
pub(super) fn nearest_slots(low: i32, high: i32, preferred_x: i32) -> impl Iterator<Item = i32> {
    let start = (preferred_x + SLOT_WIDTH / 2).div_euclid(SLOT_WIDTH) * SLOT_WIDTH;
    let max_distance = (high - start).max(start - low).max(0);
    (0..=max_distance / SLOT_WIDTH + 1)
        .flat_map(move |step| {
            let slots = [start + step * SLOT_WIDTH, start - step * SLOT_WIDTH];
            slots.into_iter().take(if step == 0 { 1 } else { 2 })
        })
        .filter(move |x| low <= *x && *x <= high)
}

/// Returns the positions from `low` to `high`, each [`SLOT_WIDTH`] further right than the one before.
pub(super) fn slots_between(low: i32, high: i32) -> impl Iterator<Item = i32> {
    (0..=(high - low) / SLOT_WIDTH).map(move |step| low + step * SLOT_WIDTH)
}
