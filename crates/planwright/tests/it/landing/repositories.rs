//! Git repositories that are not named `.git`: git run inside one does what its configuration says, so that no command makes or changes one.

use super::output;
use crate::command_effects::{BOTH_WAYS, actor, project, run};
use planwright_testkit::server::of_type;
use serde_json::Value;
use std::path::Path;

/// Every folder below this one, but for what is named `.git`, in which git would find a repository.
fn repositories(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    if has("HEAD") && (has("commondir") || (has("objects") && has("refs"))) {
        found.push(folder.display().to_string());
    }
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_name() != ".git" && entry.file_type().unwrap().is_dir() {
            found.extend(repositories(&entry.path()));
        }
    }
    found
}

const HEAD: &str = "echo ref: refs/heads/main >";

/// Commands that one after the other make a repository, and the folder that they make it in.
fn ways() -> Vec<(Vec<String>, &'static str)> {
    let owned = |commands: &[&str]| commands.iter().map(ToString::to_string).collect::<Vec<_>>();
    let deep = format!("node_modules/{}x", "d/".repeat(60));
    vec![
        (owned(&["git init -q --bare x.git"]), "/x.git"),
        (owned(&["git init -q --bare src/deep/er/lib"]), "/src/deep/er/lib"),
        (owned(&["git init -q --bare target/x.git"]), "/target/x.git"),
        (owned(&["git init -q --bare node_modules/a/b"]), "/node_modules/a/b"),
        (vec![format!("mkdir -p {deep}; git init -q --bare {deep}")], "/d/x"),
        (vec!["mkdir -p half/objects half/refs".to_owned(), format!("{HEAD} half/HEAD")], "/half"),
        (vec![format!("mkdir half; {HEAD} half/HEAD"), "mkdir half/objects".to_owned(), "mkdir half/refs".to_owned()], "/half"),
        (vec!["mkdir -p target/h/objects target/h/refs".to_owned(), format!("{HEAD} target/h/HEAD")], "/target/h"),
        (vec![format!("mkdir target/h; {HEAD} target/h/HEAD"), "mkdir target/h/objects target/h/refs".to_owned()], "/target/h"),
        (vec!["mkdir -p target/objects target/refs".to_owned(), format!("{HEAD} target/HEAD")], "/target"),
        (owned(&["git init -q --bare /tmp/x; mv /tmp/x moved"]), "/moved"),
        (vec!["mkdir -p a/objects a/refs".to_owned(), format!("{HEAD} /tmp/b; mv /tmp/b a/HEAD")], "/a"),
        (vec![format!("mkdir w; {HEAD} w/HEAD; echo ../.git > w/commondir")], "/w"),
        (vec![format!("mkdir target/w; {HEAD} target/w/HEAD"), "echo ../../.git > target/w/commondir".to_owned()], "/target/w"),
        (owned(&["mkdir l; ln -s refs/heads/main l/HEAD; ln -s ../src l/objects; ln -s ../src l/refs"]), "/l"),
        (vec![format!("mkdir objects refs; {HEAD} HEAD; printf '[core]\\n' > config")], "/HEAD"),
        (vec!["mkdir objects refs".to_owned(), format!("{HEAD} HEAD")], "/HEAD"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_makes_a_repository_under_another_name_however_it_goes_about_it() {
    for environment in BOTH_WAYS {
        for (mut commands, folder) in ways() {
            if let Some(last) = commands.last_mut() {
                last.push_str("; echo kept > src/kept.rs; echo kept > target/kept");
            }
            let home = project(&commands.iter().map(|command| run(command)).collect::<Vec<Value>>());
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let events = chat.run_to_end(0).await;
            let results = of_type(&events, "tool_result");
            assert_eq!(repositories(&home.workspace()), Vec::<String>::new(), "{environment:?} {commands:?}: {results:#?}");
            assert!(of_type(&events, "question_pending").is_empty(), "{environment:?} {commands:?}: {events:#?}");
            let told = output(results.last().unwrap());
            assert!(told.contains("not kept") && told.contains(folder), "{environment:?} {commands:?}: {told}");
            assert_eq!(home.file("src/kept.rs").as_deref(), Some("kept\n"), "{environment:?} {commands:?}: {told}");
            if folder != "/target" {
                assert_eq!(home.file("target/kept").as_deref(), Some("kept\n"), "{environment:?} {commands:?}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_a_command_moves_into_a_repository_stays_where_it_was() {
    let home = project(&[run("mv spare a/HEAD; echo kept > src/kept.rs")]);
    for path in ["spare", "a/objects/o", "a/refs/r"] {
        home.put(path, "ref: refs/heads/main\n");
    }
    let server = home.serve().await;
    let chat = actor(&server).await;
    let result = crate::command_effects::result(&chat, 0).await;
    assert_eq!((home.file("spare").is_some(), home.file("a/HEAD"), home.file("src/kept.rs").is_some()), (true, None, true), "{result}");
    assert!(output(&result).contains("/a belongs to a git repository"), "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_under_another_name_that_is_there_stays_as_it_is() {
    for environment in BOTH_WAYS {
        for place in ["vendor/x.git", "target/x.git", "node_modules/a/x"] {
            let around = place.rsplit_once('/').unwrap().0;
            for command in [
                format!("echo evil > {place}/config"),
                format!("mkdir {place}/hooks; echo evil > {place}/hooks/post-checkout"),
                format!("rm -r {place}"),
                format!("rm -r {around}"),
                format!("rm -r {around}; mkdir {around}; echo x > {around}/x"),
                format!("mv {place} elsewhere"),
                format!("mv {around} elsewhere"),
                format!("rm {place}/HEAD; echo evil > {place}/config"),
                format!("git --git-dir={place} config core.fsmonitor evil"),
            ] {
                let home = project(&[run(&format!("{command}; true"))]);
                for (name, text) in
                    [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/o", "o\n"), ("refs/heads/a", "a\n")]
                {
                    home.put(&format!("{place}/{name}"), text);
                }
                let server = home.serve_with(environment).await;
                let chat = actor(&server).await;
                let events = chat.run_to_end(0).await;
                let told = of_type(&events, "tool_result");
                for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/o", "o\n")] {
                    assert_eq!(home.file(&format!("{place}/{name}")).as_deref(), Some(text), "{environment:?} {command}: {told:#?}");
                }
                assert_eq!(home.file(&format!("{place}/hooks/post-checkout")), None, "{environment:?} {command}: {told:#?}");
                assert_eq!(repositories(&home.workspace()).len(), 1, "{environment:?} {command}: {told:#?}");
                assert!(output(told[0]).contains("not kept"), "{environment:?} {command}: {told:#?}");
            }
        }
    }
}

#[tokio::test]
async fn git_run_inside_what_a_command_left_executes_nothing_of_it() {
    let evil = "git init -q --bare trap; git -C trap config alias.log '!touch /tmp/evil'; git -C trap config core.fsmonitor 'touch ../pwned; false'; \
                git -C trap config alias.st '!touch ../pwned'; cp -r trap target/trap; mkdir -p node_modules/p; cp -r trap node_modules/p/trap";
    for environment in BOTH_WAYS {
        let home = project(&[run(evil)]);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let result = crate::command_effects::result(&chat, 0).await;
        for folder in ["trap", "target/trap", "node_modules/p/trap"] {
            let folder = home.workspace().join(folder);
            if folder.is_dir() {
                let git = std::process::Command::new("git").args(["-c", "safe.directory=*", "st"]).current_dir(&folder).output();
                drop(git);
            }
            assert!(!folder.join("../pwned").exists(), "{environment:?}: {result}");
        }
        assert!(output(&result).contains("/trap") && output(&result).contains("/tmp"), "{result}");
    }
}
