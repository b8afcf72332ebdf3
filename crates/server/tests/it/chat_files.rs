//! A chat as a file of its workspace.

use crate::ground::Home;
use crate::{home, plan, write};
use planwright_testkit::client::{ChatClient, last_id, of_type};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::PathBuf;

fn script() -> Value {
    json!({
        "plan": [
            { "text": "I plan.", "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] },
            { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] },
            { "text": "As you like." },
        ],
        "act": [{ "text": "Working.", "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "All done." }],
        "repeat": true,
    })
}

fn name(chat: &ChatClient<'_>) -> String {
    format!(".planwright/chats/{}.chat", chat.path.rsplit('/').next().unwrap())
}

fn path(home: &Home, chat: &ChatClient<'_>) -> PathBuf {
    home.workspace().join(name(chat))
}

/// The chat's file once it has these words: lines are added beside the run.
async fn read_transcript(home: &Home, chat: &ChatClient<'_>, words: &str) -> String {
    let added = async {
        loop {
            match home.file(&name(chat)) {
                Some(text) if text.contains(words) => return text,
                Some(_) | None => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(planwright_testkit::PATIENCE, added).await.unwrap()
}

async fn frontmatter(chat: &ChatClient<'_>) -> Value {
    chat.server.get(&format!("{}/frontmatter", chat.path)).await
}

#[tokio::test]
async fn the_file_of_a_chat_follows_its_mode_plan_and_title_and_tells_what_was_said() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "Parting: a study" })).await;
    let text = home.file(&name(&chat)).unwrap();
    assert!(
        text.starts_with("---\nid: ") && text.contains("\nagent_role: planner\nagent_mode: plan\nmode: plan\nplan_file: null\n"),
        "{text}"
    );

    chat.say("Say goodbye, please").await;
    let asking = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let planned = frontmatter(&chat).await;
    assert_eq!((&planned["mode"], &planned["plan_file"]), (&json!("plan"), &json!("/plans/say-goodbye.plan")));
    let card = of_type(&asking, "question_pending")[0].clone();
    assert_eq!(chat.answer(&card["question_id"], json!({ "approve": true })).await.0, StatusCode::ACCEPTED);
    let text = home.file(&name(&chat)).unwrap();
    assert!(text.contains("\nagent_role: actor\nagent_mode: act\nmode: build\nplan_file: \"/plans/say-goodbye.plan\"\n"), "{text}");
    chat.run_to_end(last_id(&asking)).await;
    assert_eq!(chat.patch(json!({ "title": "Farewell" })).await.0, StatusCode::OK);

    let shown = chat.show().await;
    let read = frontmatter(&chat).await;
    for key in ["agent_role", "agent_mode", "mode", "plan_file"] {
        assert_eq!(read[key], shown["app_data"][key], "{key}");
    }
    assert_eq!((&read["id"], &read["title"], &read["created_at"]), (&shown["id"], &json!("Farewell"), &shown["created_at"]));
    assert!(read["updated_at"].as_str() > planned["updated_at"].as_str(), "its times advance");
    let text = home.file(&name(&chat)).unwrap();
    let places: Vec<usize> = ["Say goodbye, please", "I plan.", "- `write_plan`", "The user approved revision 1", "- `write`", "All done."]
        .iter()
        .map(|words| text.find(words).unwrap_or_else(|| panic!("{words:?} is not in {text}")))
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(text.matches("<!-- ").count(), chat.messages().await.len(), "each message once: {text}");
}

#[tokio::test]
async fn a_chat_file_that_was_deleted_or_edited_by_hand_is_mended_and_nothing_is_lost() {
    let home = home(&json!({ "turns": [{ "text": "I hear you." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let mut last = 0;
    let mut say = async |words: &str| {
        chat.say(words).await;
        last = last_id(&chat.run_to_end(last).await);
        read_transcript(&home, &chat, words).await
    };
    say("First words").await;
    std::fs::remove_dir_all(home.workspace().join(".planwright")).unwrap();
    let anew = say("Second words").await;
    assert!(anew.starts_with("---\nid: ") && anew.contains("First words") && anew.contains("Second words"), "{anew}");

    let edited = format!("{}\nMy own remark\n", anew.replacen("---\n", "---\ntags: [mine]\n", 1).replace("First words", "Other words"));
    std::fs::write(path(&home, &chat), edited).unwrap();
    let added = say("Third words").await;
    chat.patch(json!({ "title": "Another", "mode": "build" })).await;
    let text = home.file(&name(&chat)).unwrap();
    for words in ["tags: [mine]", "Other words", "My own remark", "Third words", "title: Another", "mode: build"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert!(!text.contains("First words") && added.find("My own remark") < added.find("Third words"), "{text}");

    std::fs::write(path(&home, &chat), text.replacen("title: Another", "title: \"Another\nno yaml at all [", 1)).unwrap();
    assert_eq!(frontmatter(&chat).await["title"], "Another");
    let text = home.file(&name(&chat)).unwrap();
    assert!(text.contains("no yaml at all [") && text.contains("My own remark") && text.contains("Third words"), "{text}");
}

#[tokio::test]
async fn what_a_chat_file_lacks_after_a_crash_is_added_when_the_chat_goes_on() {
    let home = home(&json!({ "turns": [{ "text": "I hear you." }], "repeat": true }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("First words").await;
    let events = chat.run_to_end(0).await;
    let (file, url) = (path(&home, &chat), chat.path.clone());
    server.kill().await;
    // As if the process had ended between the database and the file.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.rfind("\n## ").unwrap()]).unwrap();

    let server = home.serve().await;
    let chat = server.reopened(&url);
    chat.say("Second words").await;
    chat.run_to_end(last_id(&events)).await;
    // Read when the file is up to date.
    frontmatter(&chat).await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!((text.matches("I hear you.").count(), text.matches("First words").count()), (2, 2), "once as the title: {text}");
    assert_eq!(text.matches("<!-- ").count(), 4, "{text}");
}

#[tokio::test]
async fn a_chat_goes_on_where_its_file_cannot_be_written() {
    for obstacle in ["file", "link", "pipe"] {
        let home = home(&script());
        let outside = home.workspace().with_file_name("outside");
        std::fs::create_dir(&outside).unwrap();
        let own = home.workspace().join(".planwright");
        match obstacle {
            "file" => std::fs::write(&own, "mine").unwrap(),
            "link" => std::os::unix::fs::symlink(&outside, &own).unwrap(),
            _ => assert!(std::process::Command::new("mkfifo").arg(&own).status().unwrap().success()),
        }
        let server = home.serve().await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Go").await;
        let events = chat.run_to_end(0).await;
        assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{obstacle}");
        assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
        assert_eq!(frontmatter(&chat).await["mode"], "build");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "written through the link");
        assert_eq!(server.request(Method::DELETE, &chat.path, None).await.0, StatusCode::NO_CONTENT);
    }
}

#[tokio::test]
async fn a_deleted_chat_is_gone_with_its_file_and_its_work_stays() {
    let home =
        home(&json!({ "turns": [{ "text": "a b c d e f g h i j k l m n o p", "delay_ms": 300, "calls": [write("/late.txt", "x")] }] }));
    home.put("plans/mine.plan", "# Mine\n");
    let server = home.serve().await;
    let (chat, other) = (server.chat(json!({ "mode": "build" })).await, server.chat(json!({})).await);
    chat.say("Go").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    assert_eq!(server.request(Method::DELETE, &chat.path, None).await.0, StatusCode::NO_CONTENT);
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(server.request(method, &chat.path, None).await.0, StatusCode::NOT_FOUND);
    }
    assert!(!path(&home, &chat).exists() && path(&home, &other).exists());
    assert_eq!((home.file("late.txt"), home.file("plans/mine.plan").as_deref()), (None, Some("# Mine\n")));
    let listed = server.get(chat.path.rsplit_once('/').unwrap().0).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

fn git(home: &Home, args: &[&str]) -> String {
    let output = std::process::Command::new("git").args(args).current_dir(home.workspace()).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[tokio::test]
async fn transcripts_don_t_show_up_in_git_status_and_the_workspaces_configuration_does() {
    let home = home(&script());
    git(&home, &["init", "-q"]);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    assert!(path(&home, &chat).exists());
    assert_eq!(git(&home, &["status", "--porcelain", "--untracked-files=all"]), "");
    home.put(".planwright/config.toml", "[policy]\nact_requires_plan = true\n");
    assert_eq!(git(&home, &["status", "--porcelain", "--untracked-files=all"]), "?? .planwright/config.toml\n");
    git(&home, &["add", "--all"]);
    assert_eq!(git(&home, &["ls-files"]), ".planwright/config.toml\n");
}

#[tokio::test]
async fn a_gitignore_of_the_users_own_is_left_alone_and_a_folder_that_can_t_be_written_stops_no_chat() {
    let home = home(&script());
    home.put(".planwright/.gitignore", "# mine\n");
    let server = home.serve().await;
    server.chat(json!({})).await;
    assert_eq!(home.file(".planwright/.gitignore").as_deref(), Some("# mine\n"));
    assert!(server.terminate().await);

    let home = crate::home(&script());
    // Not even root writes into a file as if it were a folder.
    home.put(".planwright", "a file");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Hello").await;
    chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    assert_eq!(home.file(".planwright").as_deref(), Some("a file"));
}
