use super::*;

fn put(folder: &Path, path: &str) {
    let file = folder.join(path);
    std::fs::DirBuilder::new().recursive(true).create(file.parent().unwrap()).unwrap();
    std::fs::File::create_new(file).unwrap();
}

fn hidden(folder: &Path, secrets: &Secrets) -> Vec<String> {
    let found = Workspace::open(folder).unwrap().secrets(secrets).unwrap();
    found.inside.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[test]
fn secrets_are_found_by_name_at_any_depth_and_source_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for path in [".env", "deploy/key.pem", "src/id_map.rs", ".env.example", "node_modules/x/.env", "src/main.rs", "keys/id_ed25519"] {
        put(folder.path(), path);
    }
    assert_eq!(hidden(folder.path(), &Secrets::default()), [".env", "deploy/key.pem", "keys/id_ed25519", "node_modules/x/.env"]);
    std::os::unix::fs::symlink("../src/main.rs", folder.path().join("deploy/id_link")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("deploy/.env")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("deploy/.env.gone")).unwrap();
    let found = Workspace::open(folder.path()).unwrap().secrets(&Secrets::default()).unwrap();
    assert!(found.inside.contains(&"src/main.rs".into()) && found.outside.len() <= 1, "where links lead: {found:?}");
}

#[test]
fn secrets_in_build_output_and_in_gits_folder_are_found_and_what_only_has_their_names_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        put(folder.path(), path);
        let mut file = std::fs::File::options().write(true).open(folder.path().join(path)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    let commit = "0123456789012345678901234567890123456789\n";
    for path in ["node_modules/x/.env", "node_modules/x/id_rsa", ".git/id_rsa", ".git/deep/.env", ".git/refs/heads/id_not"] {
        write(path, "secret\n");
    }
    for (path, text) in [
        ("node_modules/.env.d/tool.bin", "a folder's name says nothing here\n"),
        ("node_modules/x/cacert.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("node_modules/x/id_tool", "#!/bin/sh\n"),
        (".git/refs/heads/id_map", commit),
        (".git/logs/refs/heads/id_map", commit),
    ] {
        write(path, text);
    }
    std::os::unix::fs::symlink("x/id_tool", folder.path().join("node_modules/id_link")).unwrap();
    let expected = [".git/deep/.env", ".git/id_rsa", ".git/refs/heads/id_not", "node_modules/x/.env", "node_modules/x/id_rsa"];
    assert_eq!(hidden(folder.path(), &Secrets::default()), expected);
}

#[test]
fn every_hard_link_of_a_secret_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    for path in [".env", "private/key", "src/main.rs", "node_modules/x", ".git/HEAD", "apart"] {
        put(folder.path(), path);
    }
    for (from, to) in
        [(".env", "copy.txt"), (".env", "node_modules/copy"), (".env", ".git/copy"), ("private/key", "src/key"), ("apart", "src/apart")]
    {
        std::fs::hard_link(folder.path().join(from), folder.path().join(to)).unwrap();
    }
    let secrets = Secrets::new(&["private".to_owned(), ".env*".to_owned()]).unwrap();
    assert_eq!(hidden(folder.path(), &secrets), [".env", ".git/copy", "copy.txt", "node_modules/copy", "private", "src/key"]);
}

#[test]
fn folders_that_have_nothing_but_secrets_are_hidden_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..300 {
        put(folder.path(), &format!("private/{number}/a.py"));
        put(folder.path(), &format!(".env/lib/{number}.so"));
        put(folder.path(), &format!(".env/lib/{number}.py"));
    }
    put(folder.path(), "id_tool/mod.rs");
    put(folder.path(), "id_tool/table.bin");
    let secrets = Secrets::new(&["private".to_owned(), ".env*".to_owned(), "id_*".to_owned()]).unwrap();
    assert_eq!(hidden(folder.path(), &secrets), [".env/lib", "id_tool/table.bin", "private"]);
}
