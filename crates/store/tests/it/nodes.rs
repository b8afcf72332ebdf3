//! Nodes that share a PostgreSQL database.

use crate::world::{World, append, chat_row, created};
use planwright_protocol::WorkspaceId;
use planwright_store::{Append, LeaseChange, NodeOptions, NodePlace, Store, StoreError, Tenure};
use planwright_testkit::postgres::Database;
use tokio::sync::mpsc::UnboundedReceiver;

struct Node {
    store: Store,
    changes: UnboundedReceiver<LeaseChange>,
}

impl Node {
    async fn join(database: &Database, name: &str) -> Self {
        Self::try_join(database, name).await.unwrap()
    }

    async fn try_join(database: &Database, name: &str) -> Result<Self, StoreError> {
        Self::of_version(database, name, "1.2.0").await
    }

    async fn of_version(database: &Database, name: &str, version: &str) -> Result<Self, StoreError> {
        let node = NodeOptions { name: name.to_owned(), version: version.to_owned(), shared: vec!["disk".to_owned()] };
        let (store, changes) = Store::join(&database.url, node).await?;
        Ok(Self { store, changes })
    }

    /// Waits until this node has taken the workspace.
    async fn owns(&mut self, workspace: WorkspaceId) -> Tenure {
        while !self.store.leases().holds(workspace) {
            self.changes.recv().await.unwrap();
        }
        self.store.leases().tenure(workspace).unwrap()
    }

    async fn loses(&mut self, workspace: WorkspaceId) {
        loop {
            if let LeaseChange::Lost(lost) = self.changes.recv().await.unwrap()
                && lost.contains(&workspace)
            {
                return;
            }
        }
    }

    async fn workspace(&mut self, path: &str, shared: Option<&str>) -> WorkspaceId {
        let id = self.store.ensure_workspace("w", path).await.unwrap().id;
        self.store.settle(id, shared).await.unwrap();
        id
    }
}

