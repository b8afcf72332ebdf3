//! What a chat changed in files, by message and in all, as unified diffs.

use crate::changed_steps::steps_in_progress;
use crate::chat::{Chat, broken};
use crate::net_change::{Net, in_order, net_changes};
use planwright_plan::PlanDocument;
use planwright_protocol::api::changes::{CallChanges, ChangedFile, Changes, Status, Total};
use planwright_protocol::message::CallStatus;
use planwright_protocol::{Author, Image, Message, MessageBody, MessageId, Notice, Problem};
use planwright_store::StoredChange;
use planwright_tools::diff::{self, Diff};
use planwright_tools::{FileChange, Scope, Version, WorkspacePath};
use std::collections::{HashMap, HashSet};

/// How long the diff of one file may be.
const LONGEST: usize = 256 << 10;
const LONGEST_TOGETHER: usize = 4 << 20;
/// How many files an answer has, in all and again by message.
const PAGE: usize = 500;
/// How many messages are named that changed one file: the newest.
const MESSAGES_NAMED: usize = 20;
/// Which of the changes are asked for.
#[derive(Clone, Debug, Default)]
pub struct ChangesQuery {
    /// Only what this message changed.
    pub message: Option<MessageId>,
    /// Only what was changed while this step of the plan was in progress.
    pub step: Option<u32>,
    /// Only the files after this path, which is where the page before ended.
    pub after: Option<String>,
    /// Only the list of files, without diffs and without what each message changed.
    pub summary: bool,
}

impl ChangesQuery {
    /// The changes that are asked for, without those of calls that are under way.
    pub(crate) fn chosen<'r>(
        &self,
        rows: &'r [StoredChange],
        messages: &[Message],
        steps: &HashMap<MessageId, u32>,
    ) -> Vec<&'r StoredChange> {
        let under_way: HashSet<MessageId> = messages.iter().filter(|message| is_under_way(message)).map(|message| message.id).collect();
        let is_chosen = |id: MessageId| {
            let is_in_step = self.step.is_none_or(|step| steps.get(&id) == Some(&step));
            !under_way.contains(&id) && is_in_step && self.message.is_none_or(|message| id == message)
        };
        rows.iter().filter(|row| is_chosen(row.change.message_id)).collect()
    }
}

impl Chat {
    /// What the chat changed, or one of its messages: so much of it as one answer can have.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn changes(&self, query: ChangesQuery) -> Result<Changes, Problem> {
        let rows = self.store.file_changes(self.id).await?;
        let messages = self.store.changing_messages(self.id).await?;
        let taken_back = taken_back(&rows);
        let steps = steps_in_progress(&messages);
        let rows = query.chosen(&rows, &messages, &steps);
        let (changes, truncated) = if query.summary || query.after.is_some() {
            (Vec::new(), false)
        } else {
            self.by_message(&messages, &rows, &taken_back).await?
        };
        let mut net = net_changes(&rows);
        let count = net.len();
        if let Some(after) = &query.after {
            net.drain(..net.partition_point(|(net, _)| net.path <= *after));
        }
        let has_more = net.len() > PAGE;
        net.truncate(PAGE);
        let next_cursor = net.last().filter(|_| has_more).map(|(net, _)| net.path.clone());
        // A summary has no diffs, so nothing limits how many files are counted.
        let mut files = self.files(net, &mut if query.summary { usize::MAX } else { LONGEST_TOGETHER }).await?;
        if query.summary {
            summarise(&mut files, &rows, &steps);
            self.mark_outside_plan(&mut files);
        }
        Ok(Changes { changes, truncated, total: Total { files, count }, next_cursor })
    }

    /// What each message changed, and whether some is left out: the newest messages come first to be listed.
    async fn by_message(
        &self,
        messages: &[Message],
        rows: &[&StoredChange],
        taken_back: &HashSet<i64>,
    ) -> Result<(Vec<CallChanges>, bool), Problem> {
        let mut of_message: HashMap<MessageId, Vec<Net>> = HashMap::new();
        for row in rows {
            of_message.entry(row.change.message_id).or_default().push(Net::of(row, taken_back.contains(&row.id)));
        }
        let (mut listed, mut left, mut truncated) = (Vec::new(), PAGE, false);
        for message in messages.iter().rev() {
            let Some(own) = of_message.remove(&message.id) else { continue };
            let mut own = in_order(own);
            let left_out = own.len().saturating_sub(left);
            own.truncate(left);
            left -= own.len();
            truncated |= left_out > 0;
            if !own.is_empty() {
                listed.push((message, own, left_out));
            }
        }
        let (mut changes, mut room) = (Vec::new(), LONGEST_TOGETHER);
        for (message, own, left_out) in listed.into_iter().rev() {
            let files = self.files(own, &mut room).await?;
            changes.push(CallChanges { left_out, ..call_changes(message, files) });
        }
        Ok((changes, truncated))
    }

    fn mark_outside_plan(&self, files: &mut [ChangedFile]) {
        let Some(approval) = self.approval() else { return };
        let document = PlanDocument::parse(&approval.content).ok();
        let Some(scope) = document.and_then(|document| Scope::of(&document.plan, &approval.choice)) else { return };
        for file in files.iter_mut().filter(|file| file.path != approval.plan_file) {
            file.outside_plan = WorkspacePath::parse(&file.path).ok().map(|path| !scope.contains(&path));
        }
    }

    pub(crate) async fn files(&self, changes: Vec<(Net, Option<String>)>, room: &mut usize) -> Result<Vec<ChangedFile>, Problem> {
        let mut files = Vec::new();
        for (net, from) in changes {
            let irreversible = self.irreversible(&net).await?;
            let shown = if *room == 0 { Diff { is_cut: true, ..Diff::default() } } else { self.diff(&net, from.clone()).await? };
            *room = room.saturating_sub(shown.text.len());
            let git = self.ref_change(&net.path, &net.before, &net.after).await?;
            files.push(ChangedFile {
                git,
                status: match (&net.before, &net.after) {
                    _ if from.is_some() => Status::Moved,
                    (Image::Absent, _) => Status::Created,
                    (_, Image::Absent) => Status::Deleted,
                    (_, _) => Status::Modified,
                },
                path: net.path,
                from,
                before: net.before,
                after: net.after,
                diff: shown.text,
                added: shown.added,
                removed: shown.removed,
                binary: shown.is_binary,
                truncated: shown.is_cut,
                reverted: net.reverted,
                irreversible,
                messages: Vec::new(),
                step: None,
                outside_plan: None,
            });
        }
        Ok(files)
    }

    /// A change with the contents that belong to it; `None` if its path can't be named.
    pub(crate) async fn file_change(&self, path: &str, before: &Image, after: &Image) -> Result<Option<FileChange>, Problem> {
        let Ok(path) = WorkspacePath::parse(path) else { return Ok(None) };
        Ok(Some(FileChange { path, before: self.version(before).await?, after: self.version(after).await? }))
    }

    async fn diff(&self, net: &Net, from: Option<String>) -> Result<Diff, Problem> {
        let Some(change) = self.file_change(&net.path, &net.before, &net.after).await? else { return Ok(Diff::default()) };
        let show = move || diff::of(&change, from.as_deref().map(|from| from.trim_start_matches('/')), LONGEST);
        tokio::task::spawn_blocking(show).await.map_err(broken)
    }

    /// An image with the content that belongs to it, if it was kept.
    pub(crate) async fn version(&self, image: &Image) -> Result<Version, Problem> {
        let bytes = match image.content() {
            Some(sha256) => self.store.content(sha256).await?,
            None => None,
        };
        Ok(Version { image: image.clone(), bytes })
    }

    async fn irreversible(&self, net: &Net) -> Result<Option<String>, Problem> {
        if net.before == Image::Unknown || net.after == Image::Unknown {
            return Ok(Some("too large to take back, or no plain file".to_owned()));
        }
        Ok(match net.before.content() {
            Some(sha256) if !self.store.has_content(sha256).await? => Some("too large to take back".to_owned()),
            Some(_) | None => None,
        })
    }
}

