//! The changes of a chat, put together by path.

use planwright_protocol::Image;
use planwright_store::StoredChange;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Nothing: files without content are all alike, and none of them was moved because of it.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// One path over several changes.
#[derive(Clone)]
pub struct Net {
    pub path: String,
    pub before: Image,
    pub after: Image,
    pub reverted: bool,
}

impl Net {
    pub fn of(row: &StoredChange, reverted: bool) -> Self {
        Self { path: row.change.path.clone(), before: row.change.before.clone(), after: row.change.after.clone(), reverted }
    }
}

/// The paths that differ before the first of these changes and after the last, by path, with moves put together.
pub fn net_changes(rows: &[&StoredChange]) -> Vec<(Net, Option<String>)> {
    let mut net: BTreeMap<&str, Net> = BTreeMap::new();
    for row in rows {
        let whole = net.entry(&row.change.path).or_insert_with(|| Net::of(row, false));
        whole.after = row.change.after.clone();
    }
    in_order(net.into_values().filter(|net| !net.before.matches(&net.after)).collect())
}

/// By path, with moves put together.
pub fn in_order(changes: Vec<Net>) -> Vec<(Net, Option<String>)> {
    let mut changes = with_moves(changes);
    changes.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    changes
}

/// Puts files that are gone at one path and there at another with the same content together.
fn with_moves(changes: Vec<Net>) -> Vec<(Net, Option<String>)> {
    let mut gone: HashMap<String, Vec<Net>> = HashMap::new();
    let content = |image: &Image| image.content().filter(|sha256| *sha256 != EMPTY).map(str::to_owned);
    for net in changes.iter().filter(|net| net.after == Image::Absent) {
        if let Some(sha256) = content(&net.before) {
            gone.entry(sha256).or_default().push(net.clone());
        }
    }
    let (mut moved, mut shown) = (HashSet::new(), Vec::new());
    for mut net in changes {
        let old = content(&net.after).filter(|_| net.before == Image::Absent).and_then(|sha256| gone.get_mut(&sha256)?.pop());
        let from = old.map(|old| {
            net.before = old.before;
            moved.insert(old.path.clone());
            old.path
        });
        shown.push((net, from));
    }
    shown.retain(|(net, _)| !moved.contains(&net.path));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(path: &str, before: Image, after: Image) -> Net {
        Net { path: path.into(), before, after, reverted: false }
    }

    #[test]
    fn a_file_that_is_gone_here_and_there_elsewhere_was_moved_unless_it_is_empty() {
        let file = |sha256: &str| Image::File { mode: Some(0o644), sha256: sha256.into() };
        let shown = with_moves(vec![
            net("/a", file("1"), Image::Absent),
            net("/b", Image::Absent, file("1")),
            net("/c", Image::Absent, file("1")),
            net("/d", file(EMPTY), Image::Absent),
            net("/e", Image::Absent, file(EMPTY)),
        ]);
        let told: Vec<(&str, Option<&str>)> = shown.iter().map(|(net, from)| (net.path.as_str(), from.as_deref())).collect();
        assert_eq!(told, [("/b", Some("/a")), ("/c", None), ("/d", None), ("/e", None)]);
    }
}
