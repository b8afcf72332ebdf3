use super::*;
use serde_json::json;

fn plan_of(text: &str) -> (Plan, String) {
    match parse_answer(text) {
        ParsedAnswer::Plan { plan, prose } => (plan, prose),
        other @ (ParsedAnswer::Question { .. } | ParsedAnswer::Text { .. }) => panic!("{other:?}"),
    }
}

fn reason_of(text: &str) -> String {
    match parse_answer(text) {
        ParsedAnswer::Text { reason } => reason.unwrap_or_default(),
        other @ (ParsedAnswer::Plan { .. } | ParsedAnswer::Question { .. }) => panic!("{other:?}"),
    }
}

const PLAN: &str = r#"{"goal": "Tidy", "steps": [{"action": "sweep"}, {"action": "wash"}]}"#;

#[test]
fn a_plan_is_the_whole_answer_or_its_only_json_block_and_prose_stays() {
    assert_eq!(plan_of(&format!("\n {PLAN} \n")).1, "");
    assert_eq!(plan_of(&format!("Here:\n\n```JSON\n{PLAN}\n```\n\nAgreed?\n")).1, "Here:\n\nAgreed?");
    assert_eq!(plan_of(&format!("```sh\nls\n```\n  ~~~\n{PLAN}\n~~~~")).1, "```sh\nls\n```");
    assert_eq!(plan_of(&format!("Cut off:\n```json\n{PLAN}")).0.steps.len(), 2);
    assert_eq!(plan_of(&format!("{{\"type\": \"plan\", \"plan\": {PLAN}}}")).0.goal, "Tidy");
}

#[test]
fn what_a_model_leaves_out_or_adds_is_forgiven() {
    let json = json!({
        "type": "plan", "title": "extra", "goal": "Tidy", "risks": "dust", "prerequisites": null, "estimated_total_time": 2,
        "steps": ["sweep", {"step_number": "2", "action": "wash", "estimated_time": 5, "owner": "Ann", "tools_needed": "run", "status": "todo", "verify": ""},
            {"step_number": 3.0, "action": "dry", "files": ["a"], "status": "done"}],
    });
    let plan = plan_of(&json.to_string()).0;
    assert_eq!(plan.steps.iter().map(|step| step.step_number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((plan.risks, plan.estimated_total_time.as_deref()), (vec!["dust".to_owned()], Some("2")));
    assert_eq!(
        (plan.steps[1].estimated_time.as_deref(), &plan.steps[1].verify, plan.steps[1].status),
        (Some("5"), &None, StepStatus::Pending)
    );
    assert_eq!((plan.steps[1].tools_needed.as_slice(), plan.steps[2].status), (["run".to_owned()].as_slice(), StepStatus::Done));
}

#[test]
fn what_looks_like_a_plan_but_is_none_is_text_with_the_reason() {
    let reasons = [
        (r#"{"goal": "x", "steps": [{"action": "a"}, {"reason": "r"}]}"#, "steps[1].action must state what to do"),
        (r#"{"steps": [{"action": "a"}]}"#, "goal must state the purpose of the plan"),
        (r#"{"goal": "x", "steps": []}"#, "steps must have at least one step"),
        (r#"{"goal": "x", "steps": {"action": "a"}}"#, "steps must be a list"),
        (r#"{"goal": "x", "steps": [1]}"#, "steps[0] must be an object"),
        (r#"{"goal": "x", "steps": [{"action": ["a"]}]}"#, "steps[0].action must be text"),
        (r#"{"goal": "x", "steps": [{"action": "a", "step_number": "one"}]}"#, "steps[0].step_number must be 1"),
        (r#"{"goal": "x", "steps": [{"action": "a", "step_number": 7}]}"#, "steps[0].step_number must be 1"),
        (r#"{"goal": "x", "goal": "y", "steps": [{"action": "a"}]}"#, "duplicate key \"goal\""),
        (r#"{"goal": "x", "steps": [{"action": "a"},]}"#, "can't be read: trailing comma"),
        (r#"{"goal": "x", "steps": [{"action": "a"}]} Agreed?"#, "trailing characters"),
    ];
    for (text, expected) in reasons {
        assert!(reason_of(text).contains(expected), "{text}: {}", reason_of(text));
    }
    assert!(reason_of(&format!("```json\n{PLAN}\n```\n```\n{PLAN}\n```")).contains("2 JSON blocks"));
}

#[test]
fn other_text_is_text_without_a_reason() {
    for text in
        ["", "Hello", "{", r#"{"a": 1}"#, "```json\n[1]\n```", "```json\n{}\n```\n```json\n{}\n```", "the \"goal\" and \"steps\"", "[1]"]
    {
        assert_eq!(parse_answer(text), ParsedAnswer::Text { reason: None }, "{text}");
    }
    assert!(reason_of(&format!("{PLAN}{}", " ".repeat(MAX_ANSWER_BYTES))).contains("1 MiB"));
    assert!(reason_of(&format!("{{\"goal\": {}", "[".repeat(500_000))).contains("recursion limit"));
    assert_eq!(reason_of(&"```json\n{\n```\n".repeat(60_000)), "");
}

fn question_of(json: &Value) -> (Question, Severity) {
    match parse_answer(&format!("Hm.\n```json\n{json}\n```")) {
        ParsedAnswer::Question { question, severity, .. } => (question, severity),
        other @ (ParsedAnswer::Plan { .. } | ParsedAnswer::Text { .. }) => panic!("{other:?}"),
    }
}

#[test]
fn question_json_becomes_one_question_with_a_button_per_option() {
    let option = |label: &str, value: &str| json!({"label": label, "value": value, "description": "d"});
    let (question, severity) = question_of(&json!({
        "type": "question", "question": "Also the tests?", "context": "They use the old API", "severity": "Minor",
        "options": [option("Yes", "update"), option("No", "skip")], "default": "No", "extra": 1,
    }));
    assert_eq!((question.name.as_str(), severity, question.context.as_deref()), ("answer", Severity::Minor, Some("They use the old API")));
    assert_eq!(question.schema, json!({"type": "string", "enum": ["update", "skip"]}));
    assert_eq!((question.buttons.len(), question.buttons[1].description.as_deref(), question.default), (2, Some("d"), Some(json!("skip"))));
}

#[test]
fn a_question_with_less_is_read_and_one_without_a_question_is_not() {
    let (question, severity) =
        question_of(&json!({"type": "question", "question": "Which?", "severity": "huge", "options": ["a", "b"], "default": "z"}));
    assert_eq!((question.schema, question.default, severity), (json!({"type": "string", "enum": ["a", "b"]}), None, Severity::Major));
    let (question, _) = question_of(&json!({"type": "question", "question": "Which name?", "default": "bye"}));
    assert_eq!((question.schema["type"].as_str(), question.buttons.len(), question.default), (Some("string"), 0, Some(json!("bye"))));
    for (json, place) in [
        (r#"{"type": "question", "question": " "}"#, "/question"),
        (r#"{"type": "question", "question": "x", "options": [{}]}"#, "/options/0"),
    ] {
        assert!(reason_of(json).contains(place), "{}", reason_of(json));
    }
}
