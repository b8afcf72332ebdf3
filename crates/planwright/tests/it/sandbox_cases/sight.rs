//! The part of the machine that a command sees: nothing through links of the workspace, nothing of the server or of others.

use super::ground::{BOTH_WAYS, Ground, ROLES, SECRET};
use super::who::Who;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that the sandbox handles by its name.
const HANDLED: [&str; 7] = [".planwright", ".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".git/modules", ".env"];

fn shows(answer: &Value) -> bool {
    answer.to_string().contains(SECRET)
}

fn succeeds(answer: &Value) -> bool {
    answer["result"]["exit_code"] == 0 || answer["facts"]["exit_code"] == 0 || answer.to_string().contains("\"exit_code\":0")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shown_through_a_link_in_the_place_of_what_the_sandbox_handles_by_name() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            ground.put("data/token", SECRET);
            ground.put("keys/hidden/key", SECRET);
            ground.put("workspace/.git/HEAD", "ref: refs/heads/main\n");
            for (number, name) in HANDLED.iter().enumerate() {
                // To a file and to a folder, by an absolute path and by one that leads up.
                let depth = "../".repeat(name.split('/').count());
                let target = if number % 2 == 0 { format!("{depth}data/token") } else { format!("{depth}keys/hidden") };
                let target = if number % 3 == 0 { ground.path(target.trim_start_matches("../")).display().to_string() } else { target };
                ground.link(&format!("workspace/{name}"), target);
            }
            let served = ground.serve(environment).await;
            for role in ROLES {
                let answer = served.run(role, "cat .planwright .git/* .git/*/* .env .env/* 2>/dev/null; true").await;
                assert!(succeeds(&answer) && !shows(&answer), "as {}, {role}, {environment:?}: {answer}", ground.who.name);
            }
        }
    }
}

/// A workspace so deep that such a link stays below the root inside.
const DEEP: &str = "a/b/c/d/workspace";

