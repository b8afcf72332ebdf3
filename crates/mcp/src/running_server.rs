//! One running server: started on demand, asked for its tools, checked against what the user accepted.

use crate::configured_server::McpServer;
use crate::connection::Connection;
use crate::redaction::Redaction;
use crate::set::Trusting;
use crate::tool_catalog::{PendingChange, ToolCatalog, Unknown, accepted};
use crate::tool_pins::{Pin, Pins};
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::Site;
use planwright_tools::servers::{ChangedItem, OfferedTool, Origin, ServerReport, ServerStatus};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a list of tools stays valid.
const TOOLS_VALID: Duration = Duration::from_mins(1);
/// Pause after a failure, so that a chat does not wait for the server at every turn; it doubles with each further failure.
const FAILURE_PAUSE: Duration = Duration::from_secs(15);
const LONGEST_REST: Duration = Duration::from_mins(10);
/// An unused program ends after this time.
const IDLE_TIMEOUT: Duration = Duration::from_mins(15);

#[derive(Default)]
pub struct RunningServer {
    state: Mutex<State>,
    known: std::sync::Mutex<Known>,
}

#[derive(Default)]
struct State {
    /// The hash of what was launched, and the connection to it.
    connection: Option<(String, Arc<Connection>)>,
    catalog: Option<(Instant, Arc<ToolCatalog>)>,
    failure: Option<Failure>,
    used: Option<Instant>,
}

/// Why the server failed at the last attempt.
struct Failure {
    launch: String,
    at: Instant,
    /// Failures in a row.
    times: u32,
    problem: Problem,
}

impl Failure {
    fn is_resting(&self) -> bool {
        self.at.elapsed() < rest(self.times)
    }
}

fn rest(failures: u32) -> Duration {
    FAILURE_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST_REST)
}

/// State for readers, without starting the server.
#[derive(Default)]
struct Known {
    /// The launch configuration that this state belongs to.
    launch: String,
    error: Option<Problem>,
    catalog: Option<Arc<ToolCatalog>>,
    /// A changed launch configuration that the user has not accepted.
    pending: Option<PendingChange>,
    /// Since when we wait for the server, and the timeout.
    waited_for: Option<(Instant, Duration)>,
}

/// Marks the server as waited for, until dropped.
struct Waiting<'d>(&'d RunningServer);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.note(|known| known.waited_for = None);
    }
}

/// A running server, with the tools that may be used.
pub struct Ready {
    pub connection: Arc<Connection>,
    pub catalog: Arc<ToolCatalog>,
}

impl RunningServer {
    /// Returns the server's tools; starts it if necessary.
    ///
    /// # Errors
    /// `TRUST_REQUIRED`, or the server is unusable.
    pub async fn ready(&self, server: &McpServer, site: &Site, pins: &dyn Pins, trusting: Trusting) -> Result<Ready, Problem> {
        let mut state = self.state.lock().await;
        let failure = state.failure.take_if(|failure| failure.launch != server.launch || !failure.is_resting());
        if let Some(resting) = &state.failure {
            return Err(resting.problem.clone());
        }
        let outcome = self.open(&mut state, server, site, pins, trusting).await;
        match &outcome {
            Ok(ready) => {
                state.used = Some(Instant::now());
                self.note(|known| {
                    *known = Known { launch: server.launch.clone(), catalog: Some(ready.catalog.clone()), ..Known::default() };
                });
            }
            Err(problem) => {
                if problem.code != ErrorCode::TrustRequired {
                    tracing::warn!(target: "planwright", server = server.name, workspace = %site.id, %problem, "MCP server unavailable");
                    let before = failure.filter(|failure| failure.launch == server.launch).map_or(0, |failure| failure.times);
                    let failure =
                        Failure { launch: server.launch.clone(), at: Instant::now(), times: before + 1, problem: problem.clone() };
                    state.failure = Some(failure);
                }
                self.note_failure(server, problem);
            }
        }
        outcome
    }

    /// Checks it against what the user accepted, without starting it.
    pub async fn look_at(&self, server: &McpServer, site: &Site, pins: &dyn Pins, trusting: Trusting) {
        if let Err(problem) = self.accepted_pin(server, site, pins, trusting).await {
            self.note_failure(server, &problem);
        }
    }

