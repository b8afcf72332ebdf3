//! The loop: takes keys, reports and time, gives them to the state, draws, and does what the state says.

use crate::app::{AppInput, AppState};
use crate::draw::draw;
use crate::editor;
use crate::palette::{ColourDepth, Palette};
use crate::request::{AppCommand, AppReport, ChatPlace, EditPurpose};
use crate::server_link::{Folder, ServerLink};
use crate::terminal::TerminalScreen;
use crossterm::event::{Event, EventStream, KeyEventKind};
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use futures::StreamExt;
use futures::future::BoxFuture;
use planwright_client::{Client, ClientError};
use std::io;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

/// Reports are drawn at most this often; keys at once.
const FRAME: Duration = Duration::from_millis(16);
const TICK: Duration = Duration::from_millis(250);

/// How the chats are reached.
pub struct ReachedServer {
    pub client: Client,
    /// Whether this process serves them.
    pub is_here: bool,
}

pub type Connecting = BoxFuture<'static, Result<ReachedServer, String>>;

/// Runs the terminal UI to its end. The first picture does not wait for the server.
///
/// # Errors
/// The terminal is gone, or the server can't be reached at the start.
pub async fn run(connecting: Connecting, folder: Folder) -> Result<(), String> {
    let depth = ColourDepth::detect(|name| std::env::var(name).ok());
    let broken = |error: io::Error| format!("Can't use this terminal: {error}.");
    let mut runner = Runner::open(depth).map_err(broken)?;
    runner.draw().map_err(broken)?;
    runner.connect(connecting, folder).await?;
    runner.work().await.map_err(broken)
}

struct Runner {
    app: AppState,
    screen: TerminalScreen,
    /// Dropped while another program has the terminal.
    keys: Option<EventStream>,
    reports: UnboundedReceiver<AppReport>,
    sender: tokio::sync::mpsc::UnboundedSender<AppReport>,
    server: Option<ServerLink>,
    endings: [Signal; 3],
    resumed: Signal,
    ticks: Interval,
    /// When to draw what has changed.
    due: Option<Instant>,
    drawn: Instant,
}

/// What the loop has to deal with.
enum Happening {
    Terminal(Option<io::Result<Event>>),
    Report(Option<AppReport>),
    Tick,
    FrameDue,
    Resumed,
    End,
}

#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    End,
}

impl Runner {
    fn open(depth: ColourDepth) -> io::Result<Self> {
        let endings = [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?];
        let resumed = signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?;
        let screen = TerminalScreen::open()?;
        let (sender, reports) = unbounded_channel();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let drawn = Instant::now();
        let (keys, app) = (Some(EventStream::new()), AppState::new(Palette { depth }));
        Ok(Self { app, screen, keys, reports, sender, server: None, endings, resumed, ticks, due: None, drawn })
    }

    fn draw(&mut self) -> io::Result<()> {
        crossterm::execute!(io::stdout(), BeginSynchronizedUpdate)?;
        self.screen.terminal.draw(|frame| draw(&self.app, frame))?;
        (self.due, self.drawn) = (None, Instant::now());
        crossterm::execute!(io::stdout(), EndSynchronizedUpdate)
    }

    /// Waits for the server. Keys work meanwhile: what is typed is kept, and Ctrl-C leaves.
    async fn connect(&mut self, connecting: Connecting, folder: Folder) -> Result<(), String> {
        let sender = self.sender.clone();
        let opening = async move {
            let host = connecting.await?;
            let is_here = host.is_here;
            let server = ServerLink::begin(host.client, &folder, sender).await.map_err(|error: ClientError| error.to_string())?;
            Ok::<_, String>((server, is_here))
        };
        tokio::pin!(opening);
        loop {
            tokio::select! {
                opened = &mut opening => {
                    let (server, is_here) = opened?;
                    self.server = Some(server);
                    self.app.is_host = is_here;
                    return Ok(());
                }
                happening = next(&mut self.keys, &mut self.reports, &mut self.ticks, &mut self.endings, &mut self.resumed, None, false) => {
                    let flow = self.deal_with(happening).await.map_err(|error| error.to_string())?;
                    if flow == Flow::End {
                        return Err("Left before the chats were open.".to_owned());
                    }
                }
            }
        }
    }

