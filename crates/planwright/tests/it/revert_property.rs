//! Any sequence of changes by tools and commands, taken back to any message, gives the tree of that moment again.
//!
//! Calls are random and follow from a seed, which is printed. Each has a message of its own; before each, the tree is
//! remembered. Then random messages are gone back to, also over what was taken back before, and work goes on from there.

use crate::changes::{Work, one_call_a_message};
use crate::write;
use planwright_testkit::chance::Chance;
use planwright_testkit::guard::announce;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// How many calls a life has; `make torture` has more lives.
const CALLS: usize = 14;
const LIVES: &str = "PLANWRIGHT_REVERT_LIVES";
const SEED: &str = "PLANWRIGHT_REVERT_SEED";

/// Names, modes, contents and targets of all that is in the workspace, but for our own folder.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let (mut found, mut left) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            if name == ".planwright" {
                continue;
            }
            let shown = if meta.is_symlink() {
                format!("link to {}", std::fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                left.push(path);
                format!("folder {mode:o}")
            } else {
                format!("file {mode:o} {:?}", String::from_utf8_lossy(&std::fs::read(&path).unwrap()))
            };
            found.insert(name, shown);
        }
    }
    found
}

/// What a life does.
trait Deeds {
    fn path(&mut self) -> String;
    fn content(&mut self) -> String;
    fn call(&mut self) -> Value;
    fn command(&mut self) -> String;
}

impl Deeds for Chance {
    /// Few names, so that calls meet; one is a folder for some calls and a file for others.
    fn path(&mut self) -> String {
        let folder = self.pick(&["", "", "d/", "d/e/", "f/", "ö p/"]);
        format!("{folder}{}", self.pick(&["a", "b", "c d", "é", "d", "f"]))
    }

    fn content(&mut self) -> String {
        let lines: Vec<&str> = (0..self.below(4)).map(|_| self.pick(&["x\n", "yy\n", "zzz\n", "ünï\n"])).collect();
        lines.concat() + self.pick(&["", "end"])
    }

    fn call(&mut self) -> Value {
        let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
        let path = format!("/{}", self.path());
        match self.below(10) {
            0 | 1 => write(&path, &self.content()),
            2 => call("touch", json!({ "path": path })),
            3 => call("mkdir", json!({ "path": path, "parents": true })),
            4 => call("mv", json!({ "from": path, "to": format!("/{}", self.path()) })),
            5 => call("rm", json!({ "path": path, "recursive": true })),
            _ => call("run", json!({ "command": self.command() })),
        }
    }

    fn command(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..=self.below(4) {
            let (one, other) = (self.path(), self.path());
            let mode = self.pick(&["755", "644", "600", "700", "500", "1777"]);
            parts.push(match self.below(10) {
                0 | 1 => format!("mkdir -p \"$(dirname '{one}')\"; echo {} >> '{one}'", self.pick(&["x", "y"])),
                2 => format!("rm -rf '{one}'"),
                3 => format!("mv -f '{one}' '{other}'"),
                4 => format!("mkdir -p '{one}'"),
                5 => format!("chmod {mode} '{one}'"),
                6 => format!("rm -rf '{one}'; ln -s '{other}' '{one}'"),
                7 => format!("cp -a '{one}' '{other}'"),
                8 => format!("printf '\\0\\377' > '{one}'"),
                _ => format!("rm -rf '{one}'; mkdir -p '{one}'; echo new > '{one}/a'"),
            });
        }
        parts.join("; ") + "; true"
    }
}

async fn live(seed: u64, environment: &[(&str, &str)]) {
    announce(&format_args!("{SEED}={seed}"));
    let mut chance = Chance(seed);
    let calls: Vec<Value> = (0..CALLS).map(|_| chance.call()).collect();
    let home = one_call_a_message(&calls);
    for (path, text) in [("a", "first\n"), ("d/a", "in d"), ("d/e/b", ""), ("f/c d", "spaced\n")] {
        home.put(path, text);
    }
    let server = home.serve_with(environment).await;
    let mut work = Work::begin(&server).await;
    let mut moments: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let before = tree(&home.workspace());
        moments.push((work.next().await.0, before));
        if number % 5 != 4 {
            continue;
        }
        let (message, wanted) = &moments[usize::try_from(chance.below(moments.len() as u64)).unwrap()];
        let now = tree(&home.workspace());
        let done = work.back_to(message).await;
        assert_eq!(tree(&home.workspace()), *wanted, "seed {seed}, after {call}, taken back: {done:#}");
        // Now and then it is wanted after all.
        if let Some(id) = done["message"]["id"].as_str().filter(|_| chance.below(3) == 0) {
            work.back_to(id).await;
            assert_eq!(tree(&home.workspace()), now, "seed {seed}, taken back and that again");
        }
    }
    // Back and forth in any order, and at last back step by step.
    let anywhere: Vec<usize> = (0..CALLS).map(|_| usize::try_from(chance.below(moments.len() as u64)).unwrap()).collect();
    for (message, wanted) in anywhere.into_iter().map(|place| &moments[place]).chain(moments.iter().rev()) {
        let done = work.back_to(message).await;
        assert_eq!(tree(&home.workspace()), *wanted, "seed {seed}, calls {calls:#?}, taken back: {done:#}");
    }
}

#[tokio::test]
async fn any_changes_taken_back_to_any_message_give_that_tree_again() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let first = number(SEED).unwrap_or_else(|| Chance::of_now().0);
    for life in 0..number(LIVES).unwrap_or(4) {
        let seed = first.wrapping_add(life);
        // Every other life is without overlays.
        live(seed, if seed % 2 == 0 { &[] } else { &[("PLANWRIGHT_NO_OVERLAY", "1")] }).await;
    }
}
