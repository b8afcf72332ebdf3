use super::source_search::{Hit, SourceSearch};
use crate::path::WorkspacePath;
use crate::text_file::{Text, shown};
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::{LARGEST_FILE, Workspace};
use planwright_protocol::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

/// Find where a name is defined and used in code. Compares names, not types.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct References {
    symbol: String,
    path: Option<String>,
    limit: Option<usize>,
}

const LIMIT: usize = 50;
const MOST: usize = 500;
const MOST_DEFINITIONS: usize = 20;
/// Maximum length of a displayed line.
const LONGEST_LINE: usize = 160;

impl Input for References {
    const SPEC: Spec<'static> = Spec::reading(
        "references",
        Category::Search,
        &[r#"{"symbol": "parse"}"#, r#"{"symbol": "Plan::parse", "path": "/src", "limit": 200}"#],
    );

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let (search, effects) = SourceSearch::prepare(cx, &self.symbol, self.path.as_deref())?;
        let limit = self.limit.unwrap_or(LIMIT).clamp(1, MOST);
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let found = Mutex::new(NameUses { limit, ..NameUses::default() });
            let name = search.needle.text();
            let searched = search.run(&cx.workspace, |path, hit| {
                let file = FileUses::of(hit, &search);
                if file.count + file.definition_count > 0 {
                    found.lock().unwrap_or_else(PoisonError::into_inner).add(path.clone(), file);
                }
            })?;
            let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
            let is_cut = found.is_cut();
            let output = Output::text(found.shown(&cx.workspace, name) + &searched.notes());
            Ok(output
                .with("definitions", found.definitions)
                .with("references", found.uses)
                .with("files", found.files_with_uses)
                .with("truncated", is_cut || searched.late))
        }))
    }
}

/// The occurrences of a name in one file.
#[derive(Default)]
struct FileUses {
    /// Line and signature of the first ones.
    definitions: Vec<(u32, String)>,
    definition_count: usize,
    /// Each line, and the symbol around it.
    lines: Vec<(u32, Option<String>)>,
    count: usize,
    is_text: bool,
}

impl FileUses {
    fn of(hit: Hit<'_>, search: &SourceSearch) -> Self {
        let name = search.needle.text();
        match hit {
            Hit::Parsed(source) => {
                let definitions =
                    source.definitions_of(name).map(|symbol| (symbol.line, format!("{}: {}", symbol.kind.label(), symbol.signature)));
                let around = |one| source.around(one).map(|symbol| symbol.name.to_string());
                let lines = source.uses_of(name).take(MOST).map(|one| (one.line, around(one))).collect();
                Self {
                    // A file can have a hundred thousand of them.
                    definitions: definitions.take(MOST_DEFINITIONS).collect(),
                    definition_count: source.definitions_of(name).count(),
                    lines,
                    count: source.uses_of(name).count(),
                    is_text: false,
                }
            }
            Hit::Text(text) => {
                let lines: Vec<_> = search.needle.lines_in(text).map(|(line, _)| (line, None)).take(MOST).collect();
                Self { count: lines.len(), lines, is_text: true, ..Self::default() }
            }
        }
    }
}

/// The occurrences in all files: every definition, and the lines of the first files by path.
#[derive(Default)]
struct NameUses {
    limit: usize,
    files: BTreeMap<WorkspacePath, FileUses>,
    /// Number of stored lines.
    held: usize,
    definitions: usize,
    uses: usize,
    files_with_uses: usize,
}

impl NameUses {
    fn add(&mut self, path: WorkspacePath, file: FileUses) {
        self.definitions += file.definition_count;
        self.uses += file.count;
        self.files_with_uses += usize::from(file.count > 0);
        self.held += file.lines.len();
        self.files.insert(path, file);
        for (_, file) in self.files.iter_mut().rev() {
            if self.held < self.limit + file.lines.len() {
                break;
            }
            self.held -= file.lines.len();
            file.lines = Vec::new();
        }
        // A name with thousands of definitions is not worth searching.
        while self.files.len() > self.limit + MOST_DEFINITIONS {
            self.files.pop_last();
        }
    }

    fn is_cut(&self) -> bool {
        self.uses > self.limit || self.definitions > MOST_DEFINITIONS
    }

    fn shown(&self, workspace: &Workspace, name: &str) -> String {
        let defined =
            self.files.iter().flat_map(|(path, file)| file.definitions.iter().map(move |(line, text)| format!("{path}:{line}: {text}\n")));
        let mut text = match self.definitions {
            0 => format!("[`{name}` has no definition in files with a syntax tree]\n"),
            count if count > MOST_DEFINITIONS => format!("{count} definitions, the first {MOST_DEFINITIONS}:\n"),
            count => format!("{count} {}:\n", if count == 1 { "definition" } else { "definitions" }),
        };
        text.extend(defined.take(MOST_DEFINITIONS));
        if self.uses == 0 {
            return text + "[no references]\n";
        }
        text.push_str(&format!("{} references by name in {} files:\n", self.uses, self.files_with_uses));
        let mut shown = 0;
        for (path, file) in self.files.iter().filter(|(_, file)| !file.lines.is_empty()) {
            let lines = lines_of(workspace, path, &file.lines);
            for ((line, around), content) in file.lines.iter().zip(lines).take(self.limit - shown) {
                let around = around.as_ref().map(|name| format!(" [in {name}]")).unwrap_or_default();
                let around = if file.is_text { " [text]".to_owned() } else { around };
                text.push_str(&format!("{path}:{line}: {content}{around}\n"));
                shown += 1;
            }
        }
        if shown < self.uses {
            text.push_str(&format!("[{shown} of {}: raise `limit` (at most {MOST}) or narrow `path`]\n", self.uses));
        }
        text
    }
}