    async fn work(&mut self) -> io::Result<()> {
        loop {
            let is_animated = self.app.is_animated();
            let (due, keys) = (self.due, &mut self.keys);
            let happening = next(keys, &mut self.reports, &mut self.ticks, &mut self.endings, &mut self.resumed, due, is_animated).await;
            if self.deal_with(happening).await? == Flow::End {
                return Ok(());
            }
        }
    }

    async fn deal_with(&mut self, happening: Happening) -> io::Result<Flow> {
        let input = match happening {
            Happening::End | Happening::Terminal(None) | Happening::Report(None) => return Ok(Flow::End),
            Happening::Terminal(Some(event)) => match event? {
                Event::Key(key) if key.kind != KeyEventKind::Release => AppInput::Key(key),
                Event::Paste(text) => AppInput::Paste(text),
                Event::Resize(..) => return self.draw().map(|()| Flow::Continue),
                Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => return Ok(Flow::Continue),
            },
            Happening::Report(Some(report)) => return self.take_reports(report).await,
            Happening::Tick => AppInput::Tick,
            Happening::FrameDue => return self.draw().map(|()| Flow::Continue),
            Happening::Resumed => {
                self.screen.come_back()?;
                return self.draw().map(|()| Flow::Continue);
            }
        };
        let commands = self.app.update(input);
        if self.execute(commands).await? == Flow::End {
            return Ok(Flow::End);
        }
        self.draw().map(|()| Flow::Continue)
    }

    /// Takes this report and all that have come with it, and draws them in one frame.
    async fn take_reports(&mut self, first: AppReport) -> io::Result<Flow> {
        let mut next = Some(first);
        while let Some(report) = next {
            if let (AppReport::Opened(snapshot), Some(server)) = (&report, &mut self.server) {
                let place = ChatPlace { workspace: snapshot.chat.workspace_id, chat: snapshot.chat.id };
                server.follow(place, snapshot.last_event_id);
            }
            let commands = self.app.update(AppInput::Report(report));
            if self.execute(commands).await? == Flow::End {
                return Ok(Flow::End);
            }
            next = self.reports.try_recv().ok();
        }
        let soonest = self.drawn + FRAME;
        if soonest <= Instant::now() {
            self.draw()?;
        } else {
            self.due.get_or_insert(soonest);
        }
        Ok(Flow::Continue)
    }

    async fn execute(&mut self, commands: Vec<AppCommand>) -> io::Result<Flow> {
        for command in commands {
            match command {
                AppCommand::Quit => return Ok(Flow::End),
                AppCommand::Ask(request) => match &self.server {
                    Some(server) => server.ask(request),
                    None => self.app.say("Still opening. Try again in a moment."),
                },
                AppCommand::Suspend => self.suspend()?,
                AppCommand::Edit { purpose, text } => self.edit(purpose, &text).await?,
            }
        }
        Ok(Flow::Continue)
    }

    /// Gives the terminal to the shell until `fg`.
    fn suspend(&mut self) -> io::Result<()> {
        self.keys = None;
        self.screen.leave()?;
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        // From here on in the foreground again.
        self.screen.come_back()?;
        self.keys = Some(EventStream::new());
        Ok(())
    }

    async fn edit(&mut self, purpose: EditPurpose, text: &str) -> io::Result<()> {
        self.keys = None;
        self.screen.leave()?;
        let ending = if purpose == EditPurpose::Message { ".md" } else { ".plan" };
        let text = editor::edit(text, ending).await;
        self.screen.come_back()?;
        self.keys = Some(EventStream::new());
        let _ = self.sender.send(AppReport::Edited { purpose, text });
        Ok(())
    }
}

/// The next thing that happens. Keys come before reports, so that an answer that streams in delays no echo.
async fn next(
    keys: &mut Option<EventStream>,
    reports: &mut UnboundedReceiver<AppReport>,
    ticks: &mut Interval,
    endings: &mut [Signal; 3],
    resumed: &mut Signal,
    due: Option<Instant>,
    is_animated: bool,
) -> Happening {
    let [terminated, hung_up, interrupted] = endings;
    let key = async {
        match keys {
            Some(keys) => keys.next().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        _ = terminated.recv() => Happening::End,
        _ = hung_up.recv() => Happening::End,
        _ = interrupted.recv() => Happening::End,
        _ = resumed.recv() => Happening::Resumed,
        event = key => Happening::Terminal(event),
        () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Happening::FrameDue,
        report = reports.recv() => Happening::Report(report),
        _ = ticks.tick(), if is_animated => Happening::Tick,
    }
}
