//! A data folder that is read-only, full, or another process's: the server says so, and loses nothing that it acknowledged.

use crate::home;
use crate::small_disk::{SmallDisk, User, until};
use planwright_testkit::guard::announce;
use planwright_testkit::server::Home;
use reqwest::StatusCode;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

fn data(home: &Home) -> PathBuf {
    home.workspace().parent().unwrap().join("data")
}

/// The server, in a name space of its own in which `mount` was done to its data folder; `None` where there are none.
fn mounted(home: &Home, mount: &str) -> Option<Command> {
    let data = data(home);
    std::fs::create_dir_all(&data).unwrap();
    let can = std::process::Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !can {
        announce(&format_args!("no name spaces here; not run"));
        return None;
    }
    let plain = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &format!("data=\"$1\"; shift; {mount} && exec \"$@\""), "sh"]).arg(data);
    command.arg(plain.as_std().get_program()).args(plain.as_std().get_args());
    command.env_clear().current_dir(home.workspace()).kill_on_drop(true);
    for (name, value) in plain.as_std().get_envs() {
        command.envs(value.map(|value| (name, value)));
    }
    Some(command)
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_told_at_the_start() {
    let home = quiet();
    let Some(mut command) = mounted(&home, "mount --bind \"$data\" \"$data\" && mount -o remount,ro,bind \"$data\"") else { return };
    let output = command.stdout(Stdio::null()).output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("can't be written") && told.contains("data") && told.contains("Read-only"), "{told}");
}

#[tokio::test]
async fn a_data_folder_that_is_a_file_or_may_not_be_made_is_told_as_such_and_not_as_a_failure_of_the_program() {
    let home = quiet();
    let file = home.workspace().parent().unwrap().join("a-file");
    std::fs::write(&file, "x").unwrap();
    let inside = file.join("data");
    // The kernel's own folder, in which nobody makes any.
    for (folder, code) in
        [(file.as_path(), "PATH_INVALID"), (inside.as_path(), "PATH_INVALID"), (Path::new("/sys/planwright"), "FORBIDDEN")]
    {
        let output = home.command(&["run", "Hi", "--json", "--data-dir", folder.to_str().unwrap()]).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let end: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
        let error = &end["data"]["error"];
        assert_eq!((output.status.code(), &error["code"], &error["retryable"]), (Some(1), &json!(code), &json!(false)), "{told}");
        assert!(error["message"].as_str().unwrap().contains("choose another one with --data-dir"), "{told}");
        let doctor = home.command(&["doctor", "--data-dir", folder.to_str().unwrap()]).output().await.unwrap();
        let told = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(!doctor.status.success() && told.contains("choose another one with --data-dir"), "{told}");
    }
}

#[tokio::test]
async fn a_full_disk_refuses_what_it_cannot_keep_and_the_server_lives_on() {
    let home = quiet();
    let Some(command) = mounted(&home, "mount -t tmpfs -o size=3m tmpfs \"$data\"") else { return };
    let server = home.serve_command(command).await;
    let chat = server.chat(json!({})).await;
    let ballast = PathBuf::from(format!("/proc/{}/root", server.process())).join(data(&home).strip_prefix("/").unwrap()).join("ballast");
    std::fs::write(&ballast, vec![0; 1_000_000]).unwrap();
    let messages = format!("{}/messages", chat.path);
    let say = |number: usize| server.post(&messages, json!({ "content": format!("{number} {}", "x".repeat(50_000)) }));
    let (mut kept, mut refused) = (0, 0);
    for number in 0..300 {
        let (status, answer) = say(number).await;
        if status == StatusCode::ACCEPTED {
            kept += 1;
            continue;
        }
        assert!(status.is_server_error() && answer["error"]["message"].as_str().unwrap().contains("full"), "{status} {answer}");
        assert_eq!(answer["error"]["retryable"], true);
        refused += 1;
        if refused == 50 {
            break;
        }
    }
    assert_eq!(refused, 50, "kept {kept}");
    std::fs::remove_file(&ballast).unwrap();
    let (status, answer) = say(300).await;
    assert_eq!(status, StatusCode::ACCEPTED, "with room again it goes on: {answer}");
    kept += 1;
    let said = chat.messages().await.iter().filter(|message| message["author"] == "user").count();
    assert_eq!(said, kept, "what was acknowledged is there, and nothing else");
    assert!(server.client().get(format!("{}/healthz", server.base)).send().await.unwrap().status().is_success());
}

/// The lines of a server's log until one has this text.
async fn wait_for_log(log: &mut tokio::io::Lines<tokio::io::BufReader<tokio::process::ChildStderr>>, text: &str) -> String {
    let mut seen = String::new();
    let looked = async {
        while let Some(line) = log.next_line().await.unwrap() {
            seen.push_str(&line);
            if line.contains(text) {
                return true;
            }
        }
        false
    };
    let found = tokio::time::timeout(planwright_testkit::PATIENCE, looked).await.unwrap_or(false);
    assert!(found, "no {text:?} in {seen}");
    seen
}

#[tokio::test]
async fn a_server_starts_on_a_full_disk_answers_stores_what_it_must_and_says_so() {
    for (user, is_killed, is_of_bytes) in
        User::all().into_iter().flat_map(|user| [(user, true, true), (user, false, true), (user, false, false), (user, true, false)])
    {
        let what = format!("{user:?}, killed {is_killed}, bytes {is_of_bytes}");
        let home = quiet();
        let Some(disk) = SmallDisk::new(&home, user, "100m", 2000) else { return };
        let server = home.serve_command(disk.serve(&[])).await;
        let chat = server.chat(json!({})).await;
        chat.say("Hello").await;
        chat.run_to_end(0).await;
        let (path, messages) = (chat.path.clone(), chat.messages().await);
        until("room is set aside", || disk.path("data/reserve/7").exists()).await;
        if is_killed {
            server.kill().await;
        } else {
            assert!(server.terminate().await);
        }
        if is_of_bytes {
            disk.fill("filler", u64::MAX);
        } else {
            disk.fill_inodes("filler");
        }
        let free = disk.free();
        assert!(if is_of_bytes { free.bytes == 0 } else { free.inodes == 0 }, "{what}: {free:?}");

        let mut command = disk.serve(&[]);
        command.stderr(Stdio::piped());
        let (server, mut log) = home.serve_logged(command).await;
        wait_for_log(&mut log, "is full").await;
        let chat = server.reopened(&path);
        assert_eq!(chat.messages().await, messages, "{what}");
        let ready = async || server.client().get(format!("{}/readyz", server.base)).send().await.unwrap();
        let doctor = disk.command(&["doctor"], &[]).output().await.unwrap();
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let answer = ready().await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{what}");
        assert!(answer.text().await.unwrap().contains("Free some space"), "{what}");
        assert!(!doctor.status.success() && said.contains("Free some space"), "{what}: {said}");
        let (status, answer) = server.post(&format!("{path}/messages"), json!({ "content": "Still there?" })).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{what}: {answer}");
        disk.remove("filler");
        until("room is set aside again", || (0..8).all(|part| disk.path(&format!("data/reserve/{part}")).exists())).await;
        assert_eq!(ready().await.status(), StatusCode::OK, "{what}");
        chat.say("Good").await;
        assert!(server.terminate().await);
    }
}

#[tokio::test]
async fn a_full_disk_without_anything_set_aside_says_what_to_do() {
    let home = quiet();
    let Some(disk) = SmallDisk::new(&home, User::Own, "20m", 500) else { return };
    disk.fill("filler", u64::MAX);
    let output = disk.serve(&[]).stdout(Stdio::null()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("ree some space"), "{said}");
}
