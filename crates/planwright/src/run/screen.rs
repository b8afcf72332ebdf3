//! Output of a run: the answer on stdout, progress on stderr.
//!
//! On a terminal the last line shows the progress and is rewritten in place. Elsewhere there are only plain lines.

use super::progress::{RunProgress, subject};
use crate::output;
use planwright_protocol::{Author, Event, Message, MessageBody, MessageId, Mode, Notice, Plan, Role};
use std::io::IsTerminal;
use std::time::Instant;

/// Moves to the start of the line and clears it.
const REWRITE: &str = "\r\x1b[2K";

/// Where the next text would appear.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cursor {
    AtStart,
    WithinAnswer,
    /// After a command's output so far.
    WithinOutput,
}

impl Cursor {
    fn behind(text: &str, within: Self) -> Self {
        if text.ends_with('\n') { Self::AtStart } else { within }
    }
}

pub struct Screen {
    progress: RunProgress,
    began: Instant,
    /// Whether there is a line to rewrite, and its present text.
    is_live: bool,
    drawn: Option<String>,
    has_colour: bool,
    /// Whether the answer appears on the same terminal, where the line must not disturb it.
    shares_terminal: bool,
    /// The answer in progress, and how many of its characters have been shown.
    answer: Option<(MessageId, usize)>,
    cursor: Cursor,
    plan: Option<(String, Plan)>,
}

impl Screen {
    pub fn new(role: Role, plan: Option<&Plan>) -> Self {
        Self {
            progress: RunProgress::new(role, plan),
            began: Instant::now(),
            is_live: output::is_terminal(),
            drawn: None,
            has_colour: output::has_colour(),
            shares_terminal: std::io::stdout().is_terminal(),
            answer: None,
            cursor: Cursor::AtStart,
            plan: None,
        }
    }

    pub fn show(&mut self, event: &Event) {
        self.progress.on_event(event);
        match event {
            Event::TextDelta { message_id, offset, text } => self.answer(*message_id, *offset, text),
            Event::MessageCreated { message } => self.message(message),
            Event::ToolCall { tool, args, .. } => self.line(Colour::Dim, &format!("→ {tool} {}", subject(args))),
            Event::ToolOutput { text, .. } => {
                self.continue_with(Cursor::WithinOutput);
                output::note_part(text);
                self.cursor = Cursor::behind(text, Cursor::WithinOutput);
            }
            Event::ToolResult { result, .. } => match (&result.error, result.result.as_ref().and_then(|result| result.get("exit_code"))) {
                (Some(problem), _) => self.line(Colour::Red, &format!("✗ {}: {}", problem.code, problem.message)),
                (None, Some(code)) => self.line(Colour::Dim, &format!("  exit code {code}")),
                (None, None) => {}
            },
            Event::ModeChanged { config, .. } => {
                self.line(Colour::Bold, &format!("= {} ({} mode)", config.role, mode_name(config.role.mode())));
            }
            Event::PlanUpdated { plan_file, plan } => self.plan = Some((plan_file.clone(), plan.clone())),
            Event::PlanStep { step_number, status } => self.line(Colour::Bold, &format!("= step {step_number}: {}", status.label())),
            // These say nothing that a terminal needs.
            Event::MessageUpdated { .. }
            | Event::MessageDeleted { .. }
            | Event::ReasoningDelta { .. }
            | Event::StateChanged { .. }
            | Event::QuestionPending { .. }
            | Event::QuestionResolved { .. }
            | Event::IntentSuggested { .. }
            | Event::Usage(_)
            | Event::RunFinished { .. }
            | Event::Violation { .. }
            | Event::ChatUpdated { .. }
            | Event::ChatCreated { .. }
            | Event::ChatDeleted {}
            | Event::Reset {} => {}
        }
        self.draw();
    }

    /// Updates the elapsed time while nothing happens.
    pub fn tick(&mut self) {
        self.draw();
    }

    /// A line about the run itself.
    pub fn note(&mut self, text: &str) {
        self.line(Colour::Bold, text);
    }

    /// Removes the line until the next event: the user types here.
    pub fn pause(&mut self) {
        self.end_line();
    }

    /// Removes the line for good.
    pub fn close(&mut self) {
        self.end_line();
        self.is_live = false;
    }

    pub fn spent(&self) -> String {
        let steps = self.progress.steps().map(|steps| format!("{steps} · ")).unwrap_or_default();
        format!("{steps}{}", self.progress.spent(self.began.elapsed()))
    }

    /// The plan that the run wrote, if that was the task.
    pub fn written_plan(&self) -> Option<&(String, Plan)> {
        self.plan.as_ref().filter(|_| self.progress.role.mode() == Mode::Plan)
    }

    fn answer(&mut self, id: MessageId, offset: usize, text: &str) {
        let shown = self.answer.filter(|(known, _)| *known == id).map_or(0, |(_, shown)| shown);
        // A follower that fell behind gets the whole answer again.
        let news: String = text.chars().skip(shown.saturating_sub(offset)).collect();
        self.answer = Some((id, shown.max(offset + text.chars().count())));
        if news.is_empty() {
            return;
        }
        self.continue_with(Cursor::WithinAnswer);
        output::line_part(&news);
        self.cursor = Cursor::behind(&news, Cursor::WithinAnswer);
    }

    /// The end of an answer, with the part that was not streamed.
    fn message(&mut self, message: &Message) {
        if let MessageBody::AssistantText(_) = message.body {
            self.answer(message.id, 0, &message.content);
        }
        if message.author == Author::Assistant {
            self.end_line();
        }
        // A mode change has its own event.
        if message.author == Author::System && message.body.notice().and_then(Notice::mode_change).is_none() {
            self.line(Colour::Dim, &format!("! {}", message.content));
        }
    }

    fn line(&mut self, colour: Colour, text: &str) {
        self.end_line();
        let text = output::visible(text);
        output::control(&if self.has_colour { format!("\x1b[{}m{text}\x1b[0m\n", colour.code()) } else { format!("{text}\n") });
    }

    fn end_line(&mut self) {
        self.clear();
        match std::mem::replace(&mut self.cursor, Cursor::AtStart) {
            Cursor::AtStart => {}
            Cursor::WithinAnswer => output::line(""),
            Cursor::WithinOutput => output::note(""),
        }
    }

    /// Continues a line of this kind, and ends a line of another kind.
    fn continue_with(&mut self, kind: Cursor) {
        if self.cursor == kind {
            self.clear();
        } else {
            self.end_line();
        }
    }

    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            output::control(REWRITE);
        }
    }

    fn draw(&mut self) {
        let in_the_way = match self.cursor {
            Cursor::AtStart => false,
            Cursor::WithinAnswer => self.shares_terminal,
            Cursor::WithinOutput => true,
        };
        if !self.is_live || in_the_way {
            return;
        }
        let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        // The last column stays free: some terminals wrap after it.
        let width = if width == 0 { 79 } else { width - 1 };
        let text = output::visible(&self.progress.line(self.began.elapsed(), width));
        if self.drawn.as_ref() == Some(&text) {
            return;
        }
        let shown = if self.has_colour { format!("\x1b[{}m{text}\x1b[0m", Colour::Dim.code()) } else { text.clone() };
        output::control(&format!("{REWRITE}{shown}"));
        self.drawn = Some(text);
    }
}

#[derive(Clone, Copy)]
enum Colour {
    Bold,
    Dim,
    Red,
}

impl Colour {
    fn code(self) -> u8 {
        match self {
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Red => 31,
        }
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Act => "act",
    }
}
