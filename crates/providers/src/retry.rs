//! When to retry a request.

use planwright_protocol::ErrorCode;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// Maximum number of attempts per reply.
pub const MAX_ATTEMPTS: u32 = 6;

/// A request will be retried after a wait; for observers.
#[derive(Clone, Debug)]
pub struct RetryNotice {
    pub code: ErrorCode,
    pub wait: Duration,
}

/// Maximum wait, however long the server asks for.
const LONGEST: Duration = Duration::from_mins(1);

/// The wait before the next attempt. `tried` counts the attempts so far.
#[must_use]
pub fn wait(tried: u32, retry_after: Option<Duration>) -> Duration {
    wait_with(tried, retry_after, chance())
}

/// `chance` is between 0 and 1: clients that failed together must not retry together.
fn wait_with(tried: u32, retry_after: Option<Duration>, chance: f64) -> Duration {
    let wait = match retry_after {
        Some(asked) => asked.min(LONGEST) + Duration::from_secs(1).mul_f64(chance),
        None => Duration::from_secs(1 << tried.saturating_sub(1).min(6)).mul_f64(0.5 + chance / 2.0),
    };
    wait.min(LONGEST)
}

/// Parses `Retry-After`: seconds, or a date. Anything else is ignored.
#[must_use]
pub fn retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value.trim()).ok()?;
    let left = date.timestamp().duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(left).unwrap_or_default())
}

fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_differ_and_never_exceed_a_minute() {
        for tried in 1..20 {
            let (shortest, longest) = (wait_with(tried, None, 0.0), wait_with(tried, None, 1.0));
            assert!(shortest < longest || longest == LONGEST, "{tried}");
            assert!(longest <= LONGEST && shortest <= wait_with(tried + 1, None, 0.0));
        }
        assert_eq!(wait_with(3, None, 1.0), Duration::from_secs(4));
    }

    #[test]
    fn what_the_server_asks_for_is_waited_for_within_reason() {
        assert_eq!(wait_with(1, Some(Duration::from_secs(7)), 0.0), Duration::from_secs(7));
        assert_eq!(wait_with(1, Some(Duration::from_secs(999_999)), 0.5), LONGEST);
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_a_date_and_garbage_is_nothing() {
        assert_eq!(retry_after("7"), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        for garbage in ["soon", "-1", "", "NaN"] {
            assert_eq!(retry_after(garbage), None, "{garbage}");
        }
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(30);
        let date = later.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let wait = retry_after(&date).unwrap();
        assert!(wait > Duration::from_secs(27) && wait <= Duration::from_secs(30), "{date}: {wait:?}");
    }
}
