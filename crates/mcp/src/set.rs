//! The servers of a workspace.

use crate::configured_server::{MachineView, McpServer};
use crate::names;
use crate::running_server::{Ready, RunningServer};
use crate::tool::ServerTool;
use crate::tool_catalog::{Definition, accepted};
use crate::tool_pins::Pins;
use async_trait::async_trait;
use planwright_protocol::settings::{McpSettings, ServerConfig};
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_tools::servers::{Origin, ServerReport, ServerStatus};
use planwright_tools::{Servers, Site, Tool};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// Whether unaccepted servers and tools may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusting {
    /// Only what the user accepted.
    Accepted,
    /// Everything, for one run, as the user requested.
    All,
}

/// Interval of the checks for unused servers.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// A stopped server that nobody asked for is forgotten after this time, with its list of tools.
const MEMORY_OF_SERVERS: Duration = Duration::from_hours(24);

/// All running servers of a process, shared by the chats of their workspaces.
pub struct Pool {
    pins: Arc<dyn Pins>,
    servers: Mutex<HashMap<(WorkspaceId, String), PooledServer>>,
}

struct PooledServer {
    running: Arc<RunningServer>,
    /// When somebody last asked for it.
    wanted: Instant,
}

impl Pool {
    #[must_use]
    pub fn new(pins: Arc<dyn Pins>) -> Arc<Self> {
        Arc::new(Self { pins, servers: Mutex::default() })
    }

    /// Stops all servers.
    pub async fn close(&self) {
        let servers: Vec<Arc<RunningServer>> = self.servers().drain().map(|(_, server)| server.running).collect();
        futures::future::join_all(servers.iter().map(|running| running.close(true))).await;
    }

    /// The servers that have been waited for at least `long`, with their timeouts.
    #[must_use]
    pub fn waited_for(&self, long: Duration) -> BTreeMap<String, Duration> {
        let servers = self.servers();
        servers.iter().filter_map(|((_, name), server)| Some((name.clone(), server.running.is_waited_for(long)?))).collect()
    }

    fn running(self: &Arc<Self>, workspace: WorkspaceId, server: &str) -> Arc<RunningServer> {
        let mut servers = self.servers();
        if servers.is_empty() {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        let new = || PooledServer { running: Arc::default(), wanted: Instant::now() };
        let pooled = servers.entry((workspace, server.to_owned())).or_insert_with(new);
        pooled.wanted = Instant::now();
        pooled.running.clone()
    }

    /// Forgets servers that are stopped, held by nobody, and not wanted for a day: their workspaces may be gone.
    fn forget_unwanted(&self) {
        self.servers().retain(|_, server| {
            server.wanted.elapsed() < MEMORY_OF_SERVERS || Arc::strong_count(&server.running) > 1 || !server.running.is_stopped()
        });
    }

    fn servers(&self) -> std::sync::MutexGuard<'_, HashMap<(WorkspaceId, String), PooledServer>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops unused servers, while there are any.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(SWEEP_INTERVAL).await;
        let Some(pool) = pool.upgrade() else { return };
        let servers: Vec<Arc<RunningServer>> = pool.servers().values().map(|server| server.running.clone()).collect();
        for running in servers {
            running.close(false).await;
        }
        pool.forget_unwanted();
        // `running` starts the next sweep, under the same lock.
        if pool.servers().is_empty() {
            return;
        }
    }
}

/// The configured servers of a workspace.
pub struct ServerSet {
    pool: Arc<Pool>,
    servers: BTreeMap<String, Arc<McpServer>>,
    /// Servers of the workspace's own file that the user has not accepted.
    waiting: BTreeMap<String, ServerConfig>,
    trusting: Trusting,
}

impl ServerSet {
    /// `user` is the user's own configuration; servers that differ from it belong to the workspace, and see `view` of the machine.
    #[must_use]
    pub fn new(pool: Arc<Pool>, config: &McpSettings, user: &McpSettings, trusting: Trusting, view: MachineView) -> Self {
        let servers = config.servers.iter().map(|(name, config)| {
            let (origin, view) = match user.servers.get(name) {
                Some(own) if own == config => (Origin::User, MachineView::Named),
                Some(_) | None => (Origin::Workspace, view),
            };
            (name.clone(), Arc::new(McpServer::new(name.clone(), config.clone(), origin, view)))
        });
        Self { pool, servers: servers.collect(), waiting: BTreeMap::new(), trusting }
    }

    /// Adds servers that the user has yet to accept.
    #[must_use]
    pub fn waiting_for(mut self, waiting: BTreeMap<String, ServerConfig>) -> Self {
        self.waiting = waiting;
        self
    }

    async fn ready(&self, server: &McpServer, site: &Site) -> (Arc<RunningServer>, Result<Ready, Problem>) {
        let running = self.pool.running(site.id, &server.name);
        let ready = running.ready(server, site, &*self.pool.pins, self.trusting).await;
        (running, ready)
    }

    fn tool(&self, server: &Arc<McpServer>, running: &Arc<RunningServer>, definition: &Arc<Definition>, site: &Site) -> Arc<dyn Tool> {
        Arc::new(ServerTool {
            server: server.clone(),
            running: running.clone(),
            definition: definition.clone(),
            site: site.clone(),
            pins: self.pool.pins.clone(),
            trusting: self.trusting,
            runtime: Handle::current(),
        })
    }
}

