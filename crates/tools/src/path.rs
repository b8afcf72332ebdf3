//! Paths inside a workspace.

use planwright_protocol::{ErrorCode, Problem};
use std::collections::BTreeSet;
use std::fmt;

/// A path below the workspace's root, without `.`, `..`, doubled slashes or deceptive characters. The root is the empty path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 255;
const DEEPEST: usize = 128;
/// Folders whose content no tool may change.
pub const OWN: [&str; 2] = [".git", ".planwright"];

impl WorkspacePath {
    pub const PLANS: &str = "plans";

    #[must_use]
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Parses `/src/main.rs`, `src/main.rs` or `src/` as a workspace path.
    ///
    /// # Errors
    /// `PATH_INVALID`, with what to write instead.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let invalid =
            |why: String| Problem::new(ErrorCode::PathInvalid, format!("{why}. Use a path below the workspace, such as /src/main.rs."));
        if text.is_empty() {
            return Err(invalid("The path is empty".to_owned()));
        }
        if text.len() > LONGEST_PATH {
            return Err(invalid(format!("The path has {} bytes; at most {LONGEST_PATH} are allowed", text.len())));
        }
        if let Some(c) = text.chars().find(|&c| is_deceptive(c)) {
            return Err(invalid(format!("The path contains the character U+{:04X}, which can disguise it as another path", c as u32)));
        }
        let mut names = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => return Err(invalid("A path may not contain `..`".to_owned())),
                name if name.len() > LONGEST_NAME => {
                    return Err(invalid(format!("A name in the path has {} bytes; at most {LONGEST_NAME} are allowed", name.len())));
                }
                name => names.push(name),
            }
        }
        if names.len() > DEEPEST {
            return Err(invalid(format!("The path is {} folders deep; at most {DEEPEST} are allowed", names.len())));
        }
        Ok(Self(names.join("/")))
    }

    /// Like [`Self::parse`], for paths that must name a file: not the root, no trailing slash.
    ///
    /// # Errors
    /// `PATH_INVALID`, with what to write instead.
    pub fn parse_file(text: &str) -> Result<Self, Problem> {
        let path = Self::parse(text)?;
        if path.is_root() || text.ends_with('/') || text.ends_with("/.") {
            return Err(Problem::new(ErrorCode::PathInvalid, format!("{text:?} names a folder; name a file, such as /src/main.rs.")));
        }
        Ok(path)
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Relative to the root, as the kernel requires: `.` for the root.
    #[must_use]
    pub fn relative(&self) -> &str {
        if self.is_root() { "." } else { &self.0 }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The parent folder and the name; `None` for the root.
    #[must_use]
    pub fn split(&self) -> Option<(WorkspacePath, &str)> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rsplit_once('/') {
            Some((parent, name)) => (Self(parent.to_owned()), name),
            None => (Self::root(), &self.0),
        })
    }

    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Whether it is `folder` or below it.
    #[must_use]
    pub fn is_within(&self, folder: &WorkspacePath) -> bool {
        folder.is_root() || self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The paths of a sorted set that are this path or below it.
    pub fn all_within<'s>(&self, paths: &'s BTreeSet<WorkspacePath>) -> impl Iterator<Item = &'s WorkspacePath> + use<'s> {
        let (folder, below) = (self.clone(), if self.is_root() { self.clone() } else { self.join("") });
        let own = paths.get(self).filter(|_| !self.is_root());
        own.into_iter().chain(paths.range(below..).take_while(move |path| path.is_within(&folder)))
    }

    /// Strictly below `/plans/`.
    #[must_use]
    pub fn is_below_plans(&self) -> bool {
        self.0.strip_prefix(Self::PLANS).is_some_and(|rest| rest.starts_with('/'))
    }

    /// A `.plan` file below `/plans/`, which plan-mode roles may write.
    #[must_use]
    pub fn is_plan(&self) -> bool {
        self.is_below_plans()
            && self.0.rsplit('/').next().is_some_and(|name| name.strip_suffix(".plan").is_some_and(|stem| !stem.is_empty()))
    }

    /// A chat's file: `/.planwright/chats/ID.chat`.
    #[must_use]
    pub fn is_chat(&self) -> bool {
        self.0.strip_prefix(".planwright/chats/").is_some_and(|name| name.split_once('.').is_some_and(|(_, extension)| extension == "chat"))
    }

    /// Whether it is in the workspace's own repository.
    #[must_use]
    pub fn is_in_repository(&self) -> bool {
        self.names().next() == Some(OWN[0])
    }

    /// Files of git and of Planwright, which no tool may change: `.git` and `.planwright` at any depth, because a subfolder may
    /// be a workspace itself; and `.chat` files.
    #[must_use]
    pub fn is_protected(&self) -> bool {
        self.names().any(|name| is_own_name(name.as_bytes()))
            || self
                .names()
                .last()
                .and_then(|name| name.rsplit_once('.'))
                .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("chat"))
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

