//! What became of a call whose intent is stored and whose result is not.
//!
//! The intent tells how each place of the workspace was before the call and how it was to be after it. Whichever of
//! the two holds now says what happened; nothing is done twice.

use super::{Carried, carry_out, command, conclude, finish, result_message, step};
use crate::chat::{Change, Chat};
use crate::crash;
use planwright_protocol::event::ToolResponse;
use planwright_protocol::plan::plan_sha256;
use planwright_protocol::{ErrorCode, Event, Message, Problem};
use planwright_tools::{Effect, FileChange, Output, Prepared, Signal, Workspace, WorkspacePath};
use serde_json::{Value, json};
use std::sync::Arc;

/// The call with its intent: its status, and the images of all that it will change.
pub fn with_images(call: Message, prepared: &Prepared) -> Message {
    let mut images: Vec<Value> = prepared.changes.iter().map(file_image).collect();
    images.extend(prepared.effects.iter().flat_map(place_images));
    command::noted(call, &prepared.effects).with("status", "running").with("images", images)
}

/// Goes on with such a call after a restart.
pub async fn recover(chat: &Arc<Chat>, call: Message, history: &[Message]) -> Result<Carried, Problem> {
    crash::point("recovery_begun");
    if let Some(output) = step::verified(&call) {
        return step::conclude(chat, &call, Ok(output)).await;
    }
    if command::is_run_by(&call) {
        return command::settle(chat, &call, history).await;
    }
    match present(chat, &call).await {
        Present::Before => Box::pin(carry_out(chat, call.with("status", "pending"), history)).await,
        Present::After => {
            let output = Output::text("Done: the server was restarted in the middle, and the files are as this call was to leave them.");
            let plan = images(&call).iter().filter_map(path_of).find(WorkspacePath::is_plan);
            let output = match plan {
                Some(path) => output.signalling(Signal::PlanFileChanged(path)),
                None => output,
            };
            conclude(chat, &call, Ok(output), history).await
        }
        Present::Neither => {
            let text = "The server was restarted while this call was under way, and the files are neither as before nor as intended. Look at them before you go on.";
            finish(chat, &call, Err(Problem::new(ErrorCode::OutcomeUnknown, text)), Change::default()).await
        }
    }
}

/// What to tell of a call that was stopped.
pub async fn cancelled(chat: &Arc<Chat>, call: &Message) -> Vec<Event> {
    let present = if call.meta("status") == "running" { present(chat, call).await } else { Present::Before };
    let outcome = match present {
        Present::Before | Present::After | Present::Neither if command::is_run_by(call) => command::stopped(chat, call).await,
        Present::After => Ok(json!({ "output": "Done, right before the user stopped the run." })),
        Present::Before => Err(Problem::new(ErrorCode::Cancelled, "The user stopped the run before this call was made.")),
        Present::Neither => Err(Problem::new(
            ErrorCode::OutcomeUnknown,
            "The user stopped the run in the middle of this call. Look at the files before you go on.",
        )),
    };
    let response = ToolResponse::from(outcome);
    let call = call.clone().with("status", if response.success { "done" } else { "cancelled" });
    let result = result_message(chat, &call, response.clone());
    let mut events = vec![Event::MessageUpdated { message: call.clone() }, Event::MessageCreated { message: result }];
    events.extend(call.meta("call_id").parse().ok().map(|call_id| Event::ToolResult { call_id, result: response }));
    events
}

/// A file by its content.
fn file_image(change: &FileChange) -> Value {
    let hash = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map(|bytes| plan_sha256(bytes));
    json!({ "path": change.path, "before": hash(&change.before), "after": hash(&change.after) })
}

/// A place by whether anything is there, for folders and for what has no content to compare.
fn place_images(effect: &Effect) -> Vec<Value> {
    let place = |path: &WorkspacePath, after: bool| json!({ "path": path, "there_before": !after, "there_after": after });
    match effect {
        Effect::Create(path) | Effect::CreateFolder(path) => vec![place(path, true)],
        Effect::Delete(path) => vec![place(path, false)],
        Effect::Move { from, to } => vec![place(from, false), json!({ "path": to, "there_after": true })],
        Effect::Read(_) | Effect::Write(_) | Effect::Replace(_) | Effect::Progress | Effect::Review | Effect::Delegate(_) => Vec::new(),
        Effect::Execute { .. } | Effect::Network | Effect::Unconfined | Effect::Inspect | Effect::Keep => Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Present {
    Before,
    After,
    Neither,
}

async fn present(chat: &Arc<Chat>, call: &Message) -> Present {
    let (images, workspace) = (images(call), chat.workspace.clone());
    let look = move || {
        for path in images.iter().filter_map(path_of) {
            workspace.remove_leftovers(&path);
        }
        let all = |hash: &str, there: &str| images.iter().all(|image| holds(&workspace, image, hash, there));
        match (all("before", "there_before"), all("after", "there_after")) {
            (true, _) => Present::Before,
            (false, true) => Present::After,
            (false, false) => Present::Neither,
        }
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(Present::Neither)
}

/// Whether one side of an image is how things are.
fn holds(workspace: &Workspace, image: &Value, hash: &str, there: &str) -> bool {
    let Some(path) = path_of(image) else { return false };
    if let Some(expected) = image.get(hash) {
        let now = workspace.read(&path).ok().map(|snapshot| plan_sha256(&snapshot.bytes));
        return expected.as_str() == now.as_deref();
    }
    match image.get(there).and_then(Value::as_bool) {
        Some(expected) => workspace.entry(&path).is_ok_and(|entry| entry.is_some() == expected),
        None => true,
    }
}

fn images(call: &Message) -> Vec<Value> {
    call.metadata.get("images").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn path_of(image: &Value) -> Option<WorkspacePath> {
    WorkspacePath::parse(image.get("path")?.as_str()?).ok()
}
