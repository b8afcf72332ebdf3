//! A reply in pieces that are worth telling.
//!
//! A fast model sends hundreds of words a second, and each piece is told to everyone who listens. What comes within a few
//! milliseconds after the last piece waits for the next one: nobody reads faster, and a slow model's words pass at once.

use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::Delta;
use planwright_protocol::Problem;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The least time between two pieces of text: shorter than a screen needs to draw one.
const GAP: Duration = Duration::from_millis(10);

type Heard = Option<Result<Delta, Problem>>;

pub struct Pieces {
    deltas: BoxStream<'static, Result<Delta, Problem>>,
    /// Text or reasoning that waits for more.
    held: Option<Delta>,
    /// What came after it and can't be joined to it; the end, too.
    behind: Option<Heard>,
    /// When the next piece may be told.
    due: Instant,
}

impl Pieces {
    pub fn of(deltas: BoxStream<'static, Result<Delta, Problem>>) -> Self {
        Self { deltas, held: None, behind: None, due: Instant::now() }
    }

    pub async fn next(&mut self) -> Heard {
        loop {
            let heard = match self.behind.take() {
                Some(heard) => heard,
                None if self.held.is_none() => self.deltas.next().await,
                None => tokio::select! {
                    heard = self.deltas.next() => heard,
                    () = sleep_until(self.due) => return self.release(),
                },
            };
            match (&mut self.held, heard) {
                (Some(Delta::Text(said)), Some(Ok(Delta::Text(more))))
                | (Some(Delta::Reasoning(said)), Some(Ok(Delta::Reasoning(more)))) => said.push_str(&more),
                (Some(_), other) => {
                    self.behind = Some(other);
                    return self.release();
                }
                (None, Some(Ok(words @ (Delta::Text(_) | Delta::Reasoning(_))))) => self.held = Some(words),
                (None, other) => return other,
            }
            if self.due <= Instant::now() {
                return self.release();
            }
        }
    }

    fn release(&mut self) -> Heard {
        self.due = Instant::now() + GAP;
        self.held.take().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::stream;
    use planwright_agent::ModelCall;
    use planwright_protocol::ErrorCode;
    use tokio::time::sleep;

    fn words(text: &str) -> Delta {
        Delta::Text(text.to_owned())
    }

    async fn told(deltas: impl stream::Stream<Item = Result<Delta, Problem>> + Send + 'static) -> Vec<Result<Delta, Problem>> {
        let mut pieces = Pieces::of(deltas.boxed());
        let mut told = Vec::new();
        while let Some(piece) = pieces.next().await {
            told.push(piece);
        }
        told
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_at_once_is_told_in_two_pieces_and_nothing_changes_its_place() {
        let thought = |text: &str| Ok(Delta::Reasoning(text.to_owned()));
        let cut = || Err(Problem::new(ErrorCode::ProviderGarbled, "cut"));
        let call = || Ok(Delta::Call(ModelCall { id: "1".into(), tool: "ls".into(), args: "{}".into() }));
        let heard = vec![thought("a"), thought("b"), thought("c"), Ok(words("d")), Ok(words("e")), call(), Ok(words("f")), cut()];
        let expected = vec![thought("a"), thought("bc"), Ok(words("de")), call(), Ok(words("f")), cut()];
        assert_eq!(told(stream::iter(heard)).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_model_is_heard_word_by_word_and_a_fast_one_as_often_as_a_screen_draws() {
        let every = |wait: u64| {
            stream::iter(0..100).then(move |_| async move {
                sleep(Duration::from_millis(wait)).await;
                Ok(words("x"))
            })
        };
        assert_eq!(told(every(30)).await.len(), 100);
        let pieces = told(every(1)).await;
        assert!((10..=12).contains(&pieces.len()), "{}", pieces.len());
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_word_is_told_though_the_model_falls_silent() {
        let mut pieces = Pieces::of(stream::iter([words("a"), words("b")].map(Ok)).chain(stream::pending()).boxed());
        assert_eq!((pieces.next().await, pieces.next().await), (Some(Ok(words("a"))), Some(Ok(words("b")))));
    }
}
