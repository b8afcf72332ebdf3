//! The inputs that make the gate stricter: the user's settings, the plan's scope, names of secrets.

use crate::path::WorkspacePath;
use globset::{GlobBuilder, GlobMatcher};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{Agent, CallId, Plan};

/// Whether an agent works for the user or for another agent that explores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentKind {
    #[default]
    Main,
    /// Reads and reports; can't ask the user.
    Helper,
}

impl From<Agent> for AgentKind {
    fn from(agent: Agent) -> Self {
        if agent.delegation.is_some_and(CallId::is_helper) { Self::Helper } else { Self::Main }
    }
}

/// An "always allow" of the user for a tool and a folder, in one chat.
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

/// The approved plan's files, which may change without asking.
#[derive(Debug)]
pub struct Scope {
    paths: Vec<String>,
    globs: Vec<GlobMatcher>,
}

impl Scope {
    /// The scope of a plan: the files of the approved steps up to the stop. `None` if no step lists files.
    #[must_use]
    pub fn of(plan: &Plan, choice: &StepChoice) -> Option<Scope> {
        if plan.files().is_empty() {
            return None;
        }
        let steps = plan.steps.iter().filter(|step| choice.allows(step.step_number));
        let files = steps.flat_map(|step| &step.files).map(|file| file.trim_start_matches("./").trim_matches('/'));
        // Most plans list paths, and every call builds a scope, so only patterns are compiled.
        let (globs, paths): (Vec<_>, Vec<_>) = files.partition(|file| file.contains(['*', '?', '[', ']', '{', '}', '\\']));
        Some(Scope {
            paths: paths.into_iter().map(str::to_owned).collect(),
            // An invalid pattern covers nothing, so changes of its files ask.
            globs: globs.into_iter().flat_map(patterns).filter_map(|pattern| matcher(&pattern, Case::Exact)).collect(),
        })
    }

    #[must_use]
    pub fn contains(&self, path: &WorkspacePath) -> bool {
        let path = path.relative();
        self.paths.iter().any(|named| is_at_or_below(path, named)) || self.globs.iter().any(|glob| glob.is_match(path))
    }
}