#[async_trait]
impl Servers for ServerSet {
    async fn tools(&self, site: &Site) -> Vec<Arc<dyn Tool>> {
        let all = self.servers.values().map(async |server| {
            let (running, ready) = self.ready(server, site).await;
            let catalog = ready.ok().map(|ready| ready.catalog);
            let usable = catalog.iter().flat_map(|catalog| &catalog.usable);
            usable.map(|definition| self.tool(server, &running, definition, site)).collect::<Vec<_>>()
        });
        futures::future::join_all(all).await.into_iter().flatten().collect()
    }

    async fn known(&self, site: &Site) -> Vec<Arc<dyn Tool>> {
        let all = self.servers.values().flat_map(|server| {
            let running = self.pool.running(site.id, &server.name);
            let catalog = running.known_tools(server);
            let usable = catalog.iter().flat_map(|catalog| &catalog.usable);
            usable.map(|definition| self.tool(server, &running, definition, site)).collect::<Vec<_>>()
        });
        all.collect()
    }

    async fn named(&self, name: &str, site: &Site) -> Option<Result<Arc<dyn Tool>, Problem>> {
        let (server, _) = names::split(name)?;
        let Some(server) = self.servers.get(server) else {
            let waiting = self.waiting.get_key_value(server)?;
            return Some(Err(untrusted(waiting.0)));
        };
        let (running, ready) = self.ready(server, site).await;
        let catalog = match ready {
            Ok(ready) => ready.catalog,
            Err(problem) => return Some(Err(problem)),
        };
        let found = catalog.named(name).unwrap_or_else(|| {
            let offered = catalog.usable.iter().map(|definition| definition.model_name.as_str()).collect::<Vec<_>>().join(", ");
            Err(Problem::new(
                ErrorCode::ToolUnknown,
                format!("There is no tool {name:?}. The MCP server `{}` has: {offered}.", server.name),
            ))
        });
        Some(found.map(|definition| self.tool(server, &running, &definition, site)))
    }

    async fn reports(&self, site: &Site) -> Vec<ServerReport> {
        let mut reports: Vec<ServerReport> =
            self.servers.values().map(|server| self.pool.running(site.id, &server.name).report(server)).collect();
        let waiting = self.waiting.iter().filter(|(name, _)| !self.servers.contains_key(*name));
        reports.extend(waiting.map(|(name, config)| ServerReport {
            name: name.clone(),
            origin: Origin::Workspace,
            command: config.command_line(),
            url: config.url.clone(),
            status: ServerStatus::Untrusted,
            error: Some(untrusted(name).message),
            trust_read_only: config.trust_read_only,
            tools: Vec::new(),
            changed: None,
        }));
        reports
    }

    async fn look(&self, site: &Site) {
        for server in self.servers.values() {
            self.pool.running(site.id, &server.name).look_at(server, site, &*self.pool.pins, self.trusting).await;
        }
    }

    async fn ask(&self, server: &str, site: &Site) {
        if let Some(server) = self.servers.get(server) {
            // Its report says whether it is usable.
            let _ = self.ready(server, site).await;
        }
    }

    async fn forgive(&self, site: &Site) {
        for server in self.servers.values() {
            self.pool.running(site.id, &server.name).clear_failure().await;
        }
    }

    async fn accept(&self, site: &Site, sha256: &str) -> Result<bool, Problem> {
        for server in self.servers.values() {
            if self.pool.running(site.id, &server.name).accept(server, site, &*self.pool.pins, sha256).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn untrusted(server: &str) -> Problem {
    let text = format!(
        "The MCP server `{server}` is in the workspace's own configuration, which nobody has accepted, so it was not started. It starts when the user has {}.",
        accepted(server)
    );
    Problem::new(ErrorCode::TrustRequired, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_pins::Pin;

    struct NoPins;

    #[async_trait]
    impl Pins for NoPins {
        async fn pinned(&self, _: WorkspaceId, _: &str) -> Result<Option<Pin>, Problem> {
            Ok(None)
        }

        async fn newest_of_user(&self, _: &str) -> Result<Option<Pin>, Problem> {
            Ok(None)
        }

        async fn pin(&self, _: WorkspaceId, _: &str, _: Origin, _: &Pin) -> Result<(), Problem> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_nobody_wants_for_a_day_is_forgotten_and_one_that_is_held_or_wanted_stays() {
        let pool = Pool::new(Arc::new(NoPins));
        let workspace = WorkspaceId::generate();
        let held = pool.running(workspace, "held");
        for number in 0..100 {
            drop(pool.running(workspace, &format!("server{number}")));
        }
        tokio::time::sleep(MEMORY_OF_SERVERS.checked_sub(SWEEP_INTERVAL).unwrap()).await;
        drop(pool.running(workspace, "server7"));
        assert_eq!(pool.servers().len(), 101, "not yet");
        tokio::time::sleep(SWEEP_INTERVAL * 3).await;
        let mut left: Vec<String> = pool.servers().keys().map(|(_, name)| name.clone()).collect();
        left.sort();
        assert_eq!(left, ["held", "server7"]);
        drop(held);
        tokio::time::sleep(MEMORY_OF_SERVERS * 2).await;
        assert!(pool.servers().is_empty());
        drop(pool.running(workspace, "again"));
        tokio::time::sleep(MEMORY_OF_SERVERS * 2).await;
        assert!(pool.servers().is_empty(), "a new sweep began with it");
    }
}
