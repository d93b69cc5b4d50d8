//! Pseudo-random numbers that are the same on every machine.

/// A generator of pseudo-random numbers; its field is the seed, and then the current state.
pub struct Dice(pub u64);

impl Dice {
    /// Returns the next pseudo-random number, from 0 to `sides - 1`, of a linear congruential generator.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Returns one of the items at random.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        let sides = u64::try_from(items.len()).unwrap_or(1);
        items[usize::try_from(self.roll(sides)).unwrap_or(0)]
    }
}
