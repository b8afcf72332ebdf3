//! Splits a message into tokens: words to compare with the tables, breaks between clauses, and opaque stretches
//! (quotations, code, unknown symbols) that no table can match.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A Latin word in lower case, or one Han character in its simplified form.
    Word(String),
    /// Ends a clause.
    Comma,
    /// Ends a clause and announces the next: "he said:".
    Colon,
    /// Ends a sentence.
    Stop,
    /// Ends a sentence that is a question.
    Question,
    /// Something that is not the user's own plain words.
    Opaque,
}

pub(super) struct Text {
    pub tokens: Vec<Token>,
    /// The displayed words may differ from the words in the message: invisible characters, look-alike letters, a script
    /// without tables, or l e t t e r s set apart.
    pub unreadable: bool,
}

/// Emoji that only accompany an order. All others are opaque, because 👎 or 🤔 change its meaning.
const DECORATIONS: &[char] = &['👍', '👌', '✅', '✔', '🙏', '🚀', '🎉', '😀', '😄', '😊', '🙂', '💪', '❤', '🔥'];

/// An opening mark and the mark that closes it.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('”', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('’', '’'),
    ('«', '»'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('〈', '〉'),
    ('〝', '〞'),
];

/// Traditional characters and their simplified forms, for the characters the tables use.
const TRADITIONAL: &str = "開开執执計计劃划畫划這这個个請请嗎吗實实現现動动寫写碼码編编進进們们沒没問问題题對对後后說说話话過过還还應应該该為为\
     麼么繼继續续來来辦办幹干馬马時时間间當当會会認认確确準准規规從从發发給给讓让點点別别無无議议論论檢检測测試试謝谢煩烦樣样據据萬万許许\
     剛刚訴诉錯错釋释暫暂審审階阶決决須须聽听單单僅仅終终複复復复週周幾几誰谁將将見见處处戰战採采並并協协調调總总結结評评積积極极罷罢嘍喽囉啰";

pub(super) fn read(message: &str) -> Text {
    let mut reader = Reader { tokens: Vec::new(), unreadable: is_spelled_out(message), in_fence: false, quote: None };
    for line in message.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
        reader.line(line);
    }
    Text { tokens: reader.tokens, unreadable: reader.unreadable }
}

struct Reader {
    tokens: Vec<Token>,
    unreadable: bool,
    in_fence: bool,
    /// The mark that ends the current quotation.
    quote: Option<char>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let chars: Vec<char> = line.trim().chars().map(fold).collect();
        if chars.is_empty() {
            return;
        }
        let is_fence = chars.starts_with(&['`', '`', '`']) || chars.starts_with(&['~', '~', '~']);
        if is_fence {
            self.in_fence = !self.in_fence;
        }
        if is_fence || self.in_fence || chars.starts_with(&['>']) {
            self.tokens.extend([Token::Opaque, Token::Stop]);
            return;
        }
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at = self.step(&chars, at, c);
        }
        // A lone apostrophe is often not a quotation mark, so it never reaches past its line.
        if self.quote == Some('\'') || self.quote == Some('’') {
            self.quote = None;
        }
        // "He said:" continues on the next line.
        if self.tokens.last() != Some(&Token::Colon) {
            self.tokens.push(Token::Stop);
        }
    }

    /// Reads the token that starts at `at` and returns the position after it.
    fn step(&mut self, chars: &[char], at: usize, c: char) -> usize {
        if let Some(close) = self.quote {
            if c == close {
                self.quote = None;
            }
            return at + 1;
        }
        let before = at.checked_sub(1).and_then(|i| chars.get(i)).copied();
        let after = chars.get(at + 1).copied();
        if is_latin(c) {
            return self.word(chars, at);
        }
        if is_han(c) {
            self.tokens.push(Token::Word(c.to_string()));
        } else if c.is_whitespace() {
            return self.space(chars, at, before);
        } else if let Some((_, close)) = QUOTES.iter().find(|(open, _)| *open == c) {
            self.tokens.push(Token::Opaque);
            self.quote = Some(*close);
        } else if c == '…' || matches!(c, '.' | '。') && (before == Some(c) || after == Some(c)) {
            // Trailing dots express doubt.
            self.tokens.extend([Token::Opaque, Token::Stop]);
        } else if c == '~' && (before == Some(c) || after == Some(c)) {
            // Two tildes strike text out.
            self.tokens.push(Token::Opaque);
        } else if matches!(c, ',' | '、' | ';' | '~' | '～') || DECORATIONS.contains(&c) {
            self.tokens.push(Token::Comma);
        } else if c == ':' {
            self.tokens.push(Token::Colon);
        } else if matches!(c, '.' | '。' | '｡' | '!' | '❗') {
            self.tokens.push(Token::Stop);
        } else if matches!(c, '?' | '❓' | '❔' | '⁇' | '⁈' | '⁉' | '‽' | '؟') {
            self.tokens.push(Token::Question);
        } else if matches!(c, '-' | '–' | '—') {
            // A dash separates two clauses; at the start of a line it is a list item or a speaker's mark.
            self.tokens.push(if before.is_some() { Token::Comma } else { Token::Opaque });
        } else if is_emoji_modifier(c) && before.is_some_and(|b| !is_latin(b) && !is_han(b) && !b.is_whitespace()) {
            // Part of the preceding emoji.
        } else {
            self.unreadable |= c.is_alphabetic() || is_deceptive(c);
            self.tokens.push(Token::Opaque);
        }
        at + 1
    }

    /// A word continues over marks between two of its letters: "don't", "go-ahead", "main.rs".
    fn word(&mut self, chars: &[char], start: usize) -> usize {
        let mut word = String::new();
        let mut at = start;
        while let Some(&c) = chars.get(at) {
            let joins = matches!(c, '\'' | '’' | '-' | '.' | '_') && chars.get(at + 1).copied().is_some_and(is_latin);
            if !is_latin(c) && !joins {
                break;
            }
            word.push(if c == '’' { '\'' } else { c });
            at += 1;
        }
        self.tokens.push(Token::Word(word));
        at
    }

    /// Chinese has no spaces between words: a space acts like a comma.
    fn space(&mut self, chars: &[char], start: usize, before: Option<char>) -> usize {
        let end = chars.iter().skip(start).position(|c| !c.is_whitespace()).map_or(chars.len(), |n| start + n);
        if before.is_some_and(is_han) && chars.get(end).copied().is_some_and(is_han) {
            self.tokens.push(Token::Comma);
        }
        end
    }
}

/// Lower case, ordinary width, simplified. Only ASCII is lowered: the Kelvin sign must not become a k.
fn fold(c: char) -> char {
    let narrow = match c {
        '～' => c,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    };
    if is_han(narrow) {
        let mut pairs = TRADITIONAL.chars();
        while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
            if from == narrow {
                return to;
            }
        }
    }
    narrow.to_ascii_lowercase()
}

fn is_latin(c: char) -> bool {
    let accented = matches!(c, '\u{c0}'..='\u{24f}' | '\u{300}'..='\u{36f}') && !matches!(c, '×' | '÷');
    c.is_ascii_alphanumeric() || accented
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}')
}

fn is_emoji_modifier(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Characters that are invisible, change the direction of the text or imitate Han characters.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{e0000}'..='\u{e0fff}')
}

/// Three single characters in a row, separated by spaces.
fn is_spelled_out(message: &str) -> bool {
    let mut run = 0;
    message.split_whitespace().any(|word| {
        let mut chars = word.chars();
        let single = chars.next().is_some_and(char::is_alphanumeric) && chars.next().is_none();
        run = if single { run + 1 } else { 0 };
        run == 3
    })
}
