//! The terminal: taken over, and given back however the program ends.

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, Stdout, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is taken over, for whoever has to give it back.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

pub struct TerminalScreen {
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl TerminalScreen {
    /// Takes the terminal over. A panic gives it back before it is reported.
    ///
    /// # Errors
    /// The terminal can't be set up.
    pub fn open() -> io::Result<Self> {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let _ = give_back();
            earlier(info);
        }));
        take_over()?;
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(stdout()))? })
    }

    /// Gives the terminal to another program.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn leave(&mut self) -> io::Result<()> {
        self.terminal.show_cursor()?;
        give_back()
    }

    /// Takes it back, and draws everything anew.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn come_back(&mut self) -> io::Result<()> {
        take_over()?;
        execute!(stdout(), Clear(ClearType::All))?;
        // A new one knows of nothing that is drawn. `Terminal::clear` would ask the terminal for its cursor, and the keys that are
        // being read would swallow the answer.
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        let _ = self.terminal.show_cursor();
        let _ = give_back();
    }
}

fn take_over() -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Does nothing if it was given back before.
fn give_back() -> io::Result<()> {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show)?;
    disable_raw_mode()
}
