//! A node among others that share a PostgreSQL database: keeps its row alive, takes free workspaces, and hands them over.
//!
//! One statement a second does both. It renews the row `nodes`, whose expiry is that of all leases of the node, marks other nodes
//! whose time is over as ended, and takes workspaces that nobody owns. A node that was marked can't come back under the same
//! incarnation, so whoever takes its workspaces need not ask it. Rows that writers hold are skipped until the next second.

use crate::arg::Arg;
use crate::error::StoreError;
use crate::leases::{Held, LEASE, Proof, since_boot};
use crate::postgres_session::connect_writer;
use planwright_protocol::WorkspaceId;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::types::Uuid;
use sqlx::{Connection as _, Row as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// How often the lease is renewed.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a renewal may take.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long the lease of a killed process with our name may take to end.
const HAND_OVER: Duration = Duration::from_secs(6);
/// The number of the advisory lock under which nodes join, one after the other.
const JOIN_LOCK: i64 = 0x706c_616e_6a6f;

/// Names a node and where it can work.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    pub name: String,
    pub version: String,
    /// The ids of the shared folders that this node has.
    pub shared: Vec<String>,
}

/// A process that owns the whole database is running.
pub(crate) const IS_SOLE: &str = "select not pg_try_advisory_xact_lock_shared($1)";
/// A sole owner that lost its lock unnoticed writes nothing more.
const END_SOLE: &str = "do $$ begin if to_regclass('planwright_owner') is not null then delete from planwright_owner; end if; end $$";
const NEIGHBOURS: &str = "select name, version from nodes where is_ended = 0 and expires_at > $1 and name <> $2";
const OTHER_OF_NAME: &str = "select incarnation, is_ended = 0 and expires_at > $2 as is_alive from nodes where name = $1 for update";
const PUT: &str = "insert into nodes (name, incarnation, version, details, started_at, expires_at)
        values ($1, $2, $3, $4, $5, $5 + $6)
    on conflict (name) do update set incarnation = excluded.incarnation, version = excluded.version, details = excluded.details,
        started_at = excluded.started_at, expires_at = excluded.expires_at, is_ended = 0";
/// Frees what an incarnation owns, after the writes that run under its leases.
const FREE: &str = "with owned as materialized (select workspace_id from workspace_leases where incarnation = $1 for update)
    update workspace_leases set incarnation = null from owned where workspace_leases.workspace_id = owned.workspace_id";
const END: &str = "update nodes set is_ended = 1 where incarnation = $1";
const NOW: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
/// Renews the node `$1` in its incarnation `$2` for `$3` microseconds, and takes workspaces with a home in `$4`.
const RENEW: &str = "with clock as materialized (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now),
    renewed as (update nodes set expires_at = clock.now + $3, details = $5 from clock
        where name = $1 and incarnation = $2 and is_ended = 0 and expires_at > clock.now returning name),
    late as materialized (select incarnation from nodes, clock
        where is_ended = 0 and expires_at <= clock.now and incarnation <> $2 for update of nodes skip locked),
    ended as (update nodes set is_ended = 1 from late where nodes.incarnation = late.incarnation returning nodes.incarnation),
    free as materialized (select workspace_id from workspace_leases
        where workspace_id in (select workspace_id from workspace_leases where incarnation is null
                union all select workspace_id from workspace_leases where incarnation in
                    (select incarnation from nodes where is_ended = 1 union all select incarnation from ended))
            and home = any($4)
            and (wanted_by is null or wanted_by = $1
                or not exists (select 1 from nodes where name = wanted_by and is_ended = 0))
            and exists (select 1 from renewed)
        limit 256 for update skip locked),
    taken as (update workspace_leases set incarnation = $2, term = term + 1, wanted_by = null from free
        where workspace_leases.workspace_id = free.workspace_id returning workspace_leases.workspace_id, term)
    select (select count(*) from renewed) as renewed, array(select workspace_id from taken order by workspace_id) as workspaces,
        array(select term from taken order by workspace_id) as terms";
/// The lease of a chat's workspace.
pub(crate) const PROOF_OF_CHAT: &str = "select term from workspace_leases
    where workspace_id = (select workspace_id from chats where id = $1) and incarnation = $2 for key share";
/// The node itself, which may change what belongs to no workspace.
pub(crate) const PROOF_OF_NODE: &str = "select name from nodes where incarnation = $1 and is_ended = 0 for key share";
const RELEASE: &str = "with owned as materialized
        (select workspace_id from workspace_leases where workspace_id = $1 and incarnation = $2 for update)
    update workspace_leases set incarnation = null, wanted_by = $3 from owned where workspace_leases.workspace_id = owned.workspace_id";

/// The place of a process among the nodes.
#[derive(Debug)]
pub(crate) struct Node {
    held: Arc<Held>,
    task: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
    wishes: mpsc::UnboundedSender<Wish>,
}

