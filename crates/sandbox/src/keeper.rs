//! Runs a command without a sandbox, for users who switched it off. Even then, no process that it started outlives it.

use crate::enter::{Outer, READY, write_status};
use crate::host;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

const WATCH: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Runs the command as a child. Kills all its descendants when it ends, or when the server closes our stdin.
pub fn run_unconfined(outer: &Outer) -> ! {
    // Orphaned descendants become our children, so that none can escape.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let child = Command::new(host::shell())
        .arg("-c")
        .arg(&outer.command)
        .current_dir(outer.policy.workspace.join(&outer.policy.cwd))
        .env_clear()
        .envs(&outer.environment)
        .stdin(Stdio::null())
        .spawn();
    let code = match child {
        Ok(child) => {
            write_status(outer.status, READY);
            watch(child)
        }
        Err(error) => {
            write_status(outer.status, format!("can't start {}: {error}", host::shell()).as_bytes());
            1
        }
    };
    std::process::exit(code);
}

fn watch(mut child: Child) -> i32 {
    let input = std::io::stdin();
    let code = loop {
        let mut events = [PollFd::new(&input, PollFlags::IN)];
        let _ = poll(&mut events, Some(&WATCH));
        if let Ok(Some(status)) = child.try_wait() {
            break status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        }
        if !events[0].revents().is_empty() {
            break 137;
        }
    };
    while let Some(descendants) = descendants() {
        for process in descendants {
            let _ = rustix::process::kill_process(process, Signal::KILL);
        }
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
    }
    code
}

/// Our children, or `None` if there are none left.
fn descendants() -> Option<Vec<Pid>> {
    let own = rustix::process::getpid().as_raw_nonzero();
    let text = std::fs::read_to_string(format!("/proc/self/task/{own}/children")).unwrap_or_default();
    let found: Vec<Pid> = text.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect();
    (!found.is_empty()).then_some(found)
}
