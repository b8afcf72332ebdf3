//! The state of the whole screen. [`AppState::update`] takes one input in and says what the loop has to do.
//!
//! Pure: no clock, no terminal, no network.

mod actions;
mod chat_keys;
mod reports;

use crate::changes_page::{ChangesOutcome, ChangesPage};
use crate::composer::Composer;
use crate::dock::Dock;
use crate::history::HistoryView;
use crate::list_page::{ListKind, ListOutcome, ListPage};
use crate::open_chat::OpenChat;
use crate::overlay::{ConfirmDialog, Overlay, OverlayOutcome, Picked};
use crate::palette::{Palette, Tone};
use crate::plan_page::{PlanOutcome, PlanPage};
use crate::request::{AppCommand, AppReport, ChatChange, ChatPlace, ConnectionState, ServerRequest, Start};
use crate::text_field::{Lines, TextField};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::api::requests::ChatUpdate;
use planwright_protocol::op::FieldChange;
use planwright_protocol::{Mode, Role};

#[derive(Debug)]
pub struct AppState {
    pub palette: Palette,
    pub start: Option<Start>,
    pub connection: ConnectionState,
    pub page: PageName,
    pub focus: Focus,
    pub overlay: Option<Overlay>,
    pub chat: Option<OpenChat>,
    pub history: HistoryView,
    pub composer: Composer,
    pub dock: Option<Dock>,
    pub plan: PlanPage,
    pub changes: ChangesPage,
    pub list: ListPage,
    pub toast: Option<Toast>,
    /// The role of the chat that the next message begins; `None` for the workspace's default.
    pub next_role: Option<Role>,
    /// Counts ticks, for the sign that something is at work.
    pub ticks: u64,
    /// Whether this process serves the chats, so that leaving it ends their runs.
    pub is_host: bool,
    /// Leave when this stop is answered.
    is_leaving: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageName {
    Chat,
    Plan,
    Changes,
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Composer,
    History,
    Dock,
}

/// A line that goes away by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub tone: Tone,
    ticks: u8,
}

#[derive(Debug)]
pub enum AppInput {
    Key(KeyEvent),
    Paste(String),
    Report(AppReport),
    /// A quarter of a second has passed.
    Tick,
}

/// How many ticks a toast stays.
const TOAST_TICKS: u8 = 24;

impl AppState {
    #[must_use]
    pub fn new(palette: Palette) -> Self {
        Self {
            palette,
            start: None,
            connection: ConnectionState::Live,
            page: PageName::Chat,
            focus: Focus::Composer,
            overlay: None,
            chat: None,
            history: HistoryView::default(),
            composer: Composer::default(),
            dock: None,
            plan: PlanPage::default(),
            changes: ChangesPage::default(),
            list: ListPage::new(ListKind::Chats),
            toast: None,
            next_role: None,
            ticks: 0,
            is_host: false,
            is_leaving: false,
        }
    }

    pub fn update(&mut self, input: AppInput) -> Vec<AppCommand> {
        let commands = match input {
            AppInput::Key(key) => self.key(key),
            AppInput::Paste(text) => {
                self.paste(&text);
                Vec::new()
            }
            AppInput::Report(report) => self.report(report),
            AppInput::Tick => {
                self.tick();
                Vec::new()
            }
        };
        if let Some(chat) = &self.chat {
            self.history.refresh(chat);
        }
        commands
    }

    /// The role in force: of the open chat, or of the next one.
    #[must_use]
    pub fn role(&self) -> Role {
        let default = || self.next_role.unwrap_or(Mode::Plan.default_role());
        self.chat.as_ref().map_or_else(default, |chat| chat.chat.config.role)
    }

    #[must_use]
    pub fn place(&self) -> Option<ChatPlace> {
        self.chat.as_ref().map(|chat| ChatPlace { workspace: chat.chat.workspace_id, chat: chat.chat.id })
    }

