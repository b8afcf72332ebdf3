//! What the configuration of a provider can and can't ask for.

use crate::endpoint;
use planwright_protocol::settings::ToolCalls;
use planwright_providers::{Endpoint, Remote};
use planwright_testkit::model_server::{MODEL, ModelServer, Wire};

#[tokio::test]
async fn what_is_missing_is_told_before_anything_is_asked() {
    let server = ModelServer::start(Wire::Anthropic, []).await;
    let told = |endpoint: Endpoint, model: &str| Remote::new(endpoint, model).err().unwrap().message;
    assert!(told(Endpoint { key: None, ..endpoint(&server) }, MODEL).contains("set TEST_API_KEY"));
    assert!(told(endpoint(&server), "").contains("test/MODEL"));
    assert!(told(Endpoint { tools: ToolCalls::Json, ..endpoint(&server) }, MODEL).contains("tools = \"json\""));
    assert!(told(Endpoint { ca_file: Some("/nowhere.pem".into()), ..endpoint(&server) }, MODEL).contains("/nowhere.pem"));
    assert!(server.heard().is_empty());
}