/// The current text of some lines of a file.
fn lines_of(workspace: &Workspace, path: &WorkspacePath, wanted: &[(u32, Option<String>)]) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = workspace.open_file(path).ok().and_then(|file| file.take(LARGEST_FILE).read_to_end(&mut bytes).ok());
    let text = read.and_then(|_| Text::of(&bytes)).map(|text| text.bytes).unwrap_or_default();
    let mut lines = text.split(|byte| *byte == b'\n').zip(1_u32..);
    wanted
        .iter()
        .map(|(number, _)| {
            let line = lines.by_ref().find(|(_, line)| line == number).map(|(line, _)| line).unwrap_or_default().trim_ascii();
            let cut = if line.len() > LONGEST_LINE { "…" } else { "" };
            format!("{}{cut}", shown(&line[..line.len().min(LONGEST_LINE)]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::builtin::trial::Trial;
    use crate::effect::FileEffect;
    use crate::gate::{Consent, Verdict};
    use planwright_protocol::Role;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    fn found(trial: &Trial, args: &str) -> String {
        trial.plan("references", args).unwrap().text
    }

    /// The first result that was not cut off by the time limit: on a busy machine, a search uses what an earlier one cached.
    fn whole(trial: &Trial, symbol: &str) -> String {
        let args = json!({ "symbol": symbol }).to_string();
        std::iter::repeat_with(|| found(trial, &args)).find(|text| !text.contains("stopped after")).unwrap()
    }

    #[test]
    fn definitions_come_first_then_uses_with_what_they_are_in_but_no_comments_and_strings() {
        let trial = Trial::new(&[
            ("a.rs", "fn parse() {}\n// parse\nfn main() {\n    let text = \"parse\";\n    parse();\n}\n"),
            ("b.py", "from a import parse\n"),
            ("README.md", "Call `parse` or parser.\n"),
        ]);
        assert_eq!(
            found(&trial, r#"{"symbol": "parse"}"#),
            "1 definition:\n/a.rs:1: function: fn parse()\n3 references by name in 3 files:\n/README.md:1: Call `parse` or parser. [text]\n/a.rs:5: parse(); [in main]\n/b.py:1: from a import parse\n"
        );
        assert_eq!(
            found(&trial, r#"{"symbol": "nowhere"}"#),
            "[`nowhere` has no definition in files with a syntax tree]\n[no references]\n"
        );
    }

    #[test]
    fn long_answers_are_cut_with_their_counts_and_are_the_same_each_time() {
        let trial = Trial::new(&[]);
        for number in 0..200 {
            trial.put(&format!("d{}/f{number:03}.rs", number % 7), b"fn a() {\n    needle();\n    needle();\n}\n");
        }
        let args = r#"{"symbol": "needle", "limit": 15}"#;
        let output = trial.plan("references", args).unwrap();
        assert!(
            output.text.contains("400 references by name in 200 files:\n/d0/f000.rs:2: needle(); [in a]\n/d0/f000.rs:3:"),
            "{}",
            output.text
        );
        assert!(output.text.contains("/d0/f049.rs:2: needle(); [in a]\n[15 of 400: raise `limit` (at most 500)"), "{}", output.text);
        assert_eq!((output.data["references"].clone(), output.data["truncated"].clone()), (json!(400), json!(true)));
        for _ in 0..5 {
            assert_eq!(found(&trial, args), output.text);
        }
    }

    #[test]
    fn broken_binary_huge_and_secret_files_end_no_search() {
        let trial = Trial::new(&[
            (".env", "needle=1\n"),
            ("broken.rs", "fn a( { needle(\n"),
            ("long.js", &format!("x={};needle()", "1+".repeat(10_000))),
        ]);
        trial.put("picture.rs", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0needle\0\x01\x08\x06\0\0\0");
        trial.put("huge.c", ("int a[] = { 1 };\n".repeat(125_000) + "needle\n").as_bytes());
        symlink("/etc/passwd", trial.host("outside.rs")).unwrap();
        symlink("..", trial.host("loop")).unwrap();
        let text = whole(&trial, "needle");
        assert!(text.contains("/broken.rs:1: fn a( { needle(") && text.contains("/huge.c:125001: needle [text]"), "{text}");
        assert!(text.contains("[1 files that look like secrets were not searched") && !text.contains("picture.rs"), "{text}");
        assert!(text.len() < 2_000, "{}", text.len());
        let prepared = trial.prepare("references", r#"{"symbol": "needle", "path": "/.env"}"#).unwrap();
        assert!(matches!(trial.verdict(Role::Planner, "references", &prepared.effects, Consent::Needed), Verdict::Ask(_)));
        let prepared = trial.prepare("references", r#"{"symbol": "needle"}"#).unwrap();
        assert_eq!(prepared.effects, [FileEffect::Read(crate::path::WorkspacePath::root()).into()]);
    }

    #[test]
    fn twenty_thousand_files_are_searched_cold_and_warm_with_the_same_answer() {
        let trial = Trial::new(&[]);
        for folder in 0..200 {
            for file in 0..100 {
                let text =
                    if file == 50 { format!("fn call_{folder}() {{ needle_function() }}\n") } else { format!("fn other_{file}() {{}}\n") };
                trial.put(&format!("d{folder}/f{file}.rs"), text.as_bytes());
            }
        }
        let cold = whole(&trial, "needle_function");
        assert!(cold.contains("200 references by name in 200 files"), "{cold}");
        assert_eq!(whole(&trial, "needle_function"), cold);
    }
}
