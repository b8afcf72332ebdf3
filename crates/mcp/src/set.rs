//! The servers of a workspace.

use crate::desk::{Desk, Ready, Server, View};
use crate::names;
use crate::offer::{Definition, accepted};
use crate::pins::Pins;
use crate::tool::ServerTool;
use async_trait::async_trait;
use planwright_protocol::settings::{McpSettings, ServerConfig};
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_tools::servers::{Origin, ServerReport, ServerStatus};
use planwright_tools::{Servers, Site, Tool};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Handle;

/// Whether what was not accepted is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusting {
    /// Only what the user accepted.
    Accepted,
    /// Whatever is there, for one run: the user said so.
    All,
}

/// How often it is looked whether a server is still needed.
const ROUND: Duration = Duration::from_mins(1);

/// All servers of a process that are in use, shared by the chats of their workspaces.
pub struct Pool {
    pins: Arc<dyn Pins>,
    desks: Mutex<HashMap<(WorkspaceId, String), Arc<Desk>>>,
}

impl Pool {
    #[must_use]
    pub fn new(pins: Arc<dyn Pins>) -> Arc<Self> {
        Arc::new(Self { pins, desks: Mutex::default() })
    }

    /// Ends all servers.
    pub async fn close(&self) {
        let desks: Vec<Arc<Desk>> = self.desks().drain().map(|(_, desk)| desk).collect();
        futures::future::join_all(desks.iter().map(|desk| desk.close(true))).await;
    }

    /// The servers that somebody has waited for so long already, with how long that may take at most.
    #[must_use]
    pub fn waited_for(&self, long: Duration) -> BTreeMap<String, Duration> {
        self.desks().iter().filter_map(|((_, server), desk)| Some((server.clone(), desk.is_waited_for(long)?))).collect()
    }

    fn desk(self: &Arc<Self>, workspace: WorkspaceId, server: &str) -> Arc<Desk> {
        let mut desks = self.desks();
        if desks.is_empty() {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
        desks.entry((workspace, server.to_owned())).or_default().clone()
    }

    fn desks(&self) -> std::sync::MutexGuard<'_, HashMap<(WorkspaceId, String), Arc<Desk>>> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends servers that nobody needs, as long as there are any.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(ROUND).await;
        let Some(pool) = pool.upgrade() else { return };
        let desks: Vec<Arc<Desk>> = pool.desks().values().cloned().collect();
        if desks.is_empty() {
            return;
        }
        for desk in desks {
            desk.close(false).await;
        }
    }
}

/// The servers that a configuration has for a workspace.
pub struct ServerSet {
    pool: Arc<Pool>,
    servers: BTreeMap<String, Arc<Server>>,
    /// Servers of the workspace's own file, which the user has not accepted.
    waiting: BTreeMap<String, ServerConfig>,
    trusting: Trusting,
}

impl ServerSet {
    /// `user` is what the user's own configuration has; what differs from it is of the workspace, and has `view` of the machine.
    #[must_use]
    pub fn new(pool: Arc<Pool>, config: &McpSettings, user: &McpSettings, trusting: Trusting, view: View) -> Self {
        let servers = config.servers.iter().map(|(name, config)| {
            let (origin, view) = match user.servers.get(name) {
                Some(own) if own == config => (Origin::User, View::Named),
                Some(_) | None => (Origin::Workspace, view),
            };
            (name.clone(), Arc::new(Server::new(name.clone(), config.clone(), origin, view)))
        });
        Self { pool, servers: servers.collect(), waiting: BTreeMap::new(), trusting }
    }

    /// With servers that the user has yet to accept.
    #[must_use]
    pub fn waiting_for(mut self, waiting: BTreeMap<String, ServerConfig>) -> Self {
        self.waiting = waiting;
        self
    }

    async fn ready(&self, server: &Server, site: &Site) -> (Arc<Desk>, Result<Ready, Problem>) {
        let desk = self.pool.desk(site.id, &server.name);
        let ready = desk.ready(server, site, &*self.pool.pins, self.trusting).await;
        (desk, ready)
    }

    fn tool(&self, server: &Arc<Server>, desk: &Arc<Desk>, definition: &Arc<Definition>, site: &Site) -> Arc<dyn Tool> {
        Arc::new(ServerTool {
            server: server.clone(),
            desk: desk.clone(),
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
            let (desk, ready) = self.ready(server, site).await;
            let offer = ready.ok().map(|ready| ready.offer);
            let usable = offer.iter().flat_map(|offer| &offer.usable);
            usable.map(|definition| self.tool(server, &desk, definition, site)).collect::<Vec<_>>()
        });
        futures::future::join_all(all).await.into_iter().flatten().collect()
    }

    async fn known(&self, site: &Site) -> Vec<Arc<dyn Tool>> {
        let all = self.servers.values().flat_map(|server| {
            let desk = self.pool.desk(site.id, &server.name);
            let offer = desk.known_offer(server);
            let usable = offer.iter().flat_map(|offer| &offer.usable);
            usable.map(|definition| self.tool(server, &desk, definition, site)).collect::<Vec<_>>()
        });
        all.collect()
    }

    async fn named(&self, name: &str, site: &Site) -> Option<Result<Arc<dyn Tool>, Problem>> {
        let (server, _) = names::split(name)?;
        let Some(server) = self.servers.get(server) else {
            let waiting = self.waiting.get_key_value(server)?;
            return Some(Err(untrusted(waiting.0)));
        };
        let (desk, ready) = self.ready(server, site).await;
        let offer = match ready {
            Ok(ready) => ready.offer,
            Err(problem) => return Some(Err(problem)),
        };
        let found = offer.named(name).unwrap_or_else(|| {
            let offered = offer.usable.iter().map(|definition| definition.called.as_str()).collect::<Vec<_>>().join(", ");
            Err(Problem::new(
                ErrorCode::ToolUnknown,
                format!("There is no tool {name:?}. The MCP server `{}` offers: {offered}.", server.name),
            ))
        });
        Some(found.map(|definition| self.tool(server, &desk, &definition, site)))
    }

    async fn reports(&self, site: &Site) -> Vec<ServerReport> {
        let mut reports: Vec<ServerReport> =
            self.servers.values().map(|server| self.pool.desk(site.id, &server.name).report(server)).collect();
        let waiting = self.waiting.iter().filter(|(name, _)| !self.servers.contains_key(*name));
        reports.extend(waiting.map(|(name, config)| ServerReport {
            name: name.clone(),
            origin: Origin::Workspace,
            command: config.words(),
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
            self.pool.desk(site.id, &server.name).look_at(server, site, &*self.pool.pins, self.trusting).await;
        }
    }

    async fn ask(&self, server: &str, site: &Site) {
        if let Some(server) = self.servers.get(server) {
            // Whether it can be used is in its report.
            let _ = self.ready(server, site).await;
        }
    }

    async fn forgive(&self, site: &Site) {
        for server in self.servers.values() {
            self.pool.desk(site.id, &server.name).forgive().await;
        }
    }

    async fn accept(&self, site: &Site, sha256: &str) -> Result<bool, Problem> {
        for server in self.servers.values() {
            if self.pool.desk(site.id, &server.name).accept(server, site, &*self.pool.pins, sha256).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn untrusted(server: &str) -> Problem {
    let text = format!(
        "The MCP server `{server}` stands in the workspace's own configuration, which nobody has accepted, so it is not started before the user has {}.",
        accepted(server)
    );
    Problem::new(ErrorCode::TrustRequired, text)
}
