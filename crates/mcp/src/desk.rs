//! One server in use: started when it is needed, asked what it offers, held to what the user accepted.

use crate::http::Caller;
use crate::launch;
use crate::link::{Link, Way, failed};
use crate::mask::Mask;
use crate::offer::{Offer, Pending, Unknown, accepted};
use crate::pins::{Pin, Pins};
use crate::set::Trusting;
use planwright_protocol::settings::ServerConfig;
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::Site;
use planwright_tools::command::Program;
use planwright_tools::servers::{ChangedItem, OfferedTool, Origin, ServerReport, ServerStatus};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// What is offered is asked for again after this long.
const FRESH: Duration = Duration::from_mins(1);
/// A server that failed is left alone for so long, so that a chat does not wait for it at every turn; after each further
/// failure twice as long.
const REST: Duration = Duration::from_secs(15);
const LONGEST_REST: Duration = Duration::from_mins(10);
/// A program that nobody needs is ended.
const IDLE: Duration = Duration::from_mins(15);

/// A server as it is configured.
#[derive(Debug)]
pub struct Server {
    pub name: String,
    pub config: ServerConfig,
    pub origin: Origin,
    /// Of what is run for it.
    pub launch: String,
    /// What of the machine its program sees besides what commands see.
    pub view: View,
}

/// What of the machine a program sees besides what commands see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What its configuration names.
    Named,
    /// Nothing: who accepted it is not the one whose machine this is.
    Nothing,
}

impl Server {
    #[must_use]
    pub fn new(name: String, config: ServerConfig, origin: Origin, view: View) -> Self {
        Self { launch: config.sha256(), name, config, origin, view }
    }

    /// # Errors
    /// A variable is not set, or the program is not there.
    pub fn program(&self, site: &Site) -> Result<Program, Problem> {
        let program = launch::program(&self.name, &self.config, &site.workspace.host_path()?)?;
        Ok(match self.view {
            View::Named => program,
            View::Nothing => Program { readable: Vec::new(), ..program },
        })
    }

    /// Whether a tool counts as one that only reads.
    pub fn believes(&self, says_read_only: bool) -> bool {
        says_read_only && self.config.trust_read_only
    }

    /// # Errors
    /// A variable is not set, or the program is not there.
    pub fn way(&self, site: &Site) -> Result<Way, Problem> {
        if let Some(url) = &self.config.url {
            let key = self.config.api_key_env.as_deref().map(|variable| launch::value_of(&self.name, variable)).transpose()?;
            let caller = Caller::new(url, key.as_deref()).map_err(|why| failed(&self.name, &format!("{why}.")))?;
            return Ok(Way::Address { url: url.clone(), caller });
        }
        let commands = site.commands.as_ref().ok_or_else(|| failed(&self.name, "programs are not set up in this process."))?;
        Ok(Way::Program(Arc::new(commands.keep(&self.program(site)?, &site.workspace, &site.secrets, &site.neighbours)?)))
    }
}

#[derive(Default)]
pub struct Desk {
    state: Mutex<State>,
    known: std::sync::Mutex<Known>,
}

#[derive(Default)]
struct State {
    /// What was launched, and the link to it.
    link: Option<(String, Arc<Link>)>,
    offer: Option<(Instant, Arc<Offer>)>,
    failure: Option<Failure>,
    used: Option<Instant>,
}

/// Why a server could not be used when it was last tried.
struct Failure {
    launch: String,
    at: Instant,
    /// In a row.
    times: u32,
    problem: Problem,
}

impl Failure {
    fn is_resting(&self) -> bool {
        self.at.elapsed() < rest(self.times)
    }
}

fn rest(failures: u32) -> Duration {
    REST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(LONGEST_REST)
}

/// For those who only want to look.
#[derive(Default)]
struct Known {
    /// What all this is about.
    launch: String,
    error: Option<Problem>,
    offer: Option<Arc<Offer>>,
    /// A launch that waits for the user's word.
    pending: Option<Pending>,
    /// Since when it is waited for, and how long at most.
    waited_for: Option<(Instant, Duration)>,
}

/// A server that is waited for, until this is dropped.
struct Waiting<'d>(&'d Desk);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.note(|known| known.waited_for = None);
    }
}

