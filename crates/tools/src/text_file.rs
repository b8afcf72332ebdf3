//! Decides which files are text. Every tool, diff and view uses this, so that they agree.
//!
//! The first 8000 bytes decide: text has almost no control characters, and at most one NUL. So images, archives and programs are
//! not text, and sources in Latin-1 or another old encoding are: their non-UTF-8 bytes are shown as U+FFFD, and stay unchanged
//! when the file is edited. UTF-16 with a byte order mark is text too. An empty file is text.

use planwright_protocol::{ErrorCode, Problem};
use std::borrow::Cow;
use std::fmt::Display;

/// The number of bytes that decide.
pub const LOOKED_AT: usize = 8000;

/// Signatures of compressed files that may be too short to be recognised by their bytes: gzip, Zstandard, bzip2.
const COMPRESSED: [&[u8]; 3] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY"];

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or another superset of ASCII.
    Bytes,
    Utf16(Order),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    LittleEndian,
    BigEndian,
}

impl Order {
    const fn mark(self) -> [u8; 2] {
        match self {
            Order::LittleEndian => [0xff, 0xfe],
            Order::BigEndian => [0xfe, 0xff],
        }
    }

    fn characters(self, bytes: &[u8]) -> impl Iterator<Item = Option<char>> {
        let units = bytes.as_chunks().0.iter().map(move |&pair| match self {
            Order::LittleEndian => u16::from_le_bytes(pair),
            Order::BigEndian => u16::from_be_bytes(pair),
        });
        char::decode_utf16(units).map(Result::ok)
    }
}

/// The encoding of a file that begins with these bytes; `None` if it is not text.
#[must_use]
pub fn encoding_of(start: &[u8]) -> Option<Encoding> {
    let start = &start[..start.len().min(LOOKED_AT)];
    let order = [Order::LittleEndian, Order::BigEndian].into_iter().find(|order| start.starts_with(&order.mark()));
    let Some(order) = order else { return is_plain(start).then_some(Encoding::Bytes) };
    let mut characters: Vec<Option<char>> = order.characters(&start[2..]).collect();
    let is_cut = start.len() == LOOKED_AT;
    if is_cut {
        // The second half of a surrogate pair may be cut off.
        characters.pop_if(|last| last.is_none());
    }
    let text: String = characters.into_iter().collect::<Option<_>>()?;
    let is_whole = is_cut || start.len().is_multiple_of(2);
    (is_whole && is_plain(text.as_bytes())).then_some(Encoding::Utf16(order))
}

/// A stray control character is allowed in text; compressed and compiled data is full of them.
fn is_plain(start: &[u8]) -> bool {
    let strange = start.iter().filter(|byte| matches!(byte, 0x01..=0x06 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    let is_compressed = COMPRESSED.iter().any(|magic| start.starts_with(magic));
    !is_compressed && memchr::memchr_iter(0, start).count() <= 1 && strange <= 1 + start.len() / 30
}

/// The whole content of a text file.
#[derive(Debug)]
pub struct Text<'b> {
    /// As UTF-8, as far as the file has valid characters.
    pub bytes: Cow<'b, [u8]>,
    encoding: Encoding,
}

impl<'b> Text<'b> {
    /// `None` if it is not text.
    #[must_use]
    pub fn of(bytes: &'b [u8]) -> Option<Self> {
        let encoding = encoding_of(bytes)?;
        let bytes = match encoding {
            Encoding::Bytes => Cow::Borrowed(bytes),
            Encoding::Utf16(_) if bytes.len() % 2 == 1 => return None,
            Encoding::Utf16(order) => Cow::Owned(order.characters(&bytes[2..]).collect::<Option<String>>()?.into_bytes()),
        };
        Some(Self { bytes, encoding })
    }

    /// Converts edited [`Self::bytes`] back to the file's encoding.
    #[must_use]
    pub fn encoded(&self, bytes: Vec<u8>) -> Vec<u8> {
        let Encoding::Utf16(order) = self.encoding else { return bytes };
        let text = String::from_utf8_lossy(&bytes);
        let units = text.encode_utf16().map(|unit| match order {
            Order::LittleEndian => unit.to_le_bytes(),
            Order::BigEndian => unit.to_be_bytes(),
        });
        std::iter::once(order.mark()).chain(units).flatten().collect()
    }

    /// For people and models to read.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(&self.bytes).into_owned()
    }
}

/// A part of a text, for display. Invalid characters and NUL become U+FFFD.
#[must_use]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { text }
}

