//! Commands that fill the disk: they are ended, what they wrote is gone, and the server can store, restart and go on.

use crate::small_disk::{SmallDisk, User, until};
use planwright_testkit::server::{Home, Server, last_id, of_type};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;

/// An attempt, and whether its result must name the disk: a command that gives back what it took when it fails may end
/// before anybody has looked.
const ATTACKS: &[(&str, &str, bool)] = &[
    ("one call that allocates", "fallocate -l 150M big", false),
    ("one call that allocates and hides it", "touch big; fallocate -n -l 150M big", false),
    ("the same call by another name", PREALLOCATES, false),
    ("large files one after the other", "for i in 1 2 3 4; do head -c 1900000000 /dev/zero > f$i; done", true),
    ("fifty writers at once", "for i in $(seq 50); do dd if=/dev/zero of=f$i bs=1M count=200 status=none & done; wait", true),
    ("a hole that is filled", "truncate -s 1G hole; dd if=/dev/zero of=hole bs=1M conv=notrunc status=none; sleep 1", true),
    ("a file that has no name any more", "exec 3>gone; rm gone; cat /dev/zero >&3", false),
    ("inodes", "seq 300000 | xargs -n 1000 touch; sleep 1", true),
];

/// `FS_IOC_RESVSP64`, 150 MB.
const PREALLOCATES: &str =
    r#"perl -e 'open F,">","big"; my $b=pack("ssx4qqlLl4",0,0,0,157286400,0,0,0,0,0,0); ioctl(F,0x4030582A,$b) or die "$!"'"#;

fn run(command: &str) -> Value {
    json!({ "turns": [{ "calls": [{ "tool": "run", "args": { "command": command } }] }, { "text": "Done." }] })
}

fn quiet() -> Home {
    crate::home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

/// Has the model run the command; the result of the call.
async fn carry_out(home: &Home, server: &Server, role: &str, command: &str) -> Value {
    home.write_script(&run(command));
    let chat = server.chat(json!({ "agent_role": role })).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let result = of_type(&events, "tool_result")[0].clone();
    home.write_script(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }));
    // Something can be stored right away.
    let (status, answer) = server.post(&format!("{}/messages", chat.path), json!({ "content": "And now?" })).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{role}: {command}: {answer}");
    chat.run_to_end(last_id(&events)).await;
    result
}

fn reached(result: &Value) -> bool {
    result["result"]["limits_reached"].as_array().is_some_and(|limits| limits.contains(&json!("disk")))
}

/// Every attack by a role, in a folder; afterwards the disk is as free as before, and the server starts again.
async fn attack(user: User, role: &str, folder: &str, environment: &[(&str, &str)]) {
    let home = quiet();
    home.put_config("[sandbox]\ninspect = true\nstaging = \"disk\"\n");
    let Some(disk) = SmallDisk::new(&home, user, "200m", 5000) else { return };
    let server = home.serve_command(disk.serve(environment)).await;
    carry_out(&home, &server, role, "true").await;
    let before = disk.free();
    // In memory an attack takes longer, and all that write are alike.
    let alike = ["large files one after the other", "a hole that is filled"];
    let attacks: Vec<_> = ATTACKS.iter().filter(|(name, ..)| role != "planner" || !alike.contains(name)).collect();
    for (name, command, is_told) in &attacks {
        let files = disk.list("workspace");
        let result = carry_out(&home, &server, role, &format!("cd {folder}; {command}")).await;
        let what = format!("{user:?} as {role}: {name}: {result:#}");
        let is_over = reached(&result) || result["result"]["exit_code"] != 0;
        assert!(role == "planner" || (is_over && (!is_told || reached(&result))), "{what}");
        if reached(&result) {
            assert_eq!(disk.list("workspace"), files, "{what}");
            let output = result["result"]["output"].as_str().unwrap();
            assert!(output.contains("None of its changes was kept") && output.contains("space"), "{what}");
        }
        until(&format!("room again after {what}"), || disk.free().is_within(&before)).await;
    }
    assert!(server.terminate().await);
    let server = home.serve_command(disk.serve(environment)).await;
    let chats = server.get("/workspaces").await;
    let (status, chats) = server.request(Method::GET, &format!("/workspaces/{}/chats", chats[0]["id"].as_str().unwrap()), None).await;
    assert_eq!((status, chats.as_array().unwrap().len()), (StatusCode::OK, attacks.len() + 1), "{chats}");
}

