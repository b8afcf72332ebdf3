//! The effects of a call as the approval card shows them: the server's own diff, the deleted files, whether it can be reverted.

use crate::chat::{Chat, broken};
use planwright_protocol::message::{DeletedEntry, EntryKind};
use planwright_protocol::{Image, Problem, StepStatus};
use planwright_tools::diff;
use planwright_tools::{Effect, FileChange, FileEffect, RunEffect, Secrets, Version, WorkspacePath};
use std::collections::HashMap;
use std::sync::Arc;

/// The longest diff of a card, in bytes. The card is part of every list of chats.
const LONGEST_DIFF: usize = 32 << 10;
const MOST_DELETED: usize = 40;
/// In characters.
const LONGEST_BEGINNING: usize = 400;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct EffectPreview {
    /// The step of the plan that is in progress.
    pub step_number: Option<u32>,
    pub diff: Option<String>,
    pub deleted: Vec<DeletedEntry>,
    pub deleted_count: u64,
    pub reversible: bool,
}

/// # Errors
/// The server failed.
pub async fn of(chat: &Arc<Chat>, effects: Vec<Effect>, changes: Vec<FileChange>) -> Result<EffectPreview, Problem> {
    let record = chat.record();
    let steps = record.progress.as_ref().filter(|_| chat.is_bound()).map(|progress| progress.steps.as_slice()).unwrap_or_default();
    let step_number = steps.iter().rev().find(|step| step.status == StepStatus::InProgress).map(|step| step.step_number);
    let secrets = chat.settings().secrets.clone();
    let show = move || EffectPreview { step_number, ..shown(&effects, changes, &secrets) };
    tokio::task::spawn_blocking(show).await.map_err(broken)
}

fn shown(effects: &[Effect], changes: Vec<FileChange>, secrets: &Secrets) -> EffectPreview {
    let reversible = !effects.iter().any(is_final) && changes.iter().all(has_copies);
    let lost: Vec<&WorkspacePath> = effects.iter().filter(|effect| effect.loses()).flat_map(Effect::changed_paths).collect();
    let is_deleted = |change: &FileChange| change.after.is_absent() && lost.iter().any(|path| change.path.is_within(path));
    let (deleted, others): (Vec<FileChange>, Vec<FileChange>) = changes.into_iter().partition(is_deleted);
    let diff = diff_of(others, secrets);
    EffectPreview {
        step_number: None,
        diff: (!diff.is_empty()).then_some(diff),
        deleted_count: deleted.len() as u64,
        deleted: deleted.iter().take(MOST_DELETED).map(|change| entry(change, secrets)).collect(),
        reversible,
    }
}

/// Whether nothing in the workspace can undo the effect: something leaves the machine, or runs without a sandbox.
fn is_final(effect: &Effect) -> bool {
    match effect {
        Effect::File(effect) => matches!(effect, FileEffect::Read(_)),
        Effect::Run(effect) => match effect {
            RunEffect::Network | RunEffect::Unconfined | RunEffect::Call { .. } | RunEffect::Consult { .. } => true,
            RunEffect::Execute { .. } | RunEffect::Inspect => false,
        },
        Effect::Web(_) => true,
        Effect::Record(_) | Effect::Landing(_) => false,
    }
}

fn has_copies(change: &FileChange) -> bool {
    let is_kept = |version: &Version| match &version.image {
        Image::Absent | Image::Folder { .. } | Image::Link { .. } => true,
        Image::File { .. } => version.bytes.is_some(),
        Image::Unknown => false,
    };
    is_kept(&change.before) && change.after.image != Image::Unknown
}

/// The changes as one diff. A file that only gets another path is shown as a rename.
fn diff_of(changes: Vec<FileChange>, secrets: &Secrets) -> String {
    let content = |version: &Version| version.image.content().map(str::to_owned);
    let (gone, mut there): (Vec<FileChange>, Vec<FileChange>) = changes.into_iter().partition(|change| change.after.is_absent());
    let mut moved: HashMap<String, FileChange> = HashMap::new();
    for change in gone {
        match content(&change.before) {
            Some(sha256) if there.iter().any(|other| other.before.is_absent() && content(&other.after).as_ref() == Some(&sha256)) => {
                moved.insert(sha256, change);
            }
            Some(_) | None => there.push(change),
        }
    }
    let mut text = String::new();
    for change in there.iter().filter(|change| !secrets.contains(&change.path)) {
        let from = content(&change.after).filter(|_| change.before.is_absent()).and_then(|sha256| moved.remove(&sha256));
        let left = LONGEST_DIFF.saturating_sub(text.len());
        if left == 0 {
            text.push_str("[diff cut: more files change]\n");
            break;
        }
        let shown = match from {
            Some(from) => {
                let renamed = FileChange { before: from.before.clone(), ..change.clone() };
                diff::of(&renamed, Some(from.path.relative()), left)
            }
            None => diff::of(change, None, left),
        };
        text.push_str(&shown.text);
    }
    text
}

