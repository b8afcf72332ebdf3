//! `/workspaces` and what lies in them: added, set up, listed, forgotten.

use crate::home;
use planwright_testkit::server::Home;
use reqwest::StatusCode;
use serde_json::json;

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

#[tokio::test]
async fn what_belongs_to_git_to_planwright_or_to_the_system_can_be_no_workspace() {
    let home = quiet();
    for folder in [".git/hooks", ".planwright", "sub/.planwright/chats"] {
        std::fs::create_dir_all(home.workspace().join(folder)).unwrap();
    }
    let (inside, elsewhere) = (home.workspace(), tempfile::tempdir().unwrap());
    let configuration = elsewhere.path().join("conf");
    std::fs::create_dir_all(configuration.join("planwright/roles")).unwrap();
    std::os::unix::fs::symlink("/proc", elsewhere.path().join("link")).unwrap();
    let server = home.serve_with(&[("XDG_CONFIG_HOME", configuration.to_str().unwrap())]).await;
    for folder in [
        "/proc".into(),
        format!("/proc/{}", server.process()).into(),
        "/proc/self/fd".into(),
        "/sys".into(),
        "/dev".into(),
        elsewhere.path().join("link"),
        inside.join(".git"),
        inside.join(".git/hooks"),
        inside.join(".planwright"),
        inside.join("sub/.planwright/chats"),
        home.data().join("commands"),
        configuration.clone(),
        configuration.join("planwright"),
        configuration.join("planwright/roles"),
        elsewhere.path().to_owned(),
    ] {
        std::fs::create_dir_all(home.data().join("commands")).unwrap();
        let (status, error) = server.post("/workspaces", json!({ "path": folder })).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{}: {error}", folder.display());
        assert!(error["error"]["details"]["fields"]["path"].is_string(), "{error}");
    }
    assert!(server.terminate().await);
    for args in [&["serve", "--listen", "127.0.0.1:0", "--workspace"][..], &["run", "Hi", "--workspace"]] {
        for folder in ["/proc/self".into(), inside.join(".git"), home.data()] {
            let output = home.command(&[args, &[folder.to_str().unwrap()]].concat()).output().await.unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?} {}: {told}", folder.display());
            assert!(told.contains("the workspace"), "{told}");
        }
    }
}
