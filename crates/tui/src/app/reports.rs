//! What the loop reports, taken into the state.

use super::{AppState, Focus, PageName};
use crate::dock::Dock;
use crate::list_page::{ListKind, chat_rows, found_rows, inbox_rows};
use crate::open_chat::{EventEffect, OpenChat};
use crate::overlay::{ConfirmDialog, Overlay, Picked, Picker, PickerItem};
use crate::request::{AppCommand, AppReport, ChatChange, ChatPlace, ConnectionState, EditPurpose, ServerRequest};
use planwright_protocol::api::changes::RevertAnswer;
use planwright_protocol::api::chat::Snapshot;
use planwright_protocol::api::requests::RevertBody;
use planwright_protocol::api::workspace::GrantView;
use planwright_protocol::event::{QuestionOutcome, RunOutcome};
use planwright_protocol::{Envelope, ErrorCode, Problem};
use std::collections::HashSet;

impl AppState {
    pub(super) fn report(&mut self, report: AppReport) -> Vec<AppCommand> {
        match report {
            AppReport::Started(start) => {
                if !start.trust.trusted {
                    self.say("This folder's own configuration wants more than it has. Type /trust to review it.");
                }
                self.start = Some(*start);
            }
            AppReport::Connected(connection) => self.connection = connection,
            AppReport::Event { chat, envelope } => return self.event(chat, *envelope),
            AppReport::Opened(snapshot) => self.open(*snapshot),
            AppReport::Older { chat, messages } => {
                if let Some(open) = self.chat.as_mut().filter(|open| open.chat.id == chat) {
                    open.add_older(messages);
                }
            }
            AppReport::Body(message) => {
                if let Some(known) = self.chat.as_mut().and_then(|chat| chat.messages.iter_mut().find(|known| known.id == message.id)) {
                    *known = *message;
                }
            }
            AppReport::Plan(view) => self.plan.show(*view),
            AppReport::Changes(changes) => {
                let path = self.changes.show(*changes);
                return path.zip(self.place()).map(|(path, place)| ServerRequest::FileDiff { place, path }.into()).into_iter().collect();
            }
            AppReport::FileDiff(diff) => self.changes.show_diff(*diff),
            AppReport::Reverted { body, answer } => return self.reverted(body, &answer),
            AppReport::Grants(grants) => self.show_grants(grants),
            AppReport::Chats(chats) => {
                if self.list.kind == ListKind::Chats {
                    self.list.show(chat_rows(&chats));
                }
                self.start.iter_mut().for_each(|start| start.chats.clone_from(&chats));
            }
            AppReport::Inbox(inbox) if self.list.kind == ListKind::Inbox => self.list.show(inbox_rows(&inbox)),
            AppReport::Found { query, found } if self.list.filter.content() == query => self.list.show(found_rows(&found)),
            AppReport::Inbox(_) | AppReport::Found { .. } => {}
            AppReport::Models(models) => self.start.iter_mut().for_each(|start| start.models = models.clone()),
            AppReport::Files { query, paths } => self.composer.show_files(&query, paths),
            AppReport::Trust(trust) => {
                self.start.iter_mut().for_each(|start| start.trust = trust.clone());
                self.overlay = Some(Overlay::Trust { trust, scroll: 0 });
            }
            AppReport::Done { place, change } => return self.done(place, *change),
            AppReport::Failed { request, problem } => return self.failed(*request, &problem),
            AppReport::Edited { purpose, text } => return self.edited(purpose, text),
        }
        Vec::new()
    }

    fn open(&mut self, snapshot: Snapshot) {
        let is_same = self.chat.as_ref().is_some_and(|chat| chat.chat.id == snapshot.chat.id);
        let mut conversation = OpenChat::new(snapshot);
        if is_same {
            // A version that was not seen yet, so that the rows are grouped anew.
            conversation.version = self.chat.as_ref().map_or(0, |chat| chat.version + 1);
        } else {
            self.history = crate::history::HistoryView::default();
            self.plan = crate::plan_page::PlanPage::default();
            let sent = conversation.messages.iter().filter(|message| message.body.user_text().is_some());
            self.composer.set_history(sent.map(|message| message.content.clone()).collect());
        }
        self.chat = Some(conversation);
        if self.page == PageName::List {
            self.show_chat();
        }
        self.refresh_dock();
    }

