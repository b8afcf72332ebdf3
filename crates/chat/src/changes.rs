//! What a chat changed in files, by message and in all, as unified diffs.

use crate::changed_steps::steps_in_progress;
use crate::chat::{Chat, broken};
use planwright_protocol::message::CallStatus;
use planwright_protocol::{Author, Image, Message, MessageBody, MessageId, Notice, Problem, Role, Timestamp};
use planwright_store::StoredChange;
use planwright_tools::diff::{self, Diff};
use planwright_tools::{FileChange, Version, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How long the diff of one file may be.
const LONGEST: usize = 256 << 10;
const LONGEST_TOGETHER: usize = 4 << 20;
/// How many files an answer has, in all and again by message.
const PAGE: usize = 500;
/// How many messages are named that changed one file: the newest.
const MESSAGES_NAMED: usize = 20;
/// Nothing: files without content are all alike, and none of them was moved because of it.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Which of the changes are asked for.
#[derive(Clone, Debug, Default)]
pub struct ChangesQuery {
    /// Only what this message changed.
    pub message: Option<MessageId>,
    /// Only the files after this path, which is where the page before ended.
    pub after: Option<String>,
    /// Only the list of files, without diffs and without what each message changed.
    pub summary: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Changes {
    /// On the first page; empty in a summary.
    pub changes: Vec<CallChanges>,
    /// Whether `changes` lacks some, because there are too many. The newest are there.
    pub truncated: bool,
    pub total: Total,
    /// The next page of `total.files` is that with this `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// From before the first change to after the last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Total {
    /// A page of them, by path.
    pub files: Vec<ChangedFile>,
    /// How many there are on all pages.
    pub count: usize,
}

/// What one message changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallChanges {
    pub message_id: MessageId,
    pub call_id: Option<String>,
    /// The tool; `revert` where the user took something back, `approve` where a plan was marked as approved.
    pub tool: String,
    pub agent_role: Option<Role>,
    pub at: Timestamp,
    pub files: Vec<ChangedFile>,
    /// How many more files it changed than are listed here.
    pub left_out: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Created,
    Modified,
    Deleted,
    Moved,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    /// Where it was before, if it only moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub status: Status,
    pub before: Image,
    pub after: Image,
    pub diff: String,
    pub added: usize,
    pub removed: usize,
    pub binary: bool,
    /// Whether the diff was cut or left out, because there is too much of it.
    pub truncated: bool,
    pub reverted: bool,
    /// Why it can't be taken back, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<&'static str>,
    /// What happened to a ref of git's, in plain words, such as `branch main moved from 1234567890 to 89abcdef01`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// In a summary: the messages that changed it, at most the newest 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageId>,
    /// In a summary: the number of the plan's step that was in progress when it was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// A text file that a message changed, as it was and as it is then; `None` where it was not there.
#[derive(Debug)]
pub struct ChangedText {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// One path over several changes.
#[derive(Clone)]
struct Net {
    path: String,
    before: Image,
    after: Image,
    reverted: bool,
}

impl Chat {
    /// What the chat changed, or one of its messages: so much of it as one answer can have.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn changes(&self, query: ChangesQuery) -> Result<Changes, Problem> {
        let rows = self.store.file_changes(self.id).await?;
        let messages = self.store.changing_messages(self.id).await?;
        let under_way: HashSet<MessageId> = messages.iter().filter(|message| is_under_way(message)).map(|message| message.id).collect();
        let taken_back = taken_back(&rows);
        let chosen = |row: &&StoredChange| {
            !under_way.contains(&row.change.message_id) && query.message.is_none_or(|message| row.change.message_id == message)
        };
        let rows: Vec<&StoredChange> = rows.iter().filter(chosen).collect();
        let (changes, truncated) = if query.summary || query.after.is_some() {
            (Vec::new(), false)
        } else {
            self.by_message(&messages, &rows, &taken_back).await?
        };
        let mut net: BTreeMap<&str, Net> = BTreeMap::new();
        for row in &rows {
            let whole = net.entry(&row.change.path).or_insert_with(|| Net::of(row, false));
            whole.after = row.change.after.clone();
        }
        let mut net = in_order(net.into_values().filter(|net| !net.before.matches(&net.after)).collect());
        let count = net.len();
        if let Some(after) = &query.after {
            net.drain(..net.partition_point(|(net, _)| net.path <= *after));
        }
        let has_more = net.len() > PAGE;
        net.truncate(PAGE);
        let next_cursor = net.last().filter(|_| has_more).map(|(net, _)| net.path.clone());
        let mut files = self.files(net, &mut LONGEST_TOGETHER.clone()).await?;
        if query.summary {
            summarise(&mut files, &rows, &steps_in_progress(&messages));
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
            changes.push(CallChanges { left_out, ..CallChanges::of(message, files) });
        }
        Ok((changes, truncated))
    }

    /// The text files that a message changed, whole. What is no text, or too long to be shown, is left out.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn changed_texts(&self, message: MessageId) -> Result<Vec<ChangedText>, Problem> {
        let mut texts = Vec::new();
        for row in self.store.file_changes_of(message).await? {
            let (before, after) = (self.text(&row.change.before).await?, self.text(&row.change.after).await?);
            if let (Some(before), Some(after)) = (before, after)
                && before != after
            {
                texts.push(ChangedText { path: row.change.path, before, after });
            }
        }
        Ok(texts)
    }

    /// The text of a file, or that there is none; `None` for what is no text.
    async fn text(&self, image: &Image) -> Result<Option<Option<String>>, Problem> {
        if *image == Image::Absent {
            return Ok(Some(None));
        }
        let bytes = self.version(image).await?.bytes.filter(|bytes| bytes.len() <= LONGEST && !bytes.contains(&0));
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()).map(Some))
    }

    async fn files(&self, changes: Vec<(Net, Option<String>)>, room: &mut usize) -> Result<Vec<ChangedFile>, Problem> {
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
            });
        }
        Ok(files)
    }

    async fn diff(&self, net: &Net, from: Option<String>) -> Result<Diff, Problem> {
        let Ok(path) = WorkspacePath::parse(&net.path) else { return Ok(Diff::default()) };
        let change = FileChange { path, before: self.version(&net.before).await?, after: self.version(&net.after).await? };
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

    async fn irreversible(&self, net: &Net) -> Result<Option<&'static str>, Problem> {
        if net.before == Image::Unknown || net.after == Image::Unknown {
            return Ok(Some("too large to take back, or no plain file"));
        }
        Ok(match net.before.content() {
            Some(sha256) if !self.store.has_content(sha256).await? => Some("too large to take back"),
            Some(_) | None => None,
        })
    }
}

