//! What `make install` puts where, and that it is whole.

use crate::BINARY;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn make(target: &str, root: &Path) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut make = Command::new("make");
    make.current_dir(folder).args(["--no-print-directory", target, "PREFIX=/usr"]);
    let output = make.arg(format!("BINARY={BINARY}")).arg(format!("DESTDIR={}", root.display())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn run(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Output {
    Command::new(program).args(args).output().unwrap()
}

/// All commands that `--help` lists, below one of them.
fn commands(args: &[&str]) -> Vec<String> {
    let help = String::from_utf8(run(BINARY, &[args, &["--help"]].concat()).stdout).unwrap();
    let Some((_, list)) = help.split_once("Commands:\n") else { return Vec::new() };
    let entries = list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    let names = entries.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { found.extend(files(&entry)) } else { found.push(entry) }
    }
    found
}

#[test]
fn make_install_puts_everything_in_place_and_uninstall_takes_it_away() {
    let folder = tempfile::tempdir().unwrap();
    make("install", folder.path());
    let root = folder.path().join("usr");
    let mode = |path: &str| root.join(path).metadata().unwrap_or_else(|error| panic!("{path}: {error}")).permissions().mode() & 0o777;
    assert_eq!(mode("bin/planwright"), 0o755);
    for path in [
        "share/man/man1/planwright.1",
        "share/bash-completion/completions/planwright",
        "share/zsh/site-functions/_planwright",
        "share/fish/vendor_completions.d/planwright.fish",
        "lib/systemd/user/planwright.service",
        "share/doc/planwright/README.md",
        "share/doc/planwright/docs/keeping.md",
        "share/doc/planwright/docs/guide/first-plan.md",
    ] {
        assert_eq!(mode(path), 0o644, "{path}");
    }
    assert!(run(root.join("bin/planwright"), &["--version"]).status.success());
    let unit = std::fs::read_to_string(root.join("lib/systemd/user/planwright.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/planwright serve "), "{unit}");
    for limit in ["LimitCORE=0", "LimitNOFILE=65536", "MemoryMax=", "TasksMax="] {
        assert!(unit.lines().any(|line| line.starts_with(limit)), "{limit} is not in the unit: {unit}");
    }
    let bash = root.join("share/bash-completion/completions/planwright");
    assert!(run("bash", &["-n", bash.to_str().unwrap()]).status.success());
    make("uninstall", folder.path());
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn there_is_a_manual_page_for_every_command_and_it_has_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(BINARY, &["man", folder.path().join("man1").to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut expected = vec!["planwright".to_owned()];
    let above = commands(&[]);
    assert!(["serve", "run", "acp", "backup", "restore", "export"].iter().all(|name| above.iter().any(|found| found == name)), "{above:?}");
    let main = std::fs::read_to_string(folder.path().join("man1/planwright.1")).unwrap();
    for name in above {
        assert!(main.contains(&format!("planwright\\-{name}(1)")), "{name} is not named in planwright(1)");
        expected.extend(commands(&[&name]).iter().map(|below| format!("planwright-{name}-{below}")));
        expected.push(format!("planwright-{name}"));
    }
    expected.sort();
    let mut found: Vec<String> = files(folder.path()).iter().map(|page| page.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(found, expected);
    for page in files(folder.path()) {
        let shown = run("groff", &["-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", page.to_str().unwrap()]);
        let (text, complaints) = (String::from_utf8(shown.stdout).unwrap(), String::from_utf8_lossy(&shown.stderr));
        assert!(shown.status.success() && complaints.is_empty(), "{}: {complaints}", page.display());
        assert!(text.contains("NAME") && text.contains("SYNOPSIS"), "{text}");
    }
    let page = folder.path().join("man1/planwright-backup.1");
    let shown = run("groff", &["-man", "-Tutf8", "-P-c", "-P-b", "-P-u", page.to_str().unwrap()]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let examples = text.split_once("EXAMPLES\n").unwrap().1;
    let lines: Vec<&str> = examples.lines().map(str::trim).take(2).collect();
    assert_eq!(
        lines,
        ["planwright backup chats.backup", "planwright backup \"planwright-$(date +%F).backup\"      one for each day"],
        "{text}"
    );
    assert!(text.contains("NOTES\n") && !text.contains("EXTRA"), "{text}");
}

#[test]
fn the_systemd_unit_is_one_that_systemd_takes() {
    let folder = tempfile::tempdir().unwrap();
    let unit = include_str!("../../../../packaging/planwright.service");
    let file = folder.path().join("planwright.service");
    std::fs::write(&file, unit.replace("@BINDIR@/planwright", BINARY)).unwrap();
    for line in [
        "ConditionPathExists=%E/planwright/serve.env",
        "ExecStart=@BINDIR@/planwright serve $PLANWRIGHT_SERVE_OPTIONS",
        "WantedBy=default.target",
    ] {
        assert!(unit.lines().any(|found| found == line), "{line}");
    }
    // Containers have no systemd to ask; the lines above are then all that is looked at.
    let Ok(checked) =
        Command::new("systemd-analyze").args(["--user", "verify", "--man=no"]).arg(&file).env("XDG_RUNTIME_DIR", folder.path()).output()
    else {
        return;
    };
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(!said.contains("planwright.service:"), "{said}");
}
