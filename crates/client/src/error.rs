//! What can go wrong with a request.

use planwright_protocol::{ErrorCode, Problem};

#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// The server's answer, with a code of the contract.
    #[error("{0}")]
    Refused(Problem),
    /// There was no connection, or it broke before the answer.
    #[error("Can't reach the server: {0}")]
    Unreachable(String),
    /// Something answered that is no Planwright, or one of another version.
    #[error("{0}")]
    Foreign(String),
}

impl ClientError {
    /// The code of the server's answer, if it answered.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(problem) => Some(problem.code),
            Self::Unreachable(_) | Self::Foreign(_) => None,
        }
    }

    /// The same as a problem, for front ends that show one.
    #[must_use]
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Refused(problem) => problem,
            Self::Unreachable(_) => Problem::new(ErrorCode::NotReady, self.to_string()),
            Self::Foreign(text) => Problem::new(ErrorCode::Conflict, text),
        }
    }

    /// Whether the same request may succeed a little later.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused(problem) => {
                problem.retryable && matches!(problem.code, ErrorCode::NotReady | ErrorCode::RateLimited | ErrorCode::Conflict)
            }
            Self::Foreign(_) => false,
        }
    }
}