#[derive(Debug)]
enum Wish {
    /// Renew now, because something may be free.
    Look,
    Release(WorkspaceId, Option<String>, oneshot::Sender<()>),
}

struct Keeper {
    options: PgConnectOptions,
    node: NodeOptions,
    held: Arc<Held>,
    connection: Option<PgConnection>,
}

impl Node {
    /// Joins the other nodes, and keeps the membership alive.
    pub async fn join(options: PgConnectOptions, connection: PgConnection, node: NodeOptions, held: Arc<Held>) -> Result<Self, StoreError> {
        let mut keeper = Keeper { options, node, held: held.clone(), connection: Some(connection) };
        keeper.join(HAND_OVER).await?;
        let (stop, stopped) = oneshot::channel();
        let (wishes, receiver) = mpsc::unbounded_channel();
        tokio::spawn(watch_deadline(Arc::downgrade(&held)));
        let task = tokio::spawn(keeper.keep(receiver, stopped));
        Ok(Self { held, task: Mutex::new(Some((stop, task))), wishes })
    }

    pub fn incarnation(&self) -> Uuid {
        self.held.incarnation()
    }

    /// The query that proves the ownership of a workspace, with its arguments numbered from `first`.
    pub fn proof(&self, proof: Proof, first: usize) -> (String, Vec<Arg>) {
        let text = proof_text(first);
        (text, vec![Arg::from(proof.workspace), Arg::from(proof.term.unwrap_or_default()), Arg::from(self.incarnation())])
    }

    /// Looks for free workspaces now.
    pub fn look(&self) {
        let _ = self.wishes.send(Wish::Look);
    }

    /// Gives up a workspace whose chats have ended, for a node to take.
    pub async fn release(&self, workspace: WorkspaceId, to: Option<String>) {
        let (done, is_done) = oneshot::channel();
        let _ = self.wishes.send(Wish::Release(workspace, to, done));
        let _ = is_done.await;
    }

    /// Hands everything over.
    pub async fn close(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, task)) = task {
            let _ = stop.send(());
            let _ = task.await;
        }
    }
}

impl Keeper {
    /// Joins under a new incarnation. Waits until an earlier process with this name has ended.
    async fn join(&mut self, patience: Duration) -> Result<(), StoreError> {
        let began = since_boot();
        loop {
            match self.try_join().await {
                Err(StoreError::NodeInUse(_)) if since_boot().saturating_sub(began) < patience => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                result => return result,
            }
        }
    }

    async fn try_join(&mut self) -> Result<(), StoreError> {
        let (former, incarnation) = (self.held.incarnation(), WorkspaceId::generate().0);
        let (name, version, details) = (self.node.name.clone(), self.node.version.clone(), self.held.details());
        let sent = since_boot();
        let mut transaction = self.connected().await?.begin().await?;
        sqlx::query("select pg_advisory_xact_lock($1)").bind(JOIN_LOCK).execute(&mut *transaction).await?;
        if sqlx::query_scalar(IS_SOLE).bind(crate::owner::LOCK).fetch_one(&mut *transaction).await? {
            return Err(StoreError::InUse);
        }
        sqlx::raw_sql(END_SOLE).execute(&mut *transaction).await?;
        let now: i64 = sqlx::query_scalar(NOW).fetch_one(&mut *transaction).await?;
        for row in sqlx::query(NEIGHBOURS).bind(now).bind(&name).fetch_all(&mut *transaction).await? {
            let (other, theirs): (String, String) = (row.try_get("name")?, row.try_get("version")?);
            if !are_neighbours(&theirs, &version) {
                return Err(StoreError::NodeVersion { node: other, theirs, ours: version });
            }
        }
        if let Some(other) = sqlx::query(OTHER_OF_NAME).bind(&name).bind(now).fetch_optional(&mut *transaction).await? {
            let incarnation: Uuid = other.try_get("incarnation")?;
            if other.try_get("is_alive")? && incarnation != former {
                return Err(StoreError::NodeInUse(name));
            }
            sqlx::query(FREE).bind(incarnation).execute(&mut *transaction).await?;
        }
        let put = sqlx::query(PUT).bind(name).bind(incarnation).bind(version).bind(details).bind(now).bind(lease_micros());
        put.execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.held.begin(incarnation, sent);
        Ok(())
    }

