//! What the tools that change files share.

use crate::diff;
use crate::path::WorkspacePath;
use crate::text_file::Text;
use crate::tool::{Output, Signal, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::{Entry, Kind, LARGEST_FILE, Snapshot, Stamp};
use planwright_plan::PlanDocument;
use planwright_protocol::plan::PlanFileStatus;
use planwright_protocol::{ErrorCode, Problem};

/// Diffs longer than this are cut: the model has no use for more.
const LONGEST_DIFF: usize = 20_000;

/// The file that a call means to change, as it is now; `None` if there is none.
///
/// # Errors
/// A link, a hard link to a plan, a folder, a device, too large, or changed since the model read it.
pub fn present(cx: &ToolContext, path: &WorkspacePath) -> Result<Option<Snapshot>, Problem> {
    if regular(cx, path)?.is_none() {
        return Ok(None);
    }
    let snapshot = cx.workspace.read(path)?;
    // Asked again of what was really read: the name may stand for another file by now.
    refuse_hard_linked_plan(path, snapshot.links)?;
    cx.seen.check(path, &snapshot.stamp)?;
    Ok(Some(snapshot))
}

/// The regular file at a path; `None` if nothing is there.
///
/// # Errors
/// A link, a hard link to a plan, a folder or a device.
pub fn regular(cx: &ToolContext, path: &WorkspacePath) -> Result<Option<Entry>, Problem> {
    let Some(entry) = cx.workspace.entry(path)? else { return Ok(None) };
    match entry.kind {
        Kind::File => {}
        Kind::Link => return Err(is_link(path)),
        Kind::Folder => return Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a folder. Name a file in it."))),
        Kind::Other => {
            return Err(Problem::new(ErrorCode::NotRegularFile, format!("{path} is a pipe, socket or device, not a file with text.")));
        }
    }
    refuse_hard_linked_plan(path, entry.links)?;
    Ok(Some(entry))
}

pub fn is_link(path: &WorkspacePath) -> Problem {
    Problem::new(
        ErrorCode::PathSymlinkRefused,
        format!(
            "{path} is a symbolic link, and nothing is changed through links. To change the file it points to, name that one; the link itself is the user's to change."
        ),
    )
}

pub fn is_missing(path: &WorkspacePath) -> Problem {
    Problem::new(ErrorCode::PathNotFound, format!("There is no {path}. Use `ls` or `glob` to see what there is."))
}

pub fn is_not_empty(path: &WorkspacePath) -> Problem {
    Problem::new(
        ErrorCode::PathExists,
        format!("The folder {path} is not empty. Say `recursive: true` to delete it with all that is in it."),
    )
}

/// A plan that is also another file would open that one to a role that may only write plans.
pub fn refuse_hard_linked_plan(path: &WorkspacePath, links: u64) -> Result<(), Problem> {
    if path.is_plan() && links > 1 {
        return Err(Problem::new(
            ErrorCode::PathHardlinkRefused,
            format!("{path} is a hard link: the same file has another name elsewhere. Choose another name for the plan."),
        ));
    }
    Ok(())
}

pub fn check_size(path: &WorkspacePath, bytes: usize) -> Result<(), Problem> {
    if bytes as u64 > LARGEST_FILE {
        return Err(Problem::new(
            ErrorCode::FileTooLarge,
            format!("{path} would have {bytes} bytes; at most {LARGEST_FILE} are allowed. Write less, or in several files."),
        ));
    }
    Ok(())
}

/// What the model's `write` or `edit` makes of the chat's own plan: its next revision, and a draft again. Boxes stay as they
/// are, because progress is the server's to record.
pub fn revised(cx: &ToolContext, path: &WorkspacePath, before: Option<&Snapshot>, after: Vec<u8>) -> Vec<u8> {
    let is_own = cx.config.active_plan_path.as_ref().is_none_or(|own| own == path);
    let is_same = before.is_some_and(|before| before.bytes == after);
    let Some(chat) = cx.config.chat.filter(|_| path.is_plan() && is_own && !is_same) else { return after };
    let parse = |bytes: &[u8]| PlanDocument::parse(std::str::from_utf8(bytes).ok()?).ok();
    let Some(mut plan) = parse(&after) else { return after };
    let earlier = before.and_then(|before| parse(&before.bytes)).unwrap_or_default();
    plan.revision = earlier.revision.saturating_add(1);
    plan.status = PlanFileStatus::Draft;
    plan.chat = Some(chat.to_string());
    for step in &mut plan.plan.steps {
        let known = earlier.plan.steps.iter().find(|known| known.action == step.action);
        step.status = known.map(|known| known.status).unwrap_or_default();
    }
    plan.render().into_bytes()
}

/// One file before and after.
pub fn change(path: &WorkspacePath, before: Option<&Snapshot>, after: Option<&[u8]>) -> FileChange {
    // What is replaced keeps its mode.
    let mode = before.map(|snapshot| snapshot.mode);
    FileChange {
        path: path.clone(),
        before: before.map_or_else(Version::absent, |snapshot| Version::file(snapshot.bytes.as_slice(), mode)),
        after: after.map_or_else(Version::absent, |bytes| Version::file(bytes, mode)),
    }
}

/// Remembers the file as the model now knows it, and tells what was done to it.
pub fn written(cx: &ToolContext, path: &WorkspacePath, stamp: Stamp, change: &FileChange, what: &str) -> Output {
    cx.seen.note(path, stamp);
    let diff = unified_diff(change);
    let output = Output::text(format!("{what} {path}.\n{diff}")).with("path", path.to_string()).with("diff", diff);
    if path.is_plan() { output.signalling(Signal::PlanFileChanged(path.clone())) } else { output }
}

/// The change as a unified diff, for the model to read.
#[must_use]
pub fn unified_diff(change: &FileChange) -> String {
    let text = |version: &Version| Text::of(version.bytes.as_deref().unwrap_or_default()).map(|text| text.shown());
    let name = |version: &Version, side: &str| if version.is_absent() { "/dev/null".to_owned() } else { format!("{side}{}", change.path) };
    let (Some(before), Some(after)) = (text(&change.before), text(&change.after)) else {
        return "[not shown: not a text file]\n".to_owned();
    };
    let hunks = diff::hunks(&before, &after, LONGEST_DIFF);
    if hunks.text.is_empty() {
        return String::new();
    }
    format!("--- {}\n+++ {}\n{}", name(&change.before, "a"), name(&change.after, "b"), hunks.text)
}
