//! Explains failures of a command whose own output does not.

use super::outcome::Outcome;
use planwright_sandbox::CommandEnd;

/// Maximum number of covered files in the text.
const MOST_COVERED: usize = 20;
/// The exit code of a shell that can't find a program.
const NOT_FOUND: i32 = 127;
/// Tools that a project's commands are likely to need.
const TOOLS: &[&str] = &[
    "bun", "bundle", "cargo", "cmake", "deno", "dotnet", "gcc", "go", "gradle", "java", "make", "mvn", "node", "npm", "npx", "php", "pip",
    "pip3", "pnpm", "poetry", "pytest", "python", "python3", "ruby", "rustc", "rustup", "uv", "yarn",
];

/// The kernel's messages for changing a mount point and a read-only mount.
const BUSY: &str = "Device or resource busy";
const READ_ONLY: &str = "Read-only file system";
/// The kernel's message for a file whose owner or group is unmapped inside.
const UNKNOWN_OWNER: &str = "Value too large for defined data type";
/// The parts of the workspace's own repository that are mounted read-only.
const SETTINGS: [&str; 3] = ["config", "/hooks", "/info"];

impl Outcome {
    /// The hidden files that the command named, one line for each reason.
    pub(super) fn covered(&self) -> Vec<String> {
        let named = |paths: &[String], always: bool| {
            let is_named = |path: &&String| path.rsplit('/').next().is_some_and(|name| always || self.command.contains(name));
            let named: Vec<String> = paths.iter().filter(is_named).take(MOST_COVERED).map(|path| format!("/{path}")).collect();
            named.join(", ")
        };
        // Git finds them without being given their names.
        let closed = named(&self.covers.closed, self.command.contains("git"));
        [
            (named(&self.covers.secrets, false), "empty for commands, because it looks like a secret", " `read` asks the user."),
            (
                closed,
                "commands can't open this, because it looks like a secret and differs from what git has",
                " Exclude it from commits: list the files to add. `read` asks the user.",
            ),
            (named(&self.covers.workspaces, false), "empty for commands, because it is another workspace on this server", ""),
        ]
        .into_iter()
        .filter(|(list, _, _)| !list.is_empty())
        .map(|(list, why, advice)| format!("[{why}: {list}.{advice}]"))
        .collect()
    }

    /// What git can't do in the sandbox, recognised by its messages.
    pub(super) fn git_hints(&self) -> Vec<String> {
        let is_refused = |line: &&str| line.contains(".git") && [BUSY, READ_ONLY].iter().any(|word| line.contains(word));
        let (settings, records): (Vec<&str>, Vec<&str>) =
            self.output.lines().filter(is_refused).partition(|line| SETTINGS.iter().any(|name| line.contains(name)));
        let of_settings = "[no command may change .git/config, .git/hooks or .git/info, so git failed to write there. Branches, tags and commits did change: only settings were not changed. Set one for a single command with `git -c NAME=VALUE`, or ask the user to change it.]";
        let of_records = "[no command may write to the repository of a linked worktree or of a submodule, so git made no commit and changed no branch there. The command's changes to files are kept. Ask the user to commit them.]";
        [(settings, of_settings), (records, of_records)]
            .into_iter()
            .filter(|(lines, _)| !lines.is_empty())
            .map(|(_, text)| text.to_owned())
            .collect()
    }

    /// Why a file can't be opened although its mode allows it.
    pub(super) fn foreign_owner(&self) -> Option<String> {
        let text = "[a file or folder belongs to a user or group that commands don't know, so no command can change it (\"Value too large for defined data type\"). Change it with `edit` or `write`, or ask the user to give it to the server's own user and group.]";
        self.output.contains(UNKNOWN_OWNER).then(|| text.to_owned())
    }

