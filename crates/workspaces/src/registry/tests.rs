//! Tests of the registry.

use super::*;
use planwright_tools::NoServers;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A configuration that is read only when the test says so, as on a disk that hangs.
struct SlowConfiguration {
    rules: WorkspaceRules,
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Configuration for SlowConfiguration {
    fn everywhere(&self) -> &WorkspaceRules {
        &self.rules
    }

    fn within(&self, _: &Workspace, _: Option<&str>) -> Result<(WorkspaceRules, Trust), Problem> {
        self.begun.send(()).unwrap();
        self.go_on.lock().unwrap().recv().unwrap();
        Ok((self.rules.clone(), Trust::nothing()))
    }

    fn check_model(&self, _: &planwright_protocol::settings::ModelSettings, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workspace_whose_folder_hangs_holds_up_no_other_one_and_an_unknown_one_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
    let (begun, has_begun) = channel();
    let (release, go_on) = channel();
    let rules = WorkspaceRules { settings: Arc::default(), servers: Arc::new(NoServers) };
    let workspaces = Workspaces::new(store, Arc::new(SlowConfiguration { rules, begun, go_on: Mutex::new(go_on) }));
    let mut ids = Vec::new();
    for name in ["slow", "quick"] {
        let place = folder.path().join(name);
        std::fs::create_dir(&place).unwrap();
        ids.push(workspaces.ensure(place).await.unwrap().id);
    }
    let (slow, quick) = (ids[0], ids[1]);

    let settings = Map::from_iter([("default_mode".to_owned(), json!("act"))]);
    let editing = tokio::spawn({
        let workspaces = workspaces.clone();
        async move { workspaces.update(slow, None, settings).await }
    });
    tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
    workspaces.open(quick).await.unwrap();
    assert_eq!(workspaces.update(quick, Some("Renamed".to_owned()), Map::new()).await.unwrap().name, "Renamed");
    assert!(!editing.is_finished());
    release.send(()).unwrap();
    let row = editing.await.unwrap().unwrap();
    assert_eq!(row.settings["default_mode"], "act");

    let unknown = WorkspaceId::generate();
    assert_eq!(workspaces.open(unknown).await.map(|_| ()).unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(workspaces.update(unknown, None, Map::new()).await.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(workspaces.all_used().len(), 2);
    let (one, same) = (workspaces.open(slow).await.unwrap(), workspaces.open(slow).await.unwrap());
    assert!(Arc::ptr_eq(&one, &same));
}
