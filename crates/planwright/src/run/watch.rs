//! Follows a run from its first event to its last.

use super::print_end;
use super::question::{Dialogue, PendingQuestion};
use super::screen::Screen;
use crate::args::RunArgs;
use crate::host::LocalServer;
use crate::output;
use crate::signals::Interrupts;
use planwright_client::{ClientError, EventFollower, ReceivedEvent, RemoteChat, StreamItem};
use planwright_protocol::api::chat::RunEnd;
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::{ErrorCode, Event, Plan, Problem, Role};
use planwright_providers::RetryNotice;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// Refresh interval of the time on the terminal.
const TICK: Duration = Duration::from_millis(250);

pub struct Watcher {
    chat: RemoteChat,
    approves: bool,
    /// Output for people; with `--json` events are printed instead.
    screen: Option<Screen>,
    workspace: String,
    asked: Option<PendingQuestion>,
    /// The user at the terminal; `None` if nobody can be asked.
    dialogue: Option<Dialogue>,
    is_stopping: bool,
    /// The number of the newest event.
    last: u64,
    local: Option<Arc<LocalServer>>,
}

impl Watcher {
    pub fn new(chat: RemoteChat, args: &RunArgs, role: Role, plan: Option<&Plan>, local: Option<Arc<LocalServer>>) -> Self {
        let screen = (!args.json).then(|| Screen::new(role, plan));
        let workspace = output::shell_word(&args.workspace.display().to_string());
        let dialogue = if args.json { None } else { Dialogue::at_terminal() };
        Self { chat, approves: args.yes, screen, workspace, asked: None, dialogue, is_stopping: false, last: 0, local }
    }

