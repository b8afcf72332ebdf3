//! Measures time on a machine that has other work too.

use std::path::Path;
use std::time::{Duration, Instant};

/// Time since a moment, without the time in which threads of the processes in question were ready to run and got no processor.
/// On an idle machine that is the time of the clock, so a limit means the same on every machine.
pub struct Stopwatch {
    begun: Instant,
    processes: Vec<u32>,
    waited_before: Duration,
}

impl Stopwatch {
    /// For what this process does together with others, which must be running.
    #[must_use]
    pub fn start(others: &[u32]) -> Self {
        let processes = [others, &[std::process::id()]].concat();
        let waited_before = waited(&processes);
        Self { begun: Instant::now(), processes, waited_before }
    }

    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed().saturating_sub(self.waited())
    }

    /// How long threads have waited for a processor since the start, all together.
    #[must_use]
    pub fn waited(&self) -> Duration {
        waited(&self.processes).saturating_sub(self.waited_before)
    }
}

/// The kernel counts it for each thread that is there, in nanoseconds: the second number of `schedstat`.
fn waited(processes: &[u32]) -> Duration {
    let threads = processes.iter().filter_map(|process| Path::new("/proc").join(process.to_string()).join("task").read_dir().ok());
    let counts = threads.flatten().flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanoseconds = counts.filter_map(|count| count.split_whitespace().nth(1)?.parse::<u64>().ok());
    Duration::from_nanos(nanoseconds.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_waits_for_no_processor_and_one_that_has_to_share_does() {
        let asleep = Stopwatch::start(&[]);
        std::thread::sleep(Duration::from_millis(300));
        assert!(asleep.elapsed() + asleep.waited() >= Duration::from_millis(300));
        let shared = Stopwatch::start(&[]);
        let processors = std::thread::available_parallelism().unwrap().get();
        std::thread::scope(|scope| {
            for _ in 0..processors * 3 {
                scope.spawn(|| while shared.begun.elapsed() < Duration::from_millis(300) {});
            }
            std::thread::sleep(Duration::from_millis(250));
            assert!(shared.waited() > Duration::from_millis(100), "{:?}", shared.waited());
        });
    }
}