/// A link that leads from where the workspace is staged to the server's token, and inside to a place above the workspace.
fn to_the_token(name: &str) -> String {
    format!("{}token", "../".repeat(3 + name.split('/').count()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cloned_link_shows_no_command_the_servers_token() {
    for who in Who::all() {
        let ground = Ground::new(who);
        ground.put("data/token", SECRET);
        ground.put(&format!("{DEEP}/.git/HEAD"), "ref: refs/heads/main\n");
        let served = ground.serve_with(&[DEEP], "data", &[]).await;
        for name in HANDLED {
            let link = ground.path(DEEP).join(name);
            let _ = fs::remove_dir_all(&link);
            symlink(to_the_token(name), &link).unwrap();
            for role in ROLES {
                let answer = served.run_in(DEEP, role, &format!("cat {name}; cat {name}/*; true")).await;
                assert!(succeeds(&answer) && !shows(&answer), "as {}, {name}, {role}: {answer}", ground.who.name);
            }
            fs::remove_file(&link).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_to_a_place_inside_replaces_nothing_of_the_sandbox() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            for target in
                ["/run", "/run/planwright", "/usr/bin", "/etc", "/", "/newroot/run", "/tmp", "/proc/self/root", "/.planwright-inner"]
            {
                let ground = Ground::new(who);
                ground.put("workspace/planwright", "#!/bin/sh\necho REPLACED\n");
                fs::set_permissions(ground.path("workspace/planwright"), fs::Permissions::from_mode(0o755)).unwrap();
                ground.put("workspace/.git/HEAD", "ref: refs/heads/main\n");
                ground.link("workspace/.planwright", target);
                ground.link("workspace/.git/hooks", target);
                let served = ground.serve(environment).await;
                for role in ROLES {
                    let answer = served.run(role, "grep -E 'Seccomp:|NoNewPrivs:' /proc/self/status; mkdir /usr/x && echo REPLACED").await;
                    let text = answer.to_string();
                    assert!(!text.contains("REPLACED"), "as {}, {role}, {target}: {text}", ground.who.name);
                    assert!(text.contains(r"Seccomp:\t2") && text.contains(r"NoNewPrivs:\t1"), "{role}, {target}: {text}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_name_that_turns_into_a_link_while_a_command_starts_shows_nothing() {
    let ground = Ground::new(Who::all().remove(0));
    ground.put("data/token", SECRET);
    ground.put(&format!("{DEEP}/.planwright/note"), "mine\n");
    ground.put(&format!("{DEEP}/.env"), "A=1\n");
    let served = ground.serve_with(&[DEEP], "data", &[]).await;
    let (over, workspace, target) = (AtomicBool::new(false), ground.path(DEEP), PathBuf::from(to_the_token(".planwright")));
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&workspace, &target, &over));
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            runtime.block_on(async {
                for round in 0..60 {
                    let answer = served.run_in(DEEP, ROLES[round % 3], "cat .planwright .env; cat .planwright/* 2>/dev/null; true").await;
                    if shows(&answer) {
                        over.store(true, Ordering::SeqCst);
                        panic!("{answer}");
                    }
                }
            });
        });
        over.store(true, Ordering::SeqCst);
    });
}

/// Puts links in the place of what was there, and back, until it is over.
fn swap(workspace: &Path, target: &Path, over: &AtomicBool) {
    let names = [".planwright", ".env"];
    while !over.load(Ordering::SeqCst) {
        for name in names {
            let (place, aside) = (workspace.join(name), workspace.join(format!("aside{name}")));
            let _ = fs::rename(&place, &aside);
            let _ = symlink(target, &place);
            std::thread::yield_now();
            let _ = fs::remove_file(&place);
            let _ = fs::rename(&aside, &place);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_the_servers_or_another_workspaces_is_hidden_below_folders_that_are_shown_whole() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            ground.put("rustup/other/private.txt", SECRET);
            ground.put("rustup/inside/mine.txt", "mine\n");
            ground.put("rustup/config/planwright/notes", SECRET);
            ground.put("rustup/config/planwright/config.toml", "[sandbox]\ninspect = true\n");
            ground.put("rustup/data/token", SECRET);
            ground.put("rustup/bin/tool", "a tool\n");
            let (rustup, config) = (ground.path("rustup"), ground.path("rustup/config"));
            let mut variables = vec![("RUSTUP_HOME", rustup.to_str().unwrap()), ("XDG_CONFIG_HOME", config.to_str().unwrap())];
            variables.extend(environment);
            let served = ground.serve_with(&["workspace", "rustup/other", "rustup/inside"], "rustup/data", &variables).await;
            for (workspace, own) in [("workspace", "true"), ("rustup/inside", "grep -q mine mine.txt")] {
                for role in ROLES {
                    let all = format!("{own} && grep -q tool {0}/bin/tool && cat $(find {0} -type f) | head -c 1000000", rustup.display());
                    let answer = served.run_in(workspace, role, &all).await;
                    let told = format!("as {}, {workspace}, {role}, {environment:?}: {answer}", ground.who.name);
                    assert!(succeeds(&answer) && !shows(&answer), "{told}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_folder_that_holds_workspaces_is_hidden_with_accounts_and_without() {
    for who in Who::all() {
        let ground = Ground::new(who);
        ground.put("rustup/people/ann/private.txt", SECRET);
        ground.put("rustup/people/own/mine.txt", "mine\n");
        ground.put("rustup/bin/tool", "a tool\n");
        let (rustup, people) = (ground.path("rustup"), ground.path("rustup/people"));
        let variables = [("RUSTUP_HOME", rustup.to_str().unwrap()), ("PLANWRIGHT_WORKSPACE_ROOT", people.to_str().unwrap())];
        let served = ground.serve_with(&["workspace", "rustup/people/own"], "data", &variables).await;
        for (workspace, own) in [("workspace", "true"), ("rustup/people/own", "grep -q mine mine.txt")] {
            for role in ROLES {
                let all = format!("{own} && grep -q tool {0}/bin/tool && cat $(find {0} -type f) | head -c 1000000", rustup.display());
                let answer = served.run_in(workspace, role, &all).await;
                assert!(succeeds(&answer) && !shows(&answer), "as {}, {workspace}, {role}: {answer}", ground.who.name);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writable_folder_shows_neither_other_workspaces_in_it_nor_what_a_link_in_it_leads_to() {
    for who in Who::all() {
        let ground = Ground::new(who);
        ground.put("shared/other/private.txt", SECRET);
        ground.put("shared/open.txt", "open\n");
        ground.put("keys/key", SECRET);
        ground.put("shared/cache/x", "x");
        let (shared, cache) = (ground.path("shared"), ground.path("shared/cache"));
        ground.configure(&format!("writable = [{shared:?}, {cache:?}]\n"));
        let served = ground.serve_with(&["workspace", "shared/other"], "data", &[]).await;
        let look = format!("cat {0}/open.txt; cat {0}/other/* {0}/cache/* 2>/dev/null; true", shared.display());
        let answer = served.run("actor", &look).await;
        assert!(answer.to_string().contains("open") && !shows(&answer), "as {}: {answer}", ground.who.name);
        // A command can change what is in a writable folder; the next one's sandbox must not be led astray by it.
        let plant = format!("rm -r {0}; ln -s {1} {0}", cache.display(), ground.path("keys").display());
        served.run("actor", &plant).await;
        let answer = served.run("actor", &look).await;
        assert!(!shows(&answer), "as {}: {answer}", ground.who.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_are_refused_where_a_writable_folder_holds_the_servers_own() {
    let ground = Ground::new(Who::all().remove(0));
    ground.put("shared/data/token", SECRET);
    ground.configure(&format!("writable = [{:?}]\n", ground.path("shared")));
    let served = ground.serve_with(&["workspace"], "shared/data", &[]).await;
    let answer = served.run("actor", &format!("cat {}/data/token", ground.path("shared").display())).await;
    assert!(!shows(&answer) && answer["error"]["code"] == "SANDBOX_UNAVAILABLE", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("writable"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_as_workspace_hides_the_servers_configuration_from_commands() {
    for environment in BOTH_WAYS {
        let ground = Ground::new(Who::all().remove(0));
        ground.put("workspace/.config/planwright/notes", SECRET);
        ground.put("workspace/.config/planwright/config.toml", "[sandbox]\ninspect = true\n");
        ground.put("workspace/.config/other", "other\n");
        let home = ground.path("workspace");
        let mut variables = vec![("HOME", home.to_str().unwrap())];
        variables.extend(environment);
        let served = ground.serve_with(&["workspace"], "data", &variables).await;
        for role in ROLES {
            let answer = served.run(role, "cat .config/other; cat .config/planwright/*; true").await;
            assert!(answer.to_string().contains("other") && !shows(&answer), "{role}, {environment:?}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workspaces_at_places_that_the_sandbox_uses_itself_work() {
    let ground = Ground::new(Who::all().remove(0));
    if ground.who.uid != 0 {
        return;
    }
    let places: Vec<tempfile::TempDir> = ["/run", "/opt", "/usr/local", "/var/tmp", "/srv"]
        .iter()
        .filter(|base| Path::new(base).is_dir())
        .map(|base| tempfile::Builder::new().prefix("planwright-place-").tempdir_in(base).unwrap())
        .collect();
    let paths: Vec<&str> = places.iter().map(|place| place.path().to_str().unwrap()).collect();
    for path in &paths {
        fs::write(Path::new(path).join("own.txt"), SECRET).unwrap();
    }
    let served = ground.serve_with(&paths, "data", &[]).await;
    for path in &paths {
        for role in ROLES {
            let answer = served.run_in(path, role, "cat own.txt; pwd; true").await;
            assert!(succeeds(&answer) && shows(&answer), "{path}, {role}: {answer}");
            let others: Vec<&str> = paths.iter().filter(|other| *other != path).copied().collect();
            let answer = served.run_in(path, role, &format!("cat {}/own.txt; true", others.join("/own.txt "))).await;
            assert!(succeeds(&answer) && !shows(&answer), "{path}, {role}: {answer}");
        }
    }
}