    /// Shows events and answers questions that it may answer, until the run is over.
    pub async fn watch(
        mut self,
        mut events: EventFollower,
        mut again: UnboundedReceiver<RetryNotice>,
        mut interrupts: Interrupts,
    ) -> anyhow::Result<RunOutcome> {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                item = events.next() => {
                    if let Some(outcome) = self.on_item(item.map_err(ClientError::into_problem)?).await? {
                        return Ok(outcome);
                    }
                }
                line = typed(self.dialogue.as_mut()) => {
                    if let Some(outcome) = self.typed(line).await? {
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
                    for line in self.local.as_ref().map(|local| local.new_waits()).unwrap_or_default() {
                        self.note(&line);
                    }
                    if let Some(screen) = self.screen.as_mut().filter(|_| self.dialogue.as_ref().is_none_or(|dialogue| !dialogue.is_asking())) {
                        screen.tick();
                    }
                }
            }
            if output::is_unread() && !self.is_stopping {
                self.stop();
            }
        }
    }

    /// Returns the outcome if the run is over.
    async fn on_item(&mut self, item: StreamItem) -> anyhow::Result<Option<RunOutcome>> {
        match item {
            StreamItem::Event(event) => self.on_event(&event).await,
            StreamItem::Lost(why) => {
                // A host that ends says so by its own end; only a server that stays away is worth a line.
                if self.local.is_none() {
                    self.note(&format!("lost the connection to the server ({why}); connecting again"));
                }
                Ok(None)
            }
            StreamItem::Resumed => Ok(None),
            StreamItem::Reset => self.load().await,
        }
    }

    /// Events are missing: the chat says where the run is.
    async fn load(&mut self) -> anyhow::Result<Option<RunOutcome>> {
        let snapshot = self.chat.snapshot().await.map_err(ClientError::into_problem)?;
        self.last = snapshot.last_event_id;
        if snapshot.chat.state == ChatState::AwaitingAnswer {
            self.asked = snapshot.chat.pending().map(PendingQuestion::from);
            return self.answer().await;
        }
        let Some(RunEnd { outcome, error, open_steps }) = snapshot.last_run else { return Ok(None) };
        if self.screen.is_none() {
            print_end(outcome, error.clone(), self.last);
        }
        self.finished(outcome, error.as_ref(), &open_steps);
        Ok(Some(outcome))
    }

    /// Returns the outcome if the event is the last one.
    async fn on_event(&mut self, received: &ReceivedEvent) -> anyhow::Result<Option<RunOutcome>> {
        let event = &received.envelope.event;
        self.last = received.envelope.seq;
        match &mut self.screen {
            Some(screen) => screen.show(event),
            None => output::data(&received.json),
        }
        if let Event::QuestionPending { question_id, questions, kind, call, plan, .. } = event {
            let (questions, call, plan) = (questions.clone(), call.clone(), plan.clone());
            self.asked = Some(PendingQuestion { id: *question_id, questions, kind: *kind, call, plan });
        }
        if let Event::QuestionResolved { .. } = event
            && let Some(dialogue) = &mut self.dialogue
        {
            dialogue.end();
        }
        if let Event::StateChanged { state: ChatState::AwaitingAnswer } = event
            && !self.is_stopping
        {
            return self.answer().await;
        }
        if let Event::RunFinished { outcome, error, open_steps } = event {
            self.finished(*outcome, error.as_ref(), open_steps);
            return Ok(Some(*outcome));
        }
        Ok(None)
    }

    /// Answers the pending question, or has the user asked. Without either, the run is blocked.
    async fn answer(&mut self) -> anyhow::Result<Option<RunOutcome>> {
        let Some(asked) = self.asked.take() else { return Ok(None) };
        if let Some(answers) = asked.yes().filter(|_| self.approves) {
            self.submit(&asked, &answers, "").await?;
            return Ok(None);
        }
        let Some(dialogue) = &mut self.dialogue else {
            self.blocked(&asked, self.last);
            return Ok(Some(RunOutcome::Blocked));
        };
        if let Some(screen) = &mut self.screen {
            screen.pause();
        }
        dialogue.begin(asked);
        Ok(None)
    }

    /// A line that the user typed; `None` at the end of the input.
    async fn typed(&mut self, line: Option<String>) -> anyhow::Result<Option<RunOutcome>> {
        let Some(dialogue) = &mut self.dialogue else { return Ok(None) };
        let Some(line) = line else {
            let asked = dialogue.give_up();
            self.dialogue = None;
            return Ok(asked.map(|asked| {
                self.blocked(&asked, self.last);
                RunOutcome::Blocked
            }));
        };
        if let Some((asked, answers, comment)) = dialogue.read(&line) {
            self.submit(&asked, &answers, &comment).await?;
        }
        Ok(None)
    }

    async fn submit(&mut self, asked: &PendingQuestion, answers: &Map<String, Value>, comment: &str) -> anyhow::Result<()> {
        match self.chat.answer(asked.id, answers, comment).await {
            Ok(_) => Ok(()),
            // It was answered elsewhere meanwhile.
            Err(error) if error.code() == Some(ErrorCode::QuestionNotPending) => Ok(()),
            Err(error) if error.code() == Some(ErrorCode::ValidationFailed) && self.dialogue.is_some() => {
                self.note(&error.to_string());
                if let Some(dialogue) = &mut self.dialogue {
                    dialogue.begin(asked.clone());
                }
                Ok(())
            }
            Err(error) => Err(error.into_problem().into()),
        }
    }

    /// Stops the run; its last event says when nothing of it can take effect any more.
    fn stop(&mut self) {
        self.is_stopping = true;
        let chat = self.chat.clone();
        tokio::spawn(async move {
            if let Err(problem) = chat.stop().await {
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
        format!("{what} {}: planwright serve --workspace {}", self.chat.id, self.workspace)
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

/// The next line that the user types; waits for ever if nobody is asked.
async fn typed(dialogue: Option<&mut Dialogue>) -> Option<String> {
    match dialogue {
        Some(dialogue) if dialogue.is_asking() => dialogue.next_line().await,
        Some(_) | None => std::future::pending().await,
    }
}
