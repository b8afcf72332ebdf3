//! Pseudo-random numbers from a seed, so that a failure can be reproduced.

/// A small generator.
pub struct Chance(pub u64);

impl Chance {
    /// Seeded from the clock, for a test that prints its seed.
    #[must_use]
    pub fn of_now() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(u64::from(now.subsec_nanos()))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    pub fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}
