//! Leaving the chats to another process.

use crate::sessions::Sessions;
use std::time::Duration;

impl Sessions {
    /// Parks all chats between two calls. A call that takes longer than `grace` is cut off, as at the end of the process.
    pub async fn hand_over(&self, grace: Duration) {
        let handles = self.inner.open.all();
        let paused = futures::future::join_all(handles.iter().map(|handle| handle.chat.pause_calls()));
        tokio::pin!(paused);
        let _permits = tokio::time::timeout(grace, &mut paused).await;
        self.park_all().await;
    }
}
