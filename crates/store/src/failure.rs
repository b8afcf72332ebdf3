//! Classifies database errors: is the connection lost, and can a retry succeed?

use sqlx::Error;

/// Lost connections (besides class 08), a server that stops, crashes or starts, and sessions that the server ended.
const ENDED: [&str; 5] = ["57P01", "57P02", "57P03", "57P05", "25P03"];
/// The server has no free connections.
const TOO_MANY_CONNECTIONS: &str = "53300";
/// A conflict, a deadlock, a lock timeout, and a read-only server, as during a failover.
const TEMPORARY: [&str; 4] = ["40001", "40P01", "55P03", "25006"];

/// The connection is unusable. It is unknown whether the server executed the statement.
pub(crate) fn is_broken_connection(error: &Error) -> bool {
    let is_ended = code(error).is_some_and(|code| code.starts_with("08") || ENDED.contains(&code.as_str()));
    is_ended || matches!(error, Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::WorkerCrashed)
}

/// The database is unreachable.
pub(crate) fn is_unreachable(error: &Error) -> bool {
    let has_no_place = code(error).is_some_and(|code| code == TOO_MANY_CONNECTIONS);
    is_broken_connection(error) || has_no_place || matches!(error, Error::PoolTimedOut | Error::PoolClosed)
}

/// The same statement may succeed later.
pub(crate) fn is_temporary(error: &Error) -> bool {
    is_unreachable(error) || code(error).is_some_and(|code| TEMPORARY.contains(&code.as_str()))
}

fn code(error: &Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(std::borrow::Cow::into_owned)
}
