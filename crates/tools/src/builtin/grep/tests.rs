use super::super::trial::Trial;
use crate::effect::FileEffect;
use crate::gate::{Consent, Verdict};
use planwright_protocol::Role;
use serde_json::json;
use std::os::unix::fs::symlink;

fn found(trial: &Trial, args: &str) -> String {
    trial.call(Role::Reviewer, "grep", args).unwrap().text
}

#[test]
fn matches_come_sorted_by_path_and_line() {
    let trial = Trial::new(&[
        ("src/b.rs", "fn b() {}\nx\nfn c() {}\r\n"),
        ("src/a.rs", "fn a() {}"),
        (".hidden", "fn h() {}\n"),
        ("c.txt", "Fn\n"),
    ]);
    assert_eq!(
        found(&trial, r#"{"pattern": "^fn \\w"}"#),
        "/.hidden:1:fn h() {}\n/src/a.rs:1:fn a() {}\n/src/b.rs:1:fn b() {}\n/src/b.rs:3:fn c() {}\n"
    );
    assert_eq!(found(&trial, r#"{"pattern": "fn$", "case_insensitive": true}"#), "/c.txt:1:Fn\n");
    assert_eq!(found(&trial, r#"{"pattern": "fn", "glob": "a.*"}"#), "/src/a.rs:1:fn a() {}\n");
    assert_eq!(found(&trial, r#"{"pattern": "fn", "path": "/src/a.rs"}"#), "/src/a.rs:1:fn a() {}\n");
    assert_eq!(found(&trial, r#"{"pattern": "nothing"}"#), "[no matches]\n");
}

#[test]
fn context_is_shown_in_groups() {
    let trial = Trial::new(&[("a", "1\n2\nX\n4\n5\n6\n7\nX\n"), ("b", "X\n")]);
    assert_eq!(found(&trial, r#"{"pattern": "X", "context": 1}"#), "/a-2-2\n/a:3:X\n/a-4-4\n--\n/a-7-7\n/a:8:X\n/b:1:X\n");
}

#[test]
fn what_is_ignored_ours_binary_or_special_is_left_out() {
    let trial = Trial::new(&[
        (".gitignore", "target/\n"),
        ("target/a", "needle\n"),
        (".git/config", "needle\n"),
        ("sub/.git/config", "needle\n"),
        (".planwright/config.toml", "needle\n"),
        ("a", "needle\n"),
    ]);
    trial.put("binary", b"needle\n\0\0\0");
    trial.put("compressed", b"needle\n\x1f\x8b\x02\x03\x04\x15\x16needle\n");
    trial.put("nul later", &[b"needle\n".to_vec(), b"x\n".repeat(100_000), b"needle\0\n".to_vec()].concat());
    trial.put("utf16", b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0");
    symlink("a", trial.host("link")).unwrap();
    symlink("..", trial.host("sub/loop")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, trial.host("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let text = found(&trial, r#"{"pattern": "needle", "path": "/"}"#);
    assert_eq!(text, "/a:1:needle\n/nul later:1:needle\n/nul later:100002:needle\u{fffd}\n/utf16:1:needle\n");
    assert_eq!(found(&trial, r#"{"pattern": "needle", "path": "/target"}"#), "/target/a:1:needle\n");
    assert_eq!(found(&trial, r#"{"pattern": "needle", "path": "/link"}"#), "/a:1:needle\n");
    assert_eq!(trial.refusal("grep", r#"{"pattern": "x", "path": "/fifo"}"#), "NOT_REGULAR_FILE");
}

#[test]
fn secrets_are_counted_and_searched_only_when_named() {
    let trial = Trial::new(&[(".env", "API_KEY=1\n"), ("deploy/id_rsa", "API_KEY=2\n"), ("a", "API_KEY=3\n")]);
    symlink(".env", trial.host("harmless")).unwrap();
    let text = found(&trial, r#"{"pattern": "API_KEY"}"#);
    assert!(text.starts_with("/a:1:API_KEY=3\n[2 files that look like secrets were not searched"), "{text}");
    // The count reveals nothing about their content.
    assert!(found(&trial, r#"{"pattern": "nothing"}"#).contains("[2 files that look like secrets"));
    for path in ["/.env", "/harmless"] {
        let args = json!({"pattern": "API_KEY", "path": path}).to_string();
        let prepared = trial.prepare("grep", &args).unwrap();
        assert!(matches!(trial.verdict(Role::Reviewer, "grep", &prepared.effects, Consent::Needed), Verdict::Ask(_)), "{path}");
        assert_eq!(found(&trial, &args), "/.env:1:API_KEY=1\n");
    }
}

#[test]
fn the_same_first_matches_are_shown_each_time() {
    let trial = Trial::new(&[]);
    for number in 0..300 {
        trial.put(&format!("d{}/f{number:03}", number % 7), b"needle\nneedle\n");
    }
    let args = r#"{"pattern": "needle", "limit": 15}"#;
    let output = trial.plan("grep", args).unwrap();
    assert_eq!((output.data["matches"].clone(), output.data["truncated"].clone()), (json!(15), json!(true)));
    assert!(output.text.starts_with("/d0/f000:1:needle\n/d0/f000:2:needle\n/d0/f007:1:needle\n"));
    assert!(output.text.contains("/d0/f049:1:needle\n[only the first 15 matches are shown"), "{}", output.text);
    for _ in 0..20 {
        assert_eq!(found(&trial, args), output.text);
    }
    let all = trial.plan("grep", r#"{"pattern": "needle", "limit": 600}"#).unwrap();
    assert_eq!(
        (all.data["matches"].clone(), all.data["files"].clone(), all.data["truncated"].clone()),
        (json!(600), json!(300), json!(false))
    );
}

#[test]
fn long_lines_and_long_answers_are_cut() {
    let trial = Trial::new(&[]);
    trial.put("a", format!("{}needle{}\n", "x".repeat(5000), "y".repeat(5000)).as_bytes());
    let text = found(&trial, r#"{"pattern": "needle"}"#);
    assert!(text.contains("[4900 bytes] xxx") && text.contains("needleyyy") && text.contains("more bytes]") && text.len() < 700, "{text}");
    trial.put("b", "z".repeat(400).as_bytes());
    trial.put("c", format!("{}\n", "z".repeat(400)).repeat(1000).as_bytes());
    let output = trial.plan("grep", r#"{"pattern": "zz", "limit": 2000}"#).unwrap();
    assert!(output.text.len() < 110_000 && output.data["truncated"] == true);
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let trial = Trial::new(&[("b", "needle\n")]);
    trial.put("a", &vec![b'x'; 20 << 20]);
    let text = found(&trial, r#"{"pattern": "needle"}"#);
    assert_eq!(text, "/b:1:needle\n[1 files or folders could not be read completely]\n");
}

#[test]
fn patterns_that_cannot_be_searched_for_are_refused() {
    let trial = Trial::new(&[("a", "a\n")]);
    let long = "a".repeat(1 << 20);
    for pattern in ["(", "a{1000}{1000}{1000}", "a\\nb", long.as_str()] {
        let problem = trial.act("grep", &json!({"pattern": pattern}).to_string()).unwrap_err();
        assert_eq!(problem.code.as_str(), "INVALID_ARGUMENTS");
        assert!(problem.message.len() < 1000, "{}", problem.message);
    }
    assert_eq!(trial.refusal("grep", r#"{"pattern": "a", "glob": "../**"}"#), "INVALID_ARGUMENTS");
    assert_eq!(trial.refusal("grep", r#"{"pattern": "a", "path": ".."}"#), "PATH_INVALID");
    assert_eq!(trial.refusal("grep", r#"{"pattern": "a", "path": "/none"}"#), "PATH_NOT_FOUND");
    assert!(found(&trial, r#"{"pattern": "(a*)*b"}"#).starts_with("[no matches]"));
    assert!(found(&trial, r#"{"pattern": "--pre=sh"}"#).starts_with("[no matches]"));
}

#[test]
fn a_search_announces_nothing_but_reading() {
    let trial = Trial::new(&[]);
    let prepared = trial.prepare("grep", r#"{"pattern": "a"}"#).unwrap();
    assert_eq!(prepared.effects, [FileEffect::Read(crate::path::WorkspacePath::root()).into()]);
}

#[test]
fn the_end_of_a_line_is_found_whatever_ends_it() {
    let trial = Trial::new(&[("a", "one\r\ntwo\r\n"), ("b", "one\n")]);
    let output = trial.plan("grep", r#"{"pattern": "one$"}"#).unwrap();
    assert_eq!(output.text.lines().count(), 2, "{}", output.text);
}
