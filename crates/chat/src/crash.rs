//! Points on the path of a message where a test can make the process die or wait. Debug builds only.
//!
//! `PLANWRIGHT_CRASH_POINT=NAME` names one; `NAME:3` means the third time that it is passed.
//! `PLANWRIGHT_HOLD_POINT=NAME:OTHER` has whoever comes to `NAME` wait there until `OTHER` is passed, for at most 20 seconds. With
//! `NAME:OTHER:or_die` the process dies if `OTHER` is not passed within a minute: a test that needs this order fails.

/// All points. At each of them a crash could lose something or do it twice.
pub const POINTS: &[&str] = &[
    "chat_stored",
    "message_unstored",
    "message_stored",
    "message_queued",
    "answer_stored",
    "model_asked",
    "reply_received",
    "plan_intended",
    "plan_written",
    "reply_stored",
    "call_prepared",
    "call_decided",
    "card_stored",
    "question_stored",
    "intent_stored",
    "effect_done",
    "plan_recorded",
    "result_stored",
    "command_speaks",
    "command_ended",
    "command_landing",
    "command_landed",
    "command_taken_back",
    "step_verified",
    "step_ticked",
    "approval_unstored",
    "approval_stored",
    "switch_unfenced",
    "switch_fenced",
    "switch_stored",
    "file_unwritten",
    "run_over",
    "run_parked",
    "run_end_stored",
    "stop_begun",
    "stop_fenced",
    "stop_halted",
    "stop_stored",
    "run_resumed",
    "recovery_begun",
    "revert_intended",
    "revert_done",
];

/// Dies here without cleanup, or waits, if the environment says so.
pub(crate) fn point(name: &str) {
    #[cfg(debug_assertions)]
    if let Some(hold) = &*armed::HOLD {
        hold.pass(name);
    }
    #[cfg(debug_assertions)]
    if let Some((wanted, left)) = &*armed::POINT
        && wanted == name
        && left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 1
    {
        std::process::abort();
    }
    let _ = name;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::atomic::AtomicU64;
    use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
    use std::time::Duration;

    /// The named point, and how many passes are left.
    pub static POINT: LazyLock<Option<(String, AtomicU64)>> = LazyLock::new(|| {
        let wanted = std::env::var("PLANWRIGHT_CRASH_POINT").ok()?;
        let (name, times) = wanted.split_once(':').unwrap_or((&wanted, "1"));
        Some((name.to_owned(), AtomicU64::new(times.parse().ok()?)))
    });

    pub static HOLD: LazyLock<Option<Hold>> = LazyLock::new(|| {
        let wanted = std::env::var("PLANWRIGHT_HOLD_POINT").ok()?;
        let (at, until) = wanted.split_once(':')?;
        let (until, or_die) = until.strip_suffix(":or_die").map_or((until, false), |until| (until, true));
        Some(Hold { at: at.to_owned(), until: until.to_owned(), or_die, over: Mutex::new(false), passed: Condvar::new() })
    });

    /// A point to wait at, and the one that ends the wait.
    pub struct Hold {
        at: String,
        until: String,
        or_die: bool,
        over: Mutex<bool>,
        passed: Condvar,
    }

    impl Hold {
        /// A test that is wrong should fail, and not hang.
        const LONGEST: Duration = Duration::from_secs(20);
        const LONGEST_OR_DIE: Duration = Duration::from_mins(1);

        pub fn pass(&self, name: &str) {
            let over = || self.over.lock().unwrap_or_else(PoisonError::into_inner);
            if name == self.until {
                *over() = true;
                self.passed.notify_all();
            } else if name == self.at {
                let longest = if self.or_die { Self::LONGEST_OR_DIE } else { Self::LONGEST };
                // Others must be able to go on meanwhile.
                let is_in_vain = tokio::task::block_in_place(|| {
                    let waited = self.passed.wait_timeout_while(over(), longest, |over| !*over);
                    waited.map_or(true, |(_, waited)| waited.timed_out())
                });
                if is_in_vain && self.or_die {
                    tracing::error!(at = self.at, until = self.until, "nobody came to the place that was waited for");
                    std::process::abort();
                }
            }
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::POINTS;
    use std::path::Path;

    #[test]
    fn every_point_of_the_list_stands_once_in_the_code_and_none_besides() {
        let mut found = Vec::new();
        for (_, text) in sources() {
            // Spelled in two parts, so that this line is not one of them.
            let passed = text.split(concat!("crash::", "point(\"")).skip(1);
            found.extend(passed.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
        let mut listed: Vec<String> = POINTS.iter().map(ToString::to_string).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
    }

    /// The files of this crate, by name.
    pub fn sources() -> Vec<(String, String)> {
        let mut found = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        found
    }

    #[expect(clippy::disallowed_methods, reason = "reads our own sources")]
    fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                collect(&entry.path(), found);
            } else {
                found.push((entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
}
