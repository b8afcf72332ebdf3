//! Folders of the machine that users make workspaces of.

use super::team::{Team, team};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// A team whose users may have workspaces below a folder, which goes last.
async fn team_below(folders: &[&str]) -> (Team, TempDir) {
    let root = tempfile::tempdir().unwrap();
    for folder in folders {
        std::fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    (team(&["--workspace-root", root.path().to_str().unwrap()]).await, root)
}

async fn add(team: &Team, token: &str, folder: impl AsRef<Path>) -> (StatusCode, Value) {
    team.request(token, Method::POST, "/workspaces", json!({ "path": folder.as_ref().to_str().unwrap() })).await
}

/// Adds it, and gives its path in the API.
async fn added(team: &Team, token: &str, folder: impl AsRef<Path>) -> String {
    let (status, made) = add(team, token, folder).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    format!("/workspaces/{}", made["id"].as_str().unwrap())
}

/// A call of a tool with the rights of act mode; the code of its error, if it has one.
async fn act(team: &Team, token: &str, workspace: &str, call: Value) -> Value {
    let body = json!({ "tool": call["tool"], "args": call["args"], "config": { "plan_mode": false } });
    team.request(token, Method::POST, &format!("{workspace}/tools"), body).await.1["error"]["code"].clone()
}

/// What a command of a member's prints.
async fn run(team: &Team, token: &str, workspace: &str, command: &str) -> String {
    let body = json!({ "tool": "run", "args": { "command": command }, "config": { "plan_mode": false } });
    team.request(token, Method::POST, &format!("{workspace}/tools"), body).await.1.to_string()
}

#[tokio::test]
async fn no_member_reads_the_servers_files_or_anothers_by_links_that_build_output_carries() {
    let (team, root) = team_below(&["of-vic", "of-bob"]).await;
    let root = root.path();
    std::fs::write(root.join("of-bob/private.txt"), "WHAT-BOB-HIDES").unwrap();
    std::fs::write(team.home.data().join("key"), "WHAT-THE-SERVER-HIDES").unwrap();
    added(&team, &team.bob, root.join("of-bob")).await;
    let outer = added(&team, &team.vic, root.join("of-vic")).await;
    let bobs = format!("{}/of-bob", root.file_name().unwrap().to_str().unwrap());
    // From where the workspace is staged, and as they are.
    let targets = [
        "../../../../key".to_owned(),
        format!("../../../../../../{bobs}/private.txt"),
        format!("../../../../../../{bobs}"),
        team.home.data().join("key").display().to_string(),
        root.join("of-bob").display().to_string(),
    ];
    for (number, target) in targets.iter().enumerate() {
        let plant = format!("mkdir -p node_modules/p{number}; ln -s {target} node_modules/p{number}/.planwright; true");
        run(&team, &team.vic, &outer, &plant).await;
        // Also as if it had landed, or come with a clone.
        let inner = root.join(format!("of-vic/node_modules/p{number}"));
        std::fs::create_dir_all(&inner).unwrap();
        let _ = std::os::unix::fs::symlink(target, inner.join(".planwright"));
        let inner = added(&team, &team.vic, inner).await;
        for _ in 0..2 {
            let seen = run(&team, &team.vic, &inner, "cat .planwright .planwright/*; echo it ran").await;
            assert!(seen.contains("it ran") && !seen.contains("HIDES"), "{target}: {seen}");
        }
    }
    std::fs::write(root.join("of-vic/node_modules/p0/own.txt"), "WHAT-THE-INNER-ONE-HIDES").unwrap();
    let seen = run(&team, &team.vic, &outer, "cat node_modules/p0/own.txt; echo it ran").await;
    assert!(seen.contains("it ran") && !seen.contains("HIDES"), "{seen}");
}

#[tokio::test]
async fn without_roots_only_admins_add_folders_and_others_hear_the_same_of_every_path() {
    let team = team(&[]).await;
    let place = team.home.workspace().parent().unwrap().to_owned();
    std::fs::create_dir(place.join("free")).unwrap();
    let mut heard = Vec::new();
    for folder in [place.join("free"), place.join("nowhere"), place.join("data/token"), "/etc".into(), "/proc/self".into(), "/".into()] {
        heard.push(add(&team, &team.bob, &folder).await);
    }
    assert_eq!(heard[0].0, StatusCode::FORBIDDEN);
    assert!(heard[0].1["error"]["message"].as_str().unwrap().contains("--workspace-root"), "{}", heard[0].1);
    assert!(heard.iter().all(|answer| *answer == heard[0]), "{heard:?}");
    added(&team, &team.ann, place.join("free")).await;
    let missing = add(&team, &team.ann, place.join("nowhere")).await;
    assert_eq!(missing.0, StatusCode::UNPROCESSABLE_ENTITY, "an admin sees the reason: {}", missing.1);
}

#[tokio::test]
async fn whoever_adds_a_folder_below_a_root_owns_it_and_nobody_adds_what_is_anothers() {
    let (team, root) = team_below(&["of-vic/inner", "of-bob", "shared"]).await;
    let root = root.path();
    let path = added(&team, &team.vic, root.join("of-vic")).await;
    let members = team.request(&team.vic, Method::GET, &format!("{path}/members"), json!({})).await.1;
    assert_eq!((&members[0]["name"], &members[0]["role"]), (&json!("vic"), &json!("owner")));
    std::os::unix::fs::symlink(root.join("of-vic"), root.join("link")).unwrap();
    for stranger in [&team.ann, &team.bob] {
        assert_eq!(team.request(stranger, Method::GET, &path, json!({})).await.0, StatusCode::NOT_FOUND, "not even an admin");
        // In it, around it, by another name, or the folder itself.
        for folder in ["of-vic", "of-vic/inner", "of-vic/..", "link", "link/inner"] {
            let (status, answer) = add(&team, stranger, root.join(folder)).await;
            assert_eq!((status, answer.get("id")), (StatusCode::FORBIDDEN, None), "{folder}: {answer}");
        }
    }
    // Somebody who adds what they may look at stays what they are.
    let shared = added(&team, &team.bob, root.join("shared")).await;
    let viewer = json!({ "name": "vic", "role": "viewer" });
    assert_eq!(team.request(&team.bob, Method::POST, &format!("{shared}/members"), viewer).await.0, StatusCode::CREATED);
    assert_eq!(added(&team, &team.vic, root.join("shared")).await, shared);
    assert_eq!(team.request(&team.vic, Method::PATCH, &shared, json!({ "name": "mine" })).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_root_and_what_is_around_it_can_be_taken_by_nobody_but_an_admin() {
    let (team, root) = team_below(&["project"]).await;
    for folder in [root.path(), root.path().parent().unwrap(), &root.path().join("project/..")] {
        assert_eq!(add(&team, &team.bob, folder).await.0, StatusCode::FORBIDDEN, "{}", folder.display());
    }
    added(&team, &team.bob, root.path().join("project")).await;
    assert_eq!(add(&team, &team.ann, root.path()).await.0, StatusCode::FORBIDDEN, "bob works there");
    assert_eq!(add(&team, &team.ann, team.home.workspace().join("..")).await.0, StatusCode::UNPROCESSABLE_ENTITY, "its data is there");
}

#[tokio::test]
async fn what_lies_outside_the_roots_sounds_the_same_whether_it_is_there_or_not() {
    let (team, root) = team_below(&["of-vic/secret", "of-bob"]).await;
    let (root, outside) = (root.path(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("file"), "").unwrap();
    added(&team, &team.vic, root.join("of-vic")).await;
    added(&team, &team.bob, root.join("of-bob")).await;
    let link = |name: &str, target: &Path| std::os::unix::fs::symlink(target, root.join("of-bob").join(name)).unwrap();
    link("there", outside.path());
    link("file", &outside.path().join("file"));
    link("dangling", &outside.path().join("nowhere"));
    let mut heard = Vec::new();
    for path in [
        outside.path().to_owned(),
        outside.path().join("file"),
        outside.path().join("nowhere"),
        outside.path().join("nowhere/at/all"),
        "/etc/shadow".into(),
        "/does/not/exist".into(),
        root.join("of-bob/../../nowhere"),
        // By links of one's own.
        root.join("of-bob/there"),
        root.join("of-bob/there/nowhere"),
        root.join("of-bob/file"),
        root.join("of-bob/dangling"),
        root.join("of-bob/dangling/"),
        root.join("of-bob/dangling/x"),
        // What is another's.
        root.join("of-vic/secret"),
        root.join("of-vic/nothing"),
    ] {
        heard.push((path.clone(), add(&team, &team.bob, &path).await));
    }
    assert_eq!(heard[0].1.0, StatusCode::FORBIDDEN);
    for (path, answer) in &heard {
        assert_eq!(*answer, heard[0].1, "{}", path.display());
    }
    for path in [root.join("nowhere"), root.join("of-bob/nowhere"), "relative".into()] {
        let (status, answer) = add(&team, &team.bob, &path).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{}: {answer}", path.display());
    }
}

#[tokio::test]
async fn of_two_who_want_overlapping_folders_at_once_one_has_it() {
    let (team, root) = team_below(&[]).await;
    for round in 0..20 {
        let outer = root.path().join(format!("r{round}"));
        let inner = if round % 2 == 0 { outer.clone() } else { outer.join("sub") };
        std::fs::create_dir_all(outer.join("sub")).unwrap();
        let (one, other) = tokio::join!(add(&team, &team.bob, &outer), add(&team, &team.vic, &inner));
        let mut statuses = [one.0, other.0];
        statuses.sort();
        assert_eq!(statuses, [StatusCode::CREATED, StatusCode::FORBIDDEN], "round {round}: {} {}", one.1, other.1);
    }
}

#[tokio::test]
async fn an_admin_sees_whose_a_folder_is_and_can_free_it_without_seeing_what_was_said_there() {
    let (team, root) = team_below(&["project"]).await;
    let folder = root.path().join("project");
    let path = added(&team, &team.bob, &folder).await;
    let id = path.rsplit('/').next().unwrap();
    let (status, chat) = team.request(&team.bob, Method::POST, &format!("{path}/chats"), json!({ "title": "Of bob alone" })).await;
    assert_eq!(status, StatusCode::CREATED, "{chat}");
    let (status, refused) = add(&team, &team.ann, &folder).await;
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(status == StatusCode::FORBIDDEN && text.contains("bob") && text.contains(id), "{refused}");

    for stranger in [&team.bob, &team.vic] {
        for (method, path) in [(Method::GET, "/admin/workspaces".to_owned()), (Method::DELETE, format!("/admin/workspaces/{id}"))] {
            assert_eq!(team.request(stranger, method, &path, json!({})).await.0, StatusCode::FORBIDDEN, "{path}");
        }
    }
    let (_, all) = team.request(&team.ann, Method::GET, "/admin/workspaces", json!({})).await;
    let entry = all.as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
    assert_eq!((&entry["path"], &entry["members"][0]["name"]), (&json!(folder), &json!("bob")));
    assert!(!all.to_string().contains("Of bob alone"), "{all}");
    assert_eq!(team.request(&team.ann, Method::GET, &format!("{path}/chats"), json!({})).await.0, StatusCode::NOT_FOUND);

    let forget = format!("/admin/workspaces/{id}");
    assert_eq!(team.request(&team.ann, Method::DELETE, &forget, json!({})).await.0, StatusCode::NO_CONTENT);
    assert_eq!(team.request(&team.ann, Method::DELETE, &forget, json!({})).await.0, StatusCode::NOT_FOUND);
    assert_eq!(team.request(&team.bob, Method::GET, &path, json!({})).await.0, StatusCode::NOT_FOUND);
    added(&team, &team.ann, &folder).await;
    assert_eq!(add(&team, &team.bob, &folder).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn no_user_has_a_variable_of_the_server_sent_anywhere_by_a_file_of_their_own() {
    let (team, root) = team_below(&["mine/.planwright", "mine/sub/.planwright", "mine/.git/hooks"]).await;
    let mine = root.path().join("mine");
    let path = added(&team, &team.bob, &mine).await;
    let file = "[providers.mine]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"PATH\"\n";
    // Neither by the workspace nor by another one around or inside it can the file be written.
    for folder in [".planwright", ".git", ".git/hooks", "sub/.planwright"] {
        assert_eq!(add(&team, &team.bob, mine.join(folder)).await.0, StatusCode::FORBIDDEN, "{folder}");
        assert_eq!(add(&team, &team.ann, mine.join(folder)).await.0, StatusCode::UNPROCESSABLE_ENTITY, "{folder}: nor by an admin");
    }
    for target in ["/.planwright/config.toml", "/sub/.planwright/config.toml", "/.git/hooks/pre-commit", "/sub/.git/config"] {
        let write = json!({ "tool": "write", "args": { "path": target, "content": file } });
        assert_eq!(act(&team, &team.bob, &path, write).await, "PROTECTED_PATH", "{target}");
    }
    let moved = json!({ "tool": "mv", "args": { "from": "/sub", "to": "/other" } });
    assert_eq!(act(&team, &team.bob, &path, moved).await, "PROTECTED_PATH");

    // And if it is there, it is not theirs to trust.
    std::fs::write(mine.join(".planwright/config.toml"), file).unwrap();
    let trust = format!("{path}/trust");
    let wanted = team.request(&team.bob, Method::GET, &trust, json!({})).await.1;
    assert_eq!(wanted["trusted"], false, "{wanted}");
    let accept = json!({ "sha256": wanted["sha256"] });
    let (status, refused) = team.request(&team.bob, Method::POST, &trust, accept.clone()).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("admin"), "{refused}");
    assert_eq!(team.request(&team.ann, Method::POST, &trust, accept.clone()).await.0, StatusCode::NOT_FOUND, "who is no member");
    let member = json!({ "name": "ann" });
    assert_eq!(team.request(&team.bob, Method::POST, &format!("{path}/members"), member).await.0, StatusCode::CREATED);
    let (status, accepted) = team.request(&team.ann, Method::POST, &trust, accept).await;
    assert_eq!((status, &accepted["trusted"]), (StatusCode::OK, &json!(true)), "{accepted}");
}
