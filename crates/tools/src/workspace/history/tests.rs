use super::*;

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const C: &str = "cccccccccccccccccccccccccccccccccccccccc";

fn names(files: &[(&str, String)]) -> Names {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into_bytes())).collect()
}

fn line(old: &str, new: &str) -> String {
    format!("{old} {new} Ann <ann@example.com> 1 +0000\tcommit\n")
}

fn before() -> Names {
    names(&[
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("refs/heads/main", format!("{A}\n")),
        ("packed-refs", format!("# pack-refs with: peeled\n{C} refs/heads/feature\n")),
        ("logs/HEAD", line(C, A)),
        ("logs/refs/heads/main", line(C, A)),
    ])
}

/// The losses, if each of these commits has the one before it as an ancestor.
fn lost(change: impl Fn(&mut Names), ancestry: &[&str]) -> Vec<String> {
    let (before, mut after) = (before(), before());
    change(&mut after);
    let place = |id: &String| ancestry.iter().position(|other| other == id);
    let count = |doubt: &Doubt| {
        let has = |id: &&String| {
            place(id).is_some_and(|old| doubt.tips.iter().chain(&doubt.own_tip).any(|tip| place(tip).is_some_and(|new| new >= old)))
        };
        Some(doubt.commits.iter().filter(|id| !has(id)).count() as u64)
    };
    Comparison::of(&before, &after).lost(count).into_keys().collect()
}

fn put(names: &mut Names, name: &str, text: &str) {
    names.insert(name.to_owned(), text.as_bytes().to_vec());
}

fn commit(names: &mut Names) {
    put(names, "refs/heads/main", &format!("{B}\n"));
    put(names, "logs/HEAD", &(line(C, A) + &line(A, B)));
    put(names, "logs/refs/heads/main", &(line(C, A) + &line(A, B)));
}

#[test]
fn a_ref_that_moves_on_and_one_that_is_packed_or_renamed_lose_nothing() {
    assert_eq!(lost(commit, &[A, B]), Vec::<String>::new());
    let packed = |names: &mut Names| {
        names.remove("refs/heads/main");
        put(names, "packed-refs", &format!("{C} refs/heads/feature\n{A} refs/heads/main\n"));
    };
    assert_eq!(lost(packed, &[]), Vec::<String>::new());
    let renamed = |names: &mut Names| put(names, "packed-refs", &format!("{C} refs/heads/other\n"));
    assert_eq!(lost(renamed, &[]), Vec::<String>::new());
    let switched = |names: &mut Names| put(names, "HEAD", "ref: refs/heads/feature\n");
    assert_eq!(lost(switched, &[]), Vec::<String>::new());
}

#[test]
fn a_ref_that_does_not_have_its_old_commit_any_more_is_lost_though_logs_have_it() {
    assert_eq!(lost(commit, &[]), ["refs/heads/main"]);
    let moved = |names: &mut Names| put(names, "packed-refs", &format!("{A} refs/heads/feature\n"));
    assert_eq!(lost(moved, &[]), ["refs/heads/feature"]);
    assert_eq!(lost(moved, &[C, A]), Vec::<String>::new(), "a fast-forward");
    let detached = |names: &mut Names| {
        put(names, "HEAD", &format!("{A}\n"));
        names.remove("refs/heads/main");
        names.remove("logs/refs/heads/main");
    };
    assert_eq!(lost(detached, &[]), ["refs/heads/main"], "HEAD is no branch");
    assert_eq!(lost(detached, &[A, C]), Vec::<String>::new(), "merged into feature");
}

#[test]
fn a_ref_that_goes_is_lost_unless_another_has_its_commits() {
    let gone = |names: &mut Names| put(names, "packed-refs", "");
    assert_eq!(lost(gone, &[]), ["refs/heads/feature"]);
    assert_eq!(lost(gone, &[C, A]), Vec::<String>::new(), "it was merged");
}

/// Branches and tags, each with its own commit.
fn many(kind: &str, count: usize) -> String {
    (0..count).map(|number| format!("{number:040x} refs/{kind}/{number:06}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn as_many_refs_as_there_may_be_are_compared_without_a_list_of_all_for_each() {
    const MANY: usize = 30_000;
    let tags = many("tags", MANY).replace("000000", "111111");
    let (before, after) = (names(&[("packed-refs", many("heads", MANY) + &tags)]), names(&[("packed-refs", tags)]));
    let lost = Comparison::of(&before, &after).lost(|_| None);
    assert_eq!(lost.len(), MANY);
    // The same, each in its own file.
    let loose: Names = (0..MANY).map(|number| (format!("refs/heads/{number:06}"), format!("{number:040x}\n").into_bytes())).collect();
    let gone = |name: &String| EntryChange { path: repository().join(name), was: Some(Kind::File), now: None };
    let changes: Vec<EntryChange> = loose.keys().map(gone).collect();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(super::after(&loose, &changes, &Workspace::open(folder.path()).unwrap()).unwrap(), Names::new());
}

#[test]
fn what_nobody_can_count_is_lost() {
    let (before, mut after) = (before(), before());
    put(&mut after, "packed-refs", &format!("{A} refs/heads/feature\n"));
    let lost = Comparison::of(&before, &after).lost(|_| None);
    assert_eq!(lost.into_iter().collect::<Vec<_>>(), [("refs/heads/feature".to_owned(), None)]);
}

#[test]
fn logs_only_grow_and_refs_move_only_with_them() {
    let cut = |names: &mut Names| put(names, "logs/HEAD", "");
    assert_eq!(lost(cut, &[]), ["logs/HEAD"]);
    let gone = |names: &mut Names| drop(names.remove("logs/refs/heads/main"));
    assert_eq!(lost(gone, &[]), ["logs/refs/heads/main"]);
    let by_hand = |names: &mut Names| put(names, "refs/heads/main", &format!("{B}\n"));
    assert_eq!(lost(by_hand, &[A, B]), ["refs/heads/main"]);
    let broken = |names: &mut Names| put(names, "HEAD", "nonsense");
    assert_eq!(lost(broken, &[]), ["HEAD"]);
}

#[test]
fn a_branch_that_becomes_a_name_of_another_is_lost_though_a_tag_has_its_commits_and_so_is_a_head_on_no_branch() {
    let named = |names: &mut Names| {
        put(names, "refs/tags/v1", &format!("{A}\n"));
        put(names, "refs/heads/main", "ref: refs/heads/feature\n");
    };
    assert_eq!(lost(named, &[C, A]), ["refs/heads/main"]);
    for target in ["refs/tags/v1", "refs/remotes/origin/main", "refs/heads"] {
        assert_eq!(lost(|names| put(names, "HEAD", &format!("ref: {target}\n")), &[]), ["HEAD"], "{target}");
    }
}