    /// The dock shows the pending question. What was written into it stays while it is the same question.
    fn refresh_dock(&mut self) {
        let pending = self.chat.as_ref().and_then(|chat| chat.pending.clone());
        let is_same = self.dock.as_ref().map(|dock| dock.pending.question_id) == pending.as_ref().map(|pending| pending.question_id);
        if is_same {
            return;
        }
        self.dock = pending.map(Dock::new);
        if self.dock.is_none() && self.focus == Focus::Dock {
            self.focus = Focus::Composer;
        }
    }

    fn event(&mut self, chat: planwright_protocol::ChatId, envelope: Envelope) -> Vec<AppCommand> {
        let Some(open) = self.chat.as_mut().filter(|open| open.chat.id == chat) else { return Vec::new() };
        let effect = open.apply(envelope);
        let place = ChatPlace { workspace: open.chat.workspace_id, chat };
        match effect {
            EventEffect::None | EventEffect::Worked => Vec::new(),
            EventEffect::Asked => {
                self.refresh_dock();
                Vec::new()
            }
            EventEffect::Resolved(question, outcome) => {
                let was_ours = self.dock.as_ref().is_some_and(|dock| dock.pending.question_id == question && !dock.is_sending);
                self.refresh_dock();
                if was_ours && outcome == QuestionOutcome::Answered {
                    self.say("The question was answered elsewhere.");
                }
                Vec::new()
            }
            EventEffect::Planned if self.page == PageName::Plan => vec![ServerRequest::Plan(place).into()],
            EventEffect::Planned => Vec::new(),
            EventEffect::Finished => self.finished(place),
            EventEffect::Reset => vec![ServerRequest::Open(place).into()],
            EventEffect::Deleted => {
                self.say("This chat was deleted.");
                self.begin_new_chat()
            }
        }
    }

    fn finished(&mut self, place: ChatPlace) -> Vec<AppCommand> {
        let end = self.chat.as_ref().and_then(|chat| chat.last_run.clone());
        if let Some(end) = end.filter(|end| end.outcome == RunOutcome::Failed) {
            let why = end.error.map_or_else(|| "The run failed.".to_owned(), |problem| format!("{}: {}", problem.code, problem.message));
            self.complain(format!("{why} Type /retry to continue."));
        }
        if self.page == PageName::Changes { vec![ServerRequest::Changes(place).into()] } else { Vec::new() }
    }

    fn reverted(&mut self, body: RevertBody, answer: &RevertAnswer) -> Vec<AppCommand> {
        let Some(place) = self.place() else { return Vec::new() };
        let (count, conflicts) = (answer.done.file_count, answer.done.conflict_count);
        let files = |count: usize| format!("{count} {}", if count == 1 { "file" } else { "files" });
        if !answer.preview {
            let left = if conflicts > 0 { format!(" {} left alone.", files(conflicts)) } else { String::new() };
            self.say(format!("Took back {}.{left}", files(count)));
            return if self.page == PageName::Changes { vec![ServerRequest::Changes(place).into()] } else { Vec::new() };
        }
        if count == 0 && conflicts == 0 {
            self.say("There is nothing to take back.");
            return Vec::new();
        }
        let mut lines: Vec<String> = answer.done.files.iter().take(8).map(|step| step.path.clone()).collect();
        if count > lines.len() {
            lines.push(format!("and {} more", count - lines.len()));
        }
        lines.extend(answer.done.conflicts.iter().take(4).map(|conflict| format!("left alone: {} ({})", conflict.path, conflict.reason)));
        let title = format!("Take back the changes of {}?", files(count));
        let body = RevertBody { preview: false, skip_conflicts: conflicts > 0, ..body };
        self.overlay =
            Some(Overlay::Confirm(ConfirmDialog::new(title, "Take back", ServerRequest::Revert { place, body }).with_lines(lines)));
        Vec::new()
    }

    fn show_grants(&mut self, grants: Vec<GrantView>) {
        if grants.is_empty() {
            return self.say("Nothing is always allowed in this chat.");
        }
        let item = |grant: GrantView| PickerItem {
            label: format!("{} in {}", grant.tool, grant.folder),
            hint: "Enter revokes it: the next call asks again".to_owned(),
            picked: Picked::Grant(grant.id),
        };
        self.overlay = Some(Overlay::Picker(Picker::new("Always allowed in this chat", grants.into_iter().map(item).collect(), 0)));
    }

