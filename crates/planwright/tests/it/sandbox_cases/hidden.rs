//! Secrets of the workspace that commands find empty.

use super::ground::{BOTH_WAYS, Ground, ROLES, SECRET};
use super::who::Who;
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Reads all that can be read, also what is shut.
const READ_ALL: &str =
    "chmod -R u+rwX . 2>/dev/null; find . -path ./.git -prune -o -type f -exec cat {} + ; find . -type l -exec cat {} + 2>/dev/null; true";

fn shows(answer: &Value) -> bool {
    answer.to_string().contains(SECRET)
}

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(args);
    assert!(command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().status.success(), "git {args:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_by_folder_path_link_and_odd_name_are_empty_inside() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            ground.configure(
                "[files]\nsecrets = [\".env*\", \"*.pem\", \"id_*\", \"private\", \"config/keys/*.json\", \"vault/**\", \"settings.py\"]\n",
            );
            for path in [
                "private/a.txt",
                "deep/private/b/c.py",
                "config/keys/prod.json",
                "vault/x/y.rs",
                "app/settings.py",
                ".env.d/one",
                "linked/real-values",
                "shut/.env",
            ] {
                ground.put(&format!("workspace/{path}"), SECRET);
            }
            ground.link("workspace/.env", "linked/real-values");
            ground.link("workspace/deep/key.pem", ground.path("workspace/private/a.txt"));
            let odd = ground.path("workspace").join(std::ffi::OsString::from_vec(b".env\xff".to_vec()));
            fs::write(odd, SECRET).unwrap();
            let odd = ground.path("workspace").join(std::ffi::OsString::from_vec(b"odd\xff".to_vec()));
            fs::create_dir(&odd).unwrap();
            fs::write(odd.join(".env"), SECRET).unwrap();
            ground.put("workspace/src/id_map.rs", "source\n");
            let served = ground.serve(environment).await;
            fs::set_permissions(ground.path("workspace/shut"), fs::Permissions::from_mode(0o000)).unwrap();
            for role in ROLES {
                let answer = served.run(role, READ_ALL).await;
                assert!(
                    answer.to_string().contains("source") && !shows(&answer),
                    "as {}, {role}, {environment:?}: {answer}",
                    ground.who.name
                );
            }
            fs::set_permissions(ground.path("workspace/shut"), fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_secrets_are_all_empty_and_too_many_are_refused() {
    for who in Who::all() {
        let ground = Ground::new(who);
        for number in 0..1000 {
            ground.put(&format!("workspace/services/{number}/.env"), SECRET);
        }
        ground.put("workspace/a.txt", "plain\n");
        let served = ground.serve(&[]).await;
        for role in ROLES {
            let answer = served.run(role, READ_ALL).await;
            assert!(answer.to_string().contains("plain") && !shows(&answer), "as {}, {role}", ground.who.name);
        }
        for number in 1000..4200 {
            ground.put(&format!("workspace/services/{number}/.env"), SECRET);
        }
        ground.who.give(&ground.path("workspace"));
        let answer = served.run("tester", READ_ALL).await;
        assert!(!shows(&answer) && answer["success"] == false, "as {}: {answer}", ground.who.name);
        assert!(answer["error"]["message"].as_str().unwrap().contains("secrets"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_descriptors_hide_no_less() {
    let ground = Ground::new(Who::all().remove(0));
    for number in 0..1500 {
        ground.put(&format!("workspace/wide/{number}/x/.env"), SECRET);
    }
    // More folders than a process may have open.
    let wrapped = ground.path("planwright");
    let real = ground.path("planwright.real");
    fs::rename(&wrapped, &real).unwrap();
    fs::write(&wrapped, format!("#!/bin/sh\nulimit -n 256\nexec {} \"$@\"\n", real.display())).unwrap();
    fs::set_permissions(&wrapped, fs::Permissions::from_mode(0o755)).unwrap();
    let served = ground.serve(&[]).await;
    let answer = served.run("tester", READ_ALL).await;
    assert!(!shows(&answer), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_makes_a_secret_visible_to_the_next_by_what_it_tells_git() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            let workspace = ground.path("workspace");
            ground.put("workspace/.gitignore", ".env\n/local/\n");
            ground.put("workspace/tests/key.pem", "a key for tests\n");
            git(&workspace, &["init", "--quiet"]);
            git(&workspace, &["add", "."]);
            git(&workspace, &["commit", "--quiet", "--message", "one"]);
            ground.put("workspace/.env", SECRET);
            ground.put("workspace/local/server.pem", SECRET);
            let served = ground.serve(environment).await;
            let attempts = [
                "true",
                "echo > .gitignore",
                "git add -f .env local",
                "git add -f -A; git -c user.name=A -c user.email=a@b.c commit -qm two",
            ];
            for attempt in attempts {
                served.run("actor", attempt).await;
                for role in ROLES {
                    let answer = served.run(role, "cat .env local/* tests/key.pem").await;
                    let told = format!("as {}, {role}, {environment:?}, after {attempt}: {answer}", ground.who.name);
                    assert!(!shows(&answer), "{told}");
                    assert!(answer.to_string().contains("a key for tests"), "what git keeps unchanged is shown: {told}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_in_build_output_in_gits_folder_and_under_other_names_are_empty_inside() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            git(&ground.path("workspace"), &["init", "--quiet"]);
            for path in ["node_modules/x/.env", "node_modules/x/key.pem", ".git/id_rsa", ".git/deep/.env", ".env"] {
                ground.put(&format!("workspace/{path}"), SECRET);
            }
            ground.put("workspace/node_modules/x/index.js", "source\n");
            for name in ["notes.txt", "node_modules/other", ".git/other"] {
                fs::hard_link(ground.path("workspace/.env"), ground.path("workspace").join(name)).unwrap();
            }
            let served = ground.serve(environment).await;
            for role in ROLES {
                let answer = served.run(role, "chmod -R u+rwX . 2>/dev/null; find . -type f -exec cat {} +; true").await;
                let told = format!("as {}, {role}, {environment:?}: {answer}", ground.who.name);
                assert!(answer.to_string().contains("source") && !shows(&answer), "{told}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_committed_as_the_empty_file_that_commands_see() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            let workspace = ground.path("workspace");
            ground.put("workspace/.env", "MODE=sample\n");
            ground.put("workspace/local.pem", "");
            git(&workspace, &["init", "--quiet"]);
            git(&workspace, &["add", "."]);
            git(&workspace, &["commit", "--quiet", "--message", "one"]);
            ground.put("workspace/.env", SECRET);
            ground.put("workspace/local.pem", SECRET);
            ground.put("workspace/deploy/.env", SECRET);
            let served = ground.serve(environment).await;
            let commit = "git -c user.name=A -c user.email=a@b.c commit";
            for attempt in [
                format!("echo x > new.txt; {commit} -aqm two"),
                format!("git add -A; {commit} -qm two"),
                format!("git add deploy; {commit} -qm two"),
                format!("git add -f deploy/.env; {commit} -qm two; cp .env copy"),
            ] {
                let answer = served.run("actor", &attempt).await;
                let told = format!("as {}, {environment:?}, {attempt}: {answer}", ground.who.name);
                assert!(answer.to_string().contains("looks like a secret"), "{told}");
                for (path, expected) in [(".env", Some("MODE=sample")), ("local.pem", Some("")), ("deploy/.env", None)] {
                    for tree in ["HEAD", ""] {
                        assert_eq!(kept(&workspace, tree, path).as_deref(), expected, "{tree}:{path} {told}");
                    }
                }
            }
            let answer = served.run("actor", &format!("echo y > fine.txt; git add fine.txt; {commit} -qm three")).await;
            assert_eq!(kept(&workspace, "HEAD", "fine.txt").as_deref(), Some("y"), "as {}, {environment:?}: {answer}", ground.who.name);
        }
    }
}

/// What git keeps at a path, in its index or in a commit.
fn kept(folder: &Path, tree: &str, path: &str) -> Option<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "safe.directory=*", "show", &format!("{tree}:{path}")]).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
