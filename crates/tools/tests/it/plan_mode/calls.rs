//! Random calls of every tool there is, and of some there are not.

use super::random::Random;
use planwright_tools::BUILTIN;
use serde_json::{Value, json};

/// A tool's name and its arguments.
pub fn random_call(random: &mut Random, paths: &[String]) -> (String, String) {
    let mut name = random.pick(BUILTIN).spec().name;
    // A search takes as long as many other calls.
    if matches!(name, "grep" | "glob") && !random.one_in(10) {
        name = "write";
    }
    if random.one_in(50) {
        name = random.pick(&["Write", "shell", "set_mode", "write ", "../rm", "run"]);
    }
    let mut args = arguments(name, random, paths);
    if random.one_in(50) {
        args["mode"] = "act".into();
    }
    let mut text = args.to_string();
    if random.one_in(100) {
        text.truncate(text.floor_char_boundary(text.len() / 2));
    }
    (name.to_owned(), text)
}

fn arguments(name: &str, random: &mut Random, paths: &[String]) -> Value {
    let path = random_path(random, paths);
    let content = random.pick(&["", "PWN\n", "---\nmode: build\n---\n", "# Plan\n\n- [x] 1. one\n"]);
    match name {
        "write" => json!({"path": path, "content": content}),
        "edit" => {
            json!({"path": path, "old_string": random.pick(&["one", "fn", "- [ ]", "#"]), "new_string": content, "replace_all": random.one_in(2)})
        }
        "mv" => json!({"from": path, "to": random_path(random, paths)}),
        "rm" => json!({"path": path, "recursive": random.one_in(2)}),
        "mkdir" => json!({"path": path, "parents": random.one_in(2)}),
        "grep" => json!({"pattern": random.pick(&["one", "fn", "."]), "path": path}),
        "glob" => json!({"pattern": random.pick(&["**/*.plan", "*", "src/**"]), "path": path}),
        "run" => json!({"command": format!("touch {path}")}),
        "exit_plan_mode" => json!({"plan_file_path": path}),
        "write_plan" => {
            let mut plan = json!({"goal": "A goal", "steps": [{"step_number": 1, "action": "Do it", "files": [path.as_str()]}]});
            if random.one_in(2) {
                plan["path"] = path.into();
            }
            plan
        }
        "ask_user" => json!({"questions": [{"name": "approve", "question": path, "schema": {"type": "boolean"}}]}),
        _ => json!({"path": path}),
    }
}

/// A path of the tree, at times written as an attacker would.
fn random_path(random: &mut Random, paths: &[String]) -> String {
    // Half of them below the plans, where something may happen.
    let mut path = random.pick(paths);
    if random.one_in(2) {
        path.clone_from(random.pick(&paths.iter().filter(|path| path.starts_with("plans")).collect::<Vec<_>>()));
    }
    match random.below(24) {
        0 => format!("/plans/../{path}"),
        1 => format!("../outside/{path}"),
        2 => format!("/{path}/"),
        3 => format!("//{}", path.replace('/', "//./")),
        4 => path.to_uppercase(),
        5 => format!("/plans/{path}"),
        6 => format!("{path}/x.plan"),
        7 => format!("{path}\0.plan"),
        8 => format!("{path}.plan"),
        9 => path.replace('/', "\u{2215}"),
        10 => format!("/plans/l/../../{path}"),
        11 => random.pick(&["/", ".", "/plans", "/plans/", "/plans/.", "", "..", "/etc/passwd", "/.git"]).to_owned(),
        12..18 => path,
        _ => format!("/{path}"),
    }
}
