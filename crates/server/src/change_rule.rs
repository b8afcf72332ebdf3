//! Rules of the routes that change something.

use axum::http::Extensions;

/// The rules of a row that changes something.
#[derive(Clone, Copy)]
pub struct ChangeRule {
    pub by: ChangedBy,
    pub key: KeyUse,
}

impl ChangeRule {
    /// Of the route of a request, where `routes` has put it.
    pub fn of(request: &Extensions) -> Option<Self> {
        request.get().copied()
    }

    /// Whether an `Idempotency-Key` means something to the route.
    pub fn takes_key(self) -> bool {
        self.key != KeyUse::Ignored
    }
}

/// Who may change something. Without accounts, everyone who is signed in may do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedBy {
    /// Without signing in.
    Everyone,
    SignedIn,
    /// Members and owners of the workspace.
    Members,
    /// Owners of the workspace.
    Owners,
    /// Members of the workspace who are admins of the server.
    AdminMembers,
    /// Admins of the server.
    Admins,
}

/// What the server does with an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// The handler passes it on with its op, which is stored in the chat's own transaction.
    WithOp,
    /// The request is noted before it is made, and its answer is kept.
    WithRequest,
    /// Nothing: secrets pass through the body or the answer, which must not be kept, not even as a hash; or nothing changes.
    Ignored,
}