    /// Why a command failed that ran out of memory for its files.
    pub(super) fn full_memory(&self) -> Option<String> {
        let is_full = matches!(self.ended, CommandEnd::Exited(_)) && self.reached.iter().any(|limit| limit == "disk");
        let text = "[commands write to memory here, and this one ran out of it (\"No space left on device\"). Write less at once, or tell the user to raise `disk_mb` or to set `staging = \"disk\"` under [sandbox].]";
        is_full.then(|| text.to_owned())
    }

    /// How to make a missing tool visible.
    pub(super) fn missing_tool(&self) -> Option<String> {
        let is_missing =
            |tool: &&&str| [": command not found", ": not found"].iter().any(|end| says(&self.output, &format!("{tool}{end}")));
        let tool = TOOLS.iter().filter(|_| self.ended == CommandEnd::Exited(NOT_FOUND)).find(is_missing)?;
        let place = if matches!(*tool, "cargo" | "rustc" | "rustup") {
            " For Rust elsewhere set CARGO_HOME and RUSTUP_HOME for the server."
        } else {
            ""
        };
        Some(format!(
            "[commands don't see {tool}. They see programs in /usr, /opt and /nix/store, and the usual toolchain folders of the server's home, such as ~/.cargo/bin and ~/.local/bin. To make it visible, install it there, or put its folder on the server's PATH and below one of those places; then restart the server.{place}]"
        ))
    }
}

/// Whether a text contains these words, not as the end of a longer word.
fn says(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| !text[..at].ends_with(|before: char| before.is_alphanumeric() || "-_./".contains(before)))
}

#[cfg(test)]
mod tests {
    use super::super::Covers;
    use super::super::outcome::tests::ended;

    #[test]
    fn a_well_known_tool_that_is_not_found_is_told_how_to_be_made_visible() {
        let text = |code, output: &str| ended(code, output).report(&[], &[]).unwrap().text;
        for output in ["/bin/bash: line 1: cargo: command not found", "sh: 1: cargo: not found"] {
            let text = text(127, output);
            assert!(text.contains("commands don't see cargo") && text.contains("CARGO_HOME"), "{text}");
        }
        assert!(!text(1, "cargo: command not found").contains("don't see"), "another failure");
        assert!(!text(127, "my-cargo: command not found").contains("don't see"), "a tool of their own");
    }

    #[test]
    fn a_covered_path_is_told_with_its_own_reason() {
        let covers = Covers {
            secrets: vec![".env".to_owned(), "unnamed.pem".to_owned()],
            closed: vec!["deploy/key.pem".to_owned()],
            workspaces: vec!["sub".to_owned()],
            ..Covers::default()
        };
        let text = ended(0, "").covering(covers).report(&[], &[]).unwrap().text;
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines[0].contains("looks like a secret: /.env.") && !text.contains("unnamed"), "{text}");
        assert!(lines[1].contains("can't open this") && lines[1].contains("/deploy/key.pem"), "{text}");
        assert!(lines[2].contains("another workspace on this server: /sub"), "{text}");
    }

    #[test]
    fn what_git_could_not_write_is_told_by_what_it_was() {
        let text = |output: &str| ended(128, output).report(&[], &[]).unwrap().text;
        let worktree = text("fatal: Unable to create '/srv/main/.git/worktrees/wt/index.lock': Read-only file system");
        assert!(worktree.contains("made no commit") && !worktree.contains("did change"), "{worktree}");
        let submodule = text("error: unable to create '/srv/main/.git/modules/sub/objects/ab/tmp_obj': Read-only file system");
        assert!(submodule.contains("made no commit"), "{submodule}");
        let config = text("error: could not write config file .git/config: Device or resource busy");
        assert!(config.contains("only settings were not changed") && !config.contains("made no commit"), "{config}");
        assert!(!text("touch: cannot touch 'x': Read-only file system").contains("git"), "no repository");
    }

    #[test]
    fn a_file_of_an_unknown_group_is_told_in_plain_words() {
        let text = ended(1, "sh: 1: cannot create a.txt: Value too large for defined data type").report(&[], &[]).unwrap().text;
        assert!(text.contains("belongs to a user or group that commands don't know") && text.contains("`edit`"), "{text}");
    }
}
