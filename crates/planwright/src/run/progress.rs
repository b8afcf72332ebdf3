//! The progress of a run, as one line.

use planwright_protocol::event::Usage;
use planwright_protocol::{Event, Mode, Plan, Role, StepStatus};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

pub struct RunProgress {
    pub role: Role,
    /// The running tool, with its subject.
    doing: Option<String>,
    used: Usage,
    steps: BTreeMap<u32, StepStatus>,
}

impl RunProgress {
    pub fn new(role: Role, plan: Option<&Plan>) -> Self {
        let mut progress = Self { role, doing: None, used: Usage::default(), steps: BTreeMap::new() };
        if let Some(plan) = plan {
            // As on the server: a finished plan starts again.
            let begun = planwright_plan::begin_progress("", plan, None);
            progress.steps = begun.steps.iter().map(|step| (step.step_number, step.status)).collect();
        }
        progress
    }

    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::ToolCall { tool, args, .. } => self.doing = Some(format!("{tool} {}", subject(args))),
            Event::ToolResult { .. } | Event::TextDelta { .. } => self.doing = None,
            Event::ModeChanged { config, .. } => self.role = config.role,
            Event::Usage(more) => {
                self.used.input_tokens += more.input_tokens;
                self.used.output_tokens += more.output_tokens;
                self.used.cost += more.cost;
            }
            Event::PlanUpdated { plan, .. } if self.role.mode() == Mode::Act => self.follow(plan),
            Event::PlanStep { step_number, status } => {
                self.steps.insert(*step_number, *status);
            }
            Event::PlanUpdated { .. }
            | Event::MessageCreated { .. }
            | Event::MessageUpdated { .. }
            | Event::MessageDeleted { .. }
            | Event::ReasoningDelta { .. }
            | Event::ToolOutput { .. }
            | Event::StateChanged { .. }
            | Event::QuestionPending { .. }
            | Event::QuestionResolved { .. }
            | Event::IntentSuggested { .. }
            | Event::RunFinished { .. }
            | Event::Violation { .. }
            | Event::ChatUpdated { .. }
            | Event::ChatCreated { .. }
            | Event::ChatDeleted {}
            | Event::Reset {} => {}
        }
    }

    fn follow(&mut self, plan: &Plan) {
        self.steps = plan.steps.iter().map(|step| (step.step_number, step.status)).collect();
    }

    /// Finished steps of all steps; `None` without a plan.
    pub fn steps(&self) -> Option<String> {
        let over = self.steps.values().filter(|status| matches!(status, StepStatus::Done | StepStatus::Skipped)).count();
        (!self.steps.is_empty()).then(|| format!("step {over}/{}", self.steps.len()))
    }

    /// Time, tokens and cost so far.
    pub fn spent(&self, elapsed: Duration) -> String {
        let Usage { input_tokens, output_tokens, cost, .. } = self.used;
        let mut parts = vec![time(elapsed), format!("{} tokens", count(input_tokens + output_tokens))];
        if cost > 0.0 {
            parts.push(format!("cost {cost:.2}"));
        }
        parts.join(" · ")
    }

    /// The present activity, no wider than the terminal.
    pub fn line(&self, elapsed: Duration, width: usize) -> String {
        let doing = self.doing.as_deref().unwrap_or("thinking");
        // The end of the line changes, so a long argument is cut instead.
        let steps = self.steps().map(|steps| format!(" · {steps}")).unwrap_or_default();
        let tail = format!("{steps} · {}", self.spent(elapsed));
        let head = format!("{} · {doing}", self.role);
        let room = width.saturating_sub(columns(&tail));
        cut(&format!("{}{tail}", cut(&head, room)), width)
    }
}

/// The subject of a call: its most telling argument, as one short line.
pub fn subject(args: &Value) -> String {
    let named = ["path", "command", "pattern", "from", "goal"].iter().find_map(|name| args.get(name)?.as_str());
    let text = named.map_or_else(|| args.to_string(), str::to_owned);
    cut(&text.replace(char::is_control, " "), 80)
}

fn time(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m {:02}s", seconds / 60, seconds % 60) }
}

fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Maximum columns of a text: non-ASCII characters may be wide.
fn columns(text: &str) -> usize {
    text.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum()
}

fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(2);
    let fits = |character: &char| {
        let enough = left.checked_sub(columns(character.encode_utf8(&mut [0; 4])));
        left = enough.unwrap_or(left);
        enough.is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    if width < 2 { kept } else { format!("{kept}…") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::{CallId, PlanStep};
    use serde_json::json;

    #[test]
    fn the_line_tells_role_tool_steps_time_tokens_and_cost() {
        let steps = (1..=3).map(|step_number| PlanStep { step_number, ..PlanStep::default() }).collect();
        let mut progress = RunProgress::new(Role::Actor, Some(&Plan { steps, ..Plan::default() }));
        progress.on_event(&Event::ToolCall { call_id: CallId::generate(), tool: "read".into(), args: json!({ "path": "/src/lib.rs" }) });
        progress.on_event(&Event::Usage(Usage { input_tokens: 1_200, output_tokens: 150, cost: 0.25, ..Usage::default() }));
        progress.on_event(&Event::PlanStep { step_number: 2, status: StepStatus::Done });
        let line = progress.line(Duration::from_secs(75), 120);
        assert_eq!(line, "Actor · read /src/lib.rs · step 1/3 · 1m 15s · 1.3k tokens · cost 0.25");
    }

    #[test]
    fn the_line_never_takes_more_columns_than_there_are() {
        let mut progress = RunProgress::new(Role::Planner, None);
        let args = json!({ "command": "计划\n模式 and a very long command that goes on" });
        progress.on_event(&Event::ToolCall { call_id: CallId::generate(), tool: "run".into(), args });
        for width in 0..100 {
            let line = progress.line(Duration::from_secs(3), width);
            assert!(columns(&line) <= width && !line.contains('\n'), "{width}: {line}");
        }
        assert!(progress.line(Duration::from_secs(3), 50).ends_with("… · 3s · 0 tokens"));
    }
}
