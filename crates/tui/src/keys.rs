//! The keys, in one place: for the footer and for help.

use crate::app::{AppState, Focus, PageName};
use crate::list_page::ListKind;

pub type Hints = Vec<(&'static str, &'static str)>;

/// The keys that matter now, the most important first.
#[must_use]
pub fn hints(app: &AppState) -> Hints {
    match app.page {
        PageName::Chat => chat_hints(app),
        PageName::Plan if app.plan.writing.is_some() => vec![("Enter", "keep comment"), ("Alt+Enter", "new line"), ("Esc", "drop")],
        PageName::Plan => vec![
            ("?", "help"),
            ("x", "execute"),
            ("c", "comment"),
            ("r", "request changes"),
            ("Space", "skip step"),
            ("t", "stop after"),
            ("e", "edit"),
            ("Esc", "back"),
        ],
        PageName::Changes => {
            vec![("?", "help"), ("j k", "file"), ("n p", "hunk"), ("z", "take back hunk"), ("Z", "take back file"), ("Esc", "back")]
        }
        PageName::List => match app.list.kind {
            ListKind::Chats => {
                vec![("Enter", "open"), ("type", "to filter"), ("F2", "rename"), ("Del", "delete"), ("F3", "new"), ("Esc", "back")]
            }
            ListKind::Inbox => vec![("Enter", "open"), ("type", "to filter"), ("Esc", "back")],
            ListKind::Search => vec![("Enter", "search, open"), ("Esc", "back")],
        },
    }
}

fn chat_hints(app: &AppState) -> Hints {
    match app.focus {
        Focus::History => vec![("j k", "move"), ("Enter", "fold"), ("o", "fold all"), ("z", "take back from here"), ("Esc", "write")],
        Focus::Dock if app.dock.as_ref().is_some_and(|dock| dock.text.is_some()) => {
            vec![("Enter", "send"), ("Alt+Enter", "new line"), ("Esc", "back to all answers")]
        }
        Focus::Dock if app.dock.as_ref().is_some_and(|dock| dock.actions.is_empty()) => {
            vec![("Enter", "next"), ("Space", "choose"), ("Ctrl+S", "send"), ("PgUp PgDn", "scroll"), ("Esc", "write")]
        }
        Focus::Dock => vec![("letter", "decide"), ("↑ ↓ Enter", "choose"), ("PgUp PgDn", "scroll"), ("Esc", "write a message")],
        Focus::Composer => {
            let mut hints = vec![("?", "help")];
            if app.dock.is_some() {
                hints.push(("Tab", "answer"));
            }
            if app.chat.as_ref().is_some_and(crate::open_chat::OpenChat::is_running) {
                hints.push(("Ctrl+C", "stop"));
            }
            hints.extend([
                ("Enter", "send"),
                ("Shift+Tab", "mode"),
                ("Ctrl+P", "plan"),
                ("Ctrl+R", "changes"),
                ("Ctrl+O", "chats"),
                ("/", "commands"),
                ("@", "files"),
            ]);
            hints
        }
    }
}

/// All keys, by place.
pub const HELP: &[(&str, &[(&str, &str)])] = &[
    (
        "Everywhere",
        &[
            ("?  F1", "this help"),
            ("Ctrl+O", "chats of this folder"),
            ("Ctrl+G", "inbox: chats of all folders"),
            ("Ctrl+F", "search all chats"),
            ("Ctrl+N", "new chat"),
            ("Ctrl+P", "plan"),
            ("Ctrl+R", "changes"),
            ("Ctrl+T", "role"),
            ("Ctrl+C", "stop the run; clear the message; leave"),
            ("Ctrl+Z", "suspend; fg comes back"),
        ],
    ),
    (
        "Message",
        &[
            ("Enter", "send"),
            ("Alt+Enter  Ctrl+J", "new line"),
            ("↑ ↓", "earlier messages"),
            ("Shift+Tab", "switch between PLAN and BUILD"),
            ("Ctrl+X", "write in $EDITOR"),
            ("/", "commands"),
            ("@", "files"),
            ("Tab", "the pending question; the history"),
            ("PgUp PgDn", "scroll"),
        ],
    ),
    (
        "Question and approval",
        &[
            ("Tab  Alt+Q", "go there"),
            ("a d r w", "allow, deny, deny with a reason, always"),
            ("Alt+A Alt+D …", "the same without going there"),
            ("↑ ↓ Enter", "choose; a critical card has no default"),
            ("Space  1–9", "choose in a form"),
            ("Ctrl+S", "send a form"),
        ],
    ),
    (
        "History",
        &[
            ("j k", "move"),
            ("Enter", "fold in or out"),
            ("o", "fold all"),
            ("z", "take back from here"),
            ("w", "withdraw a queued message"),
        ],
    ),
    (
        "Plan",
        &[
            ("j k Enter", "move, details"),
            ("x", "execute the chosen steps"),
            ("Space", "skip a step"),
            ("t", "stop after this step"),
            ("c d", "comment, drop the comment"),
            ("r", "request changes: sends the comments"),
            ("e", "edit in $EDITOR"),
        ],
    ),
    ("Changes", &[("j k", "file"), ("n p", "hunk"), ("z", "take back the hunk"), ("Z", "take back the file")]),
];
