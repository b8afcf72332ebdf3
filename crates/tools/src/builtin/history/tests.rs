#![expect(clippy::disallowed_methods, reason = "tests make repositories with git, and put files into them")]

use crate::builtin::trial::Trial;
use crate::gate::{Consent, Verdict};
use planwright_protocol::Role;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")])
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "protocol.file.allow=always"])
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--date=2026-01-02T03:04:05Z", "-m", message]);
}

/// Two commits: a file with two lines and a secret, then a third line.
fn repository() -> Trial {
    let trial = Trial::new(&[("a.rs", "one\ntwo\n"), (".env", "KEY=old\n")]);
    git(&trial.host(""), &["init", "--quiet", "--initial-branch=main"]);
    commit(&trial.host(""), "First");
    trial.put("a.rs", b"one\ntwo\nthree\n");
    trial.put(".env", b"KEY=new\n");
    commit(&trial.host(""), "Second: more");
    trial
}

fn output_of(trial: &Trial, args: &str) -> String {
    trial.plan("history", args).unwrap().text
}

/// One call of each kind.
const CALLS: [&str; 6] = [
    r#"{"action": "log"}"#,
    r#"{"action": "log", "path": "/a.rs"}"#,
    r#"{"action": "show"}"#,
    r#"{"action": "diff"}"#,
    r#"{"action": "diff", "revision": "HEAD~1..HEAD"}"#,
    r#"{"action": "blame", "path": "/a.rs"}"#,
];

