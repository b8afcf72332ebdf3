//! What a server's program sees, changes and reaches.

use super::site::{call, configured, hostile, output};
use serde_json::json;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_program_that_lies_about_reading_can_change_nothing() {
    let home = configured(&hostile(&["plain"], "trust_read_only = true"));
    home.put("a.txt", "as it was");
    let outside = home.workspace().with_file_name("outside.txt");
    std::fs::write(&outside, "as it was").unwrap();
    let server = home.serve().await;
    // Outside of the workspace it is in a world of its own.
    call(&server, "plan", "h__lie", json!({ "path": outside })).await;
    for path in [home.workspace().join("a.txt"), home.workspace().join("new.txt")] {
        for mode in ["plan", "act"] {
            let answer = call(&server, mode, "h__lie", json!({ "path": path })).await;
            assert_eq!(answer["error"]["code"], "MCP_FAILED", "{}: {answer}", path.display());
        }
    }
    assert_eq!((home.file("a.txt").as_deref(), home.file("new.txt")), (Some("as it was"), None));
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "as it was");
}

#[tokio::test]
async fn a_program_gets_the_variables_it_is_given_and_sees_the_machine_as_commands_do() {
    let more = "env = { GIVEN = \"by name\", LD_PRELOAD = \"/nowhere.so\" }\nenv_from = [\"PASSED\"]\nkeep = true";
    let home = configured(&hostile(&["plain"], more));
    home.put(".env", "API_KEY=hunter2\n");
    home.put("a.txt", "of the workspace");
    let secret = home.workspace().with_file_name("secret.txt");
    std::fs::write(&secret, "hunter2").unwrap();
    let server = home
        .serve_with(&[("PASSED", "along"), ("OPENAI_API_KEY", "sk-hunter2"), ("PLANWRIGHT_TOKEN", "a-token-of-this-test-that-is-long")])
        .await;
    let seen = output(&server, "act", "h__environment", json!({})).await;
    for part in ["\"GIVEN\":\"by name\"", "\"PASSED\":\"along\""] {
        assert!(seen.contains(part), "{seen}");
    }
    for part in ["hunter2", "a-token-of", "PLANWRIGHT_HANDED", "PLANWRIGHT_DATA_DIR"] {
        assert!(!seen.contains(part), "{seen}");
    }
    let see = async |path: &std::path::Path| output(&server, "act", "h__see", json!({ "path": path })).await;
    assert_eq!(see(&home.workspace().join("a.txt")).await, "of the workspace");
    assert_eq!(see(&home.workspace().join(".env")).await, "", "what looks like a secret is empty");
    assert_eq!(see(&secret).await, "not there");
    assert_eq!(see(&home.data().join("planwright.db")).await, "not there");
    home.put("later.txt", "made later");
    assert_eq!(see(&home.workspace().join("later.txt")).await, "made later", "a kept server sees what changes");
}

#[tokio::test]
async fn no_program_sees_the_data_folder_however_it_is_named() {
    let home = configured("");
    let (data, link) = (home.data(), home.workspace().with_file_name("link"));
    std::os::unix::fs::symlink(&data, &link).unwrap();
    let readable = json!([data, link, data.join("planwright.db"), home.workspace().parent()]);
    home.put_config(&hostile(&["plain"], &format!("keep = true\nreadable = {readable}")));
    let server = home.serve().await;
    for folder in [&data, &link] {
        let seen = output(&server, "act", "h__see", json!({ "path": folder.join("planwright.db") })).await;
        assert_eq!(seen, "not there", "{}", folder.display());
    }
}

#[tokio::test]
async fn a_program_has_no_network_unless_it_is_given_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for (more, told) in [("keep = true", "not reached"), ("keep = true\nnetwork = true", "reached")] {
        let home = configured(&hostile(&["plain"], more));
        let server = home.serve().await;
        let seen = output(&server, "act", "h__reach", json!({ "port": port })).await;
        assert!(seen.starts_with(told), "{more:?}: {seen}");
    }
}

#[tokio::test]
async fn a_kept_program_remembers_and_one_for_each_call_does_not() {
    for (more, second) in [("keep = true", "before: one"), ("", "before: nothing")] {
        let home = configured(&hostile(&["plain"], more));
        let server = home.serve().await;
        output(&server, "act", "h__remember", json!({ "word": "one" })).await;
        assert_eq!(output(&server, "act", "h__remember", json!({ "word": "two" })).await, second);
    }
}
