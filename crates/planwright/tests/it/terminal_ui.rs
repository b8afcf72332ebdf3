//! The terminal UI through the real binary, on a terminal of its own.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`life`] | from a request to a plan, its execution and back |
//! | [`hostile`] | models that write more than text |
//! | [`ends`] | sizes that change, and terminals that are given back |
//! | [`sharing`] | servers by their address, and chats that several look at |

mod ends;
mod hostile;
mod life;
mod sharing;

use planwright_testkit::server::Home;
use planwright_testkit::terminal::Terminal;

const ENTER: &str = "\r";
const TAB: &str = "\t";
const HOME_KEY: &str = "\x1b[H";
const CTRL_C: &str = "\x03";

/// The terminal UI on this home's workspace, ready for a message.
async fn opened(home: &Home, args: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(&home.command(args), 80, 24);
    terminal.shows("script.json").await;
    terminal
}

/// Types a message and sends it once it is on the screen.
async fn say(terminal: &mut Terminal, message: &str) {
    terminal.press(message);
    terminal.shows(message).await;
    terminal.press(ENTER);
}

/// Waits for the end of a run. The keys of the page say so, once no message stands in their place.
async fn rests(terminal: &mut Terminal) {
    terminal.until("a chat at rest", |screen| screen.contains("? help") && !screen.contains("Ctrl+C stop")).await;
}

/// Leaves a chat that is at rest.
async fn leave(mut terminal: Terminal) {
    terminal.press(CTRL_C);
    assert!(terminal.ended().await.success());
    assert!(terminal.is_restored(), "{}", terminal.text());
    assert_eq!(terminal.wishes(), [""; 0]);
}
