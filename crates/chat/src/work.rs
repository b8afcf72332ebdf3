//! Running calls of a chat: their threads, their output, and stopping them.

use crate::chat::{Chat, broken};
use crate::crash;
use planwright_protocol::{CallId, Problem};
use planwright_tools::command::{Live, Stop};
use std::sync::Arc;

impl Chat {
    /// Runs a part of a call on another thread. It continues if its caller is cancelled, until [`Self::end_commands`].
    pub async fn run_on_thread<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        self.work.spawn_blocking(work).await.map_err(broken)
    }

    /// Stops the commands that start with it, when the chat is stopped.
    pub fn command_stop(&self) -> Stop {
        self.stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Stops running commands, without waiting for them.
    pub fn stop_commands(&self) {
        let stop = std::mem::take(&mut *self.stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        stop.now();
    }

    /// Stops running commands, and waits until no process is left.
    pub async fn end_commands(&self) {
        self.stop_commands();
        self.work.close();
        self.work.wait().await;
        self.work.reopen();
    }

    /// Receives the output of a call's command while it runs.
    pub fn output_listener(self: &Arc<Self>, call_id: CallId) -> Live {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<String>();
        let chat = self.clone();
        tokio::spawn(async move {
            while let Some(mut text) = receiver.recv().await {
                while let Ok(more) = receiver.try_recv() {
                    text.push_str(&more);
                }
                if chat.publish_output(call_id, &text).await.is_err() {
                    return;
                }
                crash::point("command_speaks");
            }
        });
        Live::new(move |text| {
            // It is fine if nobody listens.
            let _ = sender.send(text.to_owned());
        })
    }
}
