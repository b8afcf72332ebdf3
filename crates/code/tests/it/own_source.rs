//! Parses the project's own source, which was not written for these tests.

use planwright_code::{Language, SymbolKind, outline, parse};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

#[test]
fn all_rust_and_typescript_of_this_project_is_parsed_without_an_error() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap().map(Result::unwrap) {
        files(&entry.path().join("src"), &mut found);
    }
    files(&root().join("web/src"), &mut found);
    let (mut parsed, mut functions) = (0, 0);
    for path in found {
        let name = path.to_str().unwrap();
        let text = std::fs::read(&path).unwrap();
        let Some(language) = Language::of_file(name, &text) else { continue };
        let source = parse(language, &text, Instant::now() + Duration::from_mins(1)).unwrap();
        assert_eq!(source.first_error, None, "{name}");
        // A Rust function's signature contains `fn`, whatever precedes it.
        if language == Language::Rust {
            for symbol in source.symbols.iter().filter(|symbol| matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)) {
                assert!(symbol.signature.contains(&format!("fn {}", symbol.name)), "{name}:{}: {}", symbol.line, symbol.signature);
                functions += 1;
            }
        }
        parsed += 1;
    }
    assert!(parsed > 300 && functions > 2000, "{parsed} files, {functions} functions");
}

#[test]
fn the_outline_of_the_tool_list_names_what_is_in_it() {
    let text = std::fs::read(root().join("crates/tools/src/tool.rs")).unwrap();
    let source = parse(Language::Rust, &text, Instant::now() + Duration::from_mins(1)).unwrap();
    let outline = outline(&source).text;
    for line in [
        "pub struct Spec<'a>",
        "pub trait Input: DeserializeOwned + JsonSchema + Send + Sync + 'static",
        "impl<I: Input> Tool for Builtin<I>",
    ] {
        assert!(outline.contains(line), "{outline}");
    }
    assert!(outline.contains(":   fn schema(&self) -> Value\n") && !outline.contains("read_only: bool"), "{outline}");
}
