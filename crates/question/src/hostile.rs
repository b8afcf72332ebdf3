//! Tests with hostile schemas, and whatever else a model may send.

use crate::{answer_text, validate_answers};
use planwright_protocol::{ErrorCode, Problem, Question};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// The guard cases' limit; generous enough for an unoptimised build on a busy machine.
const DEADLINE: Duration = Duration::from_millis(500);

fn ask(schema: Value) -> Result<Vec<Question>, Problem> {
    crate::parse_batch(&json!({"questions": [{"name": "q", "question": "?", "schema": schema}]}))
}

fn refused(schema: Value) -> Problem {
    let problem = ask(schema).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidArguments);
    problem
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The message about the whole answer, which must not fit.
fn complaint(schema: Value, answer: Value) -> String {
    let problem = validate_answers(&ask(schema).unwrap(), &map(json!({ "q": answer }))).unwrap_err();
    assert_eq!(problem.code, ErrorCode::ValidationFailed);
    problem.details.unwrap()["fields"]["q"].as_str().unwrap().to_string()
}

#[test]
fn a_schema_never_reaches_outside_itself() {
    for reference in
        ["http://169.254.169.254/latest", "file:///etc/passwd", "//host/x", "other.json", "json-schema:///x", "#anchor", "urn:x", ""]
    {
        let problem = refused(json!({"properties": {"a": {"$ref": reference}}}));
        let fields = problem.details.unwrap()["fields"].clone();
        assert!(fields["/questions/0/schema/properties/a/$ref"].as_str().unwrap().contains("nothing is fetched"), "{fields}");
    }
    refused(json!({"$id": "http://example.org/x", "type": "string"}));
    refused(json!({"$schema": "http://example.org/dialect", "type": "string"}));
    refused(json!({"$dynamicRef": "http://example.org/x"}));
    refused(json!({"$ref": "#/$defs/missing"}));
    refused(json!({"$defs": {"a": {"$id": "http://example.org/x", "$ref": "#/$defs/b"}}}));
}

#[test]
fn a_schema_that_refers_back_to_itself_is_refused_at_once() {
    let started = Instant::now();
    let tree = json!({"$defs": {"node": {"properties": {"children": {"items": {"$ref": "#/$defs/node"}}}}}, "$ref": "#/$defs/node"});
    let circle = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    for schema in
        [json!({"$ref": "#"}), json!({"items": {"$ref": "#"}}), json!({"$ref": "#/"}), tree, circle, json!({"$recursiveRef": "#"})]
    {
        refused(schema);
    }
    assert!(started.elapsed() < DEADLINE);
}

#[test]
fn references_that_multiply_or_chain_are_measured_by_what_they_stand_for() {
    let link = |index: usize, next: Value| (format!("d{index}"), next);
    let doubling: Map<String, Value> = (0..12)
        .map(|index| {
            let next = json!({"$ref": format!("#/$defs/d{}", index + 1)});
            link(index, if index == 11 { json!({}) } else { json!({"allOf": vec![next; 10]}) })
        })
        .collect();
    let chain: Map<String, Value> = (0..400)
        .map(|index| link(index, if index == 399 { json!({}) } else { json!({"$ref": format!("#/$defs/d{}", index + 1)}) }))
        .collect();
    let started = Instant::now();
    for definitions in [doubling, chain] {
        refused(json!({"$defs": definitions, "$ref": "#/$defs/d0"}));
    }
    assert!(started.elapsed() < DEADLINE);
}

#[test]
fn a_schema_too_deep_too_long_or_of_too_many_parts_is_refused_at_once() {
    let started = Instant::now();
    refused((0..40).fold(json!({}), |inner, _| json!({ "not": inner })));
    refused((0..100).fold(json!({}), |inner, _| json!([inner])));
    refused(json!({"enum": (0..200_000).map(|index| format!("value {index}")).collect::<Vec<_>>()}));
    refused(json!({"enum": (0..12_000).collect::<Vec<_>>()}));
    refused(json!({"description": "x".repeat(70 * 1024)}));
    refused((0..8).fold(json!({}), |inner, _| json!({"if": inner, "unevaluatedProperties": false})));
    assert!(started.elapsed() < DEADLINE * 4, "{:?}", started.elapsed());
    let many: Vec<String> = (0..3000).map(|index| format!("value-{index}")).collect();
    let message = complaint(json!({ "enum": many }), json!("other"));
    assert!(message.ends_with("… (3000 in all)") && message.len() < 400, "{message}");
}

#[test]
fn an_invalid_schema_is_refused_with_the_place_that_is_wrong() {
    for (schema, place) in [
        (json!({"type": "strin"}), "/type"),
        (json!({"properties": {"a": {"minLength": "x"}}}), "/properties/a/minLength"),
        (json!({"required": true}), "/required"),
        (json!({"enum": []}), "/enum"),
        (json!({"properties": {"__proto__": {}}}), "/properties/__proto__"),
        (json!({"pattern": "("}), "/pattern"),
        (json!(true), ""),
        (json!("string"), ""),
    ] {
        let fields = refused(schema).details.unwrap()["fields"].clone();
        assert!(fields.get(format!("/questions/0/schema{place}")).is_some(), "{place}: {fields}");
    }
}