#[test]
fn log_show_diff_and_blame_are_read_and_secrets_left_out() {
    let trial = repository();
    let log = output_of(&trial, r#"{"action": "log"}"#);
    assert!(log.contains(" 2026-01-02 Ann: Second: more\n") && log.lines().count() == 2, "{log}");
    assert!(output_of(&trial, r#"{"action": "log", "limit": 1}"#).contains("[more follow: raise `limit` (at most 200)"));
    assert_eq!(output_of(&trial, r#"{"action": "log", "path": "/none"}"#), "[no commits]\n");
    let show = output_of(&trial, r#"{"action": "show"}"#);
    assert!(show.starts_with("commit ") && show.contains("author Ann\n") && show.contains("\nSecond: more\n"), "{show}");
    assert!(show.contains("--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,3 @@\n one\n two\n+three\n"), "{show}");
    assert!(
        !show.contains("KEY")
            && show.ends_with("[1 files that look like secrets are left out; name one as `path` to ask the user for it]\n"),
        "{show}"
    );
    let first = output_of(&trial, r#"{"action": "show", "revision": "HEAD~1", "limit": 8}"#);
    assert!(first.contains("First") && first.contains("[cut at 8 of "), "{first}");
    let blame = output_of(&trial, r#"{"action": "blame", "path": "/a.rs", "lines": "2-3"}"#);
    assert!(blame.lines().count() == 2 && blame.contains("(Ann 2026-01-02 3) three"), "{blame}");
    let prepared = trial.prepare("history", r#"{"action": "show", "path": "/.env"}"#).unwrap();
    assert!(matches!(trial.verdict(Role::Planner, "history", &prepared.effects, Consent::Needed), Verdict::Ask(_)));
    assert!(output_of(&trial, r#"{"action": "show", "path": "/.env"}"#).contains("+KEY=new"));
}

#[test]
fn a_diff_has_what_is_not_committed_and_names_new_files() {
    let trial = repository();
    assert_eq!(
        output_of(&trial, r#"{"action": "diff"}"#),
        "[no differences]\n[1 files that look like secrets are left out; name one as `path` to ask the user for it]\n"
    );
    trial.put("a.rs", b"one\ntwo\nthree\nfour\n");
    trial.put("sub/new.rs", b"new\n");
    trial.put(".gitignore", b"out\n");
    trial.put("out/made", b"made\n");
    trial.put(".env.local", b"KEY=local\n");
    let diff = output_of(&trial, r#"{"action": "diff"}"#);
    assert!(diff.contains("--- a/a.rs\n+++ b/a.rs\n@@ -1,3 +1,4 @@\n") && diff.contains("+four\n") && !diff.contains("KEY"), "{diff}");
    assert!(
        diff.contains("[new, not in HEAD: /sub/new.rs]\n")
            && !diff.contains("/out/made")
            && diff.contains("[2 files that look like secrets"),
        "{diff}"
    );
    assert!(output_of(&trial, r#"{"action": "diff", "revision": "HEAD~1", "path": "/a.rs"}"#).contains("+three\n+four\n"));
    let between = output_of(&trial, r#"{"action": "diff", "revision": "HEAD~1..HEAD", "path": "/a.rs"}"#);
    assert!(between.contains("+three\n") && !between.contains("four") && !between.contains("secrets"), "{between}");
    std::fs::remove_file(trial.host("a.rs")).unwrap();
    assert!(output_of(&trial, r#"{"action": "diff", "path": "/a.rs"}"#).contains("+++ /dev/null"));
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let trial = repository();
    let marker = trial.host("ran");
    let evil = trial.host("evil.sh");
    trial.put("evil.sh", format!("#!/bin/sh\ntouch {}\ncat\n", marker.display()).as_bytes());
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = evil.to_str().unwrap();
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("pager.log", program),
        ("core.editor", program),
        ("core.sshCommand", program),
        ("core.alternateRefsCommand", program),
        ("diff.external", program),
        ("diff.evil.textconv", program),
        ("diff.evil.command", program),
        ("filter.evil.clean", program),
        ("filter.evil.smudge", program),
        ("filter.evil.process", program),
        ("filter.evil.required", "true"),
        ("gpg.program", program),
        ("log.showSignature", "true"),
        ("alias.log", program),
        ("credential.helper", program),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", "ext::sh -c evil"),
        ("remote.origin.promisor", "true"),
        ("diff.submodule", "log"),
    ] {
        std::fs::write(trial.host(".git/config"), std::fs::read_to_string(trial.host(".git/config")).unwrap() + &section(key, value))
            .unwrap();
    }
    trial.put(".gitattributes", b"* diff=evil filter=evil\n");
    trial.put(".git/info/attributes", b"* diff=evil filter=evil\n");
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"] {
        trial.put(&format!(".git/hooks/{hook}"), format!("#!/bin/sh\ntouch {}\n", marker.display()).as_bytes());
        std::fs::set_permissions(trial.host(&format!(".git/hooks/{hook}")), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    trial.put("a.rs", b"changed\n");
    for call in CALLS {
        output_of(&trial, call);
        assert!(!marker.exists(), "{call} ran something");
    }
    assert!(output_of(&trial, CALLS[2]).contains("+three\n"));
}

fn section(key: &str, value: &str) -> String {
    let (head, name) = key.rsplit_once('.').unwrap();
    let head = head.split_once('.').map_or_else(|| format!("[{head}]"), |(head, sub)| format!("[{head} \"{sub}\"]"));
    format!("{head}\n\t{name} = \"{value}\"\n")
}

#[test]
fn configuration_leads_nowhere_outside_of_the_workspace() {
    let trial = repository();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "outside-secret-line\n").unwrap();
    let secret = outside.path().join("secret").to_str().unwrap().to_owned();
    let config = trial.host(".git/config");
    let plain = std::fs::read_to_string(&config).unwrap();
    let folder = outside.path().to_str().unwrap();
    for (key, value) in [
        ("include.path", secret.as_str()),
        ("core.worktree", folder),
        ("core.attributesFile", &secret),
        ("core.excludesFile", &secret),
        ("blame.ignoreRevsFile", &secret),
        ("mailmap.file", &secret),
        ("diff.orderFile", &secret),
        ("commit.template", &secret),
    ] {
        std::fs::write(&config, plain.clone() + &section(key, value)).unwrap();
        for call in CALLS {
            let text = output_of(&trial, call);
            assert!(!text.contains("outside-secret-line"), "{key}: {call}: {text}");
        }
    }
}

#[test]
fn a_repository_that_is_or_borrows_another_one_is_refused() {
    let other = repository();
    let id = git(&other.host(""), &["rev-parse", "HEAD"]);
    let refusal = |trial: &Trial| trial.act("history", r#"{"action": "log"}"#).unwrap_err().code.as_str();
    let other_git = other.host(".git").to_str().unwrap().to_owned();

    let file = Trial::new(&[(".git", &format!("gitdir: {other_git}\n"))]);
    assert_eq!(refusal(&file), "PATH_OUTSIDE_WORKSPACE", "a .git file that leads out");
    let link = Trial::new(&[]);
    symlink(&other_git, link.host(".git")).unwrap();
    assert_eq!(refusal(&link), "PATH_OUTSIDE_WORKSPACE", "a .git link");

    let fresh = || {
        let trial = Trial::new(&[]);
        git(&trial.host(""), &["init", "--quiet", "--initial-branch=main"]);
        trial.put(".git/refs/heads/main", format!("{id}\n").as_bytes());
        trial
    };
    let borrowing = fresh();
    borrowing.put(".git/objects/info/alternates", format!("{other_git}/objects\n").as_bytes());
    assert_eq!(refusal(&borrowing), "PATH_OUTSIDE_WORKSPACE", "alternates");
    for inner in ["objects", "objects/pack"] {
        let linked = fresh();
        std::fs::remove_dir_all(linked.host(&format!(".git/{inner}"))).unwrap();
        symlink(format!("{other_git}/{inner}"), linked.host(&format!(".git/{inner}"))).unwrap();
        assert_eq!(refusal(&linked), "PATH_OUTSIDE_WORKSPACE", "{inner} is a link");
    }
    let elsewhere = fresh();
    elsewhere.put(".git/commondir", format!("{other_git}\n").as_bytes());
    assert_eq!(refusal(&elsewhere), "PATH_OUTSIDE_WORKSPACE", "commondir");
    let head = fresh();
    std::fs::remove_file(head.host(".git/HEAD")).unwrap();
    symlink(format!("{other_git}/HEAD"), head.host(".git/HEAD")).unwrap();
    assert_eq!(refusal(&head), "PATH_OUTSIDE_WORKSPACE", "HEAD is a link");
    assert_eq!(refusal(&Trial::new(&[("a", "")])), "PATH_NOT_FOUND", "no repository");
}

#[test]
fn replacements_and_grafts_show_no_other_history() {
    let trial = repository();
    let folder = trial.host("");
    let (first, second) = (git(&folder, &["rev-parse", "HEAD~1"]), git(&folder, &["rev-parse", "HEAD"]));
    git(&folder, &["replace", &second, &first]);
    trial.put(".git/info/grafts", format!("{second}\n").as_bytes());
    assert_eq!(git(&folder, &["log", "--format=%s"]), "First", "git itself is taken in");
    let log = output_of(&trial, r#"{"action": "log"}"#);
    assert!(log.contains("Second: more\n") && log.contains("First\n"), "{log}");
}

#[test]
fn worktrees_and_submodules_have_their_own_history() {
    let main = repository();
    let beside = tempfile::tempdir().unwrap();
    let tree = beside.path().join("tree");
    git(&main.host(""), &["worktree", "add", "--quiet", "-b", "feature", tree.to_str().unwrap(), "HEAD~1"]);
    let worktree = Trial::new(&[]).at(&tree);
    let log = output_of(&worktree, r#"{"action": "log"}"#);
    assert!(log.contains("First") && !log.contains("Second"), "{log}");
    assert!(output_of(&worktree, r#"{"action": "log", "revision": "main"}"#).contains("Second"));
    assert!(output_of(&worktree, r#"{"action": "blame", "path": "/a.rs"}"#).contains("two"));

    let over = Trial::new(&[("b.rs", "b\n")]);
    git(&over.host(""), &["init", "--quiet", "--initial-branch=main"]);
    commit(&over.host(""), "Over");
    git(&over.host(""), &["submodule", "--quiet", "add", main.host("").to_str().unwrap(), "vendor/sub"]);
    commit(&over.host(""), "Add a submodule");
    assert!(output_of(&over, r#"{"action": "log"}"#).contains("Add a submodule"));
    let inner = output_of(&over, r#"{"action": "log", "path": "/vendor/sub/a.rs"}"#);
    assert!(inner.contains("Second: more") && !inner.contains("Over"), "{inner}");
    let show = output_of(&over, r#"{"action": "show"}"#);
    assert!(show.contains("Subproject commit") && !show.contains("three"), "{show}");
    let alone = Trial::new(&[]).at(&over.host("vendor/sub"));
    assert!(output_of(&alone, r#"{"action": "log"}"#).contains("Second: more"));
    // A path in a submodule that names the repository of another folder.
    over.put("stolen/.git", format!("gitdir: {}\n", over.host(".git/modules/vendor/sub").display()).as_bytes());
    assert_eq!(over.refusal("history", r#"{"action": "log", "path": "/stolen/x"}"#), "PATH_OUTSIDE_WORKSPACE");
}

#[test]
fn a_revision_is_no_option_no_path_and_no_search() {
    let trial = repository();
    for revision in ["--output=/tmp/x", "-p", "HEAD:.env", ":/First", "HEAD^{/First}", "HEAD --all", "a\nb", "$(id)", "@{-1}", "", "..-p"] {
        let args = json!({ "action": "show", "revision": revision }).to_string();
        if !revision.is_empty() {
            assert_eq!(trial.refusal("history", &args), "INVALID_ARGUMENTS", "{revision:?}");
        }
    }
    for args in [
        r#"{"action": "blame"}"#,
        r#"{"action": "blame", "path": "/a.rs", "lines": "x"}"#,
        r#"{"action": "show", "revision": "HEAD~1..HEAD"}"#,
        r#"{"action": "log", "revision": "nowhere"}"#,
        r#"{"action": "push"}"#,
    ] {
        assert_eq!(trial.refusal("history", args), "INVALID_ARGUMENTS", "{args}");
    }
    assert_eq!(trial.refusal("history", r#"{"action": "log", "path": ".."}"#), "PATH_INVALID");
}
