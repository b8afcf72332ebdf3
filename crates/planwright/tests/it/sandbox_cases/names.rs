//! A path that is hidden is hidden under all its names: homes below shown folders, and further mounts.

use super::ground::{Ground, ROLES, SECRET, Served};
use super::who::Who;

/// A shell line that begins a mount namespace, mounts, and becomes the server.
fn with_mounts(ground: &Ground, home: &str, mounts: &[(&str, &str)]) -> String {
    let unshare = if ground.who.uid == 0 { "unshare -m" } else { "unshare -rm" };
    let path = |path: &str| ground.path(path).display().to_string();
    let mounts: Vec<String> = mounts.iter().map(|(from, to)| format!("mount --bind {} {} &&", path(from), path(to))).collect();
    let variables = [("HOME", home), ("RUSTUP_HOME", "rustup"), ("XDG_CONFIG_HOME", ".config")];
    let variables = variables.map(|(name, value)| format!("export {name}={};", path(value)));
    format!("{} exec {unshare} sh -c '{} exec \"$@\"' sh \"$@\"", variables.join(" "), mounts.join(" "))
}

async fn sees_the_tool_and_no_secret(served: &Served<'_>, ground: &Ground) {
    let rustup = ground.path("rustup");
    for role in ROLES {
        let look = format!("cat {0}/bin/tool; cat $(find {0} -type f) | head -c 1000000; true", rustup.display());
        let answer = served.run(role, &look).await.to_string();
        assert!(answer.contains("a tool") && !answer.contains(SECRET), "as {}, {role}: {answer}", ground.who.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn homes_below_folders_that_are_shown_whole_are_hidden_but_for_their_toolchains() {
    for who in Who::all() {
        let ground = Ground::new(who);
        ground.put("rustup/bin/tool", "a tool\n");
        for path in ["home/.ssh/config", "home/notes", "home/.cargo/credentials.toml", "people/ann/.netrc", "people/ann/deep/x"] {
            ground.put(&format!("rustup/{path}"), SECRET);
        }
        ground.put("rustup/home/.cargo/bin/own", "own program\n");
        let ann = ground.path("rustup/people/ann");
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
        ground.put("passwd", &format!("{passwd}\nann:x:1234:1234:Ann:{}:/bin/sh\n", ann.display()));
        let line = with_mounts(&ground, "rustup/home", &[("passwd", "/etc/passwd")]);
        let served = ground.serve_by(&line).await;
        sees_the_tool_and_no_secret(&served, &ground).await;
        let answer = served.run("tester", &format!("cat {}", ground.path("rustup/home/.cargo/bin/own").display())).await;
        assert!(answer.to_string().contains("own program"), "as {}: {answer}", ground.who.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_is_a_workspace_where_the_machine_shows_the_folder_around_it() {
    let ground = Ground::new(Who::all().remove(0));
    ground.put("rustup/bin/tool", "a tool\n");
    ground.put("rustup/home/project/own.txt", "mine\n");
    ground.put("rustup/home/.netrc", SECRET);
    let (rustup, home, config) = (ground.path("rustup"), ground.path("rustup/home"), ground.path(".config"));
    let variables =
        [("RUSTUP_HOME", &rustup), ("HOME", &home), ("XDG_CONFIG_HOME", &config)].map(|(name, path)| (name, path.to_str().unwrap()));
    let served = ground.serve_with(&["rustup/home/project"], "data", &variables).await;
    for role in ROLES {
        let answer = served.run_in("rustup/home/project", role, "cat own.txt ../../bin/tool; cat ../.netrc; true").await.to_string();
        assert!(answer.contains("mine") && answer.contains("a tool") && !answer.contains(SECRET), "{role}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_further_mount_of_what_is_hidden_shows_nothing_of_it() {
    for who in Who::all() {
        let ground = Ground::new(who);
        ground.put("rustup/bin/tool", "a tool\n");
        ground.put("elsewhere/x", "x\n");
        for path in ["data/token", "data/deep/inside/y", "workspace/.env", "home/.netrc"] {
            ground.put(path, SECRET);
        }
        ground.put("data/one", SECRET);
        for place in ["same", "inside", "above", "mine", "harmless"] {
            std::fs::create_dir_all(ground.path("rustup").join(place)).unwrap();
        }
        ground.put("rustup/file", "");
        let mounts = [
            ("data", "rustup/same"),
            ("data/deep/inside", "rustup/inside"),
            ("", "rustup/above"),
            ("workspace", "rustup/mine"),
            ("elsewhere", "rustup/harmless"),
            ("data/one", "rustup/file"),
        ];
        let served = ground.serve_by(&with_mounts(&ground, "home", &mounts)).await;
        sees_the_tool_and_no_secret(&served, &ground).await;
        let look = format!("cat {}", ground.path("rustup/harmless/x").display());
        let answer = served.run("tester", &look).await;
        assert!(answer.to_string().contains("\"exit_code\":0"), "what is not hidden stays, as {}: {answer}", ground.who.name);
    }
}
