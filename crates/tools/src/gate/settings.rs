//! What makes the gate stricter: the user's settings, the plan's scope, what looks like a secret.

use crate::path::WorkspacePath;
use globset::{GlobBuilder, GlobMatcher};
use planwright_protocol::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happens to a call that needs a word from the user. Ordered by strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Allow,
    Ask,
    Deny,
}

/// The `[approvals]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Approvals {
    /// Deletions.
    pub delete: Rule,
    /// Changes to files that the approved plan does not name.
    pub outside_plan: Rule,
    /// Commands inside the sandbox; leaving it always asks.
    pub execute: Rule,
    /// Tools of MCP servers; `deny` also for those that only read.
    pub mcp: Rule,
    /// A rule for one tool, by its name; can only tighten.
    pub tools: BTreeMap<String, Rule>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { delete: Rule::Ask, outside_plan: Rule::Ask, execute: Rule::Allow, mcp: Rule::Ask, tools: BTreeMap::new() }
    }
}

impl Approvals {
    /// Whether nothing is allowed here that is not allowed there as well.
    #[must_use]
    pub fn are_as_strict_as(&self, other: &Self) -> bool {
        let Self { delete, outside_plan, execute, mcp, tools } = self;
        let rule = |tools: &BTreeMap<String, Rule>, name: &String| tools.get(name).copied().unwrap_or(Rule::Allow);
        *delete >= other.delete
            && *outside_plan >= other.outside_plan
            && *execute >= other.execute
            && *mcp >= other.mcp
            && other.tools.iter().all(|(name, theirs)| rule(tools, name) >= *theirs)
    }
}

/// The user's standing yes: this chat, this tool, this folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub tool: String,
    pub folder: WorkspacePath,
}

impl Grant {
    #[must_use]
    pub fn covers(&self, tool: &str, path: &WorkspacePath) -> bool {
        self.tool == tool && path.is_within(&self.folder)
    }
}

/// The files that the approved plan names: what may change without asking.
#[derive(Debug)]
pub struct Scope {
    globs: Vec<GlobMatcher>,
}

impl Scope {
    /// The scope of a plan; `None` when it names no files.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<Scope> {
        let files = plan.files();
        if files.is_empty() {
            return None;
        }
        // A pattern that can't be read covers nothing, so what it was meant for asks.
        Some(Scope { globs: files.into_iter().flat_map(patterns).filter_map(|pattern| matcher(&pattern, Case::Exact)).collect() })
    }

    #[must_use]
    pub fn contains(&self, path: &WorkspacePath) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path.relative()))
    }
}

/// A name stands for the file, and for everything below it if it is a folder.
fn patterns(file: &str) -> [String; 2] {
    let file = file.trim_start_matches("./").trim_matches('/');
    [file.to_owned(), format!("{file}/**")]
}

/// A secret is one in capitals as well; a file of the plan is the one that is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Exact,
    Ignored,
}

fn matcher(pattern: &str, case: Case) -> Option<GlobMatcher> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .case_insensitive(case == Case::Ignored)
        .build()
        .ok()
        .map(|glob| glob.compile_matcher())
}

/// Names of files that may hold secrets.
#[derive(Debug)]
pub struct Secrets {
    globs: Vec<GlobMatcher>,
}

impl Secrets {
    /// # Errors
    /// The first pattern that is not a glob.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let globs = patterns
            .iter()
            .map(|pattern| matcher(pattern, Case::Ignored).ok_or_else(|| format!("{pattern:?} is not a valid glob")))
            .collect::<Result<_, _>>()?;
        Ok(Self { globs })
    }

    /// Whether a name on the path is that of a secret.
    #[must_use]
    pub fn contains(&self, path: &WorkspacePath) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path.relative()) || path.names().any(|name| glob.is_match(name)))
    }

    /// As they were written.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        self.globs.iter().map(|glob| glob.glob().glob().to_owned()).collect()
    }

    /// The patterns the product ships with.
    #[must_use]
    pub fn shipped() -> Vec<String> {
        [".env*", "*.pem", "id_*"].map(str::to_owned).into()
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self { globs: Self::shipped().iter().filter_map(|pattern| matcher(pattern, Case::Ignored)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::PlanStep;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    #[test]
    fn the_scope_of_a_plan_is_its_files_folders_and_globs() {
        let files = ["/src/lib.rs", "docs/", "tests/*.rs", "web", "[bad"].map(str::to_owned).to_vec();
        let plan = Plan { steps: vec![PlanStep { files, ..PlanStep::default() }], ..Plan::default() };
        let scope = Scope::of(&plan).unwrap();
        for inside in ["/src/lib.rs", "/docs/a/b.md", "/tests/it.rs", "/web/index.html"] {
            assert!(scope.contains(&path(inside)), "{inside}");
        }
        for outside in ["/src/main.rs", "/tests/sub/it.rs", "/webX", "/bad", "/src/lib.rs.bak"] {
            assert!(!scope.contains(&path(outside)), "{outside}");
        }
        assert!(Scope::of(&Plan::default()).is_none());
    }

    #[test]
    fn approvals_are_as_strict_as_others_when_no_rule_is_laxer() {
        let usual = Approvals::default();
        let tools = |rule| BTreeMap::from([("write".to_owned(), rule)]);
        let asks = Approvals { tools: tools(Rule::Ask), ..Approvals::default() };
        assert!(usual.are_as_strict_as(&usual) && asks.are_as_strict_as(&usual) && !usual.are_as_strict_as(&asks));
        for (rule, strict) in [(Rule::Allow, false), (Rule::Ask, true), (Rule::Deny, true)] {
            assert_eq!(Approvals { delete: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert_eq!(Approvals { outside_plan: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert_eq!(Approvals { mcp: rule, ..Approvals::default() }.are_as_strict_as(&usual), strict);
            assert!(Approvals { execute: rule, ..Approvals::default() }.are_as_strict_as(&usual));
            assert_eq!(Approvals { tools: tools(rule), ..Approvals::default() }.are_as_strict_as(&asks), strict);
        }
    }

    #[test]
    fn secrets_are_known_by_their_names_at_any_depth() {
        let secrets = Secrets::default();
        for secret in ["/.env", "/.ENV", "/.env.local", "/deploy/key.pem", "/home/.ssh/id_ed25519"] {
            assert!(secrets.contains(&path(secret)), "{secret}");
        }
        assert!(!secrets.contains(&path("/src/env.rs")));
        assert!(Secrets::new(&["[".to_owned()]).is_err());
    }
}
