//! Numbers that look random and follow from a seed.

/// The `SplitMix64` generator.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((number ^ (number >> 31)) % end as u64).unwrap()
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}
