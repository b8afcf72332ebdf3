//! What the user can do from anywhere: switch, open pages, leave.

use super::{AppState, Focus, PageName};
use crate::changes_page::ChangesPage;
use crate::list_page::{ListKind, ListPage, chat_rows};
use crate::overlay::{ConfirmDialog, Overlay, Picked, Picker, PickerItem};
use crate::palette::mode_word;
use crate::plan_page::PlanPage;
use crate::request::{AppCommand, ChatChange, ChatPlace, EditPurpose, ServerRequest};
use planwright_protocol::api::requests::ChatUpdate;
use planwright_protocol::settings::ReasoningEffort;
use planwright_protocol::{Mode, Role};

impl AppState {
    pub(super) fn update_chat(&mut self, update: ChatUpdate) -> Vec<AppCommand> {
        if let Some(place) = self.place() {
            return vec![ChatChange::Update(update).of(place).into()];
        }
        self.say("Send a first message, then this chat can be changed.");
        Vec::new()
    }

    /// Switches the role. A switch to plan mode that ends work is asked about first.
    pub(super) fn switch_role(&mut self, role: Role) -> Vec<AppCommand> {
        let Some(chat) = &self.chat else {
            self.next_role = Some(role);
            return Vec::new();
        };
        let update = |confirm| ChatUpdate { agent_role: Some(role.row().name.to_owned()), confirm, ..ChatUpdate::default() };
        let ends_work = chat.chat.config.role.mode() == Mode::Act && role.mode() == Mode::Plan && chat.is_busy();
        if !ends_work {
            return self.update_chat(update(false));
        }
        let Some(place) = self.place() else { return Vec::new() };
        let mut lines = vec!["Work is in progress. It stops, and the agent can change nothing more.".to_owned()];
        let current = chat
            .chat
            .progress
            .as_ref()
            .and_then(|progress| progress.steps.iter().find(|step| step.status == planwright_protocol::StepStatus::InProgress));
        lines.extend(current.map(|step| format!("In progress: step {}, {}", step.step_number, step.action)));
        let request = ChatChange::Update(update(true)).of(place);
        let mut confirm = ConfirmDialog::new("Stop and switch to PLAN?", "Stop and switch", request).with_lines(lines);
        confirm.no = "Keep working";
        self.overlay = Some(Overlay::Confirm(confirm));
        Vec::new()
    }

    pub(super) fn toggle_mode(&mut self) -> Vec<AppCommand> {
        let role = match self.role().mode() {
            Mode::Plan => Mode::Act.default_role(),
            Mode::Act => Mode::Plan.default_role(),
        };
        self.switch_role(role)
    }

    pub(super) fn pick_role(&mut self) -> Vec<AppCommand> {
        let item = |role: Role| PickerItem {
            label: format!("{} ({})", role.row().title, mode_word(role.mode())),
            hint: role.row().description.to_owned(),
            picked: Picked::Role(role),
        };
        let selected = Role::all().position(|role| role == self.role()).unwrap_or(0);
        self.overlay = Some(Overlay::Picker(Picker::new("Role", Role::all().map(item).collect(), selected)));
        Vec::new()
    }

    pub(super) fn pick_model(&mut self) -> Vec<AppCommand> {
        let Some(start) = &self.start else { return Vec::new() };
        let present = self.chat.as_ref().and_then(|chat| chat.chat.model.clone());
        let configured = start.models.plan.iter().chain(start.models.act.iter()).cloned().collect::<Vec<_>>().join(", ");
        let mut items = vec![PickerItem { label: "As configured".to_owned(), hint: configured, picked: Picked::Model(None) }];
        let item = |model: &String| PickerItem { label: model.clone(), hint: String::new(), picked: Picked::Model(Some(model.clone())) };
        items.extend(start.models.available.iter().map(item));
        let selected = items.iter().position(|item| item.picked == Picked::Model(present.clone())).unwrap_or(0);
        self.overlay = Some(Overlay::Picker(Picker::new("Model of this chat", items, selected)));
        Vec::new()
    }

    pub(super) fn pick_effort(&mut self) -> Vec<AppCommand> {
        let present = self.chat.as_ref().and_then(|chat| chat.chat.effort);
        let efforts = [
            ("As configured", None),
            ("Low", Some(ReasoningEffort::Low)),
            ("Medium", Some(ReasoningEffort::Medium)),
            ("High", Some(ReasoningEffort::High)),
        ];
        let item = |(label, effort): (&str, _)| PickerItem { label: label.to_owned(), hint: String::new(), picked: Picked::Effort(effort) };
        let selected = efforts.iter().position(|(_, effort)| *effort == present).unwrap_or(0);
        self.overlay = Some(Overlay::Picker(Picker::new("Reasoning effort", efforts.map(item).into(), selected)));
        Vec::new()
    }

    pub(super) fn open_list(&mut self, kind: ListKind) -> Vec<AppCommand> {
        self.page = PageName::List;
        self.list = ListPage::new(kind);
        match kind {
            ListKind::Chats => {
                if let Some(start) = &self.start {
                    self.list.rows = chat_rows(&start.chats);
                }
                vec![ServerRequest::Chats.into()]
            }
            ListKind::Inbox => vec![ServerRequest::Inbox.into()],
            ListKind::Search => Vec::new(),
        }
    }

