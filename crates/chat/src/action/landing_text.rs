//! Describes a command's changes as text: on the card that asks about them, and in the result after a crash.

use crate::versions::{ObservedPath, Present};
use planwright_tools::{Effect, FileEffect, LandingEffect};
use serde_json::{Value, json};

/// The current state of the paths that a command changed.
#[derive(Default)]
pub struct LandedPaths {
    kept: Vec<String>,
    not_kept: Vec<String>,
    changed_since: Vec<String>,
}

impl LandedPaths {
    pub fn of(paths: Vec<ObservedPath>) -> Self {
        let mut found = Self::default();
        for one in paths {
            let list = match one.present() {
                Present::After => &mut found.kept,
                Present::Before => &mut found.not_kept,
                Present::Neither => &mut found.changed_since,
            };
            list.push(one.path.to_string());
        }
        found
    }

    pub fn text(&self) -> String {
        const MOST: usize = 20;
        let all = [
            ("As the command left it", &self.kept),
            ("Unchanged, so the command's change is missing", &self.not_kept),
            ("Changed by somebody else, so it is unknown whether the command's change had landed", &self.changed_since),
        ];
        let part = |(words, paths): (&str, &Vec<String>)| {
            let named = paths.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
            let more = paths.len().saturating_sub(MOST);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            (!paths.is_empty()).then(|| format!("{words}: {named}{more}"))
        };
        let parts: Vec<String> = all.into_iter().filter_map(part).collect();
        if parts.is_empty() { "It changed only build output and git's own records".to_owned() } else { parts.join(". ") }
    }

    pub fn facts(&self) -> Value {
        json!({ "kept": self.kept, "not_kept": self.not_kept, "changed_since": self.changed_since })
    }
}

/// The first paths, so that the user has something to decide on.
pub fn named(effects: &[Effect]) -> String {
    const MOST: usize = 12;
    let file = |effect: &FileEffect| match effect {
        FileEffect::Delete(path) | FileEffect::Replace(path) => Some(format!("deleted {path}")),
        FileEffect::Create(path) | FileEffect::CreateFolder(path) => Some(format!("created {path}")),
        FileEffect::Write(path) => Some(format!("changed {path}")),
        FileEffect::Move { from, to } => Some(format!("moved {from} to {to}")),
        FileEffect::Read(_) | FileEffect::ChangeRepository(_) => None,
    };
    let word = |effect: &Effect| match effect {
        Effect::File(effect) => file(effect),
        Effect::Landing(LandingEffect::LoseCommits(loss)) => Some(loss.to_string()),
        Effect::Landing(_) | Effect::Record(_) | Effect::Run(_) | Effect::Web(_) => None,
    };
    let mut sorted: Vec<&Effect> = effects.iter().collect();
    sorted.sort_by_key(|effect| !effect.loses());
    let mut words: Vec<String> = sorted.into_iter().filter_map(word).collect();
    let more = words.len().saturating_sub(MOST);
    words.truncate(MOST);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("All of it: {}{rest}.", words.join(", "))
}

/// The number of changes of each kind, as text.
pub fn summary(effects: &[Effect]) -> String {
    let count = |wanted: fn(&Effect) -> bool| effects.iter().filter(|effect| wanted(effect)).count();
    let deleted = count(Effect::loses);
    let created = count(|effect| matches!(effect, Effect::File(FileEffect::Create(_) | FileEffect::CreateFolder(_))));
    let changed = count(|effect| matches!(effect, Effect::File(FileEffect::Write(_))));
    let moved = count(|effect| matches!(effect, Effect::File(FileEffect::Move { .. })));
    let parts = [(deleted, "deleted"), (changed, "changed"), (created, "created"), (moved, "moved")];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