    /// Renews until `stopped` fires, then hands everything over.
    async fn keep(mut self, mut wishes: mpsc::UnboundedReceiver<Wish>, mut stopped: oneshot::Receiver<()>) {
        let mut tick = tokio::time::interval(INTERVAL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                _ = tick.tick() => {}
                wish = wishes.recv() => match wish {
                    Some(Wish::Release(workspace, to, done)) => {
                        self.release(workspace, to).await;
                        let _ = done.send(());
                        continue;
                    }
                    Some(Wish::Look) => {}
                    None => break,
                },
            }
            match tokio::time::timeout(TIMEOUT, self.renew()).await {
                Ok(Ok(())) => {}
                failed => {
                    // A connection that hangs would use up the lease.
                    self.connection = None;
                    tracing::warn!(?failed, node = %self.node.name, "can't renew the lease of this node");
                }
            }
        }
        self.held.lose_all();
        let _ = tokio::time::timeout(TIMEOUT, self.end()).await;
    }

    async fn renew(&mut self) -> Result<(), StoreError> {
        if self.held.is_late() {
            self.held.lose_all();
            self.join(Duration::ZERO).await?;
            tracing::warn!(node = %self.node.name, "the lease of this node had ended; it joined again and resumes what nobody else took");
        }
        let (incarnation, details) = (self.held.incarnation(), self.held.details());
        let homes: Vec<String> = homes(&self.node).collect();
        let name = self.node.name.clone();
        let sent = since_boot();
        let connection = self.connected().await?;
        let renewal = sqlx::query(RENEW).bind(name).bind(incarnation).bind(lease_micros()).bind(homes).bind(details);
        let row = renewal.fetch_one(connection).await?;
        if row.try_get::<i64, _>("renewed")? == 0 {
            self.held.lose_all();
            return self.join(Duration::ZERO).await;
        }
        let (workspaces, terms): (Vec<Uuid>, Vec<i64>) = (row.try_get("workspaces")?, row.try_get("terms")?);
        let taken = workspaces.into_iter().map(WorkspaceId).zip(terms.into_iter().map(i64::cast_unsigned)).collect();
        self.held.renew(sent, taken);
        Ok(())
    }

    async fn release(&mut self, workspace: WorkspaceId, to: Option<String>) {
        let incarnation = self.held.incarnation();
        if self.held.give_up(workspace).is_none() {
            return;
        }
        let released = async {
            let connection = self.connected().await?;
            sqlx::query(RELEASE).bind(workspace.0).bind(incarnation).bind(to).execute(connection).await?;
            Ok::<_, StoreError>(())
        };
        if let Err(error) = released.await {
            tracing::warn!(%error, %workspace, "can't release a workspace; it is free when this node's lease has ended");
        }
    }

    async fn end(&mut self) -> Result<(), StoreError> {
        let incarnation = self.held.incarnation();
        let mut transaction = self.connected().await?.begin().await?;
        sqlx::query(END).bind(incarnation).execute(&mut *transaction).await?;
        sqlx::query(FREE).bind(incarnation).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect_writer(&self.options).await?,
        };
        Ok(self.connection.insert(connection))
    }
}

/// Finds the lease, and locks it against a takeover until the transaction ends.
pub(crate) fn proof_text(first: usize) -> String {
    let (term, incarnation) = (first + 1, first + 2);
    format!(
        "select term from workspace_leases where workspace_id = ${first} and term = ${term} and incarnation = ${incarnation} for key share"
    )
}

/// Ends all tenures at the own deadline, even if the database does not answer.
async fn watch_deadline(held: std::sync::Weak<Held>) {
    loop {
        let Some(left) = held.upgrade().map(|held| held.time_left()) else { return };
        if left.is_zero() {
            if let Some(held) = held.upgrade() {
                held.lose_all();
            }
            tokio::time::sleep(INTERVAL / 10).await;
        } else {
            tokio::time::sleep(left).await;
        }
    }
}

/// The homes of the workspaces that a node may take.
pub(crate) fn homes(node: &NodeOptions) -> impl Iterator<Item = String> {
    std::iter::once(home_of_node(&node.name)).chain(node.shared.iter().map(|id| format!("shared:{id}")))
}

pub(crate) fn home_of_node(name: &str) -> String {
    format!("node:{name}")
}

fn lease_micros() -> i64 {
    i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX)
}

/// Whether nodes of these versions work side by side: the same major version, and minor versions that differ by one at most.
fn are_neighbours(one: &str, other: &str) -> bool {
    let parts = |version: &str| {
        let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    match (parts(one), parts(other)) {
        (Some((major, minor)), Some((other_major, other_minor))) => major == other_major && minor.abs_diff(other_minor) <= 1,
        (None, _) | (_, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_versions_work_side_by_side_and_others_do_not() {
        for (one, other, are) in [("0.1.0", "0.2.3", true), ("1.4.0", "1.4.9", true), ("1.4.0", "1.6.0", false), ("1.9.0", "2.0.0", false)]
        {
            assert_eq!(are_neighbours(one, other), are, "{one} {other}");
            assert_eq!(are_neighbours(other, one), are);
        }
        assert!(!are_neighbours("x", "x"));
    }
}
