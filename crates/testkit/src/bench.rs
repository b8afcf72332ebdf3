//! Output and limits of benchmarks.

use std::time::Duration;

/// Prints a figure with its limit; returns whether it is within.
#[must_use]
pub fn report(what: &str, value: f64, unit: &str, bar: f64) -> bool {
    let verdict = if value <= bar { "ok" } else { "OVER" };
    println!("{what:<58} {value:>8.2}{unit:<3} (at most {bar:.2}{unit}) {verdict}");
    value <= bar
}

#[must_use]
pub fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
