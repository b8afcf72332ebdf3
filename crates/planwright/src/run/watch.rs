//! Follows a run from its first event to its last.

use super::print_end;
use super::question::PendingQuestion;
use super::screen::Screen;
use crate::args::RunArgs;
use crate::output;
use crate::servers::Waits;
use crate::signals::Interrupts;
use anyhow::bail;
use planwright_chat::Handle;
use planwright_feed::{Follower, Frame};
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::{Envelope, Event, Op, Plan, Problem, Role};
use planwright_providers::RetryNotice;
use serde_json::Map;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Refresh interval of the time on the terminal.
const TICK: Duration = Duration::from_millis(250);

pub struct Watcher {
    handle: Handle,
    approves: bool,
    /// Output for people; with `--json` events are printed instead.
    screen: Option<Screen>,
    workspace: String,
    asked: Option<PendingQuestion>,
    is_stopping: bool,
    /// MCP servers that the run waits for.
    waits: Waits,
}

impl Watcher {
    pub fn new(handle: Handle, args: &RunArgs, role: Role, plan: Option<&Plan>, waits: Waits) -> Self {
        let screen = (!args.json).then(|| Screen::new(role, plan));
        let workspace = output::shell_word(&args.workspace.display().to_string());
        Self { handle, approves: args.yes, screen, workspace, asked: None, is_stopping: false, waits }
    }

    /// Shows events and answers questions that it may answer, until the run is over.
    pub async fn watch(
        mut self,
        follower: Follower,
        mut again: UnboundedReceiver<RetryNotice>,
        mut interrupts: Interrupts,
    ) -> anyhow::Result<RunOutcome> {
        let mut frames = follower.frames();
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                frame = frames.recv() => {
                    let Some(frame) = frame else { bail!("the run ended without reporting an outcome") };
                    if let Some(outcome) = self.on_event(&*frame?).await? {
                        return Ok(outcome);
                    }
                }
                () = interrupts.next() => {
                    if self.is_stopping {
                        // The second interrupt exits at once. The chat recovers as after a power cut.
                        self.close();
                        std::process::exit(130);
                    }
                    self.note("stopping; press Ctrl-C again to exit at once");
                    self.stop();
                }
                Some(RetryNotice { code, wait }) = again.recv() => {
                    self.note(&format!("retrying in {:.1} s ({code})", wait.as_secs_f64()));
                }
                _ = ticks.tick() => {
                    for line in self.waits.new_messages() {
                        self.note(&line);
                    }
                    if let Some(screen) = &mut self.screen {
                        screen.tick();
                    }
                }
            }
            if output::is_unread() && !self.is_stopping {
                self.stop();
            }
        }
    }

    /// Returns the outcome if the event is the last one.
    async fn on_event(&mut self, frame: &Frame) -> anyhow::Result<Option<RunOutcome>> {
        let event = serde_json::from_str::<Envelope>(frame.json())?.event;
        match &mut self.screen {
            Some(screen) => screen.show(&event),
            None => output::data(frame.json()),
        }
        if let Event::QuestionPending { question_id, questions, kind, call, .. } = &event {
            self.asked = Some(PendingQuestion { id: *question_id, questions: questions.clone(), kind: *kind, call: call.clone() });
        }
        if let Event::StateChanged { state: ChatState::AwaitingAnswer } = &event
            && !self.is_stopping
            && let Some(asked) = self.asked.take()
        {
            let Some(answers) = asked.yes().filter(|_| self.approves) else {
                self.blocked(&asked, frame.seq);
                return Ok(Some(RunOutcome::Blocked));
            };
            self.handle.submit(Op::Answer { question_id: asked.id, answers, comment: String::new(), metadata: Map::new() }).await?;
        }
        if let Event::RunFinished { outcome, error, open_steps } = &event {
            self.finished(*outcome, error.as_ref(), open_steps);
            return Ok(Some(*outcome));
        }
        Ok(None)
    }

    /// Stops the run; its last event says when nothing of it can take effect any more.
    fn stop(&mut self) {
        self.is_stopping = true;
        let handle = self.handle.clone();
        tokio::spawn(async move {
            if let Err(problem) = handle.submit(Op::Stop).await {
                output::note(&format!("planwright: can't stop the run: {problem}"));
            }
        });
    }

    fn blocked(&mut self, asked: &PendingQuestion, seq: u64) {
        self.close();
        if self.screen.is_none() {
            // No event has the next number yet: the chat continues after it.
            print_end(RunOutcome::Blocked, None, seq + 1);
        }
        self.show_plan();
        output::note(&asked.text());
        output::note(&format!("blocked: {}", asked.hint()));
        output::note(&format!("  {}", self.continue_hint("answer it in the chat")));
    }

    fn finished(&mut self, outcome: RunOutcome, error: Option<&Problem>, open_steps: &[u32]) {
        self.close();
        if !open_steps.is_empty() {
            let numbers = open_steps.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            output::note(&format!("steps of the plan that are still open: {numbers}"));
        }
        let spent = self.screen.as_ref().map(|screen| format!(" · {}", screen.spent())).unwrap_or_default();
        match outcome {
            RunOutcome::Done => {
                self.show_plan();
                if self.screen.is_some() {
                    output::note(&format!("done{spent}"));
                }
            }
            RunOutcome::Failed => {
                let why = error.map(|problem| format!(": {}: {}", problem.code, problem.message)).unwrap_or_default();
                output::note(&format!("failed{why}{spent}"));
                output::note(&format!("  {}", self.continue_hint("changes so far are kept; continue in the chat")));
            }
            // Nobody reads the output any more.
            RunOutcome::Stopped if output::is_unread() => {}
            RunOutcome::Stopped | RunOutcome::Blocked => {
                output::note(&format!("stopped{spent}"));
                output::note(&format!("  {}", self.continue_hint("changes so far are kept; continue in the chat")));
            }
        }
    }

    /// A planning run prints its plan as the answer.
    fn show_plan(&self) {
        let Some((file, plan)) = self.screen.as_ref().and_then(Screen::written_plan) else { return };
        output::line(&format!("\nPlan: {}", plan.goal));
        for step in &plan.steps {
            output::line(&format!("  {}. {}", step.step_number, step.action));
            if !step.files.is_empty() {
                output::line(&format!("     files: {}", step.files.join(", ")));
            }
            if let Some(command) = &step.verify {
                output::line(&format!("     check: {command}"));
            }
        }
        output::line(&format!("\nWritten to {file}"));
        let file = output::shell_word(file.trim_start_matches('/'));
        let workspace = if self.workspace == "." { String::new() } else { format!(" --workspace {}", self.workspace) };
        output::note(&format!("Execute it: planwright run \"Go\"{workspace} --mode act --plan {file}"));
    }

    fn continue_hint(&self, what: &str) -> String {
        format!("{what} {}: planwright serve --workspace {}", self.handle.chat().id, self.workspace)
    }

    fn note(&mut self, text: &str) {
        match &mut self.screen {
            Some(screen) => screen.note(text),
            None => output::note(text),
        }
    }

    fn close(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.close();
        }
    }
}
