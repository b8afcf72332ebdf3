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

/// The `[policy]` of the configuration: what has to be there before anything changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Whether act mode changes nothing and runs no command but the Tester's until the user has approved a plan,
    /// however the chat got into act mode.
    pub act_requires_plan: bool,
    /// Whether a plan whose steps name no files can't be approved.
    pub plan_requires_files: bool,
}

impl Policy {
    /// Whether nothing is allowed here that is not allowed there as well.
    #[must_use]
    pub fn is_as_strict_as(self, other: Self) -> bool {
        self.act_requires_plan >= other.act_requires_plan && self.plan_requires_files >= other.plan_requires_files
    }

    /// Why a plan can't be approved.
    #[must_use]
    pub fn objection(self, plan: &Plan) -> Option<&'static str> {
        (self.plan_requires_files && plan.files().iter().all(|file| file.trim().is_empty())).then_some(
            "This workspace requires plans that name their files, and no step of this one does. Add `files` to the steps that change something.",
        )
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

/// Endings of source code.
const SOURCE: &[&str] = &[
    "c", "cc", "cpp", "cs", "css", "ex", "go", "h", "hpp", "html", "java", "js", "jsx", "kt", "lua", "md", "mjs", "php", "py", "rb", "rs",
    "scala", "sh", "sql", "swift", "ts", "tsx", "vue",
];
/// Endings of files that show what a secret one would look like.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist"];

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
            // A slash at either end, as ignore files have it, would match no path.
            .map(|pattern| matcher(pattern.trim_matches('/'), Case::Ignored).ok_or_else(|| format!("{pattern:?} is not a valid glob")))
            .collect::<Result<_, _>>()?;
        Ok(Self { globs })
    }

    /// Whether a name on the path is that of a secret.
    #[must_use]
    pub fn contains(&self, path: &WorkspacePath) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path.relative()) || path.names().any(|name| glob.is_match(name)))
    }

    /// Whether a file is empty for commands: a secret, but for source code and samples whose name only happens to fit. Without
    /// those nothing could be built.
    #[must_use]
    pub fn hides(&self, path: &WorkspacePath) -> bool {
        let ending = path.names().last().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
        let is_source = SOURCE.contains(&ending) || SAMPLES.contains(&ending);
        self.globs.iter().any(|glob| {
            let pattern = glob.glob().glob();
            let is_meant = pattern.contains('/') || !pattern.contains(['*', '?', '[', '{']) || pattern.ends_with(&format!(".{ending}"));
            (!is_source || is_meant) && (glob.is_match(path.relative()) || path.names().any(|name| glob.is_match(name)))
        })
    }

    /// Whether everything in a folder is, whatever its name.
    #[must_use]
    pub fn hides_all_of(&self, folder: &WorkspacePath) -> bool {
        // Names that no pattern has in mind.
        let any = "\u{7f}.rs";
        self.hides(&folder.join(any)) && self.hides(&folder.join(any).join(any))
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
    fn a_pattern_of_secrets_with_a_slash_at_an_end_means_the_folder() {
        let secrets = Secrets::new(&["secrets/".to_owned(), "/conf/prod/*.json".to_owned()]).unwrap();
        for hidden in ["/secrets/key", "/deep/secrets/key.rs", "/conf/prod/a.json"] {
            assert!(secrets.contains(&path(hidden)) && secrets.hides(&path(hidden)), "{hidden}");
        }
        assert!(!secrets.contains(&path("/conf/dev/a.json")));
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
    fn a_policy_is_as_strict_as_another_when_it_leaves_nothing_of_it_out() {
        let policy = |act_requires_plan, plan_requires_files| Policy { act_requires_plan, plan_requires_files };
        let all = [policy(false, false), policy(true, false), policy(false, true), policy(true, true)];
        for (one, other, strict) in [(0, 0, true), (0, 1, false), (0, 2, false), (1, 0, true), (1, 2, false), (2, 1, false), (3, 1, true)] {
            assert_eq!(all[one].is_as_strict_as(all[other]), strict, "{one} {other}");
        }
        assert!(all[3].is_as_strict_as(all[2]) && all[2].is_as_strict_as(all[2]));
    }

    #[test]
    fn a_policy_objects_to_a_plan_that_names_no_files() {
        let plan = |files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            Plan { steps: vec![PlanStep::default(), PlanStep { files, ..PlanStep::default() }], ..Plan::default() }
        };
        let policy = Policy { plan_requires_files: true, ..Policy::default() };
        assert!(policy.objection(&plan(&[])).is_some() && policy.objection(&plan(&[" "])).is_some());
        assert_eq!((policy.objection(&plan(&["a"])), policy.objection(&plan(&["", "src/*.rs"]))), (None, None));
        assert_eq!(Policy { act_requires_plan: true, ..Policy::default() }.objection(&plan(&[])), None);
    }

    #[test]
    fn secrets_are_known_by_their_names_at_any_depth() {
        let secrets = Secrets::default();
        for secret in ["/.env", "/.ENV", "/.env.local", "/deploy/key.pem", "/home/.ssh/id_ed25519"] {
            assert!(secrets.contains(&path(secret)), "{secret}");
        }
        assert!(!secrets.contains(&path("/src/env.rs")));
        for hidden in ["/.env", "/.env.d/values", "/a/id_rsa"] {
            assert!(secrets.hides(&path(hidden)), "{hidden}");
        }
        for shown in ["/src/id_map.rs", "/src/id_map/mod.rs", "/.env.example"] {
            assert!(secrets.contains(&path(shown)) && !secrets.hides(&path(shown)), "{shown}");
        }
        let own = Secrets::new(&["private".to_owned(), "vault/**".to_owned(), "keys/*.json".to_owned(), "settings.py".to_owned()]).unwrap();
        for hidden in ["/a/private/b.py", "/vault/x/y.rs", "/keys/a.json", "/app/settings.py"] {
            assert!(own.hides(&path(hidden)), "{hidden}");
        }
        assert!(!own.hides(&path("/keys/deep/a.json")) && !own.hides(&path("/app/other.py")));
        assert!(own.hides_all_of(&path("/a/private")) && own.hides_all_of(&path("/vault")) && own.hides_all_of(&path("/vault/x")));
        assert!(!own.hides_all_of(&path("/keys")) && !own.hides_all_of(&path("/a")) && !secrets.hides_all_of(&path("/.env.d")));
        assert!(Secrets::new(&["[".to_owned()]).is_err());
    }
}
