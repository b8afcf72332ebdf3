//! Worktrees and submodules, whose repository lies outside of the workspace.

use super::ground::{BOTH_WAYS, Ground, ROLES, SECRET};
use super::who::Who;
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]).args(args);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nonexistent").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository called `main` with one commit.
fn repository(ground: &Ground, name: &str) {
    ground.put(&format!("{name}/a.txt"), "one\n");
    ground.put(&format!("{name}/tests/key.pem"), "a key for tests\n");
    let folder = ground.path(name);
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message", "the first commit"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_shows_the_history_of_a_worktree_and_of_a_submodule_and_changes_nothing_of_the_repository() {
    for who in Who::all() {
        for environment in BOTH_WAYS {
            let ground = Ground::new(who);
            repository(&ground, "main");
            repository(&ground, "part");
            git(&ground.path("main"), &["worktree", "add", "--quiet", "../tree", "-b", "side"]);
            git(&ground.path("main"), &["submodule", "--quiet", "add", ground.path("part").to_str().unwrap(), "sub"]);
            ground.put("main/private.txt", SECRET);
            let served = ground.serve_with(&["workspace", "tree", "main/sub"], "data", environment).await;
            let before = fs::read(ground.path("main/.git/config")).unwrap();
            for workspace in ["tree", "main/sub"] {
                for role in ROLES {
                    let look = format!(
                        "git log --oneline && git status --short && git blame a.txt && cat tests/key.pem; cat {}/*",
                        ground.path("main").display()
                    );
                    let text = served.run_in(workspace, role, &look).await.to_string();
                    let told = format!("as {}, {workspace}, {role}, {environment:?}: {text}", ground.who.name);
                    assert!(text.contains("the first commit") && text.contains("a key for tests") && !text.contains("fatal"), "{told}");
                    assert!(!text.contains(SECRET), "{told}");
                }
                let attempt = "git config core.hooksPath /tmp; echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit; echo b > b.txt; git add b.txt; git commit -m no";
                let text = served.run_in(workspace, "actor", attempt).await.to_string();
                assert!(text.contains("Read-only file system"), "{text}");
            }
            assert_eq!(fs::read(ground.path("main/.git/config")).unwrap(), before);
            assert!(!ground.path("main/.git/hooks/pre-commit").exists());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_git_file_shows_no_repository_that_does_not_name_the_workspace() {
    for who in Who::all() {
        let ground = Ground::new(who);
        repository(&ground, "main");
        ground.put("main/.git/note", SECRET);
        ground.put("data/note", SECRET);
        git(&ground.path("main"), &["worktree", "add", "--quiet", "../tree", "-b", "side"]);
        let (main, data) = (ground.path("main/.git"), ground.path("data"));
        let workspace = ground.path("workspace");
        // A repository of the workspace's own making that claims another's for its common part.
        ground.put("workspace/fake/worktrees/x/gitdir", workspace.join(".git").to_str().unwrap());
        ground.put("workspace/fake/worktrees/x/commondir", main.to_str().unwrap());
        ground.put("workspace/fake/config", &format!("[core]\n\tworktree = {}\n", workspace.display()));
        for folder in ["objects", "refs"] {
            fs::create_dir_all(ground.path("workspace/fake").join(folder)).unwrap();
            fs::create_dir_all(data.join(folder)).unwrap();
        }
        ground.link("workspace/through", &main);
        let served = ground.serve(&[]).await;
        let named = [
            main.clone(),
            main.join("worktrees/tree"),
            data.clone(),
            workspace.join("fake"),
            workspace.join("fake/worktrees/x"),
            workspace.join("through/worktrees/tree"),
            "/".into(),
            ground.path("main"),
        ];
        for gitdir in named {
            fs::write(workspace.join(".git"), format!("gitdir: {}\n", gitdir.display())).unwrap();
            ground.who.give(&workspace);
            for role in ROLES {
                let look = format!("cat {0}/note {1}/note through/note {0}/HEAD; true", main.display(), data.display());
                let text = served.run(role, &look).await.to_string();
                let told = format!("as {}, {role}, {}: {text}", ground.who.name, gitdir.display());
                assert!(!text.contains(SECRET) && !text.contains("refs/heads"), "{told}");
            }
        }
    }
}