#[must_use]
pub fn not_text(path: impl Display) -> Problem {
    Problem::new(
        ErrorCode::NotATextFile,
        format!("{path} is not a text file, so it can't be shown or edited. Leave it unchanged, or use a program for this file type."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::trial::Trial;
    use serde_json::json;

    /// The beginning of one file of each kind.
    const NO_TEXT: &[(&str, &[u8])] = &[
        ("PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"),
        ("ZIP", b"PK\x03\x04\x14\0\0\0\x08\0abcdefghijklmnopqrstuvwxyz"),
        ("gzip", b"\x1f\x8b\x08\x08\x51\x52\x53\x54\x02\x03a-long-name-of-a-text-file.txt\0abcdefgh"),
        ("JPEG", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01"),
        ("ELF", b"\x7fELF\x02\x01\x01\0\0\0"),
        ("records", b"some words\0and more words\0and more, and more, and more, and more"),
        ("bzip2", b"BZh91AY&SYabcdefghijklmnopqrstuvwxyz"),
        ("UTF-16 without a mark", b"w\0o\0r\0d\0"),
        ("noise behind a byte order mark", b"\xff\xfe\x00\xd8w\0o\0r\0d\0"),
        ("half a character behind a byte order mark", b"\xff\xfew\0o\0r\0d\0x"),
        ("UTF-32", b"\xff\xfe\0\0w\0\0\0o\0\0\0r\0\0\0d\0\0\0"),
    ];

    #[test]
    fn pictures_archives_and_programs_are_no_text() {
        for (name, bytes) in NO_TEXT {
            assert_eq!(encoding_of(bytes), None, "{name}");
            assert!(Text::of(bytes).is_none(), "{name}");
        }
    }

    #[test]
    fn read_edit_grep_and_what_is_shown_of_a_write_agree() {
        let trial = Trial::new(&[]);
        let call = |tool: &str, args: serde_json::Value| trial.act(tool, &args.to_string());
        let texts: [&[u8]; 3] = [b"word\n", b"caf\xe9 word\n", b"\xff\xfew\0o\0r\0d\0\n\0"];
        let files = NO_TEXT.iter().map(|(_, bytes)| (*bytes, false)).chain(texts.map(|bytes| (bytes, true)));
        for (number, (bytes, is_text)) in files.enumerate() {
            let file = format!("{number}.bin");
            // Each contains the word, so that only its kind keeps it from being found.
            let bytes = if is_text { bytes.to_vec() } else { [bytes, b"\nword\n"].concat() };
            trial.put(&file, &bytes);
            let found = call("grep", json!({ "pattern": "word", "path": file })).unwrap().text;
            assert_eq!(found.contains(&file), is_text, "{found}");
            let edit = json!({ "path": file, "old_string": "word", "new_string": "wort", "replace_all": true });
            for (tool, args) in [("read", json!({ "path": file })), ("edit", edit)] {
                let outcome = call(tool, args).map(|output| output.text).map_err(|problem| problem.code);
                match &outcome {
                    Ok(text) => assert!(is_text && text.contains("wor"), "{tool}: {text}"),
                    Err(code) => assert!(!is_text && *code == ErrorCode::NotATextFile, "{tool} of {bytes:?}: {code}"),
                }
            }
            if is_text {
                let wort = trial.bytes(&file);
                assert_eq!((wort.len(), Text::of(&wort).unwrap().shown().contains("wort")), (bytes.len(), true));
            } else {
                let told = call("write", json!({ "path": file, "content": "new\n" })).unwrap().text;
                assert_eq!(told, format!("Replaced /{file}.\n[not shown: not a text file]\n"));
            }
        }
    }

    #[test]
    fn nothing_but_ascii_is_put_into_a_file_of_another_encoding() {
        let trial = Trial::new(&[]);
        trial.put("latin", b"caf\xe9 word\n");
        let edit = |new: &str| trial.act("edit", &json!({ "path": "/latin", "old_string": "word", "new_string": new }).to_string());
        assert_eq!(edit("w\u{f6}rt").unwrap_err().code, ErrorCode::NotATextFile);
        edit("wort").unwrap();
        assert_eq!(trial.bytes("latin"), b"caf\xe9 wort\n");
    }

    #[test]
    fn compressed_data_is_no_text_even_where_it_has_no_nul() {
        let mut state = 7_u32;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let bytes: Vec<u8> = std::iter::repeat_with(&mut noise).filter(|byte| *byte != 0).take(4000).collect();
        assert_eq!(encoding_of(&bytes), None);
    }

    #[test]
    fn sources_in_any_encoding_and_shape_are_text() {
        let minified = "function(){return\"é\"};".repeat(5_000);
        let coloured = "\x1b[31mred\x1b[0m\x08\x0c\n".repeat(100);
        let texts: [(&str, &[u8]); 8] = [
            ("empty", b""),
            ("Latin-1", b"// Stra\xdfe, caf\xe9, na\xefve\nint main() { return 0; }\n"),
            ("Shift JIS", b"\x93\xfa\x96\x7b\x8c\xea\n"),
            ("one control character", b"a\x04\n"),
            ("one NUL", b"caf\xe9\n\0\xff"),
            ("minified", minified.as_bytes()),
            ("coloured", coloured.as_bytes()),
            ("a mark of UTF-8", b"\xef\xbb\xbfword\n"),
        ];
        for (name, bytes) in texts {
            assert_eq!(Text::of(bytes).unwrap().bytes, bytes, "{name}");
        }
        let late = [b"word\n".repeat(2_000), b"\0".to_vec()].concat();
        assert!(Text::of(&late).unwrap().shown().ends_with("word\n\u{fffd}"), "only the beginning decides");
    }

    #[test]
    fn utf_16_with_a_mark_is_read_and_written_back_as_it_was() {
        for order in [Order::LittleEndian, Order::BigEndian] {
            let text = Text { bytes: Cow::Borrowed(b""), encoding: Encoding::Utf16(order) };
            let file = text.encoded("Grüße 🚀\r\n".as_bytes().to_vec());
            let read = Text::of(&file).unwrap();
            assert_eq!((read.shown().as_str(), read.encoded(read.bytes.to_vec())), ("Grüße 🚀\r\n", file.clone()));
            assert!(Text::of(&file[..file.len() - 1]).is_none(), "half a character can't be written back");
        }
    }
}
