//! Path patterns of `glob` and `grep`.

use crate::path::WorkspacePath;
use globset::{GlobBuilder, GlobMatcher};
use planwright_protocol::{ErrorCode, Problem};

const LONGEST: usize = 4096;

/// A parsed pattern, which selects files.
pub struct Pattern {
    glob: GlobMatcher,
    against: Against,
    /// Whether it selects the files that do not match.
    inverted: bool,
}

/// The part of a path that is compared.
enum Against {
    /// The file name: the pattern has no slash.
    Name,
    /// The path relative to the searched folder: the pattern contains a slash.
    Below(WorkspacePath),
    /// The path from the workspace's root: the pattern begins with a slash.
    Whole,
}

impl Pattern {
    /// Parses a pattern for the files below `folder`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS`, with the reason.
    pub fn parse(text: &str, folder: &WorkspacePath) -> Result<Self, Problem> {
        let invalid = |why: &str| {
            Problem::new(
                ErrorCode::InvalidArguments,
                format!("The glob {:?} is invalid: {why}.", text.chars().take(200).collect::<String>()),
            )
        };
        if text.len() > LONGEST {
            return Err(invalid("it is too long"));
        }
        let (inverted, pattern) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.trim_matches('/').is_empty() {
            return Err(invalid("it is empty; write **/* for every file"));
        }
        if pattern.split(['/', '{', '}', ',']).any(|name| name == "..") {
            return Err(invalid("it may not contain `..`; it can only match files below the workspace"));
        }
        let against = if pattern.starts_with('/') {
            Against::Whole
        } else if pattern.contains('/') {
            Against::Below(folder.clone())
        } else {
            Against::Name
        };
        let mut pattern = pattern.trim_start_matches('/').to_owned();
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build().map_err(|error| invalid(&error.kind().to_string()))?;
        Ok(Self { glob: glob.compile_matcher(), against, inverted })
    }

    #[must_use]
    pub fn means(&self, path: &WorkspacePath) -> bool {
        let compared = match &self.against {
            Against::Name => path.names().last().unwrap_or_default(),
            Against::Below(folder) if folder.is_root() => path.relative(),
            Against::Below(folder) => path.relative().strip_prefix(folder.relative()).unwrap_or_default().trim_start_matches('/'),
            Against::Whole => path.relative(),
        };
        self.glob.is_match(compared) != self.inverted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(pattern: &str, folder: &str, path: &str) -> bool {
        let parse = |text| WorkspacePath::parse(text).unwrap();
        Pattern::parse(pattern, &parse(folder)).unwrap().means(&parse(path))
    }

    #[test]
    fn a_pattern_without_slash_is_for_names_and_one_with_slash_for_paths() {
        assert!(means("*.rs", "/", "/src/deep/a.rs"));
        assert!(means("*.{ts,tsx}", "/", "/web/a.tsx"));
        assert!(means("src/*.rs", "/", "/src/a.rs") && !means("src/*.rs", "/", "/src/deep/a.rs"));
        assert!(means("**/deep/*.rs", "/", "/src/deep/a.rs") && means("src/**", "/", "/src/deep/a.rs") && means("src/", "/", "/src/a"));
        assert!(means("deep/*.rs", "/src", "/src/deep/a.rs") && means("/src/deep/*.rs", "/src", "/src/deep/a.rs"));
        assert!(!means("!*.min.js", "/", "/a.min.js") && means("!*.min.js", "/", "/a.js"));
    }

    #[test]
    fn patterns_that_climb_or_say_nothing_are_refused() {
        let long = "a".repeat(5000);
        for pattern in ["../outside/**", "src/../../x", "/..", "{a,..}/x", "", "/", "!", "[", long.as_str()] {
            let refused = Pattern::parse(pattern, &WorkspacePath::root()).err().map(|problem| problem.code);
            assert_eq!(refused, Some(ErrorCode::InvalidArguments), "{pattern:?}");
        }
    }
}
