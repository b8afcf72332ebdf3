//! Keys that a server is given, and says again: nobody reads them.

use super::address::{Way, far, kept, speak};
use super::site::{call, checked, configured, hostile, output};
use serde_json::json;
use std::process::Stdio;

const KEY: &str = "sk-4711-of-this-test";
const MASK: &str = "[value of LEAKED]";
const GIVEN: &str = "env_from = [\"LEAKED\"]";

#[tokio::test]
async fn a_key_that_a_server_prints_when_it_dies_is_told_to_nobody() {
    let home = configured(&hostile(&["leak"], GIVEN));
    home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "h__look", "args": {} }] }, { "text": "Then without it." }] }));
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("LEAKED", KEY).stderr(Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Look").await;
    let told = format!("{:?} {:?} {}", chat.run_to_end(0).await, chat.messages().await, server.get("/audit").await);
    assert!(told.contains(&format!("fatal: bad key {MASK}")) && told.contains(&format!("my key is {MASK}")), "{told}");
    let reports = checked(&server).await.to_string();
    assert!(reports.contains(MASK), "{reports}");
    assert!(server.terminate().await);
    let mut logged = String::new();
    while let Ok(Some(line)) = log.next_line().await {
        logged.push_str(&line);
    }
    assert!(logged.contains(MASK), "{logged}");
    let looked = home.command(&["doctor"]).env("LEAKED", KEY).output().await.unwrap();
    let looked = format!("{}{}", String::from_utf8_lossy(&looked.stdout), String::from_utf8_lossy(&looked.stderr));
    assert!(looked.contains(MASK), "{looked}");
    for (place, text) in
        [("the API", told), ("the report", reports), ("the log", logged), ("doctor", looked), ("what is kept", kept(&home))]
    {
        assert!(!text.contains(KEY), "the key is in {place}");
    }
}

#[tokio::test]
async fn a_key_is_in_no_result_error_or_description_either() {
    for more in ["keep = true\n", ""] {
        let home = configured("");
        home.put("said.txt", &format!("Looks with {KEY}."));
        let said = home.workspace().join("said.txt").to_str().unwrap().to_owned();
        home.put_config(&hostile(&["saying", &said], &format!("{more}{GIVEN}")));
        let server = home.serve_with(&[("LEAKED", KEY)]).await;
        let reports = checked(&server).await;
        assert!(reports.to_string().contains(&format!("Looks with {MASK}.")) && !reports.to_string().contains(KEY), "{reports}");
        let echoed = output(&server, "act", "h__environment", json!({})).await;
        assert!(echoed.contains(&format!("\"LEAKED\":\"{MASK}\"")) && !echoed.contains(KEY), "{echoed}");
        let refused = call(&server, "act", "h__refuse", json!({})).await.to_string();
        assert!(refused.contains(&format!("bad key {MASK}")) && !refused.contains(KEY), "{refused}");
    }
}

#[tokio::test]
async fn the_key_of_an_address_is_not_told_when_the_server_says_it_again() {
    let spoken = speak(Way::Echo, KEY).await;
    let home = far(&spoken.url, "api_key_env = \"LEAKED\"");
    let server = home.serve_with(&[("LEAKED", KEY)]).await;
    assert_eq!(output(&server, "act", "far__say", json!({})).await, format!("you sent {MASK}"));
}
