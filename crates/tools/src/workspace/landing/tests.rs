use super::*;
use crate::effect::{Effect, FileEffect, LandingEffect};
use crate::gate::Consent;
use crate::gate::tests::{allowed, situation};
use crate::workspace::Begun;
use planwright_protocol::{ErrorCode, Role};

fn land(prepare: impl Fn(&Path, Begun) -> Since) -> (Vec<String>, [String; 2]) {
    land_noting(false, prepare)
}

fn land_noting(is_noted: bool, prepare: impl Fn(&Path, Begun) -> Since) -> (Vec<String>, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let [root, upper] = ["workspace", "upper"].map(|name| folder.path().join(name));
    for (place, name, text) in [(&root, "old", "before"), (&upper, "old", "after"), (&upper, "new", "after")] {
        std::fs::create_dir_all(place).unwrap();
        std::fs::write(place.join(name), text).unwrap();
    }
    let workspace = Workspace::open(&root).unwrap();
    let begun = Begun::now();
    if is_noted {
        workspace.record_files(None, folder.path()).unwrap();
    }
    let since = prepare(&root, begun);
    let permit = permit(&["/old", "/new"]);
    let mut landing = Landing { since, seen: RecordedFiles::load(folder.path()), ..landing(&permit, &["/old", "/new"]) };
    workspace.land(&upper, &mut landing).unwrap();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    (landing.conflicts.iter().map(ToString::to_string).collect(), [read("old"), read("new")])
}

/// A permit for changes of these paths.
fn permit(paths: &[&str]) -> LandPermit {
    let changes = paths.iter().map(|path| FileEffect::Write(WorkspacePath::parse(path).unwrap()).into());
    let effects: Vec<Effect> = std::iter::once(LandingEffect::Keep.into()).chain(changes).collect();
    allowed(&situation(Role::Actor, Consent::Given), &effects).to_land(&effects, &[]).unwrap()
}

fn landing<'p>(permit: &'p LandPermit, kept: &[&str]) -> Landing<'p> {
    Landing {
        permit,
        kept: kept.iter().map(|path| WorkspacePath::parse(path).unwrap()).collect(),
        new_folders: BTreeSet::new(),
        gone: Vec::new(),
        whole: BTreeSet::new(),
        records: BTreeSet::new(),
        since: Since::Unknown,
        seen: RecordedFiles::default(),
        only_adds: true,
        conflicts: Vec::new(),
        stuck: Vec::new(),
        own: Vec::new(),
        output: OutputConflicts::default(),
        released: HashSet::new(),
        compared: 0,
    }
}

#[test]
fn nothing_lands_or_goes_that_nobody_decided_on() {
    let folder = tempfile::tempdir().unwrap();
    let [root, upper] = ["workspace", "upper"].map(|name| folder.path().join(name));
    for place in [&root, &upper] {
        std::fs::create_dir_all(place).unwrap();
        std::fs::write(place.join("other"), place.as_os_str().as_encoded_bytes()).unwrap();
    }
    let workspace = Workspace::open(&root).unwrap();
    let permit = permit(&["/src/old"]);
    let other = || WorkspacePath::parse("/other").unwrap();
    for refused in [
        landing(&permit, &["/src/old", "/other"]),
        Landing { gone: vec![other()], ..landing(&permit, &[]) },
        Landing { new_folders: [other()].into(), ..landing(&permit, &[]) },
    ] {
        let mut refused = refused;
        assert_eq!(workspace.land(&upper, &mut refused).unwrap_err().code, ErrorCode::ToolNotPermitted);
        assert_eq!(std::fs::read(root.join("other")).unwrap(), root.as_os_str().as_encoded_bytes());
    }
    // The parent folder of a decided file lands with it, and git's records need no decision of their own.
    workspace.land(&upper, &mut landing(&permit, &["/src", "/src/old", "/.git/refs/heads/main"])).unwrap();
}

#[test]
fn once_the_clock_was_set_back_every_file_that_is_there_is_left_alone_and_new_ones_land() {
    let texts = |old: &str| [old.to_owned(), "after".to_owned()];
    assert_eq!(land(|_, begun| begun.since()), (Vec::new(), texts("after")));
    assert_eq!(land(|_, _| Since::Unknown), (vec!["/old".to_owned()], texts("before")));
    let changed = |root: &Path, begun: Begun| {
        std::fs::write(root.join("old"), "theirs").unwrap();
        begun.since()
    };
    assert_eq!(land(changed), (vec!["/old".to_owned()], texts("theirs")));
}

#[test]
fn a_change_is_known_by_what_the_command_found_whatever_the_clocks_say() {
    let texts = |old: &str| [old.to_owned(), "after".to_owned()];
    // As if the clock, or that of a file server, was behind when others wrote: no time shows it.
    let late = Since::Moment(std::time::SystemTime::now() + std::time::Duration::from_hours(1));
    assert_eq!(land_noting(true, |_, _| late), (Vec::new(), texts("after")));
    let changed = |root: &Path| std::fs::write(root.join("old"), "theirs").unwrap();
    let replaced = |root: &Path| {
        std::fs::write(root.join("other"), "theirs").unwrap();
        std::fs::rename(root.join("other"), root.join("old")).unwrap();
    };
    for change in [&changed as &dyn Fn(&Path), &replaced] {
        let done = land_noting(true, |root, _| {
            change(root);
            late
        });
        assert_eq!(done, (vec!["/old".to_owned()], texts("theirs")));
    }
    let same_size = |root: &Path, _: Begun| {
        std::fs::write(root.join("old"), "BEFORE").unwrap();
        late
    };
    assert_eq!(land_noting(true, same_size), (vec!["/old".to_owned()], texts("BEFORE")));
    let made = |root: &Path, _: Begun| {
        std::fs::write(root.join("new"), "theirs").unwrap();
        late
    };
    assert_eq!(land_noting(true, made), (vec!["/new".to_owned()], ["after", "theirs"].map(str::to_owned)));
}