impl serde::Serialize for WorkspacePath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whether an entry with this name belongs to git or to Planwright, at any depth.
pub fn is_own_name(name: &[u8]) -> bool {
    OWN.iter().any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
}

/// Characters that end lines, move the cursor, change the reading direction, have no width or look like a slash. In an approval
/// card they would disguise the path.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{061C}' | '\u{180E}' | '\u{00AD}')
        || matches!(c, '\u{2044}' | '\u{2215}' | '\u{29F8}' | '\u{FF0F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_set_those_within_a_folder_are_found_and_none_that_only_begins_so() {
        let paths: BTreeSet<WorkspacePath> =
            ["/a", "/a-b", "/a/x", "/a/y/z", "/a0", "/b"].map(|path| WorkspacePath::parse(path).unwrap()).into();
        let within = |folder: WorkspacePath| folder.all_within(&paths).map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(within(WorkspacePath::parse("/a").unwrap()), ["/a", "/a/x", "/a/y/z"]);
        assert_eq!(within(WorkspacePath::parse("/a/y").unwrap()), ["/a/y/z"]);
        assert_eq!(within(WorkspacePath::root()).len(), 6);
        assert_eq!(within(WorkspacePath::parse("/c").unwrap()), Vec::<String>::new());
    }

    fn parse(text: &str) -> String {
        WorkspacePath::parse(text).unwrap().to_string()
    }

    #[test]
    fn relative_and_workspace_absolute_forms_name_the_same_file() {
        for text in ["/src/main.rs", "src/main.rs", "//src//./main.rs", "./src/main.rs"] {
            assert_eq!(parse(text), "/src/main.rs");
        }
        assert_eq!(parse("/"), "/");
        assert!(WorkspacePath::parse(".").unwrap().is_root());
    }

    #[test]
    fn climbing_and_deceptive_paths_are_refused() {
        for text in [
            "",
            "..",
            "/plans/../src/main.rs",
            "a/..",
            "a\0b",
            "a\nb",
            "/plans/\u{1b}[2Jx.plan",
            "/plans/\u{202e}x.plan",
            "/plans\u{2215}x.plan",
            &"a/".repeat(1000),
            &"b".repeat(256),
            &"b/".repeat(3000),
        ] {
            assert_eq!(WorkspacePath::parse(text).unwrap_err().code, ErrorCode::PathInvalid, "{text:?}");
        }
        for text in ["/", ".", "src/", "src/."] {
            assert_eq!(WorkspacePath::parse_file(text).unwrap_err().code, ErrorCode::PathInvalid, "{text:?}");
        }
        assert!(WorkspacePath::parse(&"b".repeat(255)).is_ok());
    }

    #[test]
    fn only_plan_files_below_plans_are_plans() {
        let is_plan = |text: &str| WorkspacePath::parse(text).unwrap().is_plan();
        assert!(is_plan("/plans/x.plan") && is_plan("plans/q3/x.plan"));
        for text in [
            "/plans",
            "/plans/.plan",
            "/plans/x.md",
            "/plans/x.plan.",
            "/src/x.plan",
            "/PLANS/x.plan",
            "/plansX/x.plan",
            "/src/plans/x.plan",
        ] {
            assert!(!is_plan(text), "{text}");
        }
    }

    #[test]
    fn git_and_our_own_files_are_protected_at_any_depth() {
        let is_protected = |text: &str| WorkspacePath::parse(text).unwrap().is_protected();
        assert!(
            is_protected("/.git/config")
                && is_protected("/vendor/sub/.GIT")
                && is_protected("/.planwright/config.toml")
                && is_protected("/sub/.planwright/config.toml")
                && is_protected("/sub/.Planwright")
                && is_protected("/chats/a.chat")
        );
        assert!(!is_protected("/.gitignore") && !is_protected("/src/.planwright.rs"));
    }

    #[test]
    fn within_goes_by_whole_names() {
        let path = |text: &str| WorkspacePath::parse(text).unwrap();
        assert!(path("/a/b").is_within(&path("/a")) && path("/a").is_within(&path("/a")) && path("/x").is_within(&WorkspacePath::root()));
        assert!(!path("/ab").is_within(&path("/a")));
    }
}
