use super::files;
use crate::path::WorkspacePath;
use crate::text_file::{Text, not_text};
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::LARGEST_FILE;
use planwright_code::{Language, ParseError, outline, parse, text_outline};
use planwright_protocol::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::Read;
use std::time::{Duration, Instant};

/// List what a source file defines, with lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    path: String,
}

const LONGEST_PARSE: Duration = Duration::from_secs(5);

impl Input for Outline {
    const SPEC: Spec<'static> = Spec::reading("outline", Category::Search, &[r#"{"path": "/src/a.rs"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse(&self.path)?;
        let file = cx.workspace.open_file(&path)?;
        let effects = files::read_effects(&path, cx.workspace.real_path(&file));
        Ok(Prepared::new(effects, move |_| {
            let mut bytes = Vec::new();
            let failed = |error| files::unreadable(&path, &error);
            file.take(LARGEST_FILE).read_to_end(&mut bytes).map_err(failed)?;
            let text = Text::of(&bytes).ok_or_else(|| not_text(&path))?;
            Ok(outlined(&path, &text))
        }))
    }
}

fn outlined(path: &WorkspacePath, text: &Text<'_>) -> Output {
    let language = Language::of_file(path.relative(), &text.bytes);
    let parsed = language.map(|language| parse(language, &text.bytes, Instant::now() + LONGEST_PARSE));
    let (found, note) = match &parsed {
        Some(Ok(source)) => {
            let error = source.first_error.map(|line| format!("[syntax errors from line {line} on: something may be missing]\n"));
            (outline(source), error.unwrap_or_default())
        }
        Some(Err(why)) => {
            let why = match why {
                ParseError::TooLarge => "too large for a syntax tree",
                ParseError::OutOfTime => "not parsed in time",
            };
            (text_outline(&text.shown()), format!("[{why}: these lines look like definitions]\n"))
        }
        None => {
            (text_outline(&text.shown()), "[no grammar for this kind of file: these lines look like definitions or headings]\n".to_owned())
        }
    };
    let mut shown = found.text;
    if found.symbols == 0 {
        shown.push_str("[no definitions]\n");
    }
    if found.left_out > 0 {
        shown.push_str(&format!("[{} more are left out: find them with `symbols` or read the lines]\n", found.left_out));
    }
    shown.push_str(&note);
    Output::text(shown)
        .with("path", path.to_string())
        .with("symbols", found.symbols)
        .with("truncated", found.left_out > 0)
        .with("parsed", matches!(parsed, Some(Ok(_))))
}

#[cfg(test)]
mod tests {
    use crate::builtin::trial::Trial;
    use crate::gate::{Consent, Verdict};
    use planwright_protocol::Role;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_outlined_with_line_ranges_and_says_where_it_is_broken() {
        let trial = Trial::new(&[
            ("a.rs", "struct A {\n    b: u8,\n}\n\nimpl A {\n    fn c(&self) -> u8 {\n        self.b\n    }\n}\n"),
            ("b.rs", "fn a() {}\nfn (\n"),
        ]);
        let output = trial.plan("outline", r#"{"path": "/a.rs"}"#).unwrap();
        assert_eq!(output.text, "1-3: struct A\n5-9: impl A\n6-8:   fn c(&self) -> u8\n");
        assert_eq!((output.data["symbols"].clone(), output.data["parsed"].clone()), (json!(3), json!(true)));
        let broken = trial.plan("outline", r#"{"path": "b.rs"}"#).unwrap().text;
        assert_eq!(broken, "1: fn a()\n[syntax errors from line 2 on: something may be missing]\n");
    }

    #[test]
    fn other_files_fall_back_to_text_and_say_so() {
        let huge = "int a[] = { 1 };\n".repeat(200_000) + "struct b {\n";
        let trial = Trial::new(&[("a.kt", "class A {\n    fun b() {}\n}\n"), ("huge.c", &huge), ("empty.rs", "")]);
        let output = trial.plan("outline", r#"{"path": "/a.kt"}"#).unwrap();
        assert_eq!(
            output.text,
            "1: class A\n2:     fun b() {}\n[no grammar for this kind of file: these lines look like definitions or headings]\n"
        );
        let huge = trial.plan("outline", r#"{"path": "/huge.c"}"#).unwrap();
        assert_eq!(huge.text, "200001: struct b\n[too large for a syntax tree: these lines look like definitions]\n");
        assert_eq!(trial.plan("outline", r#"{"path": "/empty.rs"}"#).unwrap().text, "[no definitions]\n");
    }

    #[test]
    fn binary_files_folders_and_paths_outside_are_refused_and_secrets_ask() {
        let trial = Trial::new(&[(".env", "A=1\n"), ("sub/a.rs", "")]);
        trial.put("picture.rs", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0");
        symlink(".env", trial.host("harmless.rs")).unwrap();
        symlink("/etc/passwd", trial.host("outside.rs")).unwrap();
        assert_eq!(trial.refusal("outline", r#"{"path": "/picture.rs"}"#), "NOT_A_TEXT_FILE");
        assert_eq!(trial.refusal("outline", r#"{"path": "/sub"}"#), "NOT_REGULAR_FILE");
        assert_eq!(trial.refusal("outline", r#"{"path": "/outside.rs"}"#), "PATH_OUTSIDE_WORKSPACE");
        for path in ["/.env", "/harmless.rs"] {
            let prepared = trial.prepare("outline", &json!({ "path": path }).to_string()).unwrap();
            assert!(matches!(trial.verdict(Role::Planner, "outline", &prepared.effects, Consent::Needed), Verdict::Ask(_)), "{path}");
        }
    }
}
