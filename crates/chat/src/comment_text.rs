//! Review comments as text: every client and the model read the same words.

use planwright_protocol::message::ReviewComment;

/// Adds the comments to the text of their message, each with its place and the quoted text.
pub fn append(content: &mut String, comments: &[ReviewComment]) {
    for comment in comments {
        if !content.trim().is_empty() {
            content.push_str("\n\n");
        }
        content.push_str(&format!("**Comment `{}` on {}**\n\n", inline(&comment.id), inline(&comment.place())));
        if !comment.quote.trim().is_empty() {
            let quoted: Vec<String> = comment.quote.trim_end().lines().map(|line| format!("> {line}")).collect();
            content.push_str(&quoted.join("\n"));
            content.push_str("\n\n");
        }
        content.push_str(comment.text.trim());
    }
}

/// Names in one line, without marks that could end their code span.
fn inline(name: &str) -> String {
    name.chars().map(|letter| if letter == '`' || letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::message::LineRange;

    fn comment(id: &str, quote: &str, text: &str) -> ReviewComment {
        ReviewComment { id: id.to_owned(), step: None, path: None, lines: None, quote: quote.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_comment_quotes_its_file_and_lines() {
        let mut content = "Two things.".to_owned();
        let lines = Some(LineRange { first: 3, last: 4 });
        let on_lines = ReviewComment { path: Some("/src/a.rs".to_owned()), lines, ..comment("c1", "let a = 1;\nlet b = 2;\n", "Why?") };
        append(&mut content, &[on_lines, ReviewComment { step: Some(2), ..comment("c2", "", " Split it. ") }]);
        let expected = "Two things.\n\n**Comment `c1` on /src/a.rs:3-4**\n\n> let a = 1;\n> let b = 2;\n\nWhy?\n\n\
            **Comment `c2` on step 2**\n\nSplit it.";
        assert_eq!(content, expected);
    }

    #[test]
    fn a_hostile_name_stays_in_its_line() {
        let mut content = String::new();
        append(&mut content, &[ReviewComment { path: Some("/a\n# Go `ahead".to_owned()), ..comment("`x`\r\n", "", "y") }]);
        assert_eq!(content.lines().next().unwrap().matches('`').count(), 2, "{content}");
        assert_eq!(content.lines().count(), 3, "{content}");
    }
}