/// A server with what may be used of it.
pub struct Ready {
    pub link: Arc<Link>,
    pub offer: Arc<Offer>,
}

impl Desk {
    /// What the server offers; it is started if need be.
    ///
    /// # Errors
    /// `TRUST_REQUIRED`, or it can't be used.
    pub async fn ready(&self, server: &Server, site: &Site, pins: &dyn Pins, trusting: Trusting) -> Result<Ready, Problem> {
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
                    *known = Known { launch: server.launch.clone(), offer: Some(ready.offer.clone()), ..Known::default() };
                });
            }
            Err(problem) => {
                if problem.code != ErrorCode::TrustRequired {
                    tracing::warn!(target: "planwright", server = server.name, workspace = %site.id, %problem, "an MCP server can't be used");
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

    /// Holds it against what the user accepted, without starting it.
    pub async fn look_at(&self, server: &Server, site: &Site, pins: &dyn Pins, trusting: Trusting) {
        if let Err(problem) = self.entitled(server, site, pins, trusting).await {
            self.note_failure(server, &problem);
        }
    }

    fn note_failure(&self, server: &Server, problem: &Problem) {
        self.note(|known| {
            known.launch.clone_from(&server.launch);
            known.error = Some(problem.clone());
            known.offer = None;
        });
    }

    async fn open(&self, state: &mut State, server: &Server, site: &Site, pins: &dyn Pins, trusting: Trusting) -> Result<Ready, Problem> {
        if state.link.as_ref().is_some_and(|(launch, link)| *launch != server.launch || link.is_closed()) {
            state.let_go().await;
        }
        if let (Some((_, link)), Some((at, offer))) = (&state.link, &state.offer)
            && at.elapsed() < FRESH
            && !link.takes_back_its_offer()
        {
            return Ok(Ready { link: link.clone(), offer: offer.clone() });
        }
        let pin = self.entitled(server, site, pins, trusting).await?;
        let _waiting = self.wait_for(server.config.start_time());
        let link = if let Some((_, link)) = &state.link {
            link.clone()
        } else {
            let link = Arc::new(Link::open(&server.name, &server.way(site)?, Mask::of(&server.config), server.config.start_time()).await?);
            state.link = Some((server.launch.clone(), link.clone()));
            link
        };
        let tools = match link.tools(server.config.start_time()).await {
            Ok(tools) => tools,
            Err(problem) => {
                drop(link);
                state.let_go().await;
                return Err(problem);
            }
        };
        let unknown = match trusting {
            Trusting::All => Unknown::Taken,
            Trusting::Accepted if pins.shows_first() => Unknown::Asked,
            Trusting::Accepted => Unknown::Refused,
        };
        let (offer, keep) = Offer::sort(&server.name, tools, pin, unknown);
        self.log_refused(server, site, &offer);
        if let Some(pin) = keep {
            pins.pin(site.id, &server.name, server.origin, &pin).await?;
        }
        let offer = Arc::new(offer);
        state.offer = Some((Instant::now(), offer.clone()));
        Ok(Ready { link, offer })
    }

    /// What the user accepted of the server, which may be nothing yet.
    ///
    /// # Errors
    /// `TRUST_REQUIRED`, when they accepted another one.
    async fn entitled(&self, server: &Server, site: &Site, pins: &dyn Pins, trusting: Trusting) -> Result<Pin, Problem> {
        let fresh = Pin { launch: server.launch.clone(), shown: server.config.shown(), tools: None };
        if trusting == Trusting::All {
            return Ok(fresh);
        }
        let here = pins.pinned(site.id, &server.name).await?;
        let known = match (here, server.origin) {
            (Some(pin), _) => Some(pin),
            // The user's own servers are the same ones in every workspace.
            (None, Origin::User) => pins.newest_of_user(&server.name).await?,
            (None, Origin::Workspace) => None,
        };
        match (known, server.origin) {
            (None, _) => Ok(fresh),
            (Some(pin), _) if pin.launch == server.launch => Ok(pin),
            // The workspace's file was accepted as it is, with what it runs.
            (Some(_), Origin::Workspace) => Ok(fresh),
            (Some(pin), Origin::User) => {
                let item = ChangedItem { what: "command".to_owned(), before: pin.shown, after: fresh.shown.clone() };
                let pending = Pending::new(&server.name, vec![item], Pin { tools: pin.tools, ..fresh });
                self.note(|known| known.pending = Some(pending));
                let text = format!(
                    "What is run for the MCP server `{}` is not what was accepted, so it is not started before the user has {}.",
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

    /// How long it may take at most, if it has been waited for so long already.
    pub fn is_waited_for(&self, long: Duration) -> Option<Duration> {
        self.look().waited_for.filter(|(since, _)| since.elapsed() >= long).map(|(_, most)| most)
    }

    /// Tells the log of tools that can't be used, once.
    fn log_refused(&self, server: &Server, site: &Site, offer: &Offer) {
        let before = self.known_offer(server);
        let is_new = |called: &String| before.as_ref().is_none_or(|before| !before.refused.contains_key(called));
        for problem in offer.unusable().filter(|(called, _)| is_new(called)).map(|(_, problem)| problem) {
            tracing::warn!(target: "planwright", server = server.name, workspace = %site.id, %problem, "a tool of an MCP server can't be used");
        }
    }

    /// Lets go of a link that does not do what it should; it ends when the last call over it has.
    pub async fn drop_link(&self, link: Arc<Link>) {
        let mut state = self.state.lock().await;
        if state.link.as_ref().is_some_and(|(_, present)| Arc::ptr_eq(present, &link)) {
            drop(link);
            state.let_go().await;
        } else if let Some(link) = Arc::into_inner(link) {
            link.end().await;
        }
    }

    /// Forgets that it failed: the user wants it to be tried.
    pub async fn forgive(&self) {
        self.state.lock().await.failure = None;
    }

    /// Ends the server if nobody needs it, or in any case.
    pub async fn close(&self, in_any_case: bool) {
        let mut state = self.state.lock().await;
        if in_any_case || state.used.is_some_and(|at| at.elapsed() > IDLE) {
            state.let_go().await;
        }
    }

    /// Keeps what waits under this hash as accepted.
    ///
    /// # Errors
    /// It can't be stored.
    pub async fn accept(&self, server: &Server, site: &Site, pins: &dyn Pins, sha256: &str) -> Result<bool, Problem> {
        let Some(pending) = self.pending(server).filter(|pending| pending.told.sha256 == sha256) else { return Ok(false) };
        pins.pin(site.id, &server.name, server.origin, &pending.pin).await?;
        let mut state = self.state.lock().await;
        state.offer = None;
        self.note(|known| *known = Known::default());
        Ok(true)
    }

    /// What the server was last seen to offer.
    pub fn known_offer(&self, server: &Server) -> Option<Arc<Offer>> {
        let known = self.look();
        known.offer.clone().filter(|_| known.launch == server.launch)
    }

    fn pending(&self, server: &Server) -> Option<Pending> {
        let known = self.look();
        let current = known.launch == server.launch;
        let offered = known.offer.as_ref().and_then(|offer| offer.changed.clone());
        known.pending.clone().or(offered).filter(|_| current)
    }

    pub fn report(&self, server: &Server) -> ServerReport {
        let changed = self.pending(server).map(|pending| pending.told);
        let known = self.look();
        let current = known.launch == server.launch;
        let error = known.error.clone().filter(|_| current);
        let offer = known.offer.clone().filter(|_| current);
        let status = match (&error, &offer) {
            (Some(problem), _) if problem.code == ErrorCode::TrustRequired => ServerStatus::Untrusted,
            (Some(_), _) => ServerStatus::Failed,
            (None, Some(_)) => ServerStatus::Ready,
            (None, None) => ServerStatus::Idle,
        };
        let tools = offer.iter().flat_map(|offer| &offer.usable).map(|definition| OfferedTool {
            name: definition.called.clone(),
            description: definition.description.clone(),
            read_only: server.believes(definition.says_read_only),
        });
        let refused: Vec<&str> = offer.iter().flat_map(|offer| offer.unusable()).map(|(_, problem)| problem.message.as_str()).collect();
        ServerReport {
            name: server.name.clone(),
            origin: server.origin,
            command: server.config.words(),
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
    /// Ends the server, if nobody else is talking to it; then when they are done.
    async fn let_go(&mut self) {
        self.offer = None;
        if let Some(link) = self.link.take().and_then(|(_, link)| Arc::into_inner(link)) {
            link.end().await;
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