fn call_changes(message: &Message, files: Vec<ChangedFile>) -> CallChanges {
    let tool = match (&message.body, message.author) {
        (MessageBody::ToolCall(call), _) => call.tool.as_str(),
        (MessageBody::ToolResult(result), _) => result.tool.as_str(),
        (MessageBody::Notice(Notice::Revert(_)), _) => "revert",
        // The server marks a plan as approved. A plan in a reply was written without a call.
        (_, Author::System) => "approve",
        (_, Author::Assistant) => "write_plan",
        (_, Author::User | Author::Tool) => "",
    };
    CallChanges {
        message_id: message.id,
        call_id: message.body.call_id().map(|id| id.to_string()),
        tool: tool.to_owned(),
        agent_role: message.agent_role,
        at: message.created_at,
        files,
        left_out: 0,
    }
}

/// Whether a call has no outcome yet.
pub fn is_under_way(message: &Message) -> bool {
    message.body.tool_call().is_some_and(|call| call.status == CallStatus::Running)
}

/// The changes that hold no more: taken back by something that was not itself taken back.
fn taken_back(rows: &[StoredChange]) -> HashSet<i64> {
    let mut gone: HashSet<i64> = HashSet::new();
    let by_message: HashMap<(MessageId, &str), i64> =
        rows.iter().map(|row| ((row.change.message_id, row.change.path.as_str()), row.id)).collect();
    // What took something back is newer than that, so it is settled first.
    for row in rows.iter().rev() {
        let Some(by) = row.reverted_by else { continue };
        let undone = by_message.get(&(by, row.change.path.as_str())).is_some_and(|id| gone.contains(id));
        if !undone {
            gone.insert(row.id);
        }
    }
    gone
}

/// Makes a summary of files: their messages in place of their diffs.
pub(crate) fn summarise(files: &mut [ChangedFile], rows: &[&StoredChange], steps: &HashMap<MessageId, u32>) {
    let mut by_path: HashMap<&str, Vec<MessageId>> = HashMap::new();
    for row in rows {
        by_path.entry(&row.change.path).or_default().push(row.change.message_id);
    }
    for file in files {
        let messages = by_path.get(file.path.as_str()).map(Vec::as_slice).unwrap_or_default();
        file.step = messages.last().and_then(|message| steps.get(message)).copied();
        file.messages = messages[messages.len().saturating_sub(MESSAGES_NAMED)..].to_vec();
        file.diff.clear();
    }
}