    pub(super) fn begin_new_chat(&mut self) -> Vec<AppCommand> {
        self.page = PageName::Chat;
        self.focus = Focus::Composer;
        self.chat = None;
        self.dock = None;
        self.history = crate::history::HistoryView::default();
        Vec::new()
    }

    pub(super) fn open_plan(&mut self) -> Vec<AppCommand> {
        let Some(place) = self.place() else {
            self.say("This chat has no plan yet.");
            return Vec::new();
        };
        self.page = PageName::Plan;
        let is_other =
            self.plan.view.as_ref().map(|view| &view.plan_file) != self.chat.as_ref().and_then(|chat| chat.chat.config.plan_file.as_ref());
        if is_other {
            self.plan = PlanPage::default();
        }
        vec![ServerRequest::Plan(place).into()]
    }

    pub(super) fn open_changes(&mut self) -> Vec<AppCommand> {
        let Some(place) = self.place() else {
            self.say("This chat has changed nothing yet.");
            return Vec::new();
        };
        self.page = PageName::Changes;
        self.changes = ChangesPage::default();
        self.changes.window.to_start();
        vec![ServerRequest::Changes(place).into()]
    }

    pub(super) fn edit_outside(&mut self) -> Vec<AppCommand> {
        vec![AppCommand::Edit { purpose: EditPurpose::Message, text: self.composer.field.content() }]
    }

    /// Leaves; asks first while the agent works.
    pub(super) fn leave(&mut self) -> Vec<AppCommand> {
        if self.chat.as_ref().is_some_and(crate::open_chat::OpenChat::is_running) {
            self.overlay = Some(Overlay::Leave);
            return Vec::new();
        }
        vec![AppCommand::Quit]
    }

    pub(super) fn execute(&mut self) -> Vec<AppCommand> {
        let Some(place) = self.place() else {
            self.say("This chat has no plan yet.");
            return Vec::new();
        };
        self.history.view.to_end();
        vec![ChatChange::Execute(planwright_protocol::api::requests::ExecuteBody::default()).of(place).into()]
    }

    fn on_chat(&mut self, request: fn(ChatPlace) -> ServerRequest) -> Vec<AppCommand> {
        if let Some(place) = self.place() {
            return vec![request(place).into()];
        }
        self.say("There is no chat yet. Send a first message.");
        Vec::new()
    }

    /// A message that is a command; `None` if it is none.
    pub(super) fn slash(&mut self, content: &str) -> Option<Vec<AppCommand>> {
        let (name, rest) = content.trim().split_once(char::is_whitespace).unwrap_or((content.trim(), ""));
        let rest = rest.trim();
        Some(match name {
            "/help" => {
                self.overlay = Some(Overlay::Help { scroll: 0 });
                Vec::new()
            }
            "/new" => self.begin_new_chat(),
            "/chats" => self.open_list(ListKind::Chats),
            "/inbox" => self.open_list(ListKind::Inbox),
            "/search" => {
                self.open_list(ListKind::Search);
                self.list.filter.set(rest);
                if rest.is_empty() { Vec::new() } else { vec![ServerRequest::Search(rest.to_owned()).into()] }
            }
            "/plan" => self.open_plan(),
            "/execute" => self.execute(),
            "/changes" => self.open_changes(),
            "/mode" => self.toggle_mode(),
            "/role" => match Role::named(&rest.to_lowercase()) {
                Some(role) => self.switch_role(role),
                None => self.pick_role(),
            },
            "/model" => self.pick_model(),
            "/effort" => self.pick_effort(),
            "/rename" if !rest.is_empty() => self.update_chat(ChatUpdate { title: Some(rest.to_owned()), ..ChatUpdate::default() }),
            "/rename" => {
                let title = self.chat.as_ref().map(|chat| chat.chat.title.clone()).unwrap_or_default();
                let field = crate::text_field::TextField::with(crate::text_field::Lines::One, &title);
                self.overlay = Some(Overlay::Prompt { title: "Rename the chat".to_owned(), field });
                Vec::new()
            }
            "/delete" => {
                if let Some(place) = self.place() {
                    let lines = vec!["Its messages go. The files in the folder stay as they are.".to_owned()];
                    let confirm = ConfirmDialog::new("Delete this chat?", "Delete the chat", ChatChange::Delete.of(place));
                    self.overlay = Some(Overlay::Confirm(confirm.with_lines(lines)));
                }
                Vec::new()
            }
            "/stop" => self.on_chat(|place| ChatChange::Stop.of(place)),
            "/retry" => self.on_chat(|place| ChatChange::Retry.of(place)),
            "/compact" => self.on_chat(|place| ChatChange::Compact.of(place)),
            "/grants" => self.on_chat(ServerRequest::Grants),
            "/trust" => vec![ServerRequest::Trust.into()],
            "/editor" => self.edit_outside(),
            "/quit" | "/exit" => self.leave(),
            _ => return None,
        })
    }
}