/// A path names the file, or everything below the folder.
fn is_at_or_below(path: &str, named: &str) -> bool {
    path.strip_prefix(named).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A pattern does the same.
fn patterns(file: &str) -> [String; 2] {
    [file.to_owned(), format!("{file}/**")]
}

/// Patterns of secrets ignore case; the plan's files don't.
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

/// File extensions of source code.
const SOURCE: &[&str] = &[
    "c", "cc", "cpp", "cs", "css", "ex", "go", "h", "hpp", "html", "java", "js", "jsx", "kt", "lua", "md", "mjs", "php", "py", "rb", "rs",
    "scala", "sh", "sql", "swift", "ts", "tsx", "vue",
];
/// File extensions of examples of secret files.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// File extensions of compiler output.
const PRODUCTS: &[&str] = &[
    "a", "class", "d", "dll", "dwo", "dylib", "exe", "gcda", "gcno", "jar", "lib", "map", "o", "obj", "pdb", "pyc", "rlib", "rmeta", "so",
    "stamp", "wasm",
];

/// Name patterns of files that may contain secrets.
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
            // A slash at either end, as in ignore files, would match no path.
            .map(|pattern| matcher(pattern.trim_matches('/'), Case::Ignored).ok_or_else(|| format!("{pattern:?} is not a valid glob")))
            .collect::<Result<_, _>>()?;
        Ok(Self { globs })
    }

    /// Whether a name in the path is that of a secret.
    #[must_use]
    pub fn contains(&self, path: &WorkspacePath) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path.relative()) || path.names().any(|name| glob.is_match(name)))
    }

    /// Whether a file is empty for commands: a secret, except source code and samples whose names happen to match. Without them
    /// nothing could be built.
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

    /// The same for build output and git's own folder, where a folder's name means nothing: a wildcard must match the file's own
    /// name, and compiler output, which is named after the source, is exempt.
    #[must_use]
    pub fn hides_made(&self, path: &WorkspacePath) -> bool {
        let name = path.names().last().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_made = Self::is_code(name);
        self.globs.iter().any(|glob| {
            let pattern = glob.glob().glob();
            if pattern.contains('/') || !pattern.contains(['*', '?', '[', '{']) {
                return glob.is_match(path.relative()) || path.names().any(|name| glob.is_match(name));
            }
            glob.is_match(name) && (!is_made || pattern.ends_with(&format!(".{ending}")))
        })
    }

    /// Whether a file is source code, a sample or compiler output, by its extension.
    #[must_use]
    pub fn is_code(name: &str) -> bool {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        [SOURCE, SAMPLES, PRODUCTS].iter().any(|endings| endings.contains(&ending))
    }

    /// Whether a pattern may match a file or folder with this name; a quick pre-check.
    #[must_use]
    pub fn may_name(&self, name: &str) -> bool {
        self.globs.iter().any(|glob| glob.glob().glob().contains('/') || glob.is_match(name))
    }

    /// Whether everything in a folder is hidden, whatever its name.
    #[must_use]
    pub fn hides_all_of(&self, folder: &WorkspacePath) -> bool {
        // Names that no pattern matches.
        let any = "\u{7f}.rs";
        self.hides(&folder.join(any)) && self.hides(&folder.join(any).join(any))
    }

    /// As the user wrote them.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        self.globs.iter().map(|glob| glob.glob().glob().to_owned()).collect()
    }

    /// The default patterns.
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
    fn in_build_output_a_wildcard_means_the_files_own_name_and_no_product_of_a_compiler() {
        let secrets = Secrets::default();
        for hidden in ["/target/.env", "/node_modules/x/.env.local", "/build/key.pem", "/.git/id_rsa"] {
            assert!(secrets.hides_made(&path(hidden)), "{hidden}");
        }
        for shown in ["/target/debug/deps/id_tool-1f.d", "/target/debug/.fingerprint/id_tool-1f/invoked.timestamp", "/dist/id_map.js"] {
            assert!(!secrets.hides_made(&path(shown)), "{shown}");
        }
        let named = Secrets::new(&["private".to_owned()]).unwrap();
        assert!(named.hides_made(&path("/dist/private/x.js")) && named.may_name("private") && !named.may_name("x.js"));
    }

    #[test]
    fn the_scope_of_a_plan_is_its_files_folders_and_globs() {
        let files = ["/src/lib.rs", "docs/", "tests/*.rs", "web", "[bad", "/"].map(str::to_owned).to_vec();
        let plan = Plan { steps: vec![PlanStep { files, ..PlanStep::default() }], ..Plan::default() };
        let scope = Scope::of(&plan, &StepChoice::default()).unwrap();
        for inside in ["/src/lib.rs", "/docs/a/b.md", "/tests/it.rs", "/web/index.html"] {
            assert!(scope.contains(&path(inside)), "{inside}");
        }
        for outside in ["/src/main.rs", "/tests/sub/it.rs", "/webX", "/bad", "/src/lib.rs.bak"] {
            assert!(!scope.contains(&path(outside)), "{outside}");
        }
        assert!(Scope::of(&Plan::default(), &StepChoice::default()).is_none());
    }

    #[test]
    fn files_that_only_excluded_steps_name_are_outside_the_scope() {
        let step = |step_number, files: &[&str]| PlanStep {
            step_number,
            files: files.iter().map(|&file| file.to_owned()).collect(),
            ..PlanStep::default()
        };
        let steps = vec![step(1, &["src/a.rs", "docs"]), step(2, &["src/b.rs", "src/a.rs"]), step(3, &["src/c.rs"]), step(4, &[])];
        let plan = Plan { steps, ..Plan::default() };
        let inside = |steps: Option<&[u32]>, stop_after| {
            let scope = Scope::of(&plan, &StepChoice { steps: steps.map(<[u32]>::to_vec), stop_after }).unwrap();
            ["/src/a.rs", "/src/b.rs", "/src/c.rs", "/docs/x.md"].map(|file| scope.contains(&path(file)))
        };
        assert_eq!(inside(None, None), [true; 4]);
        assert_eq!(inside(Some(&[1]), None), [true, false, false, true]);
        assert_eq!(inside(Some(&[2, 3]), None), [true, true, true, false], "a file that a chosen step names as well is inside");
        assert_eq!(inside(None, Some(1)), [true, false, false, true], "steps behind the stop don't count yet");
        assert_eq!(inside(Some(&[4]), None), [false; 4], "a chosen step without files widens nothing");
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