    fn done(&mut self, place: ChatPlace, change: ChatChange) -> Vec<AppCommand> {
        match change {
            ChatChange::Stop if self.is_leaving => return vec![AppCommand::Quit],
            ChatChange::Stop => self.say("Stopped. Nothing of the run can happen any more."),
            ChatChange::Delete => {
                self.say("The chat is deleted.");
                if self.place() == Some(place) {
                    self.begin_new_chat();
                }
                return self.open_list(ListKind::Chats);
            }
            ChatChange::Update(update) if update.title.is_some() => {
                self.say("Renamed.");
                return vec![ServerRequest::Chats.into()];
            }
            ChatChange::RevokeGrant(_) => self.say("Revoked. The next call asks again."),
            ChatChange::EditPlan { .. } => return vec![ServerRequest::Plan(place).into()],
            ChatChange::Send { .. }
            | ChatChange::Answer { .. }
            | ChatChange::Execute(_)
            | ChatChange::Retry
            | ChatChange::Compact
            | ChatChange::Update(_)
            | ChatChange::Withdraw(_) => {}
        }
        Vec::new()
    }

    fn failed(&mut self, request: ServerRequest, problem: &Problem) -> Vec<AppCommand> {
        match request {
            ServerRequest::Change { place, change } => return self.change_failed(place, *change, problem),
            ServerRequest::Start { content, .. } => {
                self.composer.field.set(&content);
                self.complain(problem.message.clone());
            }
            ServerRequest::Plan(_) => {
                self.plan.view = None;
                self.plan.problem = Some(problem.message.clone());
            }
            // Suggestions are missing then, which is answer enough.
            ServerRequest::FindFiles(_) => {}
            ServerRequest::Chats
            | ServerRequest::Open(_)
            | ServerRequest::Older { .. }
            | ServerRequest::Body { .. }
            | ServerRequest::Changes(_)
            | ServerRequest::FileDiff { .. }
            | ServerRequest::Revert { .. }
            | ServerRequest::Grants(_)
            | ServerRequest::Inbox
            | ServerRequest::Search(_)
            | ServerRequest::Models
            | ServerRequest::Trust
            | ServerRequest::AcceptTrust(_) => self.complain(format!("{}: {}", problem.code, problem.message)),
        }
        Vec::new()
    }

    fn change_failed(&mut self, place: ChatPlace, change: ChatChange, problem: &Problem) -> Vec<AppCommand> {
        let fields = problem.details.as_ref().and_then(|details| details.get("fields")).and_then(serde_json::Value::as_object);
        match change {
            ChatChange::Answer { .. } => {
                if let Some(dock) = &mut self.dock {
                    dock.refuse(&problem.message, fields);
                }
                // Answered elsewhere, or superseded: the snapshot says which.
                return if problem.code == ErrorCode::QuestionNotPending { vec![ServerRequest::Open(place).into()] } else { Vec::new() };
            }
            ChatChange::Send { content, comments } => {
                if comments.is_empty() {
                    self.composer.field.set(&content);
                }
                self.plan.comments.extend(comments);
                self.complain(problem.message.clone());
            }
            ChatChange::Update(mut update) if problem.code == ErrorCode::ConfirmationRequired => {
                update.confirm = true;
                let confirm = ConfirmDialog::new("Stop and switch?", "Stop and switch", ChatChange::Update(update).of(place));
                self.overlay = Some(Overlay::Confirm(confirm.with_lines(vec![problem.message.clone()])));
            }
            ChatChange::Stop if self.is_leaving => return vec![AppCommand::Quit],
            ChatChange::Execute(_)
            | ChatChange::Stop
            | ChatChange::Retry
            | ChatChange::Compact
            | ChatChange::Update(_)
            | ChatChange::Delete
            | ChatChange::Withdraw(_)
            | ChatChange::EditPlan { .. }
            | ChatChange::RevokeGrant(_) => self.complain(format!("{}: {}", problem.code, problem.message)),
        }
        Vec::new()
    }

    fn edited(&mut self, purpose: EditPurpose, text: Result<String, String>) -> Vec<AppCommand> {
        let text = match text {
            Ok(text) => text,
            Err(why) => {
                self.complain(why);
                return Vec::new();
            }
        };
        match purpose {
            EditPurpose::Message => self.composer.field.set(text.trim_end()),
            EditPurpose::Plan { base_sha256 } => {
                let is_changed = self.plan.view.as_ref().is_some_and(|view| view.content != text);
                if let Some(place) = self.place().filter(|_| is_changed) {
                    return vec![ChatChange::EditPlan { content: text, base_sha256 }.of(place).into()];
                }
                self.say("The plan is unchanged.");
            }
        }
        Vec::new()
    }

    /// The messages that wait to be read.
    #[must_use]
    pub fn queued(&self) -> HashSet<planwright_protocol::MessageId> {
        self.chat.iter().flat_map(|chat| chat.queued.iter().copied()).collect()
    }

    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.connection == ConnectionState::Live
    }
}