#[tokio::test]
async fn a_workspace_is_at_one_node_and_a_stale_owner_changes_no_row() {
    let database = Database::fresh();
    let mut first = Node::join(&database, "a").await;
    let workspace = first.workspace("/w", Some("disk")).await;
    let tenure = first.owns(workspace).await;
    let chat = chat_row(workspace);
    first.store.create_chat(&chat).await.unwrap();
    append(&first.store, &chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
    let mut second = Node::join(&database, "b").await;
    assert!(!second.store.leases().holds(workspace));
    assert_eq!(second.store.place_of(workspace).await.unwrap(), NodePlace::Node("a".into()));
    // What no lease covers is for every node.
    second.store.ensure_workspace("x", "/x").await.unwrap();
    let refused = append(&second.store, &chat, Append { events: &[created(&chat, 2, "two")], ..Append::default() }).await;
    assert!(matches!(refused, Err(StoreError::NotHere)), "{refused:?}");

    // The first one is marked as late by the others, and does not know yet.
    let stale = first.store.under(&tenure);
    World::Postgres(database).tamper("update nodes set is_ended = 1 where name = 'a'").await;
    second.owns(workspace).await;
    assert_eq!(second.store.place_of(workspace).await.unwrap(), NodePlace::Here);
    let refused = append(&stale, &chat, Append { events: &[created(&chat, 2, "stale")], ..Append::default() }).await;
    assert!(matches!(refused, Err(StoreError::NotHere)), "{refused:?}");
    assert!(matches!(stale.delete_chat(chat.id).await, Err(StoreError::NotHere)));
    assert!(matches!(stale.trust(workspace, "x").await, Err(StoreError::NotHere)));
    first.loses(workspace).await;
    assert!(tenure.is_over());
    append(&second.store, &chat_after(&second.store, chat.id).await, Append::default()).await.unwrap();
    assert_eq!(second.store.messages(chat.id).await.unwrap().len(), 1);
}

async fn chat_after(store: &Store, chat: planwright_protocol::ChatId) -> planwright_store::ChatRow {
    store.chat(chat).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_node_that_ends_hands_its_workspaces_over_and_local_ones_wait_for_their_node() {
    let database = Database::fresh();
    let mut first = Node::join(&database, "a").await;
    let mut second = Node::join(&database, "b").await;
    let shared = first.workspace("/shared", Some("disk")).await;
    let local = first.workspace("/local", None).await;
    first.owns(local).await;
    // Either may be the first to take what both have.
    let began = std::time::Instant::now();
    first.store.close().await;
    second.owns(shared).await;
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}: no lease had to run out", began.elapsed());
    assert_eq!(second.store.place_of(local).await.unwrap(), NodePlace::Nowhere { home: Some("a".into()) });
    let refused = second.store.create_chat(&chat_row(local)).await;
    assert!(matches!(refused, Err(StoreError::NotHere)), "{refused:?}");
    let mut again = Node::join(&database, "a").await;
    again.owns(local).await;
    // By hand.
    second.store.release(shared, Some("a".to_owned())).await;
    again.owns(shared).await;
    assert!(!second.store.leases().holds(shared));
    let nodes = second.store.nodes().await.unwrap();
    assert_eq!(nodes.iter().map(|node| (node.name.as_str(), node.is_alive)).collect::<Vec<_>>(), [("a", true), ("b", true)]);
    let leases = second.store.lease_rows().await.unwrap();
    assert!(leases.iter().all(|lease| lease.node.as_deref() == Some("a")), "{leases:?}");
}

#[tokio::test]
async fn names_versions_and_processes_without_nodes_are_told_apart_at_the_start() {
    let database = Database::fresh();
    let first = Node::join(&database, "a").await;
    let Err(StoreError::NodeInUse(name)) = Node::try_join(&database, "a").await.map(|_| ()) else { panic!("a second process of one name") };
    assert_eq!(name, "a");
    let refused = Node::of_version(&database, "b", "1.4.0").await.map(|_| ());
    assert!(matches!(&refused, Err(StoreError::NodeVersion { node, .. }) if node == "a"), "{refused:?}");
    let other = Node::of_version(&database, "b", "1.3.7").await.unwrap();
    let Err(StoreError::NodesRun(names)) = Store::connect(&database.url).await.map(|_| ()) else { panic!("beside nodes") };
    assert_eq!(names, "a, b");
    first.store.close().await;
    other.store.close().await;
    let sole = Store::connect(&database.url).await.unwrap();
    assert!(matches!(Node::try_join(&database, "c").await.map(|_| ()), Err(StoreError::InUse)));
    sole.close().await;
    Node::join(&database, "a").await;
}

#[tokio::test]
async fn a_node_that_cant_reach_the_database_gives_up_by_its_own_deadline_and_comes_back() {
    let server = planwright_testkit::postgres::OwnServer::start();
    let database = server.database();
    let mut node = Node::join(&database, "a").await;
    let workspace = node.workspace("/w", None).await;
    let tenure = node.owns(workspace).await;
    server.stop();
    let stopped = std::time::Instant::now();
    node.loses(workspace).await;
    let after = stopped.elapsed();
    assert!(tenure.is_over() && after < std::time::Duration::from_millis(3500), "{after:?}");
    server.start_again();
    assert!(node.owns(workspace).await.term() > tenure.term());
    assert!(tenure.is_over(), "the earlier tenure does not come back");
}

#[tokio::test]
async fn large_messages_between_nodes_are_kept_under_a_name() {
    let database = Database::fresh();
    let (first, second) = (Node::join(&database, "a").await, Node::join(&database, "b").await);
    let content = vec![7; 3 << 20];
    let name = first.store.put_parcel(&content).await.unwrap();
    assert_eq!(second.store.parcel(&name).await.unwrap(), Some(content));
    assert_eq!(second.store.parcel("x").await.unwrap(), None);
}
