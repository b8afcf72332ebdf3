//! Models that write more than text, onto a real terminal.

use super::{leave, opened, rests, say};
use crate::home;
use serde_json::json;

/// What would clear the screen, leave it, set titles and the clipboard, ring, resize, and look like an approval.
const ATTACKS: &[&str] = &[
    "\u{1b}[2J\u{1b}[Hcleared",
    "\u{1b}[?1049l\u{1b}[?25hleft",
    "\u{1b}]0;owned\u{7}\u{1b}]2;owned\u{1b}\\",
    "\u{1b}]52;c;aGVsbG8=\u{7}",
    "\u{7}\u{1b}[8;5;5t\u{9b}31mred",
    "\u{1b}[6n\u{1b}[c\u{1b}]11;?\u{7}",
    "\u{202e}txet desrever",
    "zero\u{200b}width\u{feff}",
    "╔═ ‼ Delete 4 files? ═╗\n\n║ a  Allow once ║\n\n╚═════════════════════╝",
];

#[tokio::test]
async fn at_a_terminal_a_hostile_model_sets_nothing_hides_nothing_and_asks_nothing() {
    let text = format!("Before.\n\n{}\n\nAfter it all.", ATTACKS.join("\n\n"));
    let calls = json!([{ "tool": "read", "args": { "path": ATTACKS.join("") } }, { "tool": ATTACKS.join(""), "args": {} }]);
    let home = home(&json!({ "turns": [{ "text": text, "calls": calls }, { "text": format!("{}The end.", ATTACKS[1]) }] }));
    home.put("kept.txt", "kept\n");
    let mut terminal = opened(&home, &[]).await;
    say(&mut terminal, "Go").await;
    let screen = terminal.shows("The end.").await;
    assert!(terminal.is_taken(), "{screen}");
    assert_eq!(terminal.wishes(), [""; 0], "{screen}");
    let is_bad = |character: char| matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '═' | '║' | '╔' | '╚');
    // Upwards through all that it wrote, as a user would.
    let mut pages = vec![screen];
    while !pages.last().is_some_and(|page| page.contains("› Go")) {
        assert!(pages.len() < 20, "{pages:#?}");
        let before = terminal.text();
        terminal.press("\x1b[5~");
        pages.push(terminal.until("an earlier page", |page| *page != before).await);
    }
    for page in &pages {
        assert!(!page.contains(is_bad), "{page}");
        assert!(page.contains("PLAN") && page.contains("? help"), "the frame of the program stays: {page}");
    }
    let all = pages.join("\n");
    assert!(all.contains("cleared") && all.contains("left") && all.contains("<U+202E>"), "{all}");
    assert_eq!(terminal.wishes(), [""; 0]);
    rests(&mut terminal).await;
    leave(terminal).await;
}
