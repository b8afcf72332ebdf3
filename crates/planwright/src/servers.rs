//! MCP servers: what the user accepted of them, in the database.

use async_trait::async_trait;
use planwright_mcp::{Pin, Pins};
use planwright_protocol::{Problem, WorkspaceId};
use planwright_session::storage;
use planwright_store::Store;
use planwright_tools::servers::Origin;
use serde_json::Value;

/// How pins of servers of the user's own file are marked.
const USER: &str = "user";

pub struct StoredPins(pub Store);

#[async_trait]
impl Pins for StoredPins {
    async fn pinned(&self, workspace: WorkspaceId, server: &str) -> Result<Option<Pin>, Problem> {
        Ok(read(self.0.mcp_pin(workspace, server).await.map_err(storage)?))
    }

    async fn newest_of_user(&self, server: &str) -> Result<Option<Pin>, Problem> {
        Ok(read(self.0.newest_mcp_pin(server, USER).await.map_err(storage)?))
    }

    async fn pin(&self, workspace: WorkspaceId, server: &str, origin: Origin, pin: &Pin) -> Result<(), Problem> {
        let pin = serde_json::to_value(pin).unwrap_or_default();
        let origin = match origin {
            Origin::User => USER,
            Origin::Workspace => "workspace",
        };
        self.0.pin_mcp(workspace, server, origin, &pin).await.map_err(storage)
    }
}

/// One that can't be read has accepted nothing.
fn read(pin: Option<Value>) -> Option<Pin> {
    pin.map(|pin| serde_json::from_value(pin).unwrap_or_else(|_| Pin { launch: String::new(), shown: Value::Null, tools: None }))
}

/// Where nothing is kept: each thing is what it is.
pub struct NoPins;

#[async_trait]
impl Pins for NoPins {
    async fn pinned(&self, _: WorkspaceId, _: &str) -> Result<Option<Pin>, Problem> {
        Ok(None)
    }

    async fn newest_of_user(&self, _: &str) -> Result<Option<Pin>, Problem> {
        Ok(None)
    }

    async fn pin(&self, _: WorkspaceId, _: &str, _: Origin, _: &Pin) -> Result<(), Problem> {
        Ok(())
    }
}
