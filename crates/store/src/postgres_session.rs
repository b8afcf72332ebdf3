//! Session settings of PostgreSQL connections that write.

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

/// Settings of each writing connection, sent in one round trip. A commit that was answered is on the server's disk, whatever the
/// server's own setting. A suspended process holds a lock for at most two seconds.
const SET_UP: &str = "select set_config('lock_timeout', '2s', false), set_config('idle_in_transaction_session_timeout', '2s', false),
    set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
        else current_setting('synchronous_commit') end, false)";

/// Opens a connection for appends.
pub(crate) async fn connect_writer(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let mut connection = options.connect().await?;
    set_up(&mut connection).await?;
    Ok(connection)
}

pub(crate) async fn set_up(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(SET_UP).execute(connection).await?;
    Ok(())
}
