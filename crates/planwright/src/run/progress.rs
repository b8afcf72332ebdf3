//! How far a run has come, as one line.

use planwright_protocol::event::Usage;
use planwright_protocol::{Event, Mode, Plan, Role, StepStatus};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

pub struct Progress {
    pub role: Role,
    /// The tool that is at work, with what it works on.
    doing: Option<String>,
    used: Usage,
    steps: BTreeMap<u32, StepStatus>,
}

impl Progress {
    pub fn new(role: Role, plan: Option<&Plan>) -> Self {
        let mut progress = Self { role, doing: None, used: Usage::default(), steps: BTreeMap::new() };
        if let Some(plan) = plan {
            // As the server begins it: one that is over begins anew.
            let begun = planwright_plan::begin_progress("", plan, None);
            progress.steps = begun.steps.iter().map(|step| (step.step_number, step.status)).collect();
        }
        progress
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other events move nothing")]
    pub fn hear(&mut self, event: &Event) {
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
            _ => {}
        }
    }

    fn follow(&mut self, plan: &Plan) {
        self.steps = plan.steps.iter().map(|step| (step.step_number, step.status)).collect();
    }

    /// Steps that are over, of all; nothing without a plan.
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

    /// What is happening now, no wider than the terminal.
    pub fn line(&self, elapsed: Duration, width: usize) -> String {
        let doing = self.doing.as_deref().unwrap_or("thinking");
        // The tail is what changes; a long argument gives way.
        let steps = self.steps().map(|steps| format!(" · {steps}")).unwrap_or_default();
        let tail = format!("{steps} · {}", self.spent(elapsed));
        let head = format!("{} · {doing}", self.role);
        let room = width.saturating_sub(columns(&tail));
        cut(&format!("{}{tail}", cut(&head, room)), width)
    }
}

/// What a call is about: the argument that names it, as one short line.
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

/// Columns that a text takes at most: whatever is not ASCII may be wide.
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
        let mut progress = Progress::new(Role::Actor, Some(&Plan { steps, ..Plan::default() }));
        progress.hear(&Event::ToolCall { call_id: CallId::generate(), tool: "read".into(), args: json!({ "path": "/src/lib.rs" }) });
        progress.hear(&Event::Usage(Usage { input_tokens: 1_200, output_tokens: 150, cost: 0.25, ..Usage::default() }));
        progress.hear(&Event::PlanStep { step_number: 2, status: StepStatus::Done });
        let line = progress.line(Duration::from_secs(75), 120);
        assert_eq!(line, "Actor · read /src/lib.rs · step 1/3 · 1m 15s · 1.3k tokens · cost 0.25");
    }

    #[test]
    fn the_line_never_takes_more_columns_than_there_are() {
        let mut progress = Progress::new(Role::Planner, None);
        let args = json!({ "command": "计划\n模式 and a very long command that goes on" });
        progress.hear(&Event::ToolCall { call_id: CallId::generate(), tool: "run".into(), args });
        for width in 0..100 {
            let line = progress.line(Duration::from_secs(3), width);
            assert!(columns(&line) <= width && !line.contains('\n'), "{width}: {line}");
        }
        assert!(progress.line(Duration::from_secs(3), 50).ends_with("… · 3s · 0 tokens"));
    }
}
