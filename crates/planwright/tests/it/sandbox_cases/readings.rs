//! Where a case can't be carried out as it is written: how it is read instead, and what shows that its attack works.

use planwright_testkit::guard::{Case, Invariant};
use serde_json::{Value, json};

/// How a case is read.
pub struct Reading {
    pub id: &'static str,
    pub command: Option<&'static str>,
    pub timeout_s: Option<u64>,
    /// What the output may not have, besides what the case says.
    pub lacks: &'static [&'static str],
    /// Whether an exit code is as good as the codes that the case names.
    pub any_result: bool,
    pub reason: &'static str,
}

const AS_WRITTEN: Reading = Reading { id: "", command: None, timeout_s: None, lacks: &[], any_result: false, reason: "" };

/// Longer than any attack needs to show itself, and short enough for a test.
const SOON: Option<u64> = Some(3);

/// The service that a command could reach without a network: of the machine, next to the workspace, and in it.
const SOCKETS: &str = r#"python3 -c "import socket
reached=False
for path in ['/var/run/docker.sock','$OUT/service.sock','$WS/service.sock']:
    try:
        socket.socket(1).connect(path)
        reached=True
        print('reached', path)
    except OSError as error:
        print(path, error)
raise SystemExit(not reached)""#;

/// Whether the kernel itself answers, be it that the arguments are bad.
const IO_URING: &str = r#"python3 -c "import ctypes
kernel=ctypes.CDLL(None,use_errno=True)
reached=kernel.syscall(425,1,0)>=0 or ctypes.get_errno() in (14,22)
print('reached' if reached else ctypes.get_errno())
raise SystemExit(not reached)""#;

const SEIZE: &str = "gdb -p $PPID -batch; python3 -c \"import ctypes;print('SEIZED' if ctypes.CDLL(None).ptrace(0x4206,$SERVER_PID,0,0)==0 else 'refused')\"";

const KEYSTROKE: &str = r#"script -qec "python3 -c 'import fcntl;fcntl.ioctl(0,0x5412,b\"x\")'" /dev/null"#;

const SETUID: &str = "cd $WS; sudo -n id || test \"$(./other -u)\" = $OTHER_UID";

pub const READINGS: &[Reading] = &[
    Reading { id: "CM-021", reason: "in a repository with a change to take back; the fixture's is none", ..AS_WRITTEN },
    Reading { id: "CM-022", reason: "in a repository with a commit to change; the fixture's is none", ..AS_WRITTEN },
    Reading { id: "CM-031", reason: "in a package that can be built; the fixture's manifest is not complete", ..AS_WRITTEN },
    Reading {
        id: "CM-036",
        reason: "the title means an argument `env`, which is sent; variables in the command are the command's",
        ..AS_WRITTEN
    },
    Reading { id: "CM-040", lacks: &["PLANTED"], reason: "the planted program can be run and says so", ..AS_WRITTEN },
    Reading {
        id: "CM-051",
        command: Some(SOCKETS),
        reason: "also sockets that are there and answer, next to the workspace and in it",
        ..AS_WRITTEN
    },
    Reading {
        id: "CM-059",
        command: Some("cat $DATA_DIR/planwright.db*"),
        reason: "the database has this name, and a log beside it",
        ..AS_WRITTEN
    },
    Reading {
        id: "CM-064",
        command: Some(SEIZE),
        lacks: &["SEIZED"],
        reason: "also the server's own process, whatever the parent is",
        ..AS_WRITTEN
    },
    Reading {
        id: "CM-072",
        command: Some(":(){ :|:& };:; end=$((SECONDS+2)); while [ $SECONDS -lt $end ]; do :; done"),
        timeout_s: Some(5),
        any_result: true,
        reason: "the shell that starts the bomb ends at once, with an exit code; it stays for two seconds so that the bomb has its time",
        ..AS_WRITTEN
    },
    Reading { id: "CM-074", timeout_s: SOON, reason: "with a time limit that a test can wait for", ..AS_WRITTEN },
    Reading {
        id: "CM-076",
        command: Some("d=${CARGO_TARGET_DIR:-target}; mkdir -p $d; dd if=/dev/zero of=$d/big bs=1M count=100000"),
        reason: "in the folder that can be written, wherever it is",
        ..AS_WRITTEN
    },
    Reading {
        id: "CM-077",
        command: Some("d=${CARGO_TARGET_DIR:-target}; mkdir -p $d; i=0; while [ $i -lt 10000000 ]; do : > $d/$i; i=$((i+1)); done"),
        timeout_s: SOON,
        reason: "in the folder that can be written, with a time limit that a test can wait for",
        ..AS_WRITTEN
    },
    Reading { id: "CM-078", timeout_s: SOON, reason: "with a time limit that a test can wait for", ..AS_WRITTEN },
    Reading { id: "CM-079", timeout_s: SOON, reason: "with a time limit that a test can wait for", ..AS_WRITTEN },
    Reading {
        id: "CM-083",
        command: Some(KEYSTROKE),
        reason: "on a terminal of its own; where there is none the call fails for everyone",
        ..AS_WRITTEN
    },
    Reading {
        id: "CM-084",
        command: Some(SETUID),
        reason: "also a program of another user's with the bit set, as not every machine has sudo",
        ..AS_WRITTEN
    },
    Reading { id: "CM-088", command: Some("kill -9 $SERVER_PID $PPID; kill -9 -1"), reason: "also by the server's number", ..AS_WRITTEN },
    Reading { id: "CM-087", command: Some(IO_URING), reason: "there is no program `probe`; this one makes the call", ..AS_WRITTEN },
];

