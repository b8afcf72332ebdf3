use super::*;
use serde_json::json;

fn guard() -> ReplyGuard {
    ReplyGuard::new(Framing::EventStream, 1024 * 1024)
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn chat(call: &Value) -> String {
    event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
}

#[test]
fn events_pass_as_they_are_however_they_are_cut_and_whatever_ends_their_lines() {
    let text = "\u{feff}: comment\r\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:{\"b\":2}\n\ndata: [DONE]\r\rdata: {\"left\": 1}\n";
    for size in 1..text.len() {
        let mut guard = guard();
        let mut passed = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            passed.extend(guard.pass(piece).unwrap());
        }
        passed.extend(guard.end().unwrap());
        let passed = String::from_utf8(passed).unwrap();
        assert_eq!(passed, "data: {\"a\":\ndata: 1}\n\ndata: {\"b\":2}\n\ndata: [DONE]\n\n", "in pieces of {size}");
    }
    let mut lines = ReplyGuard::new(Framing::Lines, 1024);
    assert_eq!(lines.pass(b"{\"a\":1}\n\n{\"b\"").unwrap(), b"{\"a\":1}\n");
    assert_eq!(lines.pass(b":2}").unwrap(), b"");
    assert_eq!(lines.end().unwrap(), b"{\"b\":2}\n");
    assert!(matches!(lines.pass(&[b'x'; 2048]), Err(TransportFault::LineTooLong(1024))));
}

#[test]
fn deep_arguments_are_refused_however_they_are_hidden() {
    let deep = "[".repeat(5000);
    let piece = |args: &str| json!({"index": 0, "function": {"arguments": args}});
    let other = |args: &str| json!({"index": 1, "function": {"arguments": args}});
    let begun = |args: &str| json!({"index": 0, "id": "b", "function": {"name": "x", "arguments": args}});
    let unnumbered = |id: &str, args: &str| json!({"id": id, "function": {"arguments": args}});
    let hidden = [
        vec![chat(&piece(&deep))],
        deep.as_bytes().chunks(3).map(|_| chat(&piece("[[["))).collect(),
        // A string that another call, or the one before in the same place, left open.
        vec![chat(&piece("\"")), chat(&other(&deep))],
        vec![chat(&other("\"")), chat(&piece("{")), chat(&other("\"")), chat(&piece(&deep))],
        vec![chat(&begun("\"")), chat(&begun(&deep))],
        vec![chat(&unnumbered("a", "\"")), chat(&unnumbered("b", &deep))],
        vec![chat(&piece("\"\\")), chat(&piece("\"\"")), chat(&piece(&deep))],
        vec![event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "input": deep}}))],
        vec![
            event(&json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": "\""}})),
            event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use"}})),
            event(&json!({"type": "content_block_delta", "index": 0, "delta": {"partial_json": deep}})),
        ],
        vec![event(&json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": deep}))],
        vec![event(&json!({"type": "response.output_item.done", "item": {"arguments": deep}}))],
    ];
    for (number, events) in hidden.iter().enumerate() {
        let mut guard = guard();
        let refused = events.iter().any(|event| matches!(guard.pass(event.as_bytes()), Err(TransportFault::Unreadable(_))));
        assert!(refused, "case {number}");
    }
}

#[test]
fn wide_arguments_high_numbers_and_floods_of_values_are_refused() {
    let wide = format!("{}{}", "[".repeat(900), "1,".repeat(200_000));
    let elements = event(&json!({"choices": [], "more": vec![0; 60_000]}));
    let names = |from: usize| {
        let fields: Map<String, Value> = (from..from + 900).map(|number| (format!("name{number}"), json!(0))).collect();
        event(&Value::Object(fields))
    };
    let floods: [Vec<String>; 5] = [
        vec![chat(&json!({"index": 0, "function": {"arguments": wide}}))],
        vec![event(&json!({"type": "content_block_start", "index": u32::MAX, "content_block": {"type": "text", "text": ""}}))],
        vec![event(&json!({"more": vec![0; 200_000]}))],
        vec![elements; 20],
        (0..30).map(|number| names(number * 900)).collect(),
    ];
    for (number, events) in floods.iter().enumerate() {
        let mut guard = guard();
        let refused = events.iter().any(|event| matches!(guard.pass(event.as_bytes()), Err(TransportFault::Unreadable(_))));
        assert!(refused, "case {number}");
    }
    assert!(check_document(json!({"data": vec![0; 200_000]}).to_string().as_bytes()).is_err());
}

#[test]
fn long_and_odd_but_lawful_arguments_pass() {
    // Code full of brackets that are never closed, in pieces of a few bytes, in two calls that take turns now and then.
    let code = "x.split(\"[\"); y = '{'; // {[(\n".repeat(8000);
    let args = json!({"path": "/a", "content": code, "index": 99_999_999}).to_string();
    let mut guard = guard();
    guard.pass(chat(&json!({"index": 0, "id": "a", "function": {"name": "write", "arguments": ""}})).as_bytes()).unwrap();
    let pieces: Vec<&str> = args.as_bytes().chunks(5).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    for (number, piece) in pieces.iter().enumerate() {
        let id = format!("fresh{number}");
        guard.pass(chat(&json!({"index": 0, "id": id, "function": {"arguments": piece}})).as_bytes()).unwrap();
        if number % 5000 == 0 {
            guard.pass(chat(&json!({"index": 1, "function": {"arguments": " "}})).as_bytes()).unwrap();
        }
    }
    let text = event(&json!({"choices": [{"index": 0, "delta": {"content": "[".repeat(100_000)}}]}));
    guard.pass(text.as_bytes()).unwrap();
}