fn entry(change: &FileChange, secrets: &Secrets) -> DeletedEntry {
    let kind = match change.before.image {
        Image::File { .. } => EntryKind::File,
        Image::Folder { .. } => EntryKind::Folder,
        Image::Link { .. } => EntryKind::Link,
        Image::Absent | Image::Unknown => EntryKind::Other,
    };
    let bytes = change.before.bytes.as_deref();
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    let beginning = text.filter(|text| !text.is_empty() && !secrets.contains(&change.path)).map(|text| {
        let visible = |letter: char| if letter.is_control() && letter != '\n' && letter != '\t' { '\u{fffd}' } else { letter };
        text.chars().take(LONGEST_BEGINNING).map(visible).collect()
    });
    DeletedEntry {
        path: change.path.to_string(),
        kind,
        size: bytes.map(|bytes| bytes.len() as u64),
        lines: text.map(|text| text.lines().count() as u64),
        beginning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    fn file(text: &str) -> Version {
        Version::file(text.as_bytes(), Some(0o644))
    }

    fn change(at: &str, before: Version, after: Version) -> FileChange {
        FileChange { path: path(at), before, after }
    }

    #[test]
    fn a_deleted_folder_lists_its_files_with_size_and_beginning_but_no_secret() {
        let effects = [FileEffect::Delete(path("/old")).into()];
        let changes = vec![
            change("/old", Image::Folder { mode: None }.into(), Version::absent()),
            change("/old/.env", file("KEY=abc\n"), Version::absent()),
            change("/old/<img src=x>.rs", file("fn a() {}\r\n\u{1b}[31m\nfn b() {}\n"), Version::absent()),
            change("/old/big.bin", Image::File { mode: None, sha256: "0".into() }.into(), Version::absent()),
        ];
        let preview = shown(&effects, changes, &Secrets::default());
        let told: Vec<_> = preview.deleted.iter().map(|one| (one.kind, one.size, one.lines, one.beginning.as_deref())).collect();
        assert_eq!(told[0], (EntryKind::Folder, None, None, None));
        assert_eq!(told[1], (EntryKind::File, Some(8), Some(1), None), "a secret is not shown");
        let hostile = Some("fn a() {}\u{fffd}\n\u{fffd}[31m\nfn b() {}\n");
        assert_eq!(told[2], (EntryKind::File, Some(27), Some(3), hostile));
        assert_eq!(told[3], (EntryKind::File, None, None, None));
        assert_eq!((preview.deleted_count, preview.diff), (4, None));
        assert!(!preview.reversible, "there is no copy of one of them");
    }

    #[test]
    fn a_written_file_is_a_diff_and_a_moved_one_a_rename() {
        let effects = [FileEffect::Write(path("/a.rs")).into(), FileEffect::Move { from: path("/b.rs"), to: path("/c.rs") }.into()];
        let changes = vec![
            change("/a.rs", file("old\n"), file("new\n")),
            change("/b.rs", file("moved\n"), Version::absent()),
            change("/c.rs", Version::absent(), file("moved\n")),
            change("/.env", file("KEY=abc\n"), file("KEY=def\n")),
        ];
        let preview = shown(&effects, changes, &Secrets::default());
        let diff = preview.diff.unwrap();
        assert!(diff.contains("-old\n+new\n") && diff.contains("rename from b.rs\nrename to c.rs\n"), "{diff}");
        assert!(!diff.contains("KEY") && preview.deleted.is_empty() && preview.reversible, "{diff}");
    }

    #[test]
    fn nothing_brings_back_what_left_the_machine() {
        for effect in [Effect::from(RunEffect::Network), FileEffect::Read(path("/.env")).into()] {
            assert!(!shown(&[effect], Vec::new(), &Secrets::default()).reversible);
        }
        let command = RunEffect::Execute { command: "make".into(), folder: WorkspacePath::root() };
        assert!(shown(&[command.into()], Vec::new(), &Secrets::default()).reversible);
    }
}
