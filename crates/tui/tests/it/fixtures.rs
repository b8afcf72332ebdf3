//! A screen with a chat, made by reports as the loop makes them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::{ChatId, Envelope, WorkspaceId};
use planwright_tui::app::{AppInput, AppState};
use planwright_tui::draw::draw;
use planwright_tui::palette::{ColourDepth, Palette};
use planwright_tui::request::{AppCommand, AppReport, Start};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

pub const CHAT: &str = "01a1e121-e56c-750e-9c54-a1ee26594f01";
pub const WORKSPACE: &str = "01a1e121-e56c-750e-9c54-a1ee26594f02";
const AT: &str = "2026-11-18T10:00:00Z";

/// The screen, and the number of its last event.
pub struct Stage {
    pub app: AppState,
    seq: u64,
    made: u64,
}

impl Stage {
    /// The screen right after the start, without a chat.
    pub fn empty() -> Self {
        let mut stage = Self { app: AppState::new(Palette { depth: ColourDepth::None }), seq: 10, made: 0 };
        stage.report(AppReport::Started(Box::new(start(&json!("demo/demo")))));
        stage
    }

    /// A chat of this role without messages.
    pub fn chat(role: &str) -> Self {
        let mut stage = Self::empty();
        let chat = chat_view(role);
        let snapshot = json!({
            "chat": chat, "messages": [], "pending_question": null, "partial": null, "printed": {}, "last_run": null, "queued": [],
            "last_event_id": 10,
        });
        stage.report(AppReport::Opened(Box::new(serde_json::from_value(snapshot).unwrap())));
        stage
    }

    pub fn report(&mut self, report: AppReport) -> Vec<AppCommand> {
        self.app.update(AppInput::Report(report))
    }

    pub fn event(&mut self, kind: &str, data: Value) -> Vec<AppCommand> {
        self.seq += 1;
        let envelope: Envelope = serde_json::from_value(json!({ "type": kind, "data": data, "seq": self.seq, "at": AT })).unwrap();
        self.report(AppReport::Event { chat: chat_id(), envelope: Box::new(envelope) })
    }

    /// A message as the server stores it.
    pub fn message(&mut self, author: &str, kind: &str, content: &str, metadata: Value) {
        let id = self.id();
        let role = if author == "assistant" { json!("planner") } else { Value::Null };
        let message = json!({
            "id": id, "chat_id": CHAT, "author": author, "agent_role": role, "message_type": kind, "content": content,
            "metadata": metadata, "created_at": AT,
        });
        self.event("message_created", json!({ "message": message }));
    }

    /// A fresh id, later than all before.
    pub fn id(&mut self) -> String {
        self.made += 1;
        format!("01a1e121-e56c-750e-9c54-a1ee2659{:04x}", 0x5000 + self.made)
    }

    pub fn call(&mut self, tool: &str, args: Value, result: Result<&str, &str>) {
        let call_id = self.id();
        let status = if result.is_ok() { "done" } else { "failed" };
        self.message("assistant", "tool_call", tool, json!({ "call_id": call_id, "tool": tool, "args": args, "status": status }));
        let (text, outcome) = match result {
            Ok(text) => (text, json!({ "call_id": call_id, "tool": tool, "success": true })),
            Err(text) => {
                let error = json!({ "code": "PATH_NOT_FOUND", "message": text, "retryable": false });
                (text, json!({ "call_id": call_id, "tool": tool, "success": false, "error": error }))
            }
        };
        self.message("tool", "tool_result", text, outcome);
    }

    pub fn ask(&mut self, kind: &str, severity: &str, questions: Value, extra: Value) {
        let id = self.id();
        let mut data = json!({ "question_id": id, "questions": questions, "kind": kind, "severity": severity, "created_at": AT });
        data.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        self.event("state_changed", json!({ "state": "awaiting_answer" }));
        self.event("question_pending", data);
    }

