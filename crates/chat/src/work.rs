//! Calls of a chat while they are carried out: on threads of their own, heard, and ended for good.

use crate::chat::{Chat, broken};
use crate::crash;
use planwright_protocol::{CallId, Problem};
use planwright_tools::command::{Live as Heard, Stop};
use std::sync::Arc;

impl Chat {
    /// Does a part of a call on a thread of its own. It goes on when its caller is cancelled, until [`Self::end_commands`].
    pub async fn carry<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        self.work.spawn_blocking(work).await.map_err(broken)
    }

    /// Ends the commands that begin with it, when the chat is stopped.
    pub fn command_stop(&self) -> Stop {
        self.stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Ends commands that run, without waiting for them.
    pub fn stop_commands(&self) {
        let stop = std::mem::take(&mut *self.stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        stop.now();
    }

    /// Ends commands that run, and waits until nothing of them is left.
    pub async fn end_commands(&self) {
        self.stop_commands();
        self.work.close();
        self.work.wait().await;
        self.work.reopen();
    }

    /// Where a call's command tells what it prints, while it runs.
    pub fn ear(self: &Arc<Self>, call_id: CallId) -> Heard {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<String>();
        let chat = self.clone();
        tokio::spawn(async move {
            while let Some(mut text) = receiver.recv().await {
                while let Ok(more) = receiver.try_recv() {
                    text.push_str(&more);
                }
                if chat.prints(call_id, &text).await.is_err() {
                    return;
                }
                crash::point("command_speaks");
            }
        });
        Heard::new(move |text| {
            // Nobody there to hear it is no fault.
            let _ = sender.send(text.to_owned());
        })
    }
}
