use super::*;
use std::collections::BTreeSet;

fn operations() -> Vec<(String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, methods)| methods.as_object().unwrap().iter().map(move |(method, entry)| (format!("{method} {path}"), entry)))
        .collect()
}

/// Every `$ref` below a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_type_that_is_referred_to_is_there() {
    let mut found = BTreeSet::new();
    references(&DOCUMENT, &mut found);
    for reference in found {
        assert!(DOCUMENT.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
    for name in ["Envelope", "Message", "MessageMetadata", "ChatView", "Question", "Problem", "ErrorCode"] {
        assert!(DOCUMENT["components"]["schemas"].get(name).is_some(), "{name} is missing");
    }
}

#[test]
fn every_route_has_a_name_of_its_own_a_summary_and_the_errors_of_the_guard() {
    let mut names = BTreeSet::new();
    for (route, entry) in operations() {
        assert!(names.insert(entry["operationId"].as_str().unwrap()), "{route} shares its name");
        assert!(entry["summary"].as_str().unwrap().len() > 5 && !entry["tags"][0].as_str().unwrap().is_empty(), "{route}");
        assert!(entry["responses"].get("403").is_some(), "{route}");
        let writes = !route.starts_with("get ") && entry["security"] != json!([]);
        assert_eq!(entry["responses"].get("507").is_some(), writes, "{route}");
        let is_open = entry["security"] == json!([]);
        assert_eq!(entry["responses"].get("401").is_none(), is_open && !route.contains("/auth/"), "{route}");
        let is_for_all = (!route.contains("/api/v1/") && !route.ends_with("/metrics")) || route == "post /api/v1/auth/login";
        assert_eq!(is_open, is_for_all, "{route}");
    }
}

#[test]
fn names_of_a_path_are_its_parameters() {
    for (route, entry) in operations() {
        let named: Vec<&str> = entry["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        assert_eq!(names_in(route.split(' ').nth(1).unwrap()), named, "{route}");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let check = |route: &str, what: &str, schema: &Value, example: &Value| {
        // The components are put beside the schema, so that references lead somewhere.
        let mut whole = json!({ "components": DOCUMENT["components"] });
        whole.as_object_mut().unwrap().extend(schema.as_object().unwrap().clone());
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let errors: Vec<String> = validator.iter_errors(example).map(|error| format!("{error} at {}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{route}, {what}: {errors:?}\n{example:#}");
    };
    for (route, entry) in operations() {
        for parameter in entry["parameters"].as_array().unwrap() {
            check(&route, &parameter["name"].to_string(), &parameter["schema"], &parameter["example"]);
        }
        let body = entry.get("requestBody").into_iter().map(|body| ("body".to_owned(), body));
        let answers = entry["responses"].as_object().unwrap().iter().map(|(status, answer)| (status.clone(), answer));
        for (what, holder) in body.chain(answers) {
            for media in holder.get("content").into_iter().flat_map(|content| content.as_object().unwrap().values()) {
                check(&route, &what, &media["schema"], &media["example"]);
            }
        }
    }
}

#[test]
fn what_is_read_and_what_is_written_never_share_a_name_with_different_schemas() {
    let mut schemas = Schemas::default();
    for route in routes::all() {
        operation(&route, &mut schemas);
    }
    let (read, written) = (schemas.read.take_definitions(true), schemas.written.take_definitions(true));
    for (name, schema) in &read {
        assert!(written.get(name).is_none_or(|other| other == schema), "{name} is read in one way and written in another");
    }
}
