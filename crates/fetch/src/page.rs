//! A reply as text for a model.

use crate::exchange::{Reply, failed};
use crate::markdown;
use crate::web_url::WebUrl;
use hyper::header::CONTENT_TYPE;
use planwright_protocol::Problem;

/// Characters of a page that a model gets.
pub const LONGEST_TEXT: usize = 40_000;
/// Sections that are named when a page is cut.
const MOST_SECTIONS: usize = 30;

/// A page of the web as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WebPage {
    /// Where it was found, after redirects.
    pub url: String,
    pub title: Option<String>,
    pub text: String,
    /// What of it is missing, and how to get that.
    pub notes: Vec<String>,
}

impl WebPage {
    pub(crate) async fn read(url: &WebUrl, fragment: Option<&str>, reply: Reply) -> Result<Self, Problem> {
        let status = reply.status();
        if !status.is_success() {
            return Err(failed(&format!("{} answered {status}", url.host())));
        }
        let kind = reply.header(&CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let body = reply.body().await?;
        let mut page = Self { url: url.to_string(), ..Self::default() };
        if body.is_cut {
            page.notes.push("It is larger than the limit; this is its beginning.".to_owned());
        }
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let text = decode(&kind, body.bytes)?;
        let begins_as_html = || text.trim_start().get(..5).is_some_and(|start| ["<!doc", "<html"].contains(&start.to_lowercase().as_str()));
        match essence {
            "text/html" | "application/xhtml+xml" => page.fill_from_html(url, &text, fragment),
            "" if begins_as_html() => page.fill_from_html(url, &text, fragment),
            essence if is_text(essence) => page.fill(&clean(&text), &[]),
            essence => return Err(failed(&format!("it is {essence}, and only text is read", essence = clean(essence)))),
        }
        Ok(page)
    }

    fn fill_from_html(&mut self, url: &WebUrl, html: &str, fragment: Option<&str>) {
        let converted = markdown::convert(html, url.inner());
        self.title = converted.title;
        let mut begin = 0;
        if let Some(fragment) = fragment {
            match converted.places.iter().find(|(id, _)| id == fragment) {
                Some((_, place)) => begin = *place,
                None => self.notes.push("It has no section of the name after `#`; this is its beginning.".to_owned()),
            }
        }
        let sections: Vec<(&str, usize)> =
            converted.headings.iter().filter_map(|(id, place)| Some((id.as_str(), place.checked_sub(begin)?))).collect();
        self.fill(converted.text[begin..].trim_end(), &sections);
        if converted.is_cut {
            self.notes.push("It is larger than the limit; its end is missing.".to_owned());
        }
    }

    /// Takes as much as a model gets, and names the sections that follow.
    fn fill(&mut self, text: &str, sections: &[(&str, usize)]) {
        let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) else {
            text.clone_into(&mut self.text);
            return;
        };
        text[..end].clone_into(&mut self.text);
        let later: Vec<String> =
            sections.iter().filter(|(_, place)| *place >= end).take(MOST_SECTIONS).map(|(id, _)| format!("#{id}")).collect();
        let how = if later.is_empty() {
            "The rest can't be had.".to_owned()
        } else {
            format!("To read on, fetch it with the name of a section after its address: {}.", later.join(" "))
        };
        self.notes.push(format!("It is cut after {LONGEST_TEXT} characters. {how}"));
    }
}

fn is_text(essence: &str) -> bool {
    let (kind, name) = essence.split_once('/').unwrap_or((essence, ""));
    let names = ["json", "xml", "javascript", "ecmascript", "toml", "yaml", "x-yaml", "x-sh", "graphql", "sql", "markdown"];
    essence.is_empty()
        || kind == "text"
        || kind == "application" && (names.contains(&name) || name.ends_with("+json") || name.ends_with("+xml"))
}

/// UTF-8 or the western encodings; anything else as far as it can be read.
fn decode(kind: &str, bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.contains(&0) {
        return Err(failed("it is not text"));
    }
    let charset = kind.split_once("charset=").map(|(_, rest)| rest.trim_matches(['"', ' ']).split(';').next().unwrap_or_default());
    let is_western = matches!(charset, Some("iso-8859-1" | "latin1" | "windows-1252" | "us-ascii"));
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_western => error.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Without characters that nobody sees: they could say something to the model that is hidden from people.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|letter| !is_hidden(*letter)).collect()
}

pub(crate) fn is_hidden(letter: char) -> bool {
    let code = u32::from(letter);
    letter.is_control() && !matches!(letter, '\n' | '\t')
        || matches!(code, 0xAD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF)
        || matches!(code, 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}
