//! `planwright export`

use crate::args::{ExportArgs, ExportFormat};
use crate::data_dir::{SharedDatabase, database};
use crate::output;
use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use planwright_chat::chat_file::ChatHeader;
use planwright_chat::chat_file::whole_entry;
use planwright_plan::PlanDocument;
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::time::now;
use planwright_protocol::{ChatId, Message, Timestamp, WireMessage};
use planwright_store::{ChatFilter, ChatRow, Store};
use serde::Serialize;
use std::process::ExitCode;

/// Number of chats to list if the requested one does not exist.
const LISTED_CHATS: usize = 5;

/// A chat as JSON. `version` grows when the meaning of a field changes.
#[derive(Serialize)]
struct ChatExport {
    format: &'static str,
    version: u32,
    planwright: &'static str,
    exported_at: Timestamp,
    workspace: Folder,
    chat: ChatView,
    messages: Vec<WireMessage>,
}

#[derive(Serialize)]
struct Folder {
    name: String,
    path: String,
}

pub async fn export(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let url = args.storage.database_url.as_deref().filter(|url| !url.is_empty());
    let file = database(args.storage.data_dir.clone())?;
    if url.is_none() && !file.exists() {
        bail!("there are no chats in {}; choose another data folder with --data-dir", file.parent().unwrap_or(&file).display());
    }
    let opened = SharedDatabase::open(args.storage.data_dir, url).await?;
    let store = &opened.store;
    let Some(row) = store.chat(args.chat).await? else { return Err(unknown(store, args.chat).await?) };
    let messages = store.messages(row.id).await?;
    match args.format {
        ExportFormat::Md => output::data(markdown(&row, messages).trim_end()),
        ExportFormat::Json => {
            let mut exported = Vec::new();
            for message in &messages {
                exported.push(with_images(store, message).await?);
            }
            let folder = store.workspace(row.workspace_id).await?.context("the chat's workspace is unknown")?;
            output::data(&serde_json::to_string_pretty(&ChatExport {
                format: "planwright-chat",
                version: 1,
                planwright: env!("CARGO_PKG_VERSION"),
                exported_at: now(),
                workspace: Folder { name: folder.name, path: folder.path },
                chat: ChatView::from(&row),
                messages: exported,
            })?);
        }
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}

/// The message with the bytes of its images, as base64.
async fn with_images(store: &Store, message: &Message) -> anyhow::Result<WireMessage> {
    let mut wire = WireMessage::from(message);
    for image in message.images() {
        if let Some(bytes) = store.content(&image.sha256).await? {
            wire.embed_image(&image.sha256, &BASE64_STANDARD.encode(bytes));
        }
    }
    Ok(wire)
}

/// Like the chat's file in the workspace, but nothing is shortened and plans are included.
fn markdown(row: &ChatRow, messages: Vec<Message>) -> String {
    let config = row.config.clone();
    let header = ChatHeader { id: row.id, title: row.title.clone(), config, created_at: row.created_at, updated_at: row.updated_at };
    let head = String::from_utf8_lossy(&header.put_into(&[])).into_owned();
    let title = row.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let entries: String = messages.into_iter().map(with_plan).filter_map(|message| whole_entry(&message)).collect();
    format!("{head}\n# {title}\n{entries}")
}

/// The message with its plan as a quotation, so that the plan's headings are not headings of the transcript.
fn with_plan(mut message: Message) -> Message {
    if let Some(plan) = message.body.plan().map(|version| version.plan.clone()) {
        let text = PlanDocument::new(plan, None, 0).render();
        let text = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).map_or(text.as_str(), |(_, body)| body);
        let quoted: Vec<String> = text.trim().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
        let content = format!("{}\n\n{}", message.content.trim_end(), quoted.join("\n"));
        content.trim_start().clone_into(&mut message.content);
    }
    message
}

/// Lists the existing chats.
async fn unknown(store: &Store, chat: ChatId) -> anyhow::Result<anyhow::Error> {
    let mut rows = Vec::new();
    for workspace in store.workspaces().await? {
        let limit = u32::try_from(LISTED_CHATS).ok();
        rows.extend(store.chats(workspace.id, ChatFilter { limit, ..ChatFilter::default() }).await?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
    let named: Vec<String> = rows.iter().take(LISTED_CHATS).map(|row| format!("\n  {}  {}", row.id, row.title)).collect();
    let hint = if named.is_empty() { "; there are none at all".to_owned() } else { format!("; the newest are{}", named.concat()) };
    Ok(anyhow::anyhow!("there is no chat {chat}{hint}"))
}
