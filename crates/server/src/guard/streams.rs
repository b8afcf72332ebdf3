//! A stream of events goes on for hours. It ends soon after its reader loses the right to it: by signing out, by a password
//! or token that was changed, by no longer being a member.

use super::Caller;
use super::caller::{Credential, known};
use super::rights::Place;
use crate::App;
use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use futures::StreamExt;
use planwright_feed::{Bound, Unsent};
use planwright_protocol::{UserId, WorkspaceId};
use planwright_store::StoreError;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often it is looked whether a stream may go on.
const LOOKED_AFTER: Duration = Duration::from_secs(10);

/// How much of large events may wait for the streams of one user, and for all streams. A stream that finds no room ends, and
/// its client comes back with its last id.
const UNSENT_OF_USER: usize = 64 << 20;
const UNSENT_OF_ALL: usize = 256 << 20;

/// The room for events that clients have not read yet.
pub struct UnsentEvents {
    of_all: Bound,
    /// Of those who have streams; whoever runs the server has no id.
    of_users: Mutex<HashMap<Option<UserId>, Bound>>,
}

impl Default for UnsentEvents {
    fn default() -> Self {
        Self { of_all: Bound::new(UNSENT_OF_ALL), of_users: Mutex::default() }
    }
}

impl UnsentEvents {
    /// The room for a stream of this caller's.
    pub fn of(&self, caller: &Caller) -> Unsent {
        let mut of_users = self.of_users.lock().unwrap_or_else(PoisonError::into_inner);
        of_users.retain(|_, bound| !bound.is_unused());
        let own = of_users.entry(caller.user()).or_insert_with(|| Bound::new(UNSENT_OF_USER)).clone();
        Unsent::within(vec![own, self.of_all.clone()])
    }
}

/// By what somebody reads a stream.
pub(super) struct Hold {
    pub app: App,
    pub caller: Caller,
    /// None where it tells of all that they may know of.
    pub place: Option<Place>,
}

pub(super) async fn end_when_lost(response: Response, hold: Hold) -> Response {
    let endless = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let revocable = match hold.caller.credential {
        Credential::Open | Credential::OwnToken => false,
        Credential::ApiToken(_) | Credential::Session(_) => true,
    };
    if !(endless && revocable) {
        return response;
    }
    // Where it can't be asked now, it is asked again: a database that rests for a moment must not end all streams.
    let first = hold.reach().await.ok().flatten();
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(lost(hold, first)))))
}

async fn lost(hold: Hold, first: Option<Vec<WorkspaceId>>) {
    loop {
        tokio::time::sleep(LOOKED_AFTER).await;
        match hold.reach().await {
            Ok(reach) if reach.is_some() && reach == first => {}
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "whether a stream may go on could not be looked up"),
        }
    }
}

impl Hold {
    /// The workspaces that the stream may tell of; `None` if it may not go on.
    async fn reach(&self) -> Result<Option<Vec<WorkspaceId>>, StoreError> {
        let store = self.app.sessions.store();
        if known(&self.app.access, store, self.caller.credential.clone()).await?.is_none() {
            return Ok(None);
        }
        Ok(match (self.caller.user(), self.place) {
            (None, _) => Some(Vec::new()),
            (Some(user), Some(place)) => store.right(user, place.workspace, place.chat).await?.map(|_| vec![place.workspace]),
            (Some(user), None) => Some(store.workspaces_of(user).await?.into_iter().map(|(workspace, _)| workspace.id).collect()),
        })
    }
}
