//! Rate limits.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A token bucket per key: `size` attempts at once, then one more per `refill`.
pub struct Buckets<K> {
    size: u32,
    refill: Duration,
    /// When each bucket is full again. Missing buckets are full.
    full_at: Mutex<HashMap<K, Instant>>,
}

/// Maximum number of buckets, however many addresses an attacker has.
const MAX_BUCKETS: usize = 10_000;

impl<K: Eq + Hash> Buckets<K> {
    pub fn new(size: u32, refill: Duration) -> Self {
        Self { size, refill, full_at: Mutex::default() }
    }

    /// Takes one attempt; if none is left, returns how long to wait for the next.
    pub fn take(&self, key: K) -> Result<(), Duration> {
        self.take_at(key, Instant::now())
    }

    fn take_at(&self, key: K, now: Instant) -> Result<(), Duration> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() >= MAX_BUCKETS {
            forget(&mut full_at, now);
        }
        let until = full_at.get(&key).copied().unwrap_or(now).max(now) + self.refill;
        let wait = (until - now).saturating_sub(self.refill * self.size);
        if wait.is_zero() {
            full_at.insert(key, until);
            return Ok(());
        }
        Err(wait)
    }

    /// Returns an attempt that turned out to be legitimate.
    pub fn give_back(&self, key: &K) {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = full_at.get_mut(key) {
            *until = until.checked_sub(self.refill).unwrap_or(*until);
        }
    }
}

/// Removes full buckets; if those are too few, the half that is closest to full.
fn forget<K: Eq + Hash>(full_at: &mut HashMap<K, Instant>, now: Instant) {
    full_at.retain(|_, until| *until > now);
    if full_at.len() >= MAX_BUCKETS {
        let mut times: Vec<Instant> = full_at.values().copied().collect();
        let (_, middle, _) = times.select_nth_unstable(MAX_BUCKETS / 2);
        let middle = *middle;
        full_at.retain(|_, until| *until > middle);
    }
}

/// The unit for limits by address: an IPv6 customer has at least 2^64 addresses.
pub fn client_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_emptied_and_fills_again_and_others_are_not_touched() {
        let (buckets, start) = (Buckets::new(3, Duration::from_secs(10)), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..3 {
            assert_eq!(buckets.take_at("a", at(0)), Ok(()));
        }
        assert_eq!(buckets.take_at("a", at(4)), Err(Duration::from_secs(6)));
        assert_eq!(buckets.take_at("b", at(4)), Ok(()));
        assert_eq!(buckets.take_at("a", at(10)), Ok(()));
        assert_eq!(buckets.take_at("a", at(10)), Err(Duration::from_secs(10)), "a refused try costs nothing");
        buckets.give_back(&"a");
        assert_eq!(buckets.take_at("a", at(10)), Ok(()));
    }

    #[test]
    fn many_keys_take_little_room_and_the_emptiest_buckets_are_kept() {
        let (buckets, now) = (Buckets::new(2, Duration::from_mins(1)), Instant::now());
        for _ in 0..2 {
            assert_eq!(buckets.take_at(0, now), Ok(()));
        }
        for key in 1..30_000 {
            assert_eq!(buckets.take_at(key, now), Ok(()));
        }
        assert!(buckets.full_at.lock().unwrap().len() <= MAX_BUCKETS);
        assert!(buckets.take_at(0, now).is_err());
    }

    #[test]
    fn addresses_of_one_household_count_as_one() {
        let of = |text: &str| client_group(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::"), of("2001:db8:1:3::"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
