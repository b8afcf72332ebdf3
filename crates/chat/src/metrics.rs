//! Metrics of calls. Labels are our own texts, never a user's or a model's.

use metrics::counter;

/// Counts a verdict of the gate.
pub fn count_verdict(verdict: &'static str) {
    counter!("planwright_tool_calls_total", "verdict" => verdict).increment(1);
}
