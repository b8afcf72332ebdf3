//! Checks regular expressions from the model: short, and of the kind that runs in linear time.

/// Long enough for every reasonable pattern.
const MAX_PATTERN_BYTES: usize = 512;
/// The validator translates `\s`, `\d` and `\w` one at a time, and parses the whole pattern again each time.
const MAX_CLASS_ESCAPES: usize = 32;

/// # Errors
/// What is wrong with the pattern, to be appended to its position.
pub(crate) fn check(pattern: &str) -> Result<(), String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("is a pattern of {} bytes; at most {MAX_PATTERN_BYTES} are allowed", pattern.len()));
    }
    let mut class_escapes = 0;
    let mut inside_brackets = false;
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('1'..='9' | 'k') if !inside_brackets => {
                    return Err("uses a back-reference, which is not supported: write the pattern without it".into());
                }
                Some('s' | 'S' | 'd' | 'D' | 'w' | 'W') => class_escapes += 1,
                Some(_) | None => {}
            },
            '[' => inside_brackets = true,
            ']' => inside_brackets = false,
            '(' if !inside_brackets && ["?=", "?!", "?<=", "?<!"].iter().any(|opening| rest.as_str().starts_with(opening)) => {
                return Err("uses look-around ((?=, (?!, (?<= or (?<!), which is not supported: write the pattern without it".into());
            }
            _ => {}
        }
    }
    if class_escapes > MAX_CLASS_ESCAPES {
        return Err(format!("has {class_escapes} of \\s, \\d and \\w; at most {MAX_CLASS_ESCAPES} are allowed"));
    }
    Ok(())
}
