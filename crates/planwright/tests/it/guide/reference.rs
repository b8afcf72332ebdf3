//! The reference of the command line, from what the binary says of itself.

use super::hold;
use crate::home;
use planwright_testkit::server::Home;
use serde_json::json;

const HEAD: &str = "# The command line

Made from `planwright --help` and the help of each command; a test fails when it is old.
";

async fn help(home: &Home, command: &[&str]) -> String {
    let mut asked = home.command(&[command, &["--help"]].concat());
    // Values of variables are part of the help.
    asked.env_clear().env("HOME", home.workspace());
    let output = asked.output().await.unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names under `Commands:`, but for `help`.
fn commands(help: &str) -> Vec<&str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line that begins further in goes on with the one above.
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

fn section(title: &str, help: &str) -> String {
    let depth = "#".repeat(title.split(' ').count().clamp(2, 3));
    let text: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    format!("\n{depth} `{title}`\n\n```text\n{}\n```\n", text.join("\n"))
}

#[tokio::test]
async fn the_reference_of_the_command_line_is_the_help_of_the_binary() {
    let home = home(&json!({ "turns": [] }));
    let top = help(&home, &[]).await;
    let mut page = format!("{HEAD}{}", section("planwright", &top));
    for command in commands(&top) {
        let own = help(&home, &[command]).await;
        page += &section(&format!("planwright {command}"), &own);
        for part in commands(&own) {
            page += &section(&format!("planwright {command} {part}"), &help(&home, &[command, part]).await);
        }
    }
    assert!(page.contains("## `planwright run`") && page.contains("### `planwright plan lint`"), "{page}");
    hold("docs/guide/cli.md", &page);
}
