//! Batches the deltas of a reply for publishing.
//!
//! A fast model sends hundreds of words a second, and each delta goes to every follower. Deltas within a few milliseconds after
//! the last batch wait for the next one: nobody reads faster. A slow model's words pass immediately.

use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::Delta;
use planwright_protocol::Problem;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The minimum time between two batches: shorter than a screen needs to draw one.
const GAP: Duration = Duration::from_millis(10);

type NextDelta = Option<Result<Delta, Problem>>;

pub struct DeltaBatches {
    deltas: BoxStream<'static, Result<Delta, Problem>>,
    /// Text or reasoning that waits for more.
    held: Option<Delta>,
    /// A delta after it that can't be joined to it, or the end.
    behind: Option<NextDelta>,
    /// The earliest time of the next batch.
    due: Instant,
}

impl DeltaBatches {
    pub fn new(deltas: BoxStream<'static, Result<Delta, Problem>>) -> Self {
        Self { deltas, held: None, behind: None, due: Instant::now() }
    }

    pub async fn next(&mut self) -> NextDelta {
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

    fn release(&mut self) -> NextDelta {
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

    async fn collect(deltas: impl stream::Stream<Item = Result<Delta, Problem>> + Send + 'static) -> Vec<Result<Delta, Problem>> {
        let mut batches = DeltaBatches::new(deltas.boxed());
        let mut collect = Vec::new();
        while let Some(batch) = batches.next().await {
            collect.push(batch);
        }
        collect
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_at_once_is_told_in_two_pieces_and_nothing_changes_its_place() {
        let thought = |text: &str| Ok(Delta::Reasoning(text.to_owned()));
        let cut = || Err(Problem::new(ErrorCode::ProviderGarbled, "cut"));
        let call = || Ok(Delta::Call(ModelCall { id: "1".into(), tool: "ls".into(), args: "{}".into() }));
        let heard = vec![thought("a"), thought("b"), thought("c"), Ok(words("d")), Ok(words("e")), call(), Ok(words("f")), cut()];
        let expected = vec![thought("a"), thought("bc"), Ok(words("de")), call(), Ok(words("f")), cut()];
        assert_eq!(collect(stream::iter(heard)).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_model_is_heard_word_by_word_and_a_fast_one_as_often_as_a_screen_draws() {
        let every = |wait: u64| {
            stream::iter(0..100).then(move |_| async move {
                sleep(Duration::from_millis(wait)).await;
                Ok(words("x"))
            })
        };
        assert_eq!(collect(every(30)).await.len(), 100);
        let batches = collect(every(1)).await;
        assert!((10..=12).contains(&batches.len()), "{}", batches.len());
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_word_is_told_though_the_model_falls_silent() {
        let mut batches = DeltaBatches::new(stream::iter([words("a"), words("b")].map(Ok)).chain(stream::pending()).boxed());
        assert_eq!((batches.next().await, batches.next().await), (Some(Ok(words("a"))), Some(Ok(words("b")))));
    }
}