    /// Whether anything moves on the screen by itself.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        self.toast.is_some() || self.chat.as_ref().is_some_and(OpenChat::is_running)
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.toast = Some(Toast { text: text.into(), tone: Tone::Heading, ticks: TOAST_TICKS });
    }

    pub fn complain(&mut self, text: impl Into<String>) {
        self.toast = Some(Toast { text: text.into(), tone: Tone::Critical, ticks: TOAST_TICKS });
    }

    fn tick(&mut self) {
        self.ticks += 1;
        if let Some(toast) = &mut self.toast {
            toast.ticks = toast.ticks.saturating_sub(1);
            if toast.ticks == 0 {
                self.toast = None;
            }
        }
    }

    fn paste(&mut self, text: &str) {
        if let Some(overlay) = &mut self.overlay {
            return overlay.paste(text);
        }
        match (self.page, self.focus) {
            (PageName::List, _) => self.list.filter.paste(text),
            (PageName::Plan, _) => self.plan.writing.iter_mut().for_each(|field| field.paste(text)),
            (PageName::Changes, _) => {}
            (PageName::Chat, Focus::Dock) => self.dock.iter_mut().for_each(|dock| dock.paste(text)),
            (PageName::Chat, Focus::Composer | Focus::History) => self.composer.paste(text),
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && key.code == KeyCode::Char('z') {
            return vec![AppCommand::Suspend];
        }
        if self.overlay.is_some() {
            if control && key.code == KeyCode::Char('c') {
                self.overlay = None;
                return Vec::new();
            }
            return self.key_in_overlay(key);
        }
        if control && let Some(commands) = self.control_key(key) {
            return commands;
        }
        if key.code == KeyCode::F(1) {
            self.overlay = Some(Overlay::Help { scroll: 0 });
            return Vec::new();
        }
        match self.page {
            PageName::Chat => self.key_in_chat(key),
            PageName::Plan => self.key_on_plan(key),
            PageName::Changes => self.key_on_changes(key),
            PageName::List => self.key_in_list(key),
        }
    }

    /// The keys that work on every page.
    fn control_key(&mut self, key: KeyEvent) -> Option<Vec<AppCommand>> {
        let KeyCode::Char(letter) = key.code else { return None };
        Some(match letter {
            'c' => self.interrupt(),
            'd' if self.page == PageName::Chat && self.composer.field.is_empty() => self.leave(),
            'o' => self.open_list(ListKind::Chats),
            'g' => self.open_list(ListKind::Inbox),
            'f' => self.open_list(ListKind::Search),
            'n' => self.begin_new_chat(),
            'p' => self.open_plan(),
            'r' => self.open_changes(),
            't' => self.pick_role(),
            'x' if self.page == PageName::Chat => self.edit_outside(),
            _ => return None,
        })
    }

    /// Ctrl-C stops the run, else clears the message, else leaves.
    fn interrupt(&mut self) -> Vec<AppCommand> {
        if let Some(chat) = self.chat.as_ref().filter(|chat| chat.is_running())
            && let Some(place) = self.place()
        {
            let is_stopping = chat.chat.state == planwright_protocol::ChatState::Stopping;
            if !is_stopping {
                self.say("Stopping…");
                return vec![ChatChange::Stop.of(place).into()];
            }
        }
        if self.page == PageName::Chat && !self.composer.field.is_empty() {
            self.composer.field.clear();
            return Vec::new();
        }
        self.leave()
    }

    fn key_in_overlay(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        let outcome = overlay.key(key);
        if !matches!(outcome, OverlayOutcome::Stay) {
            self.overlay = None;
        }
        match outcome {
            OverlayOutcome::Stay | OverlayOutcome::Close => Vec::new(),
            OverlayOutcome::Confirmed(commands) => commands,
            OverlayOutcome::Picked(picked) => self.apply_picked(picked),
            OverlayOutcome::Entered(title) => self.update_chat(ChatUpdate { title: Some(title), ..ChatUpdate::default() }),
            OverlayOutcome::AcceptTrust(sha256) => vec![ServerRequest::AcceptTrust(sha256).into()],
            OverlayOutcome::LeaveRunning => vec![AppCommand::Quit],
            OverlayOutcome::StopAndLeave => match self.place() {
                Some(place) => {
                    self.is_leaving = true;
                    vec![ChatChange::Stop.of(place).into()]
                }
                None => vec![AppCommand::Quit],
            },
        }
    }

    fn apply_picked(&mut self, picked: Picked) -> Vec<AppCommand> {
        match picked {
            Picked::Role(role) => self.switch_role(role),
            Picked::Model(model) => self.update_chat(ChatUpdate { model: FieldChange::from(model), ..ChatUpdate::default() }),
            Picked::Effort(effort) => self.update_chat(ChatUpdate { effort: FieldChange::from(effort), ..ChatUpdate::default() }),
            Picked::Grant(id) => self.place().map(|place| ChatChange::RevokeGrant(id).of(place).into()).into_iter().collect(),
        }
    }

    fn key_on_plan(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let Some(place) = self.place() else {
            self.page = PageName::Chat;
            return Vec::new();
        };
        if self.plan.writing.is_none() && key.code == KeyCode::Char('?') {
            self.overlay = Some(Overlay::Help { scroll: 0 });
            return Vec::new();
        }
        match self.plan.key(key, place) {
            PlanOutcome::Stay => {}
            PlanOutcome::Close => self.page = PageName::Chat,
            PlanOutcome::Say(text) => self.say(text),
            PlanOutcome::AskToExecute(body) => {
                let lines = vec!["Your comments have not been sent.".to_owned()];
                let request = ChatChange::Execute(body).of(place);
                self.overlay = Some(Overlay::Confirm(
                    ConfirmDialog::new("Execute without sending the comments?", "Execute", request).with_lines(lines),
                ));
            }
            PlanOutcome::Do(command) => {
                if matches!(command, AppCommand::Ask(_)) {
                    self.page = PageName::Chat;
                    self.history.view.to_end();
                }
                return vec![command];
            }
        }
        Vec::new()
    }

    fn key_on_changes(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let Some(place) = self.place() else {
            self.page = PageName::Chat;
            return Vec::new();
        };
        if key.code == KeyCode::Char('?') {
            self.overlay = Some(Overlay::Help { scroll: 0 });
            return Vec::new();
        }
        match self.changes.key(key, place) {
            ChangesOutcome::Stay => {}
            ChangesOutcome::Close => self.page = PageName::Chat,
            ChangesOutcome::Say(text) => self.say(text),
            ChangesOutcome::Do(command) => return vec![command],
        }
        Vec::new()
    }

    fn key_in_list(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        if key.code == KeyCode::Char('?') && self.list.filter.is_empty() {
            self.overlay = Some(Overlay::Help { scroll: 0 });
            return Vec::new();
        }
        match self.list.key(key) {
            ListOutcome::Stay => {}
            ListOutcome::Close => self.page = PageName::Chat,
            ListOutcome::Open(place) => return vec![ServerRequest::Open(place).into()],
            ListOutcome::New => return self.begin_new_chat(),
            ListOutcome::Search(query) if !query.trim().is_empty() => return vec![ServerRequest::Search(query).into()],
            ListOutcome::Search(_) => {}
            ListOutcome::Rename(row) => {
                let field = TextField::with(Lines::One, &row.title);
                // The prompt renames the open chat, so that one is opened first.
                self.overlay = Some(Overlay::Prompt { title: "Rename the chat".to_owned(), field });
                return vec![ServerRequest::Open(row.place).into()];
            }
            ListOutcome::Delete(row) => {
                let title = format!("Delete the chat “{}”?", row.title);
                let lines = vec!["Its messages go. The files in the folder stay as they are.".to_owned()];
                self.overlay = Some(Overlay::Confirm(
                    ConfirmDialog::new(title, "Delete the chat", ChatChange::Delete.of(row.place)).with_lines(lines),
                ));
            }
        }
        Vec::new()
    }
}
