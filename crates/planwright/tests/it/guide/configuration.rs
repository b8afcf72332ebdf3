//! The reference of the configuration, from the types that read it.

use super::forms::printed;
use super::{file, hold, pages};
use serde_json::{Map, Value};

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
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_else(|| panic!("{schema} has no type"));
    let name = |kind: &str| match kind {
        "string" => "text",
        "integer" => "whole number",
        "number" => "number",
        "boolean" => "`true`, `false`",
        other => panic!("{other} has no name"),
    };
    if kind == "array" { format!("list of {}", name(schema["items"]["type"].as_str().unwrap())) } else { name(kind).to_owned() }
}

fn built_in(default: &Value) -> String {
    match default {
        Value::Null => String::new(),
        Value::Array(entries) if entries.is_empty() => "`[]`".to_owned(),
        Value::Array(entries) => entries.iter().map(built_in).collect::<Vec<_>>().join(", "),
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

/// What is said of a key, and of each word that it takes.
fn meaning(key: &str, property: &Value, resolved: &Value) -> String {
    let own = property["description"].as_str().or_else(|| resolved["description"].as_str());
    let mut meaning = own.unwrap_or_else(|| panic!("nothing is said of {key}")).trim_end_matches('.').to_owned();
    for word in resolved["oneOf"].as_array().into_iter().flatten() {
        if let (Some(word), Some(said)) = (word["const"].as_str(), word["description"].as_str()) {
            meaning += &format!(". `{word}`: {}", said.trim_end_matches('.'));
        }
    }
    meaning.replace('\n', " ").replace('|', "\\|")
}

fn rows(root: &Value, prefix: &str, properties: &Map<String, Value>, required: &Value, made: &mut String) {
    for (key, property) in properties {
        let key = format!("{prefix}{key}");
        let (key, schema) = match &property["additionalProperties"] {
            entry @ Value::Object(_) => (format!("{key}.NAME"), resolved(root, entry)),
            _ => (key, resolved(root, property)),
        };
        if let Some(parts) = schema["properties"].as_object() {
            rows(root, &format!("{key}."), parts, &schema["required"], made);
            continue;
        }
        let is_required = required.as_array().is_some_and(|names| names.iter().any(|name| key.ends_with(&format!(".{}", name.as_str().unwrap()))));
        let default = if is_required { "required".to_owned() } else { built_in(if key.ends_with(".NAME") { &Value::Null } else { &property["default"] }) };
        *made += &format!("| `{key}` | {} | {default} | {} |\n", values(schema), meaning(&key, property, schema));
    }
}

#[tokio::test]
async fn the_reference_of_the_configuration_is_what_the_binary_reads() {
    let schema: Value = serde_json::from_str(&printed("config").await).unwrap();
    let mut table = "| key | values | built in | meaning |\n| --- | --- | --- | --- |\n".to_owned();
    rows(&schema, "", schema["properties"].as_object().unwrap(), &Value::Null, &mut table);
    let page = std::fs::read_to_string(file(PAGE)).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    hold(PAGE, &format!("{before}{BEGIN}\n{table}\n{END}{after}"));
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
    for wrong in ["[chat]\ndefault_mod = \"plan\"", "[limits]\nturns = \"many\"", "[providers.x]\nkind = \"openia\"", "[approvals]\ndelete = \"perhaps\""] {
        assert!(!faults(wrong).is_empty(), "{wrong}");
    }
}
