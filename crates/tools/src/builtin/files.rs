//! Shared by the tools that read and change files.

use crate::diff;
use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::text_file::Text;
use crate::tool::{Output, Signal, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::{Entry, FileSnapshot, Kind, LARGEST_FILE, Stamp};
use planwright_plan::PlanDocument;
use planwright_protocol::plan::PlanFileStatus;
use planwright_protocol::{ErrorCode, Problem};

/// Longer diffs are cut, because the model does not need more.
const LONGEST_DIFF: usize = 20_000;

/// The effects of reading a path. A link also needs permission for its target; otherwise it would bypass the rules for secrets.
pub fn read_effects(path: &WorkspacePath, target: Option<WorkspacePath>) -> Vec<FileEffect> {
    let target = target.filter(|target| target != path);
    [path.clone()].into_iter().chain(target).map(FileEffect::Read).collect()
}

pub fn unreadable(path: &WorkspacePath, error: &std::io::Error) -> Problem {
    Problem::new(ErrorCode::StorageFull, format!("Can't read {path}: {error}."))
}

/// The current state of the file that a call changes; `None` if it does not exist.
///
/// # Errors
/// It is a link, a hard link to a plan, a folder or a device; it is too large; or it changed since the model read it.
pub fn present(cx: &ToolContext, path: &WorkspacePath) -> Result<Option<FileSnapshot>, Problem> {
    if regular(cx, path)?.is_none() {
        return Ok(None);
    }
    let snapshot = cx.workspace.read(path)?;
    // Checked again for the file that was opened: its name may have been reused meanwhile.
    refuse_hard_linked_plan(path, snapshot.links)?;
    cx.seen.check(path, &snapshot.stamp)?;
    Ok(Some(snapshot))
}

/// The regular file at a path; `None` if it does not exist.
///
/// # Errors
/// It is a link, a hard link to a plan, a folder or a device.
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
            "{path} is a symbolic link, and tools change nothing through links. To change its target, name the target. Only the user can change the link itself."
        ),
    )
}

pub fn is_missing(path: &WorkspacePath) -> Problem {
    Problem::new(ErrorCode::PathNotFound, format!("{path} does not exist. Use `ls` or `glob` to list files."))
}

pub fn is_not_empty(path: &WorkspacePath) -> Problem {
    Problem::new(ErrorCode::PathExists, format!("The folder {path} is not empty. Set `recursive: true` to delete it with its contents."))
}

/// A plan that is a hard link would let a role that may only write plans change another file.
pub fn refuse_hard_linked_plan(path: &WorkspacePath, links: u64) -> Result<(), Problem> {
    if path.is_plan() && links > 1 {
        return Err(Problem::new(
            ErrorCode::PathHardlinkRefused,
            format!("{path} is a hard link: the same file has another name. Choose another name for the plan."),
        ));
    }
    Ok(())
}

pub fn check_size(path: &WorkspacePath, bytes: usize) -> Result<(), Problem> {
    if bytes as u64 > LARGEST_FILE {
        return Err(Problem::new(
            ErrorCode::FileTooLarge,
            format!("{path} would have {bytes} bytes; at most {LARGEST_FILE} are allowed. Write less, or use several files."),
        ));
    }
    Ok(())
}

/// The result of the model's `write` or `edit` on the chat's own plan: its next revision, as a draft. Boxes stay unchanged,
/// because the server records progress.
pub fn revised(cx: &ToolContext, path: &WorkspacePath, before: Option<&FileSnapshot>, after: Vec<u8>) -> Vec<u8> {
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
pub fn change(path: &WorkspacePath, before: Option<&FileSnapshot>, after: Option<&[u8]>) -> FileChange {
    // A replaced file keeps its mode.
    let mode = before.map(|snapshot| snapshot.mode);
    FileChange {
        path: path.clone(),
        before: before.map_or_else(Version::absent, |snapshot| Version::file(snapshot.bytes.as_slice(), mode)),
        after: after.map_or_else(Version::absent, |bytes| Version::file(bytes, mode)),
    }
}

/// Records the file's state as read by the model, and reports the change.
pub fn written(cx: &ToolContext, path: &WorkspacePath, stamp: Stamp, change: &FileChange, what: &str) -> Output {
    cx.seen.note(path, stamp);
    let diff = unified_diff(change);
    let output = Output::text(format!("{what} {path}.\n{diff}")).with("path", path.to_string()).with("diff", diff);
    if path.is_plan() { output.signalling(Signal::PlanFileChanged(path.clone())) } else { output }
}

/// The change as a unified diff, for the model.
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