#[tokio::test]
async fn no_command_of_plan_mode_takes_anything_of_the_disk() {
    for user in User::all() {
        attack(user, "planner", "/scratch", &[]).await;
    }
    attack(User::Own, "planner", "/scratch", &[("PLANWRIGHT_NO_OVERLAY", "1")]).await;
}

#[tokio::test]
async fn no_command_of_the_actor_leaves_the_disk_full() {
    for user in User::all() {
        attack(user, "actor", ".", &[]).await;
    }
}

#[tokio::test]
async fn no_command_of_the_actor_leaves_the_disk_full_where_there_are_no_overlays() {
    for user in User::all() {
        attack(user, "actor", ".", &[("PLANWRIGHT_NO_OVERLAY", "1")]).await;
    }
}

#[tokio::test]
async fn no_command_of_the_tester_or_in_the_caches_of_the_actor_leaves_the_disk_full() {
    for user in User::all() {
        attack(user, "tester", "/scratch", &[]).await;
    }
    attack(User::Own, "actor", "/scratch", &[]).await;
}

#[tokio::test]
async fn what_people_say_while_a_command_fills_the_disk_is_stored_or_refused_with_what_to_do() {
    let home = quiet();
    home.put_config("[sandbox]\nstaging = \"disk\"\n");
    let Some(disk) = SmallDisk::new(&home, User::Own, "200m", 5000) else { return };
    let server = home.serve_command(disk.serve(&[])).await;
    let (_, fifty, _) = ATTACKS[4];
    home.write_script(
        &json!({ "turns": [{ "calls": [{ "tool": "run", "args": { "command": fifty } }] }, { "text": "Done." }], "repeat": true }),
    );
    let busy = server.chat(json!({ "agent_role": "actor" })).await;
    let other = server.chat(json!({ "agent_role": "planner" })).await;
    busy.say("Go").await;
    let messages = format!("{}/messages", other.path);
    let (mut stored, mut is_over) = (0, false);
    while !is_over {
        is_over = busy.messages().await.iter().any(|message| message["message_type"] == "tool_result");
        let (status, answer) = server.post(&messages, json!({ "content": "Hello" })).await;
        stored += usize::from(status == StatusCode::ACCEPTED);
        if status != StatusCode::ACCEPTED {
            assert_eq!((status, &answer["error"]["code"]), (StatusCode::INSUFFICIENT_STORAGE, &json!("STORAGE_FULL")), "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("Free some space"), "{answer}");
        }
    }
    let said = other.messages().await.iter().filter(|message| message["author"] == "user").count();
    assert_eq!(said, stored, "what was acknowledged is there, and nothing else");
}

#[tokio::test]
async fn a_command_has_the_quota_of_the_configuration_and_others_writes_do_not_count() {
    let home = quiet();
    home.put_config("[sandbox]\ndisk_mb = 20\nstaging = \"disk\"\n");
    let Some(disk) = SmallDisk::new(&home, User::Own, "400m", 5000) else { return };
    let server = home.serve_command(disk.serve(&[])).await;
    let result = carry_out(&home, &server, "tester", "head -c 30000000 /dev/zero > /scratch/large; sleep 60").await;
    assert!(reached(&result) && result["result"]["output"].as_str().unwrap().contains("`disk_mb`"), "{result:#}");
    let result = carry_out(&home, &server, "tester", "ls /scratch; head -c 10000000 /dev/zero > /scratch/small").await;
    assert_eq!((&result["result"]["exit_code"], reached(&result)), (&json!(0), false), "{result:#}");
    assert!(!result["result"]["output"].as_str().unwrap().contains("large"), "its caches were cleared: {result:#}");
    // Meanwhile somebody else writes more than the command may.
    home.write_script(&run("touch /scratch/begun; while ! test -e /scratch/other; do sleep 0.01; done; ls /scratch"));
    let chat = server.chat(json!({ "agent_role": "tester" })).await;
    chat.say("Go").await;
    until("the command runs", || !disk.find("data/commands/scratch", "begun").is_empty()).await;
    disk.fill("filler", 50_000_000);
    // Time enough to be ended in.
    tokio::time::sleep(Duration::from_millis(500)).await;
    std::fs::write(disk.find("data/commands/scratch", "begun")[0].with_file_name("other"), "").unwrap();
    let events = chat.run_to_end(0).await;
    let result = of_type(&events, "tool_result")[0].clone();
    assert_eq!((&result["result"]["exit_code"], reached(&result)), (&json!(0), false), "{result:#}");
    assert!(result["result"]["output"].as_str().unwrap().contains("small"), "caches stay: {result:#}");
}

/// Every attack, none of which takes anything of the disk even for a moment.
async fn attack_in_memory(home: &Home, server: &Server, disk: &SmallDisk, role: &str, folder: &str) {
    let before = disk.free();
    // Caches in memory are large, and filling them takes long.
    let is_quick = |name: &str| folder == "." || ["one call that allocates", "inodes"].contains(&name);
    let quick = ATTACKS.iter().filter(|(name, ..)| is_quick(name));
    let in_workspace = quick.map(|(name, command, _)| (*name, format!("{command}; true")));
    let in_caches = ("the caches", "dd if=/dev/zero of=/scratch/big bs=1M count=300; head -c 1000000 /dev/zero > made".to_owned());
    for (name, command) in in_workspace.chain([in_caches]) {
        let command = format!("cd {folder}; {command}; rm -f big f* hole; ls -A");
        let attack = carry_out(home, server, role, &command);
        let watch = async {
            let mut least = before;
            loop {
                least.bytes = least.bytes.min(disk.free().bytes);
                tokio::time::sleep(Duration::from_millis(1)).await;
                if least.bytes + 20_000_000 < before.bytes {
                    break least;
                }
            }
        };
        tokio::select! {
            // Of more files than the disk has room for, nothing is kept.
            result = attack => assert!(
                result["result"]["exit_code"].is_number() || (name == "inodes" && result["error"]["code"] == "STORAGE_FULL"),
                "{role}: {name}: {result:#}"
            ),
            least = watch => panic!("{role}: {name} took {} bytes of the disk", before.bytes - least.bytes),
        }
        until(&format!("room again after {name}"), || disk.free().is_within(&before)).await;
    }
}

#[tokio::test]
async fn on_a_small_disk_the_kernel_holds_every_command_to_its_share_without_any_setting() {
    for (user, role, folder) in [(User::Ordinary, "actor", "."), (User::Own, "actor", "/scratch"), (User::Own, "tester", "/scratch")] {
        if !User::all().contains(&user) {
            continue;
        }
        let home = quiet();
        let Some(disk) = SmallDisk::new(&home, user, "400m", 5000) else { return };
        let server = home.serve_command(disk.serve(&[])).await;
        carry_out(&home, &server, role, "true").await;
        attack_in_memory(&home, &server, &disk, role, folder).await;
    }
}

#[tokio::test]
async fn what_is_staged_in_memory_is_held_to_its_share_by_the_kernel() {
    for user in User::all() {
        let home = quiet();
        home.put_config("[sandbox]\nstaging = \"memory\"\ndisk_mb = 60\n");
        let Some(disk) = SmallDisk::new(&home, user, "400m", 5000) else { return };
        let server = home.serve_command(disk.serve(&[])).await;
        carry_out(&home, &server, "actor", "true").await;
        attack_in_memory(&home, &server, &disk, "actor", ".").await;
        let result = carry_out(&home, &server, "actor", "head -c 100000000 /dev/zero > large; echo ended").await;
        assert!(reached(&result), "{result:#}");
        let output = result["result"]["output"].as_str().unwrap();
        assert!(output.contains("No space left") && output.contains("`disk_mb`") && output.contains("ended"), "{output}");
    }
}

#[tokio::test]
async fn what_was_staged_in_memory_lands_as_it_was_left_and_waits_over_a_restart() {
    for user in User::all() {
        let home = quiet();
        home.put_config("[sandbox]\nstaging = \"memory\"\ndisk_mb = 60\n");
        let Some(disk) = SmallDisk::new(&home, user, "400m", 5000) else { return };
        let server = home.serve_command(disk.serve(&[])).await;
        let command = "mkdir -p a/b c; echo one > a/one; echo two > a/b/two; echo three > c/three; chmod 750 a/one; ln -s one a/link; ln a/one second; truncate -s 1G hole";
        let result = carry_out(&home, &server, "actor", command).await;
        assert_eq!(result["result"]["exit_code"], 0, "{result:#}");
        let read = |name: &str| std::fs::read_to_string(disk.path("workspace").join(name)).ok();
        let mode = |name: &str| rustix::fs::stat(disk.path("workspace").join(name)).unwrap().st_mode & 0o777;
        assert_eq!([read("a/link"), read("a/b/two"), read("second")].map(Option::unwrap), ["one\n", "two\n", "one\n"]);
        assert_eq!(mode("a/one"), 0o750);
        // A folder that is replaced, one that is deleted, and a file that is changed: the card survives a restart.
        home.write_script(&run("rm -r a c; mkdir a; echo new > a/new; echo more >> second; echo done"));
        let chat = server.chat(json!({ "agent_role": "actor" })).await;
        chat.say("Go").await;
        let (question, last) = crate::command_effects::to_question(&chat).await;
        assert_eq!(read("a/one").as_deref(), Some("one\n"));
        let path = chat.path.clone();
        assert!(server.terminate().await);
        let server = home.serve_command(disk.serve(&[])).await;
        let chat = server.reopened(&path);
        chat.answer(&question["question_id"], json!({ "decision": "approve" })).await;
        let events = chat.run_to_end(last).await;
        let result = of_type(&events, "tool_result")[0].clone();
        assert_eq!(result["result"]["exit_code"], 0, "{result:#}");
        assert_eq!([read("a/new"), read("second")].map(Option::unwrap), ["new\n", "one\nmore\n"]);
        assert_eq!([read("a/one"), read("a/link"), read("c/three")], [None, None, None]);
    }
}

#[tokio::test]
async fn on_a_nearly_full_disk_no_command_is_started_and_caches_go_first() {
    let home = quiet();
    home.put_config("[sandbox]\nstaging = \"disk\"\n");
    let Some(disk) = SmallDisk::new(&home, User::Own, "100m", 5000) else { return };
    let server = home.serve_command(disk.serve(&[])).await;
    carry_out(&home, &server, "tester", "head -c 20000000 /dev/zero > /scratch/cache").await;
    disk.fill("filler", disk.free().bytes - 2_000_000);
    let result = carry_out(&home, &server, "tester", "ls /scratch").await;
    assert_eq!(result["result"]["exit_code"], 0, "the cache has made room: {result:#}");
    disk.fill("more", disk.free().bytes - 2_000_000);
    let result = carry_out(&home, &server, "tester", "ls").await;
    assert_eq!(result["error"]["code"], "STORAGE_FULL", "{result:#}");
    assert!(result["error"]["message"].as_str().unwrap().contains("free space"), "{result:#}");
    disk.remove("filler");
    let result = carry_out(&home, &server, "tester", "ls").await;
    assert_eq!(result["result"]["exit_code"], 0, "{result:#}");
}

#[tokio::test]
async fn a_program_of_an_mcp_server_that_fills_the_disk_is_ended_and_its_caches_are_cleared() {
    let home = quiet();
    let fills = "[mcp.servers.hog]\ncommand = \"sh\"\nargs = [\"-c\", \"cat /dev/zero > /scratch/hog; sleep 60\"]\nstart_timeout_s = 20\n";
    home.put_config(&format!("[sandbox]\nstaging = \"disk\"\n{fills}keep = true\n"));
    let Some(disk) = SmallDisk::new(&home, User::Own, "200m", 5000) else { return };
    let server = home.serve_command(disk.serve(&[])).await;
    let before = disk.free();
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Go").await;
    until("the program has filled its share", || disk.free().bytes < before.bytes / 2 + 10_000_000).await;
    chat.run_to_end(0).await;
    until("space again", || disk.free().is_within(&before)).await;
    assert!(disk.find("data/commands/scratch", "hog").iter().all(|path| !path.is_file()));
    let (status, answer) = server.post(&format!("{}/messages", chat.path), json!({ "content": "And now?" })).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
}