    fn note_failure(&self, server: &McpServer, problem: &Problem) {
        self.note(|known| {
            known.launch.clone_from(&server.launch);
            known.error = Some(problem.clone());
            known.catalog = None;
        });
    }

    async fn open(
        &self,
        state: &mut State,
        server: &McpServer,
        site: &Site,
        pins: &dyn Pins,
        trusting: Trusting,
    ) -> Result<Ready, Problem> {
        if state.connection.as_ref().is_some_and(|(launch, connection)| *launch != server.launch || connection.is_closed()) {
            state.let_go().await;
        }
        if let (Some((_, connection)), Some((at, catalog))) = (&state.connection, &state.catalog)
            && at.elapsed() < TOOLS_VALID
            && !connection.take_tools_changed()
        {
            return Ok(Ready { connection: connection.clone(), catalog: catalog.clone() });
        }
        let pin = self.accepted_pin(server, site, pins, trusting).await?;
        let _waiting = self.wait_for(server.config.start_time());
        let connection = if let Some((_, connection)) = &state.connection {
            connection.clone()
        } else {
            let connection = Arc::new(
                Connection::open(&server.name, &server.transport(site)?, Redaction::of(&server.config), server.config.start_time()).await?,
            );
            state.connection = Some((server.launch.clone(), connection.clone()));
            connection
        };
        let tools = match connection.tools(server.config.start_time()).await {
            Ok(tools) => tools,
            Err(problem) => {
                drop(connection);
                state.let_go().await;
                return Err(problem);
            }
        };
        let unknown = match trusting {
            Trusting::All => Unknown::Taken,
            Trusting::Accepted if pins.shows_first() => Unknown::Asked,
            Trusting::Accepted => Unknown::Refused,
        };
        let (catalog, keep) = ToolCatalog::sort(&server.name, tools, pin, unknown);
        self.log_refused(server, site, &catalog);
        if let Some(pin) = keep {
            pins.pin(site.id, &server.name, server.origin, &pin).await?;
        }
        let catalog = Arc::new(catalog);
        state.catalog = Some((Instant::now(), catalog.clone()));
        Ok(Ready { connection, catalog })
    }

    /// The user's acceptance of the server, which may be empty.
    ///
    /// # Errors
    /// `TRUST_REQUIRED` if the user accepted a different configuration.
    async fn accepted_pin(&self, server: &McpServer, site: &Site, pins: &dyn Pins, trusting: Trusting) -> Result<Pin, Problem> {
        let fresh = Pin { launch: server.launch.clone(), shown: server.config.public_view(), tools: None };
        if trusting == Trusting::All {
            return Ok(fresh);
        }
        let here = pins.pinned(site.id, &server.name).await?;
        let known = match (here, server.origin) {
            (Some(pin), _) => Some(pin),
            // The user's own servers are the same in every workspace.
            (None, Origin::User) => pins.newest_of_user(&server.name).await?,
            (None, Origin::Workspace) => None,
        };
        match (known, server.origin) {
            (None, _) => Ok(fresh),
            (Some(pin), _) if pin.launch == server.launch => Ok(pin),
            // The user accepted the workspace's file, including this command.
            (Some(_), Origin::Workspace) => Ok(fresh),
            (Some(pin), Origin::User) => {
                let item = ChangedItem { what: "command".to_owned(), before: pin.shown, after: fresh.shown.clone() };
                let pending = PendingChange::new(&server.name, vec![item], Pin { tools: pin.tools, ..fresh });
                self.note(|known| known.pending = Some(pending));
                let text = format!(
                    "The command of the MCP server `{}` is not what the user accepted, so it was not started. It starts when the user has {}.",
                    server.name,
                    accepted(&server.name)
                );
                Err(Problem::new(ErrorCode::TrustRequired, text))
            }
        }
    }

