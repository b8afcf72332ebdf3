//! The reference of the configuration, from the types that read it.

use super::forms::printed;
use super::{file, hold, pages};
use serde_json::Value;

const PAGE: &str = "docs/configuration.md";
const BEGIN: &str = "<!-- made from `planwright schema config`; a test fails when it is old -->\n";
const END: &str = "<!-- end of what is made -->\n";

/// What `$ref` means, and what may be left out without its `null`.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let schema = alternatives.into_iter().find(|one| one["type"] != "null").unwrap_or(schema);
    match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// The words that a key takes, or its type.
fn values(schema: &Value) -> String {
    let described = schema["oneOf"].as_array().into_iter().flatten();
    let constants = described.flat_map(|one| one["enum"].as_array().cloned().unwrap_or_else(|| vec![one["const"].clone()]));
    let words = constants.chain(schema["enum"].as_array().into_iter().flatten().cloned());
    let words: Vec<String> = words.filter_map(|word| word.as_str().map(|word| format!("`{word}`"))).collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    let name = |schema: &Value| {
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        let names = [("string", "text"), ("integer", "whole number"), ("number", "number"), ("boolean", "`true`, `false`")];
        names.iter().find(|(wire, _)| Some(*wire) == kind).map(|(_, name)| (*name).to_owned())
    };
    let name = if schema["type"] == "array" { name(&schema["items"]).map(|name| format!("list of {name}")) } else { name(schema) };
    assert!(name.is_some(), "there is no name for the type of {schema}");
    name.unwrap()
}

fn built_in(default: &Value) -> String {
    match default {
        Value::Null => String::new(),
        Value::Array(entries) if entries.is_empty() => "`[]`".to_owned(),
        Value::Array(entries) => entries.iter().map(built_in).collect::<Vec<_>>().join(", "),
        Value::String(text) => format!("`{text}`"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => format!("`{default}`"),
    }
}

/// What is said of a key, and of each word that it takes.
fn meaning(key: &str, property: &Value, resolved: &Value) -> String {
    let own = property["description"].as_str().or_else(|| resolved["description"].as_str());
    assert!(own.is_some(), "nothing is said of {key}");
    let mut meaning = own.unwrap().trim_end_matches('.').to_owned();
    for word in resolved["oneOf"].as_array().into_iter().flatten() {
        if let (Some(word), Some(said)) = (word["const"].as_str(), word["description"].as_str()) {
            meaning += &format!(". `{word}`: {}", said.trim_end_matches('.'));
        }
    }
    meaning.replace('\n', " ").replace('|', "\\|")
}

/// A heading and a table for each table of the file: first its own keys, then the tables in it.
fn section(root: &Value, name: &str, said: &str, table: &Value, made: &mut String) {
    let mut rows = String::new();
    let mut inner = String::new();
    for (key, property) in table["properties"].as_object().into_iter().flatten() {
        // Keys of any name have one form.
        let any = Some(&property["additionalProperties"]).filter(|entry| entry.is_object());
        let schema = resolved(root, any.unwrap_or(property));
        let full = [name, key, if any.is_some() { "NAME" } else { "" }].join(".").trim_matches('.').to_owned();
        if schema["properties"].is_object() {
            section(root, &full, &meaning(&full, property, schema), schema, &mut inner);
            continue;
        }
        let is_required = table["required"].as_array().is_some_and(|required| required.iter().any(|one| one == key));
        let default = if is_required { "required".to_owned() } else { built_in(any.map_or(&property["default"], |_| &Value::Null)) };
        let key = if any.is_some() { format!("{key}.NAME") } else { key.clone() };
        rows += &format!("| `{key}` | {} | {default} | {} |\n", values(schema), meaning(&full, property, schema));
    }
    if !rows.is_empty() {
        *made += &format!("\n### `[{name}]`\n\n{said}.\n\n| key | values | built in | meaning |\n| --- | --- | --- | --- |\n{rows}");
    }
    *made += &inner;
}

#[tokio::test]
async fn the_reference_of_the_configuration_is_what_the_binary_reads() {
    let schema: Value = serde_json::from_str(&printed("config").await).unwrap();
    let mut made = String::new();
    section(&schema, "", "", &schema, &mut made);
    let page = std::fs::read_to_string(file(PAGE)).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    hold(PAGE, &format!("{before}{BEGIN}{made}\n{END}{after}"));
}

/// The blocks of TOML in a text.
fn blocks(text: &str) -> Vec<&str> {
    text.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

#[tokio::test]
async fn every_configuration_that_is_shown_fits_the_schema() {
    let validator = jsonschema::validator_for(&serde_json::from_str(&printed("config").await).unwrap()).unwrap();
    let faults = |text: &str| -> Vec<String> {
        let shown: Value = toml::from_str(text).unwrap();
        validator.iter_errors(&shown).map(|error| format!("{}: {error}", error.instance_path())).collect()
    };
    let mut tried = 0;
    for page in pages() {
        for block in blocks(&std::fs::read_to_string(file(&page)).unwrap()) {
            assert!(faults(block).is_empty(), "{page}: {block}\n{:#?}", faults(block));
            tried += 1;
        }
    }
    assert!(tried >= 5, "{tried}");
    for wrong in [
        "[chat]\ndefault_mod = \"plan\"",
        "[limits]\nturns = \"many\"",
        "[providers.x]\nkind = \"openia\"",
        "[approvals]\ndelete = \"perhaps\"",
    ] {
        assert!(!faults(wrong).is_empty(), "{wrong}");
    }
}
