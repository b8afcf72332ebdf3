//! A program on a terminal of its own: its screen as a person sees it, and keys as a person presses them.

mod svg;

use crate::PATIENCE;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use vt100::{Callbacks, Parser, Screen};

/// What a picture is drawn between, so that nobody sees half of one.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// What the program asked of the terminal beside drawing.
#[derive(Default)]
struct Wishes(Vec<String>);

impl Wishes {
    fn add(&mut self, what: &str, bytes: &[u8]) {
        self.0.push(format!("{what} {}", String::from_utf8_lossy(bytes)));
    }
}

impl Callbacks for Wishes {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.add("bell", b"");
    }

    fn resize(&mut self, _: &mut Screen, _: (u16, u16)) {
        self.add("resize", b"");
    }

    fn set_window_icon_name(&mut self, _: &mut Screen, name: &[u8]) {
        self.add("icon name", name);
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.add("title", title);
    }

    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], data: &[u8]) {
        self.add("clipboard", data);
    }

    fn unhandled_osc(&mut self, _: &mut Screen, words: &[&[u8]]) {
        self.add("osc", &words.concat());
    }
}

/// A program on a pseudo-terminal.
pub struct Terminal {
    master: File,
    child: Child,
    parser: Arc<Mutex<Parser<Wishes>>>,
    /// Moves with each picture, and is closed with the terminal.
    pictures: watch::Receiver<u64>,
}

fn size_of(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

impl Terminal {
    /// Starts a command on a terminal of this size, which is the one that it is controlled by.
    #[must_use]
    pub fn start(command: &Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        tcsetwinsize(&terminal, size_of(columns, rows)).unwrap();
        let child = spawn(command, terminal);
        let parser = Arc::new(Mutex::new(Parser::new_with_callbacks(cells(rows), cells(columns), 0, Wishes::default())));
        let (sender, pictures) = watch::channel(0);
        let (source, shown) = (File::from(master.try_clone().unwrap()), parser.clone());
        std::thread::spawn(move || follow(source, &shown, &sender));
        Self { master: File::from(master), child, parser, pictures }
    }

    fn parser(&self) -> MutexGuard<'_, Parser<Wishes>> {
        self.parser.lock().unwrap()
    }

    /// The process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Presses keys, as the bytes that a terminal sends for them.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Another size, which the program is told of.
    pub fn resize(&self, columns: u16, rows: u16) {
        // Under the lock, so that no picture of the new size is taken for one of the old.
        let mut parser = self.parser();
        parser.set_size(cells(rows), cells(columns));
        tcsetwinsize(&self.master, size_of(columns, rows)).unwrap();
    }

    /// The text of the screen.
    #[must_use]
    pub fn text(&self) -> String {
        self.parser().screen().contents()
    }

    /// The screen as a picture.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::picture(self.parser().screen())
    }

    /// Titles, clipboards, bells and other wishes, which the program should have none of.
    #[must_use]
    pub fn wishes(&self) -> Vec<String> {
        self.parser().callbacks().0.clone()
    }

    /// Whether the terminal is as a shell needs it: its first screen, a cursor, lines with echo.
    #[must_use]
    pub fn is_restored(&self) -> bool {
        let is_plain = {
            let parser = self.parser();
            let screen = parser.screen();
            !screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste()
        };
        is_plain && tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Whether the program has a screen of its own.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.parser().screen().alternate_screen()
    }

    /// Waits until the screen shows this; gives the whole screen.
    pub async fn shows(&mut self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text)).await
    }

    /// Waits until the screen no longer shows this.
    pub async fn hides(&mut self, text: &str) -> String {
        self.until(&format!("no {text}"), |screen| !screen.contains(text)).await
    }

    /// Waits for a screen; `what` is for the report of one that never came.
    pub async fn until(&mut self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let wait = async {
            loop {
                self.pictures.mark_unchanged();
                let text = self.parser().screen().contents();
                if is_there(&text) {
                    return text;
                }
                if self.pictures.changed().await.is_err() {
                    // What came last may not have been looked at.
                    let text = self.parser().screen().contents();
                    assert!(is_there(&text), "the program ended before {what:?}:\n{text}");
                    return text;
                }
            }
        };
        let found = tokio::time::timeout(PATIENCE, wait).await.ok();
        found.unwrap_or_else(|| panic!("the screen never showed {what:?}:\n{}", self.text()))
    }

    /// Waits for the program to end, and for everything that it has shown.
    pub async fn ended(&mut self) -> ExitStatus {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("the program did not end").unwrap();
        while self.pictures.changed().await.is_ok() {}
        status
    }
}

/// In a session of its own: only so does it hear of a new size.
fn spawn(command: &Command, terminal: OwnedFd) -> Child {
    let command = command.as_std();
    let mut leader = Command::new("setsid");
    leader.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear().env("TERM", "xterm-256color").kill_on_drop(true);
    for (name, value) in command.get_envs() {
        leader.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = command.get_current_dir() {
        leader.current_dir(folder);
    }
    leader.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
    leader.spawn().unwrap()
}

/// Takes everything that the program writes, until its last process has let go of the terminal.
fn follow(mut source: File, parser: &Mutex<Parser<Wishes>>, pictures: &watch::Sender<u64>) {
    let (mut waiting, mut piece) = (Vec::new(), [0; 8192]);
    while let Ok(length @ 1..) = source.read(&mut piece) {
        waiting.extend_from_slice(&piece[..length]);
        let whole = whole(&waiting);
        if whole > 0 {
            parser.lock().unwrap().process(&waiting[..whole]);
            waiting.drain(..whole);
            pictures.send_modify(|number| *number += 1);
        }
    }
    parser.lock().unwrap().process(&waiting);
}

/// How much of this has no half picture in it.
fn whole(bytes: &[u8]) -> usize {
    let last = |mark: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark);
    match (last(BEGIN), last(END)) {
        (Some(begin), Some(end)) if end < begin => begin,
        (Some(begin), None) => begin,
        _ => bytes.len(),
    }
}
