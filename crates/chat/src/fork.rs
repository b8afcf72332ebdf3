//! Another chat that begins like an earlier one: to say something else than was said there.

use crate::chat::{Change, no_chat, storage};
use crate::handle::Handle;
use crate::sessions::Sessions;
use planwright_agent::thread::open_calls;
use planwright_protocol::{CLIENT, ChatId, ErrorCode, Message, MessageId, MessageType, Mode, Problem, Role};
use planwright_store::Versions;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

impl Sessions {
    /// A new chat with the history before a message. What was changed in files stays as it is.
    ///
    /// # Errors
    /// No such chat or message, or it can't be stored.
    pub async fn fork(&self, chat: ChatId, before: MessageId) -> Result<Handle, Problem> {
        let handle = self.chat(chat).await?;
        let row = handle.chat().row().await;
        let history = self.store().messages(chat).await.map_err(storage)?;
        let place = history.iter().position(|message| message.id == before);
        let place = place.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no message {before} in this chat.")))?;
        let approved = self.store().approval(chat).await.map_err(storage)?.is_some();
        let role = role_at(&history, place, row.config.role);
        // An approval is of one chat. Without it, work that it stood behind is planned again.
        let role = if approved && role.mode() == Mode::Act { Mode::Plan.default_role() } else { role };
        let fork = self.create_silently(row.workspace_id, Some(row.title), Some(role)).await?;
        let plan_file = history[..place].iter().rev().find(|message| message.message_type == MessageType::Plan);
        let plan_file = plan_file.map(|plan| plan.meta("plan_file").to_owned());
        let copies = copied(&history[..place], fork.chat().id);
        let images = copies.iter().flat_map(Message::images).map(|image| image.sha256).collect();
        let versions = Box::new(Versions { images, ..Versions::default() });
        fork.chat().publish(Change { versions, ..Change::messages(copies) }, move |row| row.config.plan_file = plan_file).await?;
        self.announce(&fork).await;
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

/// The role that the chat had then: that from which the next switch led away.
fn role_at(history: &[Message], place: usize, now: Role) -> Role {
    let switches = history[place..].iter().filter_map(|message| message.metadata.get("mode_change"));
    let from = switches.filter_map(|switch| serde_json::from_value(switch.get("from")?.clone()).ok());
    from.into_iter().next().unwrap_or(now)
}

/// The messages under ids of their own. Calls that have no result are left out: nothing of them may be carried out here.
fn copied(history: &[Message], chat: ChatId) -> Vec<Message> {
    let open: HashSet<MessageId> = open_calls(history).into_iter().map(|call| call.id).collect();
    let ids: HashMap<String, MessageId> = history.iter().map(|message| (message.id.to_string(), MessageId::generate())).collect();
    let kept = history.iter().filter(|message| !open.contains(&message.id));
    let copy = |message: &Message| {
        let mut copy = Message { chat_id: chat, id: ids[&message.id.to_string()], ..message.clone() };
        // What a client sent stays as it was.
        copy.metadata.iter_mut().filter(|(key, _)| *key != CLIENT).for_each(|(_, value)| rename(value, &ids));
        copy
    };
    kept.map(copy).collect()
}

/// Puts the new ids where messages name each other.
fn rename(value: &mut Value, ids: &HashMap<String, MessageId>) {
    match value {
        Value::String(text) => {
            if let Some(id) = ids.get(text) {
                *text = id.to_string();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename(value, ids)),
        Value::Object(object) => object.values_mut().for_each(|value| rename(value, ids)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
