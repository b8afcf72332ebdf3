//! Readable names for git's refs and repositories.

use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};

/// The readable name of a repository file, such as `branch main`; `None` if it names no commit.
#[must_use]
pub fn title_of(path: &WorkspacePath) -> Option<String> {
    let inside = path.relative().strip_prefix(".git/")?;
    match inside.strip_prefix("logs/") {
        Some(name) => title(name).map(|title| format!("the log of {title}")),
        None => title(inside),
    }
}

fn title(name: &str) -> Option<String> {
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/remotes/", "remote branch"), ("refs/", "ref")];
    match name {
        "HEAD" => Some("HEAD".to_owned()),
        "index" => Some("the index".to_owned()),
        "packed-refs" => Some("the packed refs".to_owned()),
        "refs/stash" => Some("the stash".to_owned()),
        _ => kinds.iter().find_map(|(folder, kind)| Some(format!("{kind} {}", name.strip_prefix(folder)?))),
    }
}

/// The change of a ref, such as `branch main moved from 1234567 to 89abcde`.
#[must_use]
pub fn ref_change(path: &WorkspacePath, before: Option<&[u8]>, after: Option<&[u8]>) -> Option<String> {
    if path.relative().starts_with(".git/logs/") || path.relative() == ".git/index" {
        return None;
    }
    let title = title_of(path)?;
    Some(match (before.map(value), after.map(value)) {
        (Some(before), Some(after)) => format!("{title} moved from {before} to {after}"),
        (Some(before), None) => format!("{title} deleted, which was at {before}"),
        (None, Some(after)) => format!("{title} created at {after}"),
        (None, None) => return None,
    })
}

/// The refusal to create or change a repository with another name than `.git`.
#[must_use]
pub fn repository_refusal(folder: &WorkspacePath) -> Problem {
    let text = format!(
        "{folder} belongs to a git repository that is not named `.git` (a folder with `HEAD`, `objects` and `refs`), or would complete one. Git obeys the configuration of such a folder, so no tool may create or change one. Create it in a command's /tmp, which is removed when the command ends, or ask the user to create it."
    );
    Problem::new(ErrorCode::ProtectedPath, text)
}

/// A shortened commit id, or the name of another ref.
fn value(content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content);
    let text = text.trim();
    let named = text.strip_prefix("ref:").and_then(|name| title(name.trim()));
    named.unwrap_or_else(|| text.chars().filter(|character| !character.is_control()).take(10).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_called_what_people_call_them() {
        let path = |name: &str| WorkspacePath::parse(&format!("/.git/{name}")).unwrap();
        let titles = [
            ("refs/heads/a/b", "branch a/b"),
            ("refs/tags/v1", "tag v1"),
            ("logs/refs/heads/main", "the log of branch main"),
            ("refs/stash", "the stash"),
            ("HEAD", "HEAD"),
        ];
        for (name, title) in titles {
            assert_eq!(title_of(&path(name)).as_deref(), Some(title));
        }
        assert_eq!(title_of(&path("config")), None);
        let (one, head) = (b"1234567890123456789012345678901234567890\n".as_slice(), b"ref: refs/heads/main\n".as_slice());
        assert_eq!(ref_change(&path("HEAD"), Some(head), Some(one)).as_deref(), Some("HEAD moved from branch main to 1234567890"));
        assert_eq!(ref_change(&path("refs/tags/v"), Some(one), None).as_deref(), Some("tag v deleted, which was at 1234567890"));
        assert_eq!(ref_change(&path("logs/HEAD"), Some(one), None), None);
    }
}
