//! Models, files and servers that write more than text.

use crate::fixtures::Stage;
use crossterm::event::KeyCode;
use serde_json::json;

const FRAME: [char; 6] = ['═', '║', '╔', '╗', '╚', '╝'];

/// What a model would write to look like the program.
const ATTACKS: &[&str] = &[
    "\u{1b}[2J\u{1b}[Hcleared",
    "\u{1b}]0;a title\u{7}",
    "\u{1b}]52;c;aGVsbG8=\u{1b}\\",
    "\u{1b}[?1049l left the screen",
    "\u{9b}31mred",
    "\u{1b}P+q544e\u{1b}\\",
    "\r\rover the gutter",
    "a\u{8}\u{8}\u{8}b",
    "\u{202e}txet desrever",
    "zero\u{200b}width\u{feff}",
    "╔══ ‼ Delete 4 files? ═════════╗\n║ a  Allow once               ║\n║ d  Deny                      ║\n╚══════════════════════════════╝",
    "Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}algo",
    "\u{e0041}\u{e0042} tags",
];

fn text() -> String {
    ATTACKS.join("\n\n")
}

/// The screen shows nothing that a terminal would obey, and frames of approvals only if there is one.
fn assert_harmless(stage: &Stage, has_card: bool) {
    for (width, height) in [(80, 24), (120, 40), (200, 80)] {
        let picture = stage.picture(width, height);
        let all = picture.join("\n");
        let is_bad = |character: char| {
            character != '\n' && character.is_control()
                || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
        };
        assert!(!all.contains(is_bad), "{all}");
        let framed: Vec<usize> = picture.iter().enumerate().filter(|(_, line)| line.contains(FRAME)).map(|(index, _)| index).collect();
        assert_eq!(!framed.is_empty(), has_card, "{all}");
        // One block of lines, which begins and ends with a corner at the edge of the screen.
        if let (Some(first), Some(last)) = (framed.first(), framed.last()) {
            assert_eq!(framed, (*first..=*last).collect::<Vec<_>>(), "{all}");
            assert!(picture[*first].starts_with('╔') && picture[*last].starts_with('╚'), "{all}");
        }
    }
}

#[test]
fn text_of_a_model_moves_nothing_sets_nothing_and_frames_nothing() {
    let mut stage = Stage::chat("planner");
    let metadata = json!({ "reasoning": text() });
    stage.message("assistant", "text", &text(), metadata);
    stage.message("assistant", "text", &format!("```\n{}\n```\n> {}\n- {}\n# {}", text(), text(), text(), text()), json!({}));
    let message_id = stage.id();
    stage.event("text_delta", json!({ "message_id": message_id, "offset": 0, "text": text() }));
    assert_harmless(&stage, false);
}

#[test]
fn tools_titles_plans_and_output_are_as_harmless() {
    let mut stage = Stage::chat("actor");
    stage.call("read", json!({ "path": text() }), Ok(&text()));
    stage.call(&text(), json!({ "path": text() }), Err(&text()));
    let call_id = stage.id();
    stage.event("state_changed", json!({ "state": "executing" }));
    let call = json!({ "call_id": call_id, "tool": "run", "args": { "command": text() }, "status": "running" });
    stage.message("assistant", "tool_call", "run", call);
    stage.event("tool_output", json!({ "call_id": call_id, "text": text() }));
    stage.event("chat_updated", json!({ "title": text() }));
    let step = json!({ "step_number": 1, "action": text(), "reason": text(), "files": [text()], "verify": text() });
    let plan = json!({ "goal": text(), "steps": [step], "risks": [text()], "prerequisites": [] });
    let version = json!({ "plan": plan, "plan_file": text(), "revision": 1, "sha256": "abc" });
    stage.message("assistant", "plan", &text(), version);
    stage.app.history.all_open = true;
    assert_harmless(&stage, false);
}

#[test]
fn a_card_of_the_server_holds_a_models_text_inside_its_frame() {
    let mut stage = Stage::chat("actor");
    stage.message("assistant", "text", &text(), json!({}));
    let call_id = stage.id();
    let call = json!({
        "call_id": call_id, "tool": "write", "args": { "path": text(), "command": text() }, "reason": text(),
        "effects": [{ "effect": text(), "target": text() }], "folder": text(), "grant": "write", "diff": text(),
        "deleted": [{ "path": text(), "kind": "file", "beginning": text() }], "deleted_count": 1,
    });
    let question = json!([{ "name": "decision", "question": text(), "schema": {} }]);
    stage.ask("tool_approval", "major", question, json!({ "call": call }));
    assert_harmless(&stage, true);
}

#[test]
fn a_question_of_a_model_never_has_the_frame_of_an_approval() {
    let mut stage = Stage::chat("actor");
    let schema = json!({ "oneOf": [{ "const": 1, "title": text(), "description": text() }, { "const": 2, "title": "two" }] });
    let question = json!([{ "name": text(), "question": text(), "context": text(), "schema": schema }]);
    stage.ask("user", "critical", question, json!({}));
    stage.press(KeyCode::Tab);
    assert_harmless(&stage, false);
}

#[test]
fn keys_that_a_user_types_while_a_card_comes_up_decide_nothing() {
    let mut stage = Stage::chat("actor");
    stage.type_text("d");
    stage.ask_to_delete();
    let commands: Vec<_> = "add a d r w y".chars().flat_map(|letter| stage.press(KeyCode::Char(letter))).collect();
    assert!(commands.is_empty(), "{commands:?}");
    assert_eq!(stage.app.composer.field.shown(), "dadd a d r w y");
    stage.app.composer.field.clear();
    stage.press(KeyCode::Tab);
    assert!(stage.press(KeyCode::Enter).is_empty(), "a critical card has no default");
}
