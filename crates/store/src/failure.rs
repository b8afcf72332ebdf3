//! What an error of the database says about the connection, and about whether trying again can help.

use sqlx::Error;

/// Lost connections (class 08 aside), a server that stops, crashes or starts, and sessions that the server ended.
const ENDED: [&str; 5] = ["57P01", "57P02", "57P03", "57P05", "25P03"];
/// All connections of the server are taken.
const NO_PLACE: &str = "53300";
/// A conflict, a deadlock, a lock that was not free in time, and a server that only reads, as during a failover.
const PASSING: [&str; 4] = ["40001", "40P01", "55P03", "25006"];

/// The connection is of no use any more. Whether the server did what it was asked is not known.
pub(crate) fn is_broken_connection(error: &Error) -> bool {
    let is_ended = code(error).is_some_and(|code| code.starts_with("08") || ENDED.contains(&code.as_str()));
    is_ended || matches!(error, Error::Io(_) | Error::Tls(_) | Error::Protocol(_) | Error::WorkerCrashed)
}

/// The database can't be reached.
pub(crate) fn is_unreachable(error: &Error) -> bool {
    let has_no_place = code(error).is_some_and(|code| code == NO_PLACE);
    is_broken_connection(error) || has_no_place || matches!(error, Error::PoolTimedOut | Error::PoolClosed)
}

/// The same statement may succeed later.
pub(crate) fn is_passing(error: &Error) -> bool {
    is_unreachable(error) || code(error).is_some_and(|code| PASSING.contains(&code.as_str()))
}

fn code(error: &Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(std::borrow::Cow::into_owned)
}