impl CallChanges {
    fn of(message: &Message, files: Vec<ChangedFile>) -> Self {
        let tool = match (&message.body, message.author) {
            (MessageBody::ToolCall(call), _) => call.tool.as_str(),
            (MessageBody::ToolResult(result), _) => result.tool.as_str(),
            (MessageBody::Notice(Notice::Revert(_)), _) => "revert",
            // The server marks a plan as approved; a plan that was told was not written by a call.
            (_, Author::System) => "approve",
            (_, Author::Assistant) => "write_plan",
            (_, Author::User | Author::Tool) => "",
        };
        Self {
            message_id: message.id,
            call_id: message.body.call_id().map(|id| id.to_string()),
            tool: tool.to_owned(),
            agent_role: message.agent_role,
            at: message.created_at,
            files,
            left_out: 0,
        }
    }
}

impl Net {
    fn of(row: &StoredChange, reverted: bool) -> Self {
        Self { path: row.change.path.clone(), before: row.change.before.clone(), after: row.change.after.clone(), reverted }
    }
}

/// Whether it is not known yet what comes of a call.
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

/// By path, with moves put together.
fn in_order(changes: Vec<Net>) -> Vec<(Net, Option<String>)> {
    let mut changes = with_moves(changes);
    changes.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    changes
}

/// Makes a summary of files: their messages in place of their diffs.
fn summarise(files: &mut [ChangedFile], rows: &[&StoredChange], steps: &HashMap<MessageId, u32>) {
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

/// Puts files that are gone at one path and there at another with the same content together.
fn with_moves(changes: Vec<Net>) -> Vec<(Net, Option<String>)> {
    let mut gone: HashMap<String, Vec<Net>> = HashMap::new();
    let content = |image: &Image| image.content().filter(|sha256| *sha256 != EMPTY).map(str::to_owned);
    for net in changes.iter().filter(|net| net.after == Image::Absent) {
        if let Some(sha256) = content(&net.before) {
            gone.entry(sha256).or_default().push(net.clone());
        }
    }
    let (mut moved, mut shown) = (HashSet::new(), Vec::new());
    for mut net in changes {
        let old = content(&net.after).filter(|_| net.before == Image::Absent).and_then(|sha256| gone.get_mut(&sha256)?.pop());
        let from = old.map(|old| {
            net.before = old.before;
            moved.insert(old.path.clone());
            old.path
        });
        shown.push((net, from));
    }
    shown.retain(|(net, _)| !moved.contains(&net.path));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(path: &str, before: Image, after: Image) -> Net {
        Net { path: path.into(), before, after, reverted: false }
    }

    #[test]
    fn a_file_that_is_gone_here_and_there_elsewhere_was_moved_unless_it_is_empty() {
        let file = |sha256: &str| Image::File { mode: Some(0o644), sha256: sha256.into() };
        let shown = with_moves(vec![
            net("/a", file("1"), Image::Absent),
            net("/b", Image::Absent, file("1")),
            net("/c", Image::Absent, file("1")),
            net("/d", file(EMPTY), Image::Absent),
            net("/e", Image::Absent, file(EMPTY)),
        ]);
        let told: Vec<(&str, Option<&str>)> = shown.iter().map(|(net, from)| (net.path.as_str(), from.as_deref())).collect();
        assert_eq!(told, [("/b", Some("/a")), ("/c", None), ("/d", None), ("/e", None)]);
    }
}
