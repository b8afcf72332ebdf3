use super::*;

fn question(name: &str, schema: Value) -> Question {
    Question { name: name.to_owned(), question: format!("{name}?"), schema, buttons: Vec::new(), context: None, default: None }
}

fn press(form: &mut QuestionForm, codes: &[KeyCode]) {
    for code in codes {
        form.key(KeyEvent::new(*code, KeyModifiers::NONE));
    }
}

fn type_text(form: &mut QuestionForm, text: &str) {
    text.chars().for_each(|character| press(form, &[KeyCode::Char(character)]));
}

#[test]
fn every_type_of_schema_has_its_field_and_gives_its_value() {
    let mut form = QuestionForm::new(&[
        question("sure", json!({"type": "boolean"})),
        question("colour", json!({"type": "string", "enum": ["red", "green"]})),
        question("name", json!({"type": "string", "minLength": 2})),
        question("parts", json!({"type": "array", "items": {"enum": ["a", "b", "c"]}})),
        question("labels", json!({"type": "array", "items": {"type": "string"}})),
        question(
            "place",
            json!({"type": "object", "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}}, "required": ["city"]}),
        ),
        question("any", json!({})),
    ]);
    press(&mut form, &[KeyCode::Char('y'), KeyCode::Enter, KeyCode::Char('2'), KeyCode::Enter]);
    type_text(&mut form, "Ann");
    press(&mut form, &[KeyCode::Enter, KeyCode::Char('1'), KeyCode::Char('3'), KeyCode::Enter]);
    type_text(&mut form, "x,y");
    press(&mut form, &[KeyCode::Enter, KeyCode::Enter]);
    type_text(&mut form, "Oslo");
    press(&mut form, &[KeyCode::Enter, KeyCode::Char('4'), KeyCode::Enter]);
    type_text(&mut form, "{\"k\": [1]}");
    let expected = json!({
        "sure": true, "colour": "green", "name": "Ann", "parts": ["a", "c"], "labels": ["x", "y"],
        "place": {"city": "Oslo", "floor": 4}, "any": {"k": [1]},
    });
    assert_eq!(form.answers().map(Value::Object), Some(expected), "{form:#?}");
}

#[test]
fn a_wrong_field_says_so_and_gets_the_focus() {
    let mut form = QuestionForm::new(&[
        question("name", json!({"type": "string", "minLength": 3})),
        question("n", json!({"type": "integer", "maximum": 5})),
    ]);
    type_text(&mut form, "ab");
    press(&mut form, &[KeyCode::Enter]);
    type_text(&mut form, "9.5");
    assert_eq!(form.answers(), None);
    assert_eq!(form.focus, 0);
    assert_eq!(form.fields[0].error.as_deref(), Some("Must have at least 3 characters."));
    assert_eq!(form.fields[1].error.as_deref(), Some("Must be a whole number."));
    type_text(&mut form, "c");
    assert_eq!(form.fields[0].error, None, "an edit clears the error");
}

#[test]
fn errors_of_the_server_are_shown_at_their_fields() {
    let mut form = QuestionForm::new(&[question("a", json!({"type": "string"})), question("b", json!({"type": "string"}))]);
    form.show_errors(json!({"answers.b": "too bold"}).as_object().unwrap());
    assert_eq!((form.focus, form.fields[1].error.as_deref()), (1, Some("too bold")));
}

#[test]
fn buttons_replace_the_field_and_a_digit_sends() {
    let mut asked = question("go", json!({"type": "boolean"}));
    asked.buttons =
        serde_json::from_value(json!([{"label": "Yes, do", "value": true}, {"label": "No", "value": false, "variant": "danger"}])).unwrap();
    let mut form = QuestionForm::new(&[asked]);
    assert!(form.is_one_choice());
    assert_eq!(form.key(KeyEvent::new(KeyCode::Char('2'), KeyModifiers::NONE)), FormOutcome::Submit);
    assert_eq!(form.answers().unwrap()["go"], false);
}

#[test]
fn defaults_are_filled_in_and_references_followed() {
    let schema = json!({"$ref": "#/$defs/x", "$defs": {"x": {"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]}}});
    let mut asked = question("pick", schema);
    asked.default = Some(json!(2));
    let mut form = QuestionForm::new(&[asked]);
    assert_eq!(form.answers().unwrap()["pick"], 2);
}
