//! Ends a long-lived event stream soon after its reader loses access: by signing out, by a changed password or token, or by
//! losing membership.

use super::Caller;
use super::caller::{Credential, known};
use super::rights::ResourcePath;
use crate::App;
use axum::body::Body;
use axum::http::header;
use axum::response::Response;
use futures::StreamExt;
use planwright_feed::{Bound, Unsent, Visibility};
use planwright_protocol::{UserId, WorkspaceId};
use planwright_store::StoreError;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval of the access checks.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum bytes of large unread events for the streams of one user, and for all streams. A stream over the limit ends, and
/// its client reconnects with its last id.
const UNSENT_OF_USER: usize = 64 << 20;
const UNSENT_OF_ALL: usize = 256 << 20;

/// Accounts for events that clients have not read yet.
pub struct UnsentEvents {
    of_all: Bound,
    /// By user; the person who runs the server has no id.
    of_users: Mutex<HashMap<Option<UserId>, Bound>>,
}

impl Default for UnsentEvents {
    fn default() -> Self {
        Self { of_all: Bound::new(UNSENT_OF_ALL), of_users: Mutex::default() }
    }
}

impl UnsentEvents {
    /// The limit for a stream of this caller.
    pub fn of(&self, caller: &Caller) -> Unsent {
        let mut of_users = self.of_users.lock().unwrap_or_else(PoisonError::into_inner);
        of_users.retain(|_, bound| !bound.is_unused());
        let own = of_users.entry(caller.user()).or_insert_with(|| Bound::new(UNSENT_OF_USER)).clone();
        Unsent::within(vec![own, self.of_all.clone()])
    }
}

/// What a reader's access to a stream depends on.
pub(super) struct StreamAccess {
    pub app: App,
    pub caller: Caller,
    /// `None` for the stream over all chats.
    pub place: Option<ResourcePath>,
}

/// The workspaces whose events a stream over all chats sends, as an extension of its response; `None` for all of them.
#[derive(Clone)]
pub struct VisibleWorkspaces(Option<Vec<WorkspaceId>>);

impl VisibleWorkspaces {
    /// # Errors
    /// The database failed.
    pub async fn of(app: &App, caller: &Caller) -> Result<Self, StoreError> {
        let Some(user) = caller.user() else { return Ok(Self(None)) };
        let seen = app.sessions.store().workspaces_of(user).await?;
        Ok(Self(Some(seen.into_iter().map(|(workspace, _)| workspace.id).collect())))
    }

    pub fn visibility(&self) -> Visibility {
        let Some(seen) = &self.0 else { return Arc::new(|_| true) };
        let seen: HashSet<WorkspaceId> = seen.iter().copied().collect();
        Arc::new(move |workspace| seen.contains(&workspace))
    }
}

pub(super) async fn close_when_access_ends(response: Response, access: StreamAccess) -> Response {
    let endless = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let revocable = match access.caller.credential {
        Credential::Open | Credential::OwnToken | Credential::Node => false,
        Credential::ApiToken(_) | Credential::Session(_) => true,
    };
    if !(endless && revocable) {
        return response;
    }
    // The stream over all chats knows its workspaces: rights that changed since then must end it.
    let first = match response.extensions().get::<VisibleWorkspaces>() {
        Some(VisibleWorkspaces(visible)) => Some(visible.clone().unwrap_or_default()),
        // If the check fails now, it is repeated: a short outage of the database must not end all streams.
        None => access.reach().await.ok().flatten(),
    };
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(lost(access, first)))))
}

async fn lost(access: StreamAccess, first: Option<Vec<WorkspaceId>>) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        match access.reach().await {
            Ok(reach) if reach.is_some() && reach == first => {}
            Ok(_) => return,
            Err(error) => tracing::warn!(%error, "can't check access to an event stream; retrying"),
        }
    }
}

impl StreamAccess {
    /// The workspaces that the stream may cover; `None` if it must end.
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