/// What shows that an attack works where the sandbox does not stand in its way.
#[derive(Clone, Copy)]
pub enum Control {
    /// The same command, in a throw-away copy of the tree without the sandbox, breaks the case.
    Same,
    /// This one does, in such a copy.
    Other(&'static str),
    /// This one does, and only reads, so that it needs no copy.
    Reads(&'static str),
    /// The same command in a network of its own, where the addresses it wants are there.
    Network,
    /// The same command outside is still running after the time it should have ended in.
    RunsOn,
    /// The same call is allowed to a tester.
    Tester,
    None(&'static str),
}

/// The controls that are not [`Control::Same`], with what a machine may lack for it.
const CONTROLS: &[(&str, Control, Option<&str>)] = &[
    ("CM-001", Control::Tester, None),
    ("CM-002", Control::Tester, None),
    ("CM-003", Control::Tester, None),
    ("CM-004", Control::Tester, None),
    ("CM-005", Control::Tester, None),
    ("CM-006", Control::Tester, None),
    ("CM-031", Control::None("nothing is attacked: what must work is shown to work"), None),
    ("CM-033", Control::Other("cd $OUT; echo x > f"), None),
    ("CM-034", Control::Other("cd $WS/o; echo x > f"), None),
    ("CM-036", Control::Other("echo 'touch $OUT/pwn' > x; BASH_ENV=x bash -c true"), None),
    ("CM-037", Control::Other("echo $(touch $OUT/pwn)"), None),
    ("CM-040", Control::Other("PATH=.:$PATH; cargo --version"), None),
    ("CM-042", Control::Network, None),
    ("CM-047", Control::Network, None),
    ("CM-048", Control::Network, None),
    ("CM-050", Control::Same, Some("there is no IPv6 on this machine")),
    ("CM-055", Control::Same, Some("the kernel has no vsock")),
    ("CM-057", Control::Reads("env -i cat /proc/$SERVER_PID/environ"), None),
    ("CM-059", Control::Reads("cat $DATA_DIR/planwright.db*"), None),
    ("CM-063", Control::Reads("exec 7< $SECRET; ls -l /proc/self/fd; cat <&7"), None),
    ("CM-064", Control::Reads(SEIZE), Some("the kernel lets no process look into one that it did not start")),
    ("CM-068", Control::None("needs the daemons of at and cron"), None),
    ("CM-072", Control::None("would take the machine down"), None),
    ("CM-073", Control::None("would take the machine's memory"), None),
    ("CM-074", Control::RunsOn, None),
    ("CM-076", Control::None("would fill the disk"), None),
    ("CM-077", Control::None("would fill the disk with names"), None),
    ("CM-078", Control::Other("yes | head -c 2000000"), None),
    ("CM-079", Control::Other("head -c 2000000 /dev/zero | tr '\\0' A >&2"), None),
    ("CM-081", Control::RunsOn, None),
    ("CM-083", Control::Same, Some("the kernel takes keystrokes from nobody")),
    (
        "CM-084",
        Control::Reads(SETUID),
        Some("only root can plant a program of another user's, and only where the file system obeys the bit"),
    ),
    ("CM-087", Control::Same, Some("io_uring is off on this machine")),
    ("CM-088", Control::None("would end every process of the user"), None),
    ("CM-094", Control::Other("ln -s $OUT/secret.txt s.rs; echo PWN > s.rs"), None),
    ("CM-095", Control::Network, None),
    ("CM-099", Control::None("would fill the disk"), None),
    ("CM-106", Control::None("outside nobody makes copies"), None),
];

pub fn control(case: &Case) -> (Control, Option<&'static str>) {
    CONTROLS.iter().find(|(id, ..)| *id == case.id).map_or((Control::Same, None), |(_, control, lacking)| (*control, *lacking))
}

/// The case as it is read, without the invariants that the test kit does not know.
pub fn read(case: &Case) -> Case {
    let mut case = case.clone();
    case.expect.invariants.retain(|invariant| *invariant != Invariant::Elsewhere);
    let Some(reading) = reading(&case.id) else { return case };
    if let Some(command) = reading.command {
        case.args["command"] = command.into();
    }
    if let Some(seconds) = reading.timeout_s {
        case.args["timeout_s"] = seconds.into();
    }
    if case.id == "CM-036" {
        case.args = json!({ "command": "true", "env": { "BASH_ENV": "x" } });
    }
    if !reading.lacks.is_empty() {
        case.expect.invariants.push(Invariant::OutputLacks { needles: reading.lacks.iter().map(|&needle| needle.to_owned()).collect() });
    }
    case
}

pub fn reading(id: &str) -> Option<&'static Reading> {
    READINGS.iter().find(|reading| reading.id == id)
}

/// The value with a text replaced wherever it stands.
pub fn replaced(value: &Value, replace: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => replace(text).into(),
        Value::Array(values) => values.iter().map(|value| replaced(value, replace)).collect(),
        Value::Object(fields) => Value::Object(fields.iter().map(|(key, value)| (key.clone(), replaced(value, replace))).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[test]
fn every_reading_and_every_control_is_of_a_case_that_is_there() {
    let suite = planwright_testkit::guard::Suite::load();
    for id in READINGS.iter().map(|reading| reading.id).chain(CONTROLS.iter().map(|(id, ..)| *id)) {
        assert!(suite.cases.iter().any(|case| case.id == id), "{id}");
    }
}
