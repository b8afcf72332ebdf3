//! The moment a command begins, and whether change times can still be compared with it.
//!
//! The kernel stamps files by the machine's clock. Once that was set back, a file that somebody changed after the command began
//! may have an earlier time than the beginning.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When a command began.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Begun {
    #[serde(rename = "begun")]
    pub moment: SystemTime,
    /// How far the clock was ahead of the time since the machine was started, in nanoseconds.
    #[serde(default)]
    clock_offset: Option<i64>,
}

/// Since when a change counts as somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Moment(SystemTime),
    /// Nobody can say: the clock was set back. Every file may have been changed.
    Unknown,
}

/// Two readings of the same clocks differ by less.
const TOLERANCE: i64 = 5_000_000;
const READINGS: usize = 5;

impl Begun {
    /// The present moment, which no earlier change shares. The kernel stamps files by a clock that stands still for milliseconds, or
    /// by one that runs on: so it waits until the slow one is past the other. Every change that is stamped with it or later was made after it.
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

    /// Since when a change counts as somebody else's, as far as the clock can be trusted by now.
    #[must_use]
    pub fn since(&self) -> Since {
        self.since_by(SystemTime::now(), clock_offset())
    }

    fn since_by(&self, now: SystemTime, clock_offset: Option<i64>) -> Since {
        // The time since the start is slowed and sped up as the clock is, so that only a clock that was set differs.
        let was_set_back = self.clock_offset.zip(clock_offset).is_some_and(|(then, now)| now < then.saturating_sub(TOLERANCE));
        // Over a restart of the machine that is not known, but it can't be earlier than it was.
        if was_set_back || now < self.moment { Since::Unknown } else { Since::Moment(self.moment) }
    }
}

/// How far the clock is ahead of the time since the start. Whatever comes between the two readings makes it less, never more.
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
