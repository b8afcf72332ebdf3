//! A window on lines that are more than the screen has.

use std::cell::Cell;

/// The first visible line, or the end. What was drawn last is noted while drawing, so that keys can move from there.
#[derive(Clone, Debug, Default)]
pub struct Viewport {
    top: Option<usize>,
    drawn: Cell<Drawn>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    start: usize,
    height: usize,
    total: usize,
}

impl Viewport {
    /// The window follows the end.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    pub fn to_end(&mut self) {
        self.top = None;
    }

    pub fn to_start(&mut self) {
        self.top = Some(0);
    }

    /// Whether the first line is visible.
    #[must_use]
    pub fn is_at_start(&self) -> bool {
        self.drawn.get().start == 0
    }

    /// Stays where it is when lines are added.
    pub fn hold(&mut self) {
        self.top = Some(self.drawn.get().start);
    }

    pub fn up(&mut self, lines: usize) {
        self.top = Some(self.drawn.get().start.saturating_sub(lines));
    }

    /// Goes down; at the end the window follows it again.
    pub fn down(&mut self, lines: usize) {
        let Drawn { start, height, total } = self.drawn.get();
        self.top = Some(start + lines).filter(|start| start + height < total);
    }

    /// One line less than the window.
    #[must_use]
    pub fn page(&self) -> usize {
        self.drawn.get().height.saturating_sub(1).max(1)
    }

    /// How many lines there are below the window.
    #[must_use]
    pub fn below(&self) -> usize {
        let Drawn { start, height, total } = self.drawn.get();
        total.saturating_sub(start + height)
    }

    /// The first line to draw, so that the lines of `revealed` are visible.
    pub fn place(&self, total: usize, height: usize, revealed: Option<(usize, usize)>) -> usize {
        let last = total.saturating_sub(height);
        let mut start = self.top.unwrap_or(last).min(last);
        if let Some((first, end)) = revealed {
            start = start.max(end.saturating_sub(height)).min(first);
        }
        self.drawn.set(Drawn { start, height, total });
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_end_until_it_is_moved_and_again_when_it_is_there() {
        let mut view = Viewport::default();
        assert_eq!(view.place(100, 10, None), 90);
        view.up(20);
        assert_eq!(view.place(110, 10, None), 70, "new lines move nothing");
        assert_eq!(view.below(), 30);
        view.down(50);
        assert!(view.follows());
        assert_eq!(view.place(120, 10, None), 110);
        assert_eq!(view.place(5, 10, None), 0);
    }

    #[test]
    fn what_is_selected_is_visible() {
        let mut view = Viewport::default();
        view.to_start();
        assert_eq!(view.place(100, 10, Some((30, 33))), 23);
        view.hold();
        assert_eq!(view.place(100, 10, Some((10, 12))), 10);
        view.hold();
        assert_eq!(view.place(100, 10, Some((12, 60))), 12, "of a long one the beginning");
    }
}
