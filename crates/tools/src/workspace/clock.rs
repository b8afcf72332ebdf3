//! When a command began, and whether change times can still be compared with that.
//!
//! The kernel stamps files by the machine's clock. If that was set back, a file changed after the command began may have an
//! earlier time.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When a command began.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Begun {
    #[serde(rename = "begun")]
    pub moment: SystemTime,
    /// The clock minus the time since boot, in nanoseconds.
    #[serde(default)]
    clock_offset: Option<i64>,
}

/// From when on a change counts as made by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Moment(SystemTime),
    /// Unknown: the clock was set back. Any file may have been changed.
    Unknown,
}

/// Two readings of the same clocks differ by less.
const TOLERANCE: i64 = 5_000_000;
const READINGS: usize = 5;

impl Begun {
    /// The current moment, after every earlier change. The kernel stamps files by a clock with a resolution of milliseconds or by
    /// a precise one, so this waits until the coarse one has passed the other. Every change with this stamp or a later one was
    /// made after it.
    #[must_use]
    pub fn now() -> Self {
        let clock_offset = clock_offset();
        let entered = clock_gettime(ClockId::Realtime);
        loop {
            let now = clock_gettime(ClockId::RealtimeCoarse);
            if (now.tv_sec, now.tv_nsec) > (entered.tv_sec, entered.tv_nsec) {
                let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
                let moment = UNIX_EPOCH + Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default());
                return Self { moment, clock_offset };
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    }

    /// From when on a change counts as made by others, if the clock is still trustworthy.
    #[must_use]
    pub fn since(&self) -> Since {
        self.since_by(SystemTime::now(), clock_offset())
    }

    fn since_by(&self, now: SystemTime, clock_offset: Option<i64>) -> Since {
        // The time since boot is slewed like the clock, so only setting the clock makes a difference.
        let was_set_back = self.clock_offset.zip(clock_offset).is_some_and(|(then, now)| now < then.saturating_sub(TOLERANCE));
        // After a reboot that is unknown, but the clock can't be earlier than it was.
        if was_set_back || now < self.moment { Since::Unknown } else { Since::Moment(self.moment) }
    }
}

/// The clock minus the time since boot. A delay between the two readings makes it smaller, never larger.
fn clock_offset() -> Option<i64> {
    let nanoseconds = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec.checked_mul(1_000_000_000)?.checked_add(time.tv_nsec)
    };
    let reading = |_| nanoseconds(ClockId::Realtime).zip(nanoseconds(ClockId::Boottime)).map(|(clock, started)| clock - started);
    (0..READINGS).filter_map(reading).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_makes_every_change_time_unknown() {
        let moment = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let begun = Begun { moment, clock_offset: Some(900_000_000_000) };
        let later = moment + Duration::from_mins(1);
        let at = |now, offset| begun.since_by(now, offset);
        assert_eq!(at(later, Some(900_000_000_000)), Since::Moment(moment));
        assert_eq!(at(later, Some(900_000_000_000 - 4_000_000)), Since::Moment(moment), "two readings differ a little");
        assert_eq!(at(later, Some(900_000_000_000 - 6_000_000)), Since::Unknown);
        assert_eq!(at(later, Some(950_000_000_000)), Since::Moment(moment), "set forward, or started anew");
        assert_eq!(at(moment - Duration::from_secs(1), None), Since::Unknown, "earlier than the beginning");
        assert_eq!(Begun { clock_offset: None, ..begun }.since_by(later, Some(1)), Since::Moment(moment), "stored by an earlier version");
    }

    #[test]
    fn as_long_as_nobody_sets_it_the_clock_is_trusted() {
        let begun = Begun::now();
        assert_eq!(begun.since(), Since::Moment(begun.moment));
        let stored: Begun = serde_json::from_value(serde_json::json!({ "begun": begun.moment })).unwrap();
        assert_eq!((stored.moment, stored.clock_offset), (begun.moment, None));
    }
}
