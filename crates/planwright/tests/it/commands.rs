//! The commands that only look: `plan`, `roles`, `tools`, `completions`.

use crate::home;
use planwright_protocol::Role;
use serde_json::{Value, json};
use std::process::Output;

async fn planwright(files: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String, String) {
    let home = home(&json!({ "turns": [{}] }));
    for (path, content) in files {
        home.put(path, content);
    }
    let Output { status, stdout, stderr } = home.command(args).output().await.unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

const GOOD: &str = "---\ngoal: Say goodbye\nstatus: done\nrevision: 2\n---\n\n# Say goodbye\n\n## Steps\n\n- [x] 1. Write the file\n  reason: It is asked for\n  tools: write\n  files: bye.txt\n";
const BAD: &str = "# Say goodbye\n\n## Steps\n\n- [ ] 1. Write everything\n  reason: why not\n  files: **\n";

#[tokio::test]
async fn plan_lint_gives_findings_with_file_line_and_column_and_exits_with_1() {
    let (code, out, _) = planwright(&[("good.plan", GOOD)], &["plan", "lint", "good.plan"]).await;
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let (code, out, _) = planwright(&[("good.plan", GOOD), ("bad.plan", BAD)], &["plan", "lint", "good.plan", "bad.plan"]).await;
    assert_eq!(code, Some(1));
    for line in out.lines() {
        let parts: Vec<&str> = line.splitn(4, ':').collect();
        assert!(
            parts[0] == "bad.plan" && parts[1].parse::<usize>().is_ok() && parts[2].parse::<usize>().is_ok() && parts[3].len() > 20,
            "{line}"
        );
    }
    assert!(out.contains("bad.plan:7:10: "), "the broad glob is found in its place: {out}");
    let (code, _, err) = planwright(&[], &["plan", "lint", "nowhere.plan"]).await;
    assert!(code == Some(1) && err.contains("nowhere.plan"), "{err}");
}

#[tokio::test]
async fn plan_show_and_json_are_two_views_of_one_plan() {
    let (code, out, _) = planwright(&[("good.plan", GOOD)], &["plan", "show", "good.plan"]).await;
    assert!(
        code == Some(0) && out.contains("[x] 1. Write the file") && out.contains("1 of 1 steps done") && out.contains("revision 2"),
        "{out}"
    );
    let (_, out, _) = planwright(&[("good.plan", GOOD)], &["plan", "json", "good.plan"]).await;
    let plan: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&plan["goal"], &plan["steps"][0]["status"], &plan["steps"][0]["files"]),
        (&json!("Say goodbye"), &json!("done"), &json!(["bye.txt"]))
    );
    let (code, _, err) = planwright(&[("none.plan", "nothing\n")], &["plan", "json", "none.plan"]).await;
    assert!(code == Some(1) && err.contains("none.plan:"), "{err}");
}

#[tokio::test]
async fn roles_lists_all_with_their_permissions() {
    let (code, out, _) = planwright(&[], &["roles"]).await;
    assert!(
        code == Some(0) && ["Planner", "Actor", "Reviewer", "Commander", "Designer", "Tester"].iter().all(|role| out.contains(role)),
        "{out}"
    );
    let (_, out, _) = planwright(&[], &["roles", "--json"]).await;
    let roles: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(roles.as_array().unwrap().len(), Role::all().count());
    let rights = json!({"can_read_files": true, "can_write_files": false, "can_create_files": false, "can_delete_files": false, "can_execute_commands": false, "can_write_plans": true});
    assert_eq!(
        (&roles[0]["role"], &roles[0]["mode"], &roles[0]["permissions"], &roles[0]["colour"]),
        (&json!("planner"), &json!("plan"), &rights, &json!("blue"))
    );
    assert_eq!(roles[3]["can_delegate_to_roles"], json!(["planner", "actor"]));
}

#[tokio::test]
async fn every_role_of_the_table_is_offered_with_its_tools_its_prompt_and_chats_of_its_own() {
    let home = crate::home(&json!({ "turns": [{ "text": "Done." }] }));
    let server = home.serve().await;
    let offered = server.get("/roles").await;
    let (_, listed, _) = planwright(&[], &["roles", "--json"]).await;
    assert_eq!(offered, serde_json::from_str::<Value>(&listed).unwrap());
    assert_eq!(offered.as_array().unwrap().len(), Role::all().count());
    for (role, shown) in Role::all().zip(offered.as_array().unwrap()) {
        let row = role.row();
        assert_eq!((&shown["role"], &shown["mode"], &shown["icon"]), (&json!(row.name), &json!(row.mode), &json!(row.icon)));
        assert!(row.prompt.contains(&format!("operating in {} role", row.name.to_uppercase())), "{role}");
        let tools = server.get(&format!("/tools?role={}", row.name)).await;
        assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "ask_user"), "{role}");
        let chat = server.chat(json!({ "agent_role": row.name })).await;
        chat.say("Go").await;
        chat.run_to_end(0).await;
        let said = chat.messages().await.last().unwrap().clone();
        assert_eq!((&said["agent_role"], &said["content"]), (&json!(row.name), &json!("Done.")));
    }
}

#[tokio::test]
async fn tools_lists_what_a_role_has_and_nothing_that_it_may_not_use() {
    let names = async |role: &str| -> Vec<String> {
        let (code, out, err) = planwright(&[], &["tools", "--role", role, "--json"]).await;
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str::<Value>(&out)
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let reading = ["read", "ls", "history", "web_fetch", "glob", "grep", "outline", "symbols", "references"];
    for (role, others) in [
        ("planner", &["explore", "ask_user", "write_plan", "exit_plan_mode"][..]),
        ("reviewer", &["explore", "ask_user", "exit_plan_mode", "submit_review"]),
        ("designer", &["write", "touch", "mkdir", "ask_user", "write_plan", "exit_plan_mode", "update_step"]),
    ] {
        assert_eq!(names(role).await, [&reading[..], others].concat(), "{role}");
    }
    assert!(names("Builder").await.contains(&"rm".to_owned()));
    let (code, _, err) = planwright(&[], &["tools", "--role", "nobody"]).await;
    assert!(code == Some(2) && err.contains("reviewer"), "{err}");
}

#[tokio::test]
async fn completions_know_the_commands() {
    let (code, out, _) = planwright(&[], &["completions", "bash"]).await;
    assert!(code == Some(0) && out.contains("completions") && out.contains("--workspace"));
}

#[tokio::test]
async fn bad_usage_exits_with_2_and_help_names_every_command() {
    assert_eq!(planwright(&[], &["dance"]).await.0, Some(2));
    assert_eq!(planwright(&[], &["plan", "lint"]).await.0, Some(2));
    let (_, out, _) = planwright(&[], &["--help"]).await;
    for command in ["serve", "run", "plan", "roles", "tools", "completions"] {
        assert!(out.contains(command), "{out}");
    }
}

#[tokio::test]
async fn doctor_refuses_a_configuration_that_runs_refuse() {
    let home = home(&json!({ "turns": [{}] }));
    for (config, part) in [
        ("[mcp.servers.both]\ncommand = \"x\"\nurl = \"https://x.example/mcp\"\n", "has both `command` and `url`"),
        ("[limits]\ncost = -1.0\n", "[limits] cost is not an amount"),
    ] {
        home.put_config(config);
        for args in [&["doctor"][..], &["run", "Hi"]] {
            let Output { status, stdout, stderr } = home.command(args).output().await.unwrap();
            let said = [stdout, stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(status.code() == Some(1) && said.contains(part), "{args:?}: {said}");
        }
    }
}
