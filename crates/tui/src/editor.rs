//! The user's own editor, for long messages and for plans.

use std::io::Write;
use tokio::process::Command;

/// The text after the user has edited it.
///
/// # Errors
/// No editor starts, or it fails; the text says what to do.
pub async fn edit(text: &str, ending: &str) -> Result<String, String> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let named = named.unwrap_or_else(|| "vi".to_owned());
    let mut words = named.split_whitespace();
    let program = words.next().unwrap_or("vi").to_owned();
    let broken = |error: std::io::Error| format!("Can't write the text for the editor: {error}.");
    let mut file = tempfile::Builder::new().prefix("planwright-").suffix(ending).tempfile().map_err(broken)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(broken)?;
    #[expect(clippy::disallowed_methods, reason = "the user's own editor, because they asked for it")]
    let mut command = Command::new(&program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PLANWRIGHT_")) {
        command.env_remove(name);
    }
    let status = command.args(words).arg(file.path()).status().await;
    let status = status.map_err(|error| format!("Can't start {program:?}: {error}. Set EDITOR to an editor."))?;
    if !status.success() {
        return Err(format!("{program} failed, so the text is as it was."));
    }
    // Editors replace the file, so it is read by its name.
    #[expect(clippy::disallowed_methods, reason = "the file that the editor wrote")]
    std::fs::read_to_string(file.path()).map_err(|error| format!("Can't read what {program} wrote: {error}."))
}
