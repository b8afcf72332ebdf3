//! Reports about servers, for their users.

use super::site::{FILE, configured, counterpart, hostile, node, workspace};
use serde_json::Value;

pub async fn doctor(home: &planwright_testkit::server::Home, args: &[&str]) -> (bool, Vec<Value>) {
    let output = home.command(&[&["doctor", "--json"], args].concat()).output().await.unwrap();
    let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.success(), checks.into_iter().filter(|check| check["name"] == "mcp server").collect())
}

#[tokio::test]
async fn doctor_starts_the_users_servers_and_says_what_they_offer_or_why_not() {
    let good = node("every", &[&counterpart("everything")], "");
    let home = configured(&good);
    let (well, checks) = doctor(&home, &[]).await;
    assert!(well && checks[0]["status"] == "ok" && checks[0]["detail"].as_str().unwrap().starts_with("every: "), "{checks:#?}");

    home.put_config(&format!("{good}{}[mcp.servers.gone]\ncommand = \"no-such-program\"\n", hostile(&["dead"], "")));
    home.put(FILE, &node("theirs", &["x.js"], ""));
    let (well, checks) = doctor(&home, &["--workspace", "."]).await;
    let told: Vec<_> = checks.iter().map(|check| (check["status"].as_str().unwrap(), check["detail"].as_str().unwrap())).collect();
    assert!(!well && told.len() == 4, "{told:#?}");
    assert!(told.iter().any(|(status, detail)| *status == "failed" && detail.contains("I could not find my configuration")), "{told:#?}");
    assert!(told.iter().any(|(status, detail)| *status == "failed" && detail.contains("no-such-program")), "{told:#?}");
    assert!(told.iter().any(|(status, detail)| *status == "warning" && detail.contains("theirs") && detail.contains("trust")), "{told:#?}");
}

#[tokio::test]
async fn looking_at_the_servers_starts_none() {
    let home = configured(&hostile(&["plain", "looked-at"], "trust_read_only = true"));
    let server = home.serve().await;
    let reports = server.get(&format!("{}/mcp", workspace(&server).await)).await;
    assert_eq!((&reports[0]["status"], &reports[0]["command"][0]), (&"idle".into(), &"node".into()), "{reports}");
    assert_eq!(super::site::processes(&["looked-at"]), 0);
}

#[tokio::test]
async fn a_mistake_in_the_configuration_of_a_server_names_it() {
    for (text, part) in [
        ("[mcp.servers.x]\n", "[mcp.servers.x] has neither"),
        ("[mcp.servers.x]\ncommand = \"a\"\nkey = \"CANARY\"\n", "unknown field `key`"),
        ("[mcp.servers.a__b]\ncommand = \"a\"\n", "[mcp.servers.a__b] the name"),
    ] {
        let home = configured(text);
        let output = home.command(&["serve", "--listen", "127.0.0.1:0"]).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(part) && !told.contains("CANARY"), "{told}");
    }
}
