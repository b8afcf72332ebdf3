//! A call in a process of its own, which can be killed, traced and put in front of another file system.

use crate::subject::FileTools;
use planwright_testkit::guard::{Case, CaseCall, CaseDecision, CaseOutcome, FinishedCall, Fixture, Subject};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ORDER: &str = "PLANWRIGHT_GUARD_ORDER";

/// The child's task, and where it writes the result.
#[derive(Serialize, Deserialize)]
struct Order {
    workspace: PathBuf,
    answer: PathBuf,
    call: CaseCall,
}

/// The child process that the tests of faults start. Without an order there is nothing to carry out.
#[test]
fn carries_out_the_call_it_was_ordered() {
    let Some(order) = std::env::var_os(ORDER) else { return };
    let order: Order = serde_json::from_slice(&std::fs::read(order).unwrap()).unwrap();
    let tools = FileTools::on(&order.workspace);
    let thread = std::fs::read_link("/proc/thread-self").unwrap();
    writeln!(std::io::stdout(), "\nready {}", thread.display()).unwrap();
    // Goes on when it is told to, so that a tracer can be there first.
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let outcome = tools.call(&order.call).unwrap();
    std::fs::write(&order.answer, serde_json::to_vec(&outcome).unwrap()).unwrap();
}

/// A child that has the workspace open and waits for the word.
pub struct Child {
    process: std::process::Child,
    /// `PID/task/TID` below `/proc`.
    thread: String,
    answer: PathBuf,
    _folder: tempfile::TempDir,
}

/// A program that starts the child, given as its last arguments.
pub type Starter<'s> = &'s [&'s str];

impl Child {
    /// # Errors
    /// The starter did not come as far as the child.
    pub fn start(fixture: &Fixture, case: &Case, starter: Starter) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let (order, answer) = (folder.path().join("order"), folder.path().join("answer"));
        let contents = Order { workspace: fixture.workspace(), answer: answer.clone(), call: fixture.call(case) };
        std::fs::write(&order, serde_json::to_vec(&contents).unwrap()).unwrap();
        let mut process = reexecuted(starter, "child::carries_out_the_call_it_was_ordered", &[])
            .env(ORDER, &order)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let ready = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("ready ").map(str::to_owned));
        let Some(thread) = ready else {
            let status = process.wait().unwrap();
            return Err(format!("the child did not start: {status}"));
        };
        Ok(Self { process, thread, answer, _folder: folder })
    }

    /// Has `strace` hold the child's thread and do something to its system calls.
    ///
    /// # Errors
    /// There is no `strace`, or it may not trace.
    pub fn trace(&self, options: &[&str]) -> Result<Tracer, String> {
        let thread = self.thread.rsplit('/').next().unwrap();
        let process = Command::new("strace")
            .args(["-q", "-p", thread])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut tracer = Tracer(process.map_err(|error| format!("strace: {error}"))?);
        let status = Path::new("/proc").join(&self.thread).join("status");
        let start = Instant::now();
        while std::fs::read_to_string(&status).unwrap_or_default().contains("TracerPid:\t0") {
            if start.elapsed() > planwright_testkit::PATIENCE || tracer.0.try_wait().unwrap().is_some() {
                return Err("strace may not trace here".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // It is attached, and about to stop the thread.
        std::thread::sleep(Duration::from_millis(10));
        Ok(tracer)
    }

    pub fn go(&mut self) {
        // A child that was killed while it waited does not listen any more.
        let _ = self.process.stdin.as_mut().unwrap().write_all(b"\n");
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    /// The result of the call; `None` if the child was killed before it could write it.
    pub fn outcome(mut self) -> Option<FinishedCall> {
        let status = self.process.wait().unwrap();
        let answer = std::fs::read(&self.answer).ok().filter(|_| status.success())?;
        Some(FinishedCall::of(serde_json::from_slice(&answer).unwrap()))
    }
}

/// The known state of a call whose process was killed.
pub fn killed() -> FinishedCall {
    let outcome = CaseOutcome {
        decision: CaseDecision::Error,
        code: None,
        output: "killed".to_owned(),
        facts: serde_json::Map::new(),
        mode: "act".to_owned(),
    };
    FinishedCall::of(outcome)
}

/// Ends with the thread that it holds.
pub struct Tracer(std::process::Child);

impl Tracer {
    pub fn finish(mut self) {
        self.0.wait().unwrap();
    }
}

/// This very test binary, to run one of its tests.
pub fn reexecuted(starter: Starter, test: &str, options: &[&str]) -> Command {
    let own = std::env::current_exe().unwrap();
    let mut command = match starter {
        [] => Command::new(own),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(own);
            command
        }
    };
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).args(options);
    command
}
