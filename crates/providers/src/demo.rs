//! The `demo` model: a fixed script on the sample workspace. It shows a newcomer a plan, an approval and a change without a key,
//! and is labelled as a demo everywhere.

use crate::script::Script;

/// # Errors
/// Never, while the built-in script is well-formed; a test checks it.
pub fn demo() -> Result<Script, String> {
    Script::parse("demo/demo", include_str!("demo/script.json"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_built_in_script_is_well_formed() {
        super::demo().unwrap();
    }
}
