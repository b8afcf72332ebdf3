//! Query arguments.

use sqlx::types::Uuid;
use std::sync::Arc;

/// The value of a placeholder such as `$1`. Four types suffice: times are numbers; JSON and enum values are texts.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Id(Option<Uuid>),
    Number(Option<i64>),
    Text(Option<String>),
    Bytes(Arc<[u8]>),
}

/// The arguments of a query, in the order of their numbers.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::arg::Arg::from($value)),*] };
}
pub(crate) use args;

impl Arg {
    pub fn id(&self) -> Option<Uuid> {
        if let Arg::Id(id) = self { *id } else { None }
    }

    pub fn number(&self) -> Option<i64> {
        if let Arg::Number(number) = self { *number } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Arg::Text(text) = self { text.as_deref() } else { None }
    }

    pub fn blob(&self) -> Option<&[u8]> {
        if let Arg::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// Its approximate size in a message to the database.
    pub fn bytes(&self) -> usize {
        16 + self.text().map_or(0, str::len) + self.blob().map_or(0, <[u8]>::len)
    }
}

impl From<Uuid> for Arg {
    fn from(id: Uuid) -> Self {
        Arg::Id(Some(id))
    }
}

impl From<Option<Uuid>> for Arg {
    fn from(id: Option<Uuid>) -> Self {
        Arg::Id(id)
    }
}

impl From<Arc<[u8]>> for Arg {
    fn from(bytes: Arc<[u8]>) -> Self {
        Arg::Bytes(bytes)
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Arg::Number(Some(number))
    }
}

impl From<Option<i64>> for Arg {
    fn from(number: Option<i64>) -> Self {
        Arg::Number(number)
    }
}

impl From<u32> for Arg {
    fn from(number: u32) -> Self {
        Arg::Number(Some(i64::from(number)))
    }
}

/// The databases' integers are signed, so they hold half the range of a `u64`. No number here comes near that.
impl From<u64> for Arg {
    fn from(number: u64) -> Self {
        Arg::Number(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Arg::Text(Some(text.to_owned()))
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Arg::Text(Some(text))
    }
}

impl From<Option<String>> for Arg {
    fn from(text: Option<String>) -> Self {
        Arg::Text(text)
    }
}
