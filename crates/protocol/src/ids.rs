//! One newtype per kind of id, so that the compiler rejects a chat's id where a message's is expected.
//! All ids are UUID v7: ordered by time, and unique whichever node makes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new, time-ordered id.
            #[must_use]
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::from_str(text).map(Self)
            }
        }
    )*};
}

ids! {
    /// A folder the agent works in.
    WorkspaceId
    /// A conversation.
    ChatId
    /// An entry of a chat's history.
    MessageId
    /// The work that one user message starts, until it ends.
    RunId
    /// One call of a tool.
    CallId
    /// A question to the user.
    QuestionId
    /// A user account.
    UserId
    /// An API token.
    TokenId
}
