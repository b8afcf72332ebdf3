//! Links of the documentation lead somewhere, and what is a chapter of the guide leads only to other chapters.

use crate::{files, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Text without its code, which may look like links and headings.
fn prose(text: &str) -> String {
    let mut kept = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Code in a line is at every second place between backticks.
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors that headings get, on the usual forges and in mdBook alike.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = text.lines().filter(|line| {
        fenced ^= line.trim_start().starts_with("```");
        !fenced && line.starts_with('#')
    });
    let kept = |character: &char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

/// The path that a link of a page means, from the root; `None` if it leads out of the project.
fn target(page: &str, link: &str) -> Option<String> {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    path.to_str().map(str::to_owned)
}

fn is_elsewhere(link: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme))
}

/// What is wrong with a link of a page.
fn fault(pages: &BTreeMap<String, String>, chapters: &BTreeSet<String>, page: &str, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let Some(target) = (if path.is_empty() { Some(page.to_owned()) } else { target(page, path) }) else {
        return Some("leads out of the project".to_owned());
    };
    if !root().join(&target).exists() {
        return Some(format!("there is no {target}"));
    }
    if !anchor.is_empty() && !pages.get(&target).is_some_and(|text| anchors(text).contains(anchor)) {
        return Some(format!("{target} has no heading #{anchor}"));
    }
    let is_of_the_book =
        chapters.contains(&target) || (target.starts_with("docs/") && Path::new(&target).extension().is_none_or(|ending| ending != "md"));
    (chapters.contains(page) && !is_of_the_book)
        .then(|| format!("{target} is no chapter of the guide (docs/SUMMARY.md), so this leads nowhere in it"))
}

fn pages() -> BTreeMap<String, String> {
    files(&[".md"]).into_iter().collect()
}

/// The pages that `docs/SUMMARY.md` lists.
fn chapters(pages: &BTreeMap<String, String>) -> BTreeSet<String> {
    links(&pages["docs/SUMMARY.md"]).iter().map(|link| format!("docs/{link}")).collect()
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let pages = pages();
    let chapters = chapters(&pages);
    let mut faults = Vec::new();
    for (page, text) in &pages {
        for link in links(text).iter().filter(|link| !is_elsewhere(link)) {
            faults.extend(fault(&pages, &chapters, page, link).map(|fault| format!("{page}: {link}: {fault}")));
        }
        // Pages are read where the source is as well, and there nothing puts in what others have.
        if prose(text).contains("{{#") {
            faults.push(format!("{page}: {{{{#…}}}} means something in mdBook alone"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_page_of_docs_is_a_chapter_of_the_guide() {
    let pages = pages();
    let chapters = chapters(&pages);
    let is_page = |page: &&String| page.starts_with("docs/") && *page != "docs/SUMMARY.md";
    let left_out: Vec<&String> = pages.keys().filter(is_page).filter(|page| !chapters.contains(*page)).collect();
    assert!(left_out.is_empty(), "docs/SUMMARY.md does not list {left_out:?}");
}

#[test]
fn known_limitations_are_told_in_the_guide() {
    let pages = pages();
    let page = "docs/guide/known-limitations.md";
    assert!(chapters(&pages).contains(page));
    let anchors = anchors(&pages[page]);
    for subject in ["prompts", "what-counts-as-an-order", "plans-and-their-scope", "machines", "models"] {
        assert!(anchors.contains(subject), "nothing is said of {subject}");
    }
    assert!(links(&pages["README.md"]).iter().any(|link| link == page), "nobody who reads the README finds them");
}

#[test]
fn a_link_that_leads_nowhere_is_noticed() {
    let pages = BTreeMap::from([("docs/ARCHITECTURE.md".to_owned(), "# Map\n\n```sh\n# no heading\n```\n## What's there?\n".to_owned())]);
    let chapters = BTreeSet::from(["docs/api.md".to_owned(), "docs/ARCHITECTURE.md".to_owned()]);
    let fault = |link: &str| fault(&pages, &chapters, "docs/api.md", link);
    assert_eq!(fault("ARCHITECTURE.md#whats-there"), None);
    for wrong in ["ARCHITECTURE.md#no-heading", "NOTHING.md", "../README.md", "../../elsewhere.md", "#nowhere"] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
    assert_eq!(links("[a](b.md) `[c](d.md)`\n```\n[e](f.md)\n```\n[g](h.md#i)"), ["b.md", "h.md#i"]);
}
