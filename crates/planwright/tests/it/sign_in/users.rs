//! `--auth users`: accounts, and what can be done with them from the command line.

use super::{Browser, CSRF, add_user, answered, login, new_token, said, script};
use crate::{home, plan};
use planwright_testkit::server::{Home, of_type};
use reqwest::{Client, Method, StatusCode};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};

#[tokio::test]
async fn an_account_made_while_the_server_runs_signs_in_and_a_new_password_ends_its_sessions() {
    let home = home(&script());
    let server = home.serve_without_token(&["--auth", "users"]).await;
    add_user(&home, "Ann", "first password").await;
    add_user(&home, "bob", "bobs password").await;
    let browser = Browser::sign_in(&server, &json!({ "name": "ann", "password": "first password" })).await;
    let (_, me) = browser.get("/me").await;
    assert_eq!((&me["auth"], &me["user"]["name"], &me["user"]["admin"]), (&json!("users"), &json!("Ann"), &json!(true)));
    let bob = Browser::sign_in(&server, &json!({ "name": "bob", "password": "bobs password" })).await;
    assert_eq!(bob.get("/me").await.1["user"]["admin"], false, "only the first is an admin by itself");
    let token = new_token(&home, "ann").await;

    let (code, _, stderr) = said(&home, &["user", "passwd", "ANN", "--password-stdin"], "second password\n").await;
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(browser.get("/me").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(bob.get("/me").await.0, StatusCode::OK);
    let by_token = Client::new().get(format!("{}/api/v1/me", server.base)).bearer_auth(&token);
    assert_eq!(answered(by_token).await.1["user"]["name"], "Ann", "a script goes on");
    for (password, status) in [("first password", 401), ("second password\n", 401), ("second password", 200)] {
        assert_eq!(login(&server, &json!({ "name": "Ann", "password": password })).await.status().as_u16(), status, "{password:?}");
    }
    let (_, failed) = answered(Client::new().get(format!("{}/api/v1/audit?kind=login_failed", server.base)).bearer_auth(&token)).await;
    assert_eq!(failed[0]["details"], json!({ "address": "127.0.0.1", "name": "Ann" }));
    assert_eq!(bob.get("/audit?kind=login_failed").await.1, json!([]), "that is for admins");

    assert_eq!(said(&home, &["user", "remove", "bob"], "").await.0, Some(0));
    assert_eq!(bob.get("/me").await.0, StatusCode::UNAUTHORIZED);
    let (_, listed, _) = said(&home, &["user", "list"], "").await;
    assert_eq!(listed.split_whitespace().collect::<Vec<_>>(), ["Ann", "admin"]);
}

#[tokio::test]
async fn an_unknown_name_and_a_wrong_password_get_the_same_answer() {
    let home = home(&script());
    add_user(&home, "ann", "a long password").await;
    let server = home.serve_without_token(&["--auth", "users"]).await;
    let mut answers = Vec::new();
    for name in ["ann", "nobody", ""] {
        let response = login(&server, &json!({ "name": name, "password": "wrong" })).await;
        answers.push((response.status(), response.text().await.unwrap()));
    }
    assert_eq!(answers[0].0, StatusCode::UNAUTHORIZED);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let failed = Client::new().get(format!("{}/api/v1/audit?kind=login_failed", server.base)).bearer_auth(new_token(&home, "ann").await);
    let (_, failed) = answered(failed).await;
    let names: Vec<&Value> = failed.as_array().unwrap().iter().map(|row| &row["details"]["name"]).collect();
    assert_eq!(names, [&json!(null), &json!(null), &json!("ann")], "what was typed as a name may be a password");
}

#[tokio::test]
async fn credentials_of_one_way_to_sign_in_are_worth_nothing_in_another() {
    let home = home(&script());
    let (_, operators, _) = said(&home, &["token", "new"], "").await;
    add_user(&home, "ann", "a long password").await;
    let anns = new_token(&home, "ann").await;
    let mut server = home.serve().await;
    let own = server.token.clone();
    for (token, status) in [(operators.trim(), 200), (anns.as_str(), 401)] {
        token.clone_into(&mut server.token);
        assert_eq!(server.request(Method::GET, "/me", None).await.0.as_u16(), status);
    }
    assert!(server.terminate().await);
    let mut server = home.serve_without_token(&["--auth", "users"]).await;
    for (token, status) in [(operators.trim(), 401), (own.as_str(), 401), (anns.as_str(), 200)] {
        token.clone_into(&mut server.token);
        assert_eq!(server.request(Method::GET, "/me", None).await.0.as_u16(), status);
    }
    assert_eq!(login(&server, &json!({ "token": own })).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn commands_about_accounts_say_what_is_wrong() {
    let home = home(&script());
    add_user(&home, "ann", "a long password").await;
    add_user(&home, "bob", "a long password").await;
    for (args, stdin, code, words) in [
        (&["user", "add", "ann", "--password-stdin"][..], "x", 1, "user passwd ann"),
        (&["user", "add", "ANN", "--password-stdin"], "x", 1, "already"),
        (&["user", "add", "a b", "--password-stdin"], "x", 2, "letters and digits"),
        (&["user", "add", "0194b5c8-0000-7000-8000-000000000000", "--password-stdin"], "x", 2, "id"),
        (&["user", "add", "eve", "--password-stdin"], "\n", 1, "1 to 1024"),
        (&["user", "add", "eve"], "typed", 2, "--password-stdin"),
        (&["user", "passwd", "eve", "--password-stdin"], "x", 1, "there is no account eve"),
        (&["user", "remove", "eve"], "", 1, "user list"),
        (&["user", "remove", "ann"], "", 1, "this is the last admin"),
        (&["token", "new"], "", 2, "--user: ann, bob"),
        (&["token", "new", "--user", "eve"], "", 1, "there is no account eve"),
        (&["user"], "", 2, "Usage"),
    ] {
        let (exit, stdout, stderr) = said(&home, args, stdin).await;
        assert_eq!((exit, stdout.as_str()), (Some(code), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    let (_, listed, _) = said(&home, &["user", "list"], "").await;
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

/// `user add` on a terminal of its own, where these lines are typed; what it shows, and whether it went well.
async fn on_a_terminal(home: &Home, typed: &[&str]) -> (String, bool) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut command = home.command(&["user", "add", "ann"]);
    command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    let lines: Vec<String> = typed.iter().map(|line| format!("{line}\n")).collect();
    let reader = tokio::task::spawn_blocking(move || {
        let (mut shown, mut file, mut piece) = (String::new(), File::from(master), [0; 4096]);
        let mut lines = lines.iter().zip(["Password: ", "Again: "]);
        let mut next = lines.next();
        // The terminal ends with an error when its last user has gone.
        while let Ok(length @ 1..) = file.read(&mut piece) {
            shown.push_str(&String::from_utf8_lossy(&piece[..length]));
            if let Some((line, _)) = next.filter(|(_, prompt)| shown.ends_with(*prompt)) {
                file.write_all(line.as_bytes()).unwrap();
                next = lines.next();
            }
        }
        shown
    });
    let status = child.wait().await.unwrap();
    (reader.await.unwrap(), status.success())
}

#[tokio::test]
async fn a_password_that_is_typed_does_not_show() {
    let home = home(&script());
    let (shown, well) = on_a_terminal(&home, &["correct horse battery", "something else"]).await;
    assert!(!well && shown.contains("passwords differ"), "{shown}");
    let (shown, well) = on_a_terminal(&home, &["correct horse battery", "correct horse battery"]).await;
    assert!(well && shown.contains("Password: ") && !shown.contains("horse"), "{shown}");
    let server = home.serve_without_token(&["--auth", "users"]).await;
    let offer = json!({ "name": "ann", "password": "correct horse battery" });
    assert_eq!(login(&server, &offer).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn the_log_tells_who_approved_and_who_refused() {
    let home = home(&json!({
        "plan": [{ "text": plan("bye.txt").to_string() }, { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] }],
        "act": [{ "text": "Done." }],
    }));
    for name in ["ann", "bob"] {
        add_user(&home, name, "a long password").await;
    }
    let mut server = home.serve_without_token(&["--auth", "users"]).await;
    server.token = new_token(&home, "ann").await;
    let chat = server.chat(json!({})).await;
    let workspace = chat.path.split('/').nth(2).unwrap().to_owned();
    let path = chat.path.clone();
    assert_eq!(server.post(&format!("/workspaces/{workspace}/members"), json!({ "name": "bob" })).await.0, StatusCode::CREATED);
    let bob = Browser::sign_in(&server, &json!({ "name": "bob", "password": "a long password" })).await;
    bob.change(Method::POST, &format!("{path}/messages"), json!({ "content": "A plan, please" })).await;
    server.reopened(&path).run_to_end(0).await;
    let (status, body) = answered(bob.request(Method::POST, &format!("{path}/execute")).header(CSRF, "1").json(&json!({}))).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let events = server.reopened(&path).events(0, |event| event["type"] == "mode_changed").await;
    assert_eq!(of_type(&events, "mode_changed")[0]["by"], "approval");
    let approved = server.get(&format!("/workspaces/{workspace}/audit?kind=plan_approved")).await;
    assert_eq!(approved[0]["details"]["approver"], "bob", "{approved}");
}
