//! The commands of the documentation are run.
//!
//! A block that begins with ```` ```sh run ```` is run, all of a page in one shell and in order, in a clean home and in a
//! folder with a copy of `samples`. A block ```` ```text output ```` says which lines the block before it prints, in order;
//! `…` stands for any others.

use super::{file, pages};
use crate::BINARY;
use std::process::{Command, Stdio};

/// Pages that would be wrong without a command that was tried.
const TRIED: &[&str] = &[
    "docs/guide/first-plan.md",
    "docs/guide/plans.md",
    "docs/guide/questions.md",
    "docs/headless.md",
    "docs/api.md",
    "docs/scripted-models.md",
];

/// Printed between blocks, to tell apart what each of them printed.
const MARK: &str = "@@ the next block";

#[derive(Default)]
struct Block {
    script: String,
    /// What is said that it prints.
    output: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside: Option<&str> = None;
    for line in text.lines() {
        match (inside, line.strip_prefix("```")) {
            (None, Some(kind)) => {
                inside = Some(kind);
                if kind == "sh run" {
                    blocks.push(Block::default());
                }
            }
            (Some(_), Some("")) => inside = None,
            (Some("sh run"), _) => blocks.last_mut().unwrap().script += &format!("{line}\n"),
            (Some("text output"), _) => blocks.last_mut().unwrap().output.push(line.to_owned()),
            (Some(_) | None, _) => {}
        }
    }
    blocks
}

/// The whole of what the blocks of a page print, one text for each.
fn run(page: &str, blocks: &[Block]) -> Vec<String> {
    let folder = tempfile::TempDir::new().unwrap();
    let (home, programs, source) = (folder.path().join("home"), folder.path().join("bin"), folder.path().join("planwright"));
    for made in [&home, &programs, &source] {
        std::fs::create_dir(made).unwrap();
    }
    std::os::unix::fs::symlink(BINARY, programs.join("planwright")).unwrap();
    let copied = Command::new("cp").arg("-r").arg(file("samples")).arg(&source).status().unwrap();
    assert!(copied.success());
    let script: Vec<String> = blocks.iter().map(|block| format!("{}echo '{MARK}'\n", block.script)).collect();
    // What a page leaves running ends with it.
    let script = format!("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\nexec 2>&1\n{}", script.concat());
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    shell.args(["-c", &script]).env_clear().env("HOME", &home).env("PATH", path).current_dir(&source);
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{page}: {:?} after\n{printed}", output.status);
    printed.split(&format!("{MARK}\n")).map(str::to_owned).collect()
}

/// The first line that was to be printed and was not.
fn unprinted<'a>(said: &'a [String], printed: &str) -> Option<&'a str> {
    let mut lines = printed.lines().map(str::trim_end);
    said.iter().filter(|line| *line != "…").find(|line| !lines.any(|printed| printed == line.trim_end())).map(String::as_str)
}

#[test]
fn the_commands_of_the_guide_do_what_it_says() {
    let mut tried = Vec::new();
    for page in pages() {
        let blocks = blocks(&std::fs::read_to_string(file(&page)).unwrap());
        if blocks.is_empty() {
            continue;
        }
        let printed = run(&page, &blocks);
        for (block, printed) in blocks.iter().zip(&printed) {
            let unprinted = unprinted(&block.output, printed);
            assert_eq!(unprinted, None, "{page}: not printed by\n{}\nwhich printed\n{printed}", block.script);
        }
        tried.push(page);
    }
    for page in TRIED {
        assert!(tried.iter().any(|tried| tried == page), "{page} has no command that is tried");
    }
}

#[test]
fn a_line_that_a_command_does_not_print_is_noticed() {
    let said = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(unprinted(&said(&["one", "…", "three"]), "one\ntwo\nthree\n"), None);
    assert_eq!(unprinted(&said(&["three", "one"]), "one\ntwo\nthree\n"), Some("one"));
    assert_eq!(unprinted(&said(&["tw"]), "one\ntwo\n"), Some("tw"));
    let blocks = blocks("```sh\nno\n```\n```sh run\necho a\n```\n\n```text output\na\n```\n");
    assert_eq!((blocks.len(), blocks[0].script.as_str(), &blocks[0].output[..]), (1, "echo a\n", &["a".to_owned()][..]));
}
