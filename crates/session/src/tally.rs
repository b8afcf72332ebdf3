//! What is counted for those who run the server. Names and labels are words of ours, never a user's or a model's.

use metrics::counter;
use planwright_protocol::Event;
use planwright_protocol::event::{RunOutcome, Usage};

/// What the gate said to a call.
pub fn judged(verdict: &'static str) {
    counter!("planwright_tool_calls_total", "verdict" => verdict).increment(1);
}

/// An event on its way to those who listen.
pub fn told(event: &Event) {
    counter!("planwright_events_total", "type" => event.name()).increment(1);
    if let Event::RunFinished { outcome, .. } = event {
        counter!("planwright_runs_total", "outcome" => word(*outcome)).increment(1);
    } else if let Event::Usage(usage) = event {
        replied(usage);
    } else if let Event::Violation { code, .. } = event {
        counter!("planwright_violations_total", "code" => code.as_str()).increment(1);
    }
}

/// Every reply of a model ends with what it used.
fn replied(usage: &Usage) {
    counter!("planwright_turns_total").increment(1);
    for (kind, tokens) in [("input", usage.input_tokens), ("output", usage.output_tokens), ("cached", usage.cached_tokens)] {
        counter!("planwright_tokens_total", "kind" => kind).increment(tokens);
    }
}

fn word(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Done => "done",
        RunOutcome::Stopped => "stopped",
        RunOutcome::Blocked => "blocked",
        RunOutcome::Failed => "failed",
    }
}