#[test]
fn patterns_that_could_run_long_are_refused_or_run_in_linear_time() {
    for (pattern, part) in [
        ("^(?=a)b$", "look-around"),
        ("(?<!a)b", "look-around"),
        (r"(a)\1", "back-reference"),
        (r"(?<x>a)\k<x>", "back-reference"),
        ("((a{100}){100}){100}", "minLength"),
        (&"a".repeat(1 << 20), "bytes"),
        (&r"\s".repeat(200), "at most"),
    ] {
        let started = Instant::now();
        for schema in [json!({ "pattern": pattern }), json!({"patternProperties": {pattern: {}}})] {
            assert!(refused(schema).message.contains(part), "{part}");
        }
        assert!(started.elapsed() < DEADLINE, "{part}");
    }
    for pattern in ["^(a+)+$", "^(a|a)*$", "^(a*)*b$", "(x+x+)+y", "^([a-z]+)*$", "^(.*)*=$", r"[(?=]", r"^[\w.+-]+@[\w-]+\.[\w.]+$"] {
        let started = Instant::now();
        for length in [1000, 8000, 200_000] {
            let message = complaint(json!({"type": "string", "pattern": pattern}), json!("a".repeat(length) + "!"));
            assert!(message.contains("must match") || message.contains("too long"), "{pattern}: {message}");
        }
        assert!(started.elapsed() < DEADLINE, "{pattern} {:?}", started.elapsed());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from), (-2i64..6).prop_map(Value::from)];
    let word =
        prop::sample::select(vec!["string", "object", "array", "#", "#/$defs/a", "#/properties/a", "^a+$", "(", "date", "email", "a", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        word.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from)
    ];
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "prefixItems",
        "enum",
        "const",
        "required",
        "$ref",
        "$defs",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "multipleOf",
        "additionalProperties",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
        "dependentSchemas",
        "contains",
        "minContains",
        "uniqueItems",
        "$schema",
        "$id",
        "$anchor",
        "a",
    ]);
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let key = prop_oneof![4 => keyword.clone().prop_map(String::from), 1 => ".{0,8}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..6).prop_map(|members| Value::Object(members.into_iter().collect()))
        ]
    })
}

/// A schema that is valid more often than not, so that checking is tried and not only refusing.
fn plausible_schema() -> impl Strategy<Value = Value> {
    let types = prop::sample::select(vec!["string", "object", "array", "integer", "number", "boolean", "null"]);
    let patterns = prop::sample::select(vec!["^a+$", "^(a+)+$", r"\d", "[a-", "(?=a)", "^$", r"\p{L}{2}", "a|b"]);
    let formats = prop::sample::select(vec![
        "email",
        "date",
        "time",
        "date-time",
        "uri",
        "iri",
        "hostname",
        "idn-hostname",
        "regex",
        "uuid",
        "duration",
    ]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        types.prop_map(|name| json!({ "type": name })),
        patterns.prop_map(|pattern| json!({"pattern": pattern, "patternProperties": {pattern: {"maxLength": 1}}})),
        formats.prop_map(|format| json!({ "format": format })),
        any_json().prop_map(|value| json!({"const": value})),
        any::<f64>().prop_map(|number| json!({"multipleOf": number.abs(), "minimum": number, "maxLength": number.abs().trunc()})),
        any::<u64>().prop_map(|number| json!({"minItems": number, "maxProperties": number, "multipleOf": number, "minContains": number})),
        Just(json!({"uniqueItems": true, "required": ["a", "type"]})),
    ];
    let keywords = vec![
        "items",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    leaf.prop_recursive(4, 40, 4, move |inner| {
        let one = prop::collection::hash_map(prop::sample::select(keywords.clone()), inner.clone(), 1..5);
        let lists = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let maps = prop::sample::select(vec!["properties", "dependentSchemas", "$defs"]);
        let members = prop::collection::hash_map(prop::sample::select(vec!["a", "b", "type", "items"]), inner.clone(), 1..4);
        prop_oneof![
            one.prop_map(|members| json!(members)),
            (lists, prop::collection::vec(inner.clone(), 1..4)).prop_map(|(keyword, schemas)| json!({ keyword: schemas })),
            (maps, members).prop_map(|(keyword, members)| json!({ keyword: members })),
            inner.prop_map(
                |schema| json!({"$defs": {"a": schema}, "items": {"$ref": "#/$defs/a"}, "properties": {"a": {"$ref": "#/$defs/a"}}})
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_schema_answer_or_call_whatever_makes_it_panic(schema in prop_oneof![any_json(), plausible_schema()], answer in any_json()) {
        let question = Question { name: "q".into(), question: "?".into(), schema: schema.clone(), buttons: vec![], context: None, default: Some(answer.clone()) };
        let answers = map(json!({ "q": answer.clone() }));
        let verdict = validate_answers(std::slice::from_ref(&question), &answers);
        prop_assert_eq!(crate::default_answer(&question).is_some(), verdict.is_ok());
        prop_assert_eq!(answer_text(&[question], &answers).lines().count(), 1);
        let _ = crate::parse_batch(&schema);
        let _ = crate::parse_question_json(&schema);
        let _ = ask(schema.clone());
        let _ = crate::parse_question_json(&json!({"type": "question", "question": "?", "options": schema, "default": answer}));
    }
}