#[test]
fn what_was_not_noted_in_build_output_is_known_by_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("workspace");
    std::fs::create_dir_all(root.join("web/node_modules/a")).unwrap();
    std::fs::write(root.join("web/node_modules/a/b.js"), "b").unwrap();
    std::fs::write(root.join("web/index.js"), "i").unwrap();
    let workspace = Workspace::open(&root).unwrap();
    workspace.record_files(None, folder.path()).unwrap();
    let seen = RecordedFiles::load(folder.path());
    let stat = |name: &str| rustix::fs::stat(root.join(name)).unwrap();
    let is_other = |name: &str| seen.is_other(name.as_bytes(), &stat(name));
    assert!(!is_other("web/node_modules/a/b.js") && !is_other("web/index.js"));
    assert!(seen.is_other(b"web/other.js", &stat("web/index.js")), "there was none");
    std::fs::write(root.join("web/index.js"), "j").unwrap();
    assert!(is_other("web/index.js") && !is_other("web/node_modules/a/b.js"));
}

/// Lands `target`, all of which is build output: prepared in the workspace and the upper folder, changed meanwhile in the
/// workspace. Returns what was not kept.
fn land_output(before: impl Fn(&Path), staged: impl Fn(&Path), meanwhile: impl Fn(&Path)) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let [root, upper] = ["workspace", "upper"].map(|name| folder.path().join(name));
    for place in [&root, &upper] {
        std::fs::create_dir_all(place.join("target")).unwrap();
    }
    before(&root.join("target"));
    let workspace = Workspace::open(&root).unwrap();
    let begun = Begun::now();
    workspace.record_files(None, folder.path()).unwrap();
    staged(&upper.join("target"));
    meanwhile(&root.join("target"));
    let permit = permit(&[]);
    // Files of build output are not recorded as seen.
    let whole = BTreeSet::from([WorkspacePath::parse("/target").unwrap()]);
    let mut landing = Landing { whole, since: begun.since(), only_adds: false, ..landing(&permit, &[]) };
    workspace.land(&upper, &mut landing).unwrap();
    assert_eq!((landing.conflicts.len(), landing.stuck.len()), (0, 0));
    (folder, landing.output.named.iter().chain(&landing.own).map(ToString::to_string).collect())
}

fn put(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

#[test]
fn build_output_that_somebody_else_changed_meanwhile_is_left_and_the_rest_lands() {
    let before = |folder: &Path| put(folder, &[("a", "old"), ("b", "old"), ("same", "old"), ("d/x", "old"), ("e", "old")]);
    let staged =
        |folder: &Path| put(folder, &[("a", "mine"), ("b", "mine"), ("same", "alike"), ("d", "a file"), ("new", "mine"), ("e/f", "mine")]);
    let meanwhile =
        |folder: &Path| put(folder, &[("a", "theirs"), ("same", "alike"), ("d/x", "theirs"), ("new", "theirs"), ("e", "theirs")]);
    let (folder, mut left) = land_output(before, staged, meanwhile);
    left.sort();
    assert_eq!(left, ["/target/a", "/target/d", "/target/e", "/target/new"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join("workspace/target").join(name)).unwrap();
    assert_eq!(["a", "b", "same", "d/x", "new", "e"].map(read), ["theirs", "mine", "alike", "theirs", "theirs", "theirs"]);
}

#[test]
fn two_names_of_one_file_of_build_output_are_both_replaced() {
    let before = |folder: &Path| {
        put(folder, &[("a", "old")]);
        std::fs::hard_link(folder.join("a"), folder.join("b")).unwrap();
        std::fs::hard_link(folder.join("a"), folder.join("c")).unwrap();
    };
    let staged = |folder: &Path| put(folder, &[("a", "mine"), ("b", "mine"), ("c", "mine")]);
    let (folder, left) = land_output(before, staged, |_| {});
    assert_eq!(left, Vec::<String>::new());
    let read = |name: &str| std::fs::read_to_string(folder.path().join("workspace/target").join(name)).unwrap();
    assert_eq!(["a", "b", "c"].map(read), ["mine", "mine", "mine"]);
}

#[test]
fn a_repository_under_another_name_does_not_land_also_if_somebody_else_made_half_of_it_meanwhile() {
    let staged = |folder: &Path| {
        put(folder, &[("x/HEAD", "h"), ("x/objects/o", "o"), ("x/refs/r", "r"), ("y/HEAD", "h"), ("y/config", "c"), ("z/deep/HEAD", "h")]);
        put(folder, &[("z/deep/commondir", "../../.git"), ("z/kept", "k")]);
    };
    let meanwhile = |folder: &Path| put(folder, &[("y/objects/o", "o"), ("y/refs/r", "r")]);
    let (folder, mut left) = land_output(|_| {}, staged, meanwhile);
    left.sort();
    assert_eq!(left, ["/target/x", "/target/y", "/target/z/deep"]);
    let is_there = |name: &str| folder.path().join("workspace/target").join(name).exists();
    assert_eq!(["x", "y/HEAD", "y/config", "z/deep", "z/kept"].map(is_there), [false, false, false, false, true]);
}
