//! What a run shows: the answer on stdout, what happens meanwhile on stderr.
//!
//! On a terminal the last line tells how far the run is, and is rewritten in place. Elsewhere there are lines and nothing else.

use super::progress::{Progress, subject};
use crate::output;
use planwright_protocol::{Author, Event, Message, MessageBody, MessageId, Mode, Notice, Plan, Role};
use std::io::IsTerminal;
use std::time::Instant;

/// To the start of the line, and empty it.
const REWRITE: &str = "\r\x1b[2K";

/// Where the next text would go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cursor {
    AtStart,
    WithinAnswer,
    /// Behind what a command printed so far.
    WithinOutput,
}

impl Cursor {
    fn behind(text: &str, within: Self) -> Self {
        if text.ends_with('\n') { Self::AtStart } else { within }
    }
}

pub struct Screen {
    progress: Progress,
    began: Instant,
    /// Whether there is a line to rewrite, and what it says now.
    is_live: bool,
    drawn: Option<String>,
    has_colour: bool,
    /// Whether the answer is shown on the terminal, where the line must not get in its way.
    shares_terminal: bool,
    /// The answer being written, and how many of its characters have been shown.
    answer: Option<(MessageId, usize)>,
    cursor: Cursor,
    plan: Option<(String, Plan)>,
}

impl Screen {
    pub fn new(role: Role, plan: Option<&Plan>) -> Self {
        Self {
            progress: Progress::new(role, plan),
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

    #[expect(clippy::wildcard_enum_match_arm, reason = "most events say nothing that a terminal needs")]
    pub fn show(&mut self, event: &Event) {
        self.progress.hear(event);
        match event {
            Event::TextDelta { message_id, offset, text } => self.answer(*message_id, *offset, text),
            Event::MessageCreated { message } => self.message(message),
            Event::ToolCall { tool, args, .. } => self.line(Colour::Dim, &format!("→ {tool} {}", subject(args))),
            Event::ToolOutput { text, .. } => {
                self.continue_with(Cursor::WithinOutput);
                output::aside(text);
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
            Event::PlanStep { step_number, status } => self.line(Colour::Bold, &format!("= step {step_number}: {}", status.words())),
            _ => {}
        }
        self.draw();
    }

    /// Time goes on while nothing happens.
    pub fn tick(&mut self) {
        self.draw();
    }

    /// A line about the run itself.
    pub fn note(&mut self, text: &str) {
        self.line(Colour::Bold, text);
    }

    /// Puts the line away for good.
    pub fn close(&mut self) {
        self.end_line();
        self.is_live = false;
    }

    pub fn spent(&self) -> String {
        let steps = self.progress.steps().map(|steps| format!("{steps} · ")).unwrap_or_default();
        format!("{steps}{}", self.progress.spent(self.began.elapsed()))
    }

    /// The plan that was written, when that was the task.
    pub fn written_plan(&self) -> Option<&(String, Plan)> {
        self.plan.as_ref().filter(|_| self.progress.role.mode() == Mode::Plan)
    }

    fn answer(&mut self, id: MessageId, offset: usize, text: &str) {
        let shown = self.answer.filter(|(known, _)| *known == id).map_or(0, |(_, shown)| shown);
        // One who fell behind is told the whole answer again.
        let news: String = text.chars().skip(shown.saturating_sub(offset)).collect();
        self.answer = Some((id, shown.max(offset + text.chars().count())));
        if news.is_empty() {
            return;
        }
        self.continue_with(Cursor::WithinAnswer);
        output::piece(&news);
        self.cursor = Cursor::behind(&news, Cursor::WithinAnswer);
    }

    /// The end of an answer, with what of it was not seen while it came.
    fn message(&mut self, message: &Message) {
        if let MessageBody::AssistantText(_) = message.body {
            self.answer(message.id, 0, &message.content);
        }
        if message.author == Author::Assistant {
            self.end_line();
        }
        // A switch is told by its own event.
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

    /// Goes on with a line of this kind, and ends one of another.
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
        // The last column stays free: some terminals go on to the next line after it.
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