    fn wait_for(&self, most: Duration) -> Waiting<'_> {
        self.note(|known| known.waited_for = Some((Instant::now(), most)));
        Waiting(self)
    }

    /// The timeout, if we have been waiting for at least `long`.
    pub fn is_waited_for(&self, long: Duration) -> Option<Duration> {
        self.look().waited_for.filter(|(since, _)| since.elapsed() >= long).map(|(_, most)| most)
    }

    /// Logs unusable tools, once.
    fn log_refused(&self, server: &McpServer, site: &Site, catalog: &ToolCatalog) {
        let before = self.known_tools(server);
        let is_new = |called: &String| before.as_ref().is_none_or(|before| !before.refused.contains_key(called));
        for problem in catalog.unusable().filter(|(called, _)| is_new(called)).map(|(_, problem)| problem) {
            tracing::warn!(target: "planwright", server = server.name, workspace = %site.id, %problem, "MCP tool unavailable");
        }
    }

    /// Discards a broken connection; it closes when its last call ends.
    pub async fn drop_connection(&self, connection: Arc<Connection>) {
        let mut state = self.state.lock().await;
        if state.connection.as_ref().is_some_and(|(_, present)| Arc::ptr_eq(present, &connection)) {
            drop(connection);
            state.let_go().await;
        } else if let Some(connection) = Arc::into_inner(connection) {
            connection.end().await;
        }
    }

    /// Clears the failure: the user wants a new attempt.
    pub async fn clear_failure(&self) {
        self.state.lock().await.failure = None;
    }

    /// Stops the server if it is unused, or in any case.
    pub async fn close(&self, in_any_case: bool) {
        let mut state = self.state.lock().await;
        if in_any_case || state.used.is_some_and(|at| at.elapsed() > IDLE_TIMEOUT) {
            state.let_go().await;
        }
    }

    /// Whether it has no connection. A server that is being started or used counts as connected.
    pub fn is_stopped(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.connection.is_none())
    }

    /// Stores the pending change with this hash as accepted.
    ///
    /// # Errors
    /// It can't be stored.
    pub async fn accept(&self, server: &McpServer, site: &Site, pins: &dyn Pins, sha256: &str) -> Result<bool, Problem> {
        let Some(pending) = self.pending(server).filter(|pending| pending.change.sha256 == sha256) else { return Ok(false) };
        pins.pin(site.id, &server.name, server.origin, &pending.pin).await?;
        let mut state = self.state.lock().await;
        state.catalog = None;
        self.note(|known| *known = Known::default());
        Ok(true)
    }

    /// The last known tools of the server.
    pub fn known_tools(&self, server: &McpServer) -> Option<Arc<ToolCatalog>> {
        let known = self.look();
        known.catalog.clone().filter(|_| known.launch == server.launch)
    }

    fn pending(&self, server: &McpServer) -> Option<PendingChange> {
        let known = self.look();
        let current = known.launch == server.launch;
        let offered = known.catalog.as_ref().and_then(|catalog| catalog.changed.clone());
        known.pending.clone().or(offered).filter(|_| current)
    }

    pub fn report(&self, server: &McpServer) -> ServerReport {
        let changed = self.pending(server).map(|pending| pending.change);
        let known = self.look();
        let current = known.launch == server.launch;
        let error = known.error.clone().filter(|_| current);
        let catalog = known.catalog.clone().filter(|_| current);
        let status = match (&error, &catalog) {
            (Some(problem), _) if problem.code == ErrorCode::TrustRequired => ServerStatus::Untrusted,
            (Some(_), _) => ServerStatus::Failed,
            (None, Some(_)) => ServerStatus::Ready,
            (None, None) => ServerStatus::Idle,
        };
        let tools = catalog.iter().flat_map(|catalog| &catalog.usable).map(|definition| OfferedTool {
            name: definition.model_name.clone(),
            description: definition.description.clone(),
            read_only: server.counts_as_read_only(definition.says_read_only),
        });
        let refused: Vec<&str> =
            catalog.iter().flat_map(|catalog| catalog.unusable()).map(|(_, problem)| problem.message.as_str()).collect();
        ServerReport {
            name: server.name.clone(),
            origin: server.origin,
            command: server.config.command_line(),
            url: server.config.url.clone(),
            status,
            error: error.map(|problem| problem.message).or_else(|| (!refused.is_empty()).then(|| refused.join(" "))),
            trust_read_only: server.config.trust_read_only,
            tools: tools.collect(),
            changed,
        }
    }

    fn look(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.look());
    }
}

impl State {
    /// Stops the server; if others still use it, when they are done.
    async fn let_go(&mut self) {
        self.catalog = None;
        if let Some(connection) = self.connection.take().and_then(|(_, connection)| Arc::into_inner(connection)) {
            connection.end().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_again_and_again_is_tried_less_and_less() {
        let rests: Vec<u64> = [1, 2, 3, 7, 40].map(|failures| rest(failures).as_secs()).to_vec();
        assert_eq!(rests, [15, 30, 60, 600, 600]);
    }
}
