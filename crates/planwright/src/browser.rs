//! `serve --open`: opens the sign-in address in the user's browser.

use crate::output;
use std::process::Stdio;
use tokio::process::{Child, Command};

const USUAL: &str = "xdg-open";

/// Opens the address. If no browser opens, this only prints a note: the address is printed anyway.
pub fn open(address: &str) {
    let wanted = std::env::var("BROWSER").unwrap_or_default();
    match commands(&wanted, address).iter().find_map(|words| start(words)) {
        Some(mut child) => drop(tokio::spawn(async move {
            if !child.wait().await.is_ok_and(|status| status.success()) {
                warn();
            }
        })),
        None => warn(),
    }
}

fn warn() {
    output::note("can't open a browser; open the printed address yourself, or set BROWSER to a command");
}

/// The commands to try, as argument lists without a shell. `BROWSER` is a list separated by `:`; `%s` in a command becomes the
/// address, otherwise the address is the last argument.
fn commands(wanted: &str, address: &str) -> Vec<Vec<String>> {
    let listed = wanted.split(':').chain([USUAL]).map(|command| command.split_whitespace().collect::<Vec<_>>());
    let words = |command: Vec<&str>| {
        let has_place = command.iter().any(|word| word.contains("%s"));
        let words = command.into_iter().map(|word| word.replace("%s", address));
        words.chain((!has_place).then(|| address.to_owned())).collect()
    };
    listed.filter(|command| !command.is_empty()).map(words).collect()
}

#[expect(clippy::disallowed_methods, reason = "the user's own browser, because they asked for it")]
fn start(words: &[String]) -> Option<Child> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    // In its own process group, so that Ctrl-C here does not end it; its output is discarded.
    command.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PLANWRIGHT_")) {
        command.env_remove(name);
    }
    command.spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_is_a_list_of_commands_whose_words_no_shell_reads() {
        let usual = vec![USUAL.to_owned(), "http://a/#token=t".to_owned()];
        let tried = |wanted| commands(wanted, "http://a/#token=t");
        for unset in ["", ":"] {
            assert_eq!(tried(unset), std::slice::from_ref(&usual));
        }
        assert_eq!(tried("firefox"), [vec!["firefox".to_owned(), "http://a/#token=t".to_owned()], usual.clone()]);
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            tried("one --new %s;rm:two  -x=%s"),
            [words(&["one", "--new", "http://a/#token=t;rm"]), words(&["two", "-x=http://a/#token=t"]), usual]
        );
    }
}
