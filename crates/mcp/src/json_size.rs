//! Estimates, before parsing, how many values a JSON text has: in memory a value can take a hundred times its length.

/// Maximum number of values, counting keys as well, in one message: about 100 MB in the worst case.
const MOST_VALUES: usize = 200_000;

/// Counts the values of a text that arrives in pieces.
#[derive(Default)]
pub struct JsonSize {
    values: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonSize {
    /// Adds a piece; returns whether there are still few enough values.
    pub fn add(&mut self, piece: &[u8]) -> bool {
        for &byte in piece {
            if byte == b'\n' {
                // No string contains one. What follows is counted even if a quotation mark before it was no part of the JSON.
                (self.is_in_string, self.is_escaped) = (false, false);
            } else if !self.is_in_string {
                self.is_in_string = byte == b'"';
                self.values += usize::from(matches!(byte, b'[' | b'{' | b',' | b':'));
            } else if self.is_escaped {
                self.is_escaped = false;
            } else {
                self.is_escaped = byte == b'\\';
                self.is_in_string = byte != b'"';
            }
        }
        self.values <= MOST_VALUES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_small(text: &str) -> bool {
        let mut size = JsonSize::default();
        // In pieces that end anywhere.
        text.as_bytes().chunks(7).map(|piece| size.add(piece)).last().unwrap()
    }

    #[test]
    fn many_values_are_too_many_however_they_are_written_and_long_strings_are_not() {
        let repeated = |text: &str, times: usize| format!("[{}0]", text.repeat(times));
        assert!(!is_small(&"[".repeat(300_000)) && !is_small(&repeated("{},", 300_000)) && !is_small(&repeated("{\"a\":1},", 100_000)));
        assert!(!is_small(&format!("\"\n{}", "[".repeat(300_000))), "after a quotation mark that ends nowhere");
        assert!(!is_small(&repeated("\"\\\\\",", 300_000)), "an escaped backslash ends no string");
        assert!(is_small(&format!("{{\"text\":\"{}\"}}", "a, [b], \\\"c\\\": ".repeat(500_000))));
        assert!(is_small(&repeated("0,", 100_000)));
    }
}
