//! Entries in `files:` that make a poor scope: they cover everything, or nothing that can be changed.

/// What is wrong with a path or glob, and what to write instead.
pub(crate) fn doubt(file: &str) -> Option<String> {
    let parts: Vec<&str> = file.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let first = parts.first().copied().unwrap_or_default();
    let is_elsewhere = first.starts_with('~') || first.contains(':') || (file.starts_with('/') && SYSTEM.contains(&first));
    if parts.contains(&"..") {
        Some(format!("`{file}` leads out of its folder; write the path from the workspace's root, without `..`"))
    } else if is_elsewhere {
        Some(format!("`{file}` lies outside the workspace, where nothing can be changed; paths begin at the workspace's root"))
    } else if parts.contains(&".git") || parts.contains(&".planwright") {
        Some(format!("`{file}` is protected and can't be changed by any step; take it out"))
    } else if parts.iter().all(|part| part.bytes().all(|byte| matches!(byte, b'*' | b'?' | b'.'))) {
        Some(format!("`{file}` covers the whole workspace, so nothing would ask; name the files or folders that change"))
    } else if file.contains('\\') && parts.len() == 1 {
        Some(format!("`{file}` has backslashes; write the path with `/`"))
    } else {
        None
    }
}

/// Folders of a computer, not of a project. A leading `/` means the workspace's root, which is hardly meant with these.
const SYSTEM: [&str; 10] = ["etc", "home", "root", "usr", "var", "tmp", "proc", "sys", "dev", "Users"];
