//! Greets people by name.

/// A greeting for `name`. A blank name greets everybody.
pub fn greet(name: &str) -> String {
    let name = name.trim();
    let name = if name.is_empty() { "world" } else { name };
    format!("Hello, {name}!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greets_by_name() {
        assert_eq!(greet("Ada"), "Hello, Ada!");
    }

    #[test]
    fn a_blank_name_greets_everybody() {
        assert_eq!(greet(""), "Hello, world!");
        assert_eq!(greet("  "), "Hello, world!");
    }
}