    /// The card before `/src/old.rs` and `/src/older.rs` are deleted.
    pub fn ask_to_delete(&mut self) {
        let call_id = self.id();
        let call = json!({
            "call_id": call_id, "tool": "rm", "args": { "path": "/src" }, "reason": "The plan does not name these files.",
            "effects": [{ "effect": "delete", "target": "/src/old.rs" }, { "effect": "delete", "target": "/src/older.rs" }],
            "folder": "/src", "grant": "rm", "reversible": true, "step_number": 2, "deleted_count": 2,
            "deleted": [
                { "path": "/src/old.rs", "kind": "file", "size": 120, "lines": 4, "beginning": "fn old() {\n    todo()\n}" },
                { "path": "/src/older.rs", "kind": "file", "size": 3000 },
            ],
        });
        let question = json!([{ "name": "decision", "question": "Delete?", "schema": { "enum": ["approve", "approve_always", "deny"] } }]);
        self.ask("tool_approval", "critical", question, json!({ "call": call }));
    }

    pub fn plan_view(&mut self, steps: usize) {
        let plan = plan(steps);
        let view = json!({
            "plan_file": "/plans/say-goodbye.plan", "sha256": "abc", "content": "# Say goodbye", "plan": plan, "revision": 2, "status": "draft",
            "findings": [{ "line": 9, "column": 1, "message": "the step names no files", "gravity": "warning", "step": 2 }],
            "approved_sha256": null,
        });
        self.report(AppReport::Plan(Box::new(serde_json::from_value(view).unwrap())));
    }

    pub fn press(&mut self, code: KeyCode) -> Vec<AppCommand> {
        self.app.update(AppInput::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    pub fn control(&mut self, letter: char) -> Vec<AppCommand> {
        self.app.update(AppInput::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)))
    }

    pub fn type_text(&mut self, text: &str) {
        text.chars().for_each(|character| drop(self.press(KeyCode::Char(character))));
    }

    /// The screen's lines, without the space at their ends.
    pub fn picture(&self, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(&self.app, frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |y: u16| {
            let (mut text, mut x) = (String::new(), 0);
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                text.push_str(symbol);
                x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap().max(1);
            }
            text.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

pub fn chat_id() -> ChatId {
    CHAT.parse().unwrap()
}

pub fn workspace_id() -> WorkspaceId {
    WORKSPACE.parse().unwrap()
}

pub fn chat_view(role: &str) -> Value {
    let config = json!({ "agent_role": role });
    json!({
        "id": CHAT, "workspace_id": WORKSPACE, "title": "Say goodbye", "config": config, "app_data": config, "state": "idle",
        "pending_question": null, "usage": {}, "progress": null, "pinned": false, "archived": false, "person": null, "model": null,
        "effort": null, "created_at": AT, "updated_at": AT,
    })
}

pub fn start(model: &Value) -> Start {
    Start {
        me: serde_json::from_value(json!({
            "user": { "id": null, "name": "you", "admin": true, "adds_folders": true }, "version": "0.1.0", "auth": "token", "takes_images": false,
            "models": { "plan": model, "act": model },
        }))
        .unwrap(),
        workspace: serde_json::from_value(json!({
            "id": WORKSPACE, "name": "greeter", "path": "/home/ann/greeter", "settings": {}, "created_at": AT,
        }))
        .unwrap(),
        chats: Vec::new(),
        models: serde_json::from_value(json!({ "plan": model, "act": model, "available": ["demo/demo", "local/qwen3-coder"] })).unwrap(),
        trust: planwright_protocol::api::workspace::Trust::nothing(),
    }
}

pub fn plan(steps: usize) -> Value {
    let actions = ["Write the farewell in 中文 and English", "Call it from main", "Test it", "Describe it in the README"];
    let step = |number: usize| {
        json!({
            "step_number": number, "action": actions[(number - 1) % actions.len()], "reason": "Greeting alone is half of a conversation.",
            "tools_needed": ["write"], "files": if number == 2 { json!([]) } else { json!(["/src/farewell.rs"]) }, "verify": "cargo test",
        })
    };
    json!({ "goal": "Say goodbye", "steps": (1..=steps).map(step).collect::<Vec<_>>(), "risks": ["Nobody leaves."], "prerequisites": [] })
}
