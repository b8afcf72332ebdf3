//! One newtype per kind of id, so that the compiler rejects a chat's id where a message's is expected.
//! All ids are UUID v7: ordered by time, and unique whichever node makes them; helpers' conversations are named by v8.

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

impl CallId {
    /// The conversation of a helper: one for each task of an `explore` call. It follows from the call, so that a run that was
    /// killed finds it again, and its UUID version (8) tells it from a call's own id.
    #[must_use]
    pub fn helper(self, number: u8) -> Self {
        let mut bytes = self.0.into_bytes();
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[15] = bytes[15] & !HELPER_NUMBERS | number & HELPER_NUMBERS;
        Self(Uuid::from_bytes(bytes))
    }

    #[must_use]
    pub fn is_helper(self) -> bool {
        self.0.get_version_num() == 8
    }

    /// The same for a call and for all of its helpers.
    #[must_use]
    pub fn family(self) -> Self {
        self.helper(0)
    }
}

const HELPER_NUMBERS: u8 = 0x07;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_of_a_call_have_ids_of_their_own_that_follow_from_the_call() {
        let call = CallId::generate();
        let helpers: Vec<CallId> = (0..4).map(|number| call.helper(number)).collect();
        for (number, helper) in helpers.iter().enumerate() {
            assert!(helper.is_helper() && !call.is_helper() && helper.family() == call.family());
            assert_eq!(helpers.iter().position(|other| other == helper), Some(number));
        }
        assert_ne!(call.family(), CallId::generate().family());
    }
}
