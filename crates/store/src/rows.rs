//! Statements that write many rows, with one text for both databases.
//!
//! A statement reads its rows from a table called `given`. SQLite gets them as `values`. PostgreSQL gets one array for each
//! column, so that the text does not depend on the number of rows.

use crate::arg::Arg;
use crate::escape::escape;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArguments, PgConnection, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::types::Uuid;
use sqlx::{Arguments as _, AssertSqlSafe};
use std::borrow::Cow;
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnType {
    Id,
    Number,
    Text,
    Bytes,
}

/// A statement over rows of these columns.
#[derive(Debug)]
pub(crate) struct RowStatement {
    pub columns: &'static [(&'static str, ColumnType)],
    pub sql: &'static str,
}

/// A statement and its rows; each row has one argument for each column.
#[derive(Debug)]
pub(crate) struct RowWrite {
    pub statement: &'static RowStatement,
    pub rows: Vec<Vec<Arg>>,
}

/// SQLite allows 32,766 arguments in a statement; no statement here has more than ten columns.
pub(crate) const MOST_ROWS: usize = 1000;

impl RowWrite {
    pub fn new(statement: &'static RowStatement, rows: Vec<Vec<Arg>>) -> Self {
        Self { statement, rows }
    }

    pub fn bytes(&self) -> usize {
        self.rows.iter().flatten().map(Arg::bytes).sum()
    }

    /// Splits the rows into steps of at most `most_bytes` bytes and at least one row.
    pub fn steps(&self, most_bytes: usize) -> Vec<&[Vec<Arg>]> {
        let (mut steps, mut begin, mut bytes) = (Vec::new(), 0, 0);
        for (place, row) in self.rows.iter().enumerate() {
            let size: usize = row.iter().map(Arg::bytes).sum();
            if place > begin && (bytes + size > most_bytes || place - begin == MOST_ROWS) {
                steps.push(&self.rows[begin..place]);
                (begin, bytes) = (place, 0);
            }
            bytes += size;
        }
        steps.push(&self.rows[begin..]);
        steps
    }

    fn column_names(&self) -> String {
        self.statement.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// Writes some of the rows. Returns the statement's rows.
pub(crate) async fn write_sqlite(
    connection: &mut SqliteConnection,
    write: &RowWrite,
    rows: &[Vec<Arg>],
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    let arguments = sqlite_arguments(rows.iter().flatten()).map_err(sqlx::Error::Encode)?;
    sqlx::query_with(AssertSqlSafe(sqlite_text(write, rows.len())), arguments).fetch_all(connection).await
}

/// Writes some of the rows. Returns the statement's rows.
pub(crate) async fn write_postgres(connection: &mut PgConnection, write: &RowWrite, rows: &[Vec<Arg>]) -> Result<Vec<PgRow>, sqlx::Error> {
    let mut arguments = PgArguments::default();
    add_postgres_arrays(&mut arguments, write.statement, rows).map_err(sqlx::Error::Encode)?;
    sqlx::query_with(AssertSqlSafe(postgres_text(write, 0, "")), arguments).fetch_all(connection).await
}

/// The text for SQLite, with placeholders for this many rows.
fn sqlite_text(write: &RowWrite, rows: usize) -> String {
    let width = write.statement.columns.len();
    let mut text = format!("with given ({}) as (values ", write.column_names());
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..width {
            let separator = if column == 0 { "" } else { ", " };
            let _ = write!(text, "{separator}${}", row * width + column + 1);
        }
        text.push(')');
    }
    text.push_str(") ");
    text.push_str(write.statement.sql);
    text
}

pub(crate) fn sqlite_arguments<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Result<SqliteArguments, BoxDynError> {
    let mut arguments = SqliteArguments::default();
    for arg in args {
        match arg {
            Arg::Id(id) => arguments.add(*id)?,
            Arg::Number(number) => arguments.add(*number)?,
            Arg::Text(text) => arguments.add(text.as_deref())?,
            Arg::Bytes(bytes) => arguments.add(&**bytes)?,
        }
    }
    Ok(arguments)
}

/// The text for PostgreSQL. Its arrays follow `taken` other arguments; `condition` decides whether there are rows at all.
pub(crate) fn postgres_text(write: &RowWrite, taken: usize, condition: &str) -> String {
    let arrays = write.statement.columns.iter().zip(taken + 1..).map(|((_, column_type), number)| {
        let name = match column_type {
            ColumnType::Id => "uuid",
            ColumnType::Number => "bigint",
            ColumnType::Text => "text",
            ColumnType::Bytes => "bytea",
        };
        format!("${number}::{name}[]")
    });
    let arrays = arrays.collect::<Vec<_>>().join(", ");
    format!("with given ({}) as (select * from unnest({arrays}) {condition}) {}", write.column_names(), write.statement.sql)
}

/// Adds an array for each column.
pub(crate) fn add_postgres_arrays(arguments: &mut PgArguments, statement: &RowStatement, rows: &[Vec<Arg>]) -> Result<(), BoxDynError> {
    for (index, (_, column_type)) in statement.columns.iter().enumerate() {
        let column = rows.iter().filter_map(|row| row.get(index));
        match column_type {
            ColumnType::Id => arguments.add(column.map(Arg::id).collect::<Vec<Option<Uuid>>>())?,
            ColumnType::Number => arguments.add(column.map(Arg::number).collect::<Vec<Option<i64>>>())?,
            ColumnType::Text => arguments.add(column.map(|arg| arg.text().map(escape)).collect::<Vec<Option<Cow<'_, str>>>>())?,
            ColumnType::Bytes => arguments.add(column.map(Arg::blob).collect::<Vec<Option<&[u8]>>>())?,
        }
    }
    Ok(())
}

/// Adds one argument.
pub(crate) fn add_postgres(arguments: &mut PgArguments, arg: &Arg) -> Result<(), BoxDynError> {
    match arg {
        Arg::Id(id) => arguments.add(*id),
        Arg::Number(number) => arguments.add(*number),
        Arg::Text(text) => arguments.add(text.as_deref().map(escape)),
        Arg::Bytes(bytes) => arguments.add(&**bytes),
    }
}
