//! Each fixture has a file in `golden` with the expected symbols and uses. `UPDATE_GOLDEN=1 cargo test` rewrites them.

use planwright_code::{Language, ParsedSource, outline, parse};
use std::path::Path;
use std::time::{Duration, Instant};

fn parsed(name: &str, text: &[u8]) -> ParsedSource {
    let language = Language::of_file(name, text).unwrap();
    parse(language, text, Instant::now() + Duration::from_mins(1)).unwrap()
}

/// The outline, all symbols with kind and container, and the lines of some names.
fn described(source: &ParsedSource, names: &[&str]) -> String {
    let mut text = format!("{}\n", outline(source).text);
    for symbol in &source.symbols {
        let container = symbol.container.as_deref().map(|name| format!(" in {name}")).unwrap_or_default();
        text.push_str(&format!("{} {} {}{container}\n", symbol.line, symbol.kind.label(), symbol.name));
    }
    text.push('\n');
    for name in names {
        let uses = source.uses_of(name).map(|one| match source.around(one) {
            Some(symbol) => format!("{} in {}", one.line, symbol.name),
            None => one.line.to_string(),
        });
        text.push_str(&format!("{name} is used at {}\n", uses.collect::<Vec<_>>().join(", ")));
    }
    if let Some(line) = source.first_error {
        text.push_str(&format!("the first error is at {line}\n"));
    }
    text
}

fn check(name: &str, names: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let found = described(&parsed(name, &std::fs::read(folder.join("fixtures").join(name)).unwrap()), names);
    let golden = folder.join("golden").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(folder.join("golden")).unwrap();
        std::fs::write(&golden, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(found == expected, "{name} is not as in {}:\n{found}", golden.display());
}

#[test]
fn rust_definitions_nested_scopes_and_uses() {
    check("greeter.rs", &["parse", "LIMIT", "Greeter", "shout"]);
}

#[test]
fn typescript_definitions_nested_scopes_and_uses() {
    check("greeter.ts", &["parse", "Greeter", "Tone", "inner"]);
    check("view.tsx", &["Greeting", "toggle", "name"]);
}

#[test]
fn javascript_definitions_nested_scopes_and_uses() {
    check("greeter.js", &["parse", "main", "count", "Greeter"]);
}

#[test]
fn python_definitions_nested_scopes_and_uses() {
    check("greeter.py", &["parse", "Greeter", "LIMIT", "inner"]);
}

#[test]
fn go_definitions_nested_scopes_and_uses() {
    check("greeter.go", &["Parse", "Greeter", "Limit"]);
}

#[test]
fn java_definitions_nested_scopes_and_uses() {
    check("Greeter.java", &["parse", "Greeter", "LIMIT", "name"]);
}

#[test]
fn c_definitions_nested_scopes_and_uses() {
    check("greeter.c", &["parse", "greeter", "LIMIT", "greet"]);
}

#[test]
fn cpp_definitions_nested_scopes_and_uses() {
    check("greeter.cpp", &["parse", "Greeter", "Text", "name_"]);
}

#[test]
fn c_sharp_definitions_nested_scopes_and_uses() {
    check("Greeter.cs", &["Parse", "Greeter", "Limit", "name"]);
}

#[test]
fn ruby_definitions_nested_scopes_and_uses() {
    check("greeter.rb", &["parse", "Greeter", "LIMIT", "greet", "name"]);
}

#[test]
fn php_definitions_nested_scopes_and_uses() {
    check("greeter.php", &["parse", "Greeter", "LIMIT", "MOST", "name"]);
}

#[test]
fn a_broken_file_gives_what_can_be_told_and_says_where_it_breaks() {
    check("broken.rs", &["whole"]);
}
