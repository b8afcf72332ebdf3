//! Forks a chat: a new one with the same history up to a message.

use crate::chat::{Change, Draft, no_chat};
use crate::handle::Handle;
use crate::sessions::Sessions;
use planwright_agent::thread::open_calls;
use planwright_protocol::{ChatId, ErrorCode, Message, MessageId, Mode, Notice, Problem, Role, WireMessage};
use planwright_store::Versions;
use std::collections::{HashMap, HashSet};

impl Sessions {
    /// A new chat with the history before a message. Changed files stay as they are.
    ///
    /// # Errors
    /// There is no such chat or message, or it can't be stored.
    pub async fn fork(&self, chat: ChatId, before: MessageId, person: Option<String>) -> Result<Handle, Problem> {
        let handle = self.chat(chat).await?;
        let row = handle.chat().record();
        let history = self.store().messages(chat).await?;
        let place = history.iter().position(|message| message.id == before);
        let place = place.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no message {before} in this chat.")))?;
        let approved = self.store().approval(chat).await?.is_some();
        let role = role_at(&history, place, row.config.role);
        // An approval belongs to one chat. Without it, approved work is planned again.
        let role = if approved && role.mode() == Mode::Act { Mode::Plan.default_role() } else { role };
        let fork = self.create_silently(row.workspace_id, Some(row.title.clone()), Some(role), person).await?;
        let plan_file = history[..place].iter().rev().find_map(|message| message.body.plan());
        let plan_file = plan_file.map(|version| version.plan_file.clone());
        let copies = copied(&history[..place], fork.chat().id);
        let images = copies.iter().flat_map(Message::images).map(|image| image.sha256.clone()).collect();
        let versions = Box::new(Versions { images, ..Versions::default() });
        let (model, effort) = (row.marks.model.clone(), row.marks.effort);
        let edit = move |row: &mut Draft| {
            row.config.plan_file = plan_file;
            (row.marks.model, row.marks.effort) = (model, effort);
        };
        fork.chat().publish(Change { versions, ..Change::messages(copies) }, edit).await?;
        self.announce(&fork);
        Ok(fork)
    }

    /// The chat, if it is in this workspace.
    ///
    /// # Errors
    /// It is not.
    pub async fn chat_in(&self, workspace: planwright_protocol::WorkspaceId, chat: ChatId) -> Result<Handle, Problem> {
        let handle = self.chat(chat).await?;
        if handle.chat().feed.source.workspace == workspace { Ok(handle) } else { Err(no_chat(chat)) }
    }
}

/// The role that the chat had then: the one before the next switch.
fn role_at(history: &[Message], place: usize, now: Role) -> Role {
    let mut switches = history[place..].iter().filter_map(|message| message.body.notice()).filter_map(Notice::mode_change);
    switches.next().map_or(now, |switch| switch.from)
}

/// The messages with new ids. Calls without a result are left out, because a run would execute them.
fn copied(history: &[Message], chat: ChatId) -> Vec<Message> {
    let open: HashSet<MessageId> = open_calls(history).into_iter().map(|call| call.id).collect();
    let ids: HashMap<MessageId, MessageId> = history.iter().map(|message| (message.id, MessageId::generate())).collect();
    let kept = history.iter().filter(|message| !open.contains(&message.id));
    kept.map(|message| WireMessage::from(message).copied(chat, &ids).into()).collect()
}
