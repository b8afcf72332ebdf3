use super::{description, quiet_home};
use serde_json::Value;

#[tokio::test]
async fn the_description_is_the_same_wherever_it_is_read() {
    let home = quiet_home();
    let server = home.serve().await;
    let open = description(&server).await;
    assert_eq!(open["openapi"], "3.1.0");
    assert_eq!(server.get("/openapi.json").await, open);
    let printed = home.command(&["openapi"]).output().await.unwrap();
    assert!(printed.status.success());
    assert_eq!(serde_json::from_slice::<Value>(&printed.stdout).unwrap(), open);
}

/// `UPDATE_GOLDEN=1 cargo test` writes the copy anew; `npm run types` in `web` then makes the types of the web UI of it.
#[tokio::test]
async fn the_copy_of_the_description_that_the_web_ui_is_typed_by_is_the_description() {
    let copy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/openapi.json");
    let printed = quiet_home().command(&["openapi"]).output().await.unwrap();
    let description = String::from_utf8(printed.stdout).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(copy, &description).unwrap();
    }
    let kept = std::fs::read_to_string(copy).unwrap();
    assert!(kept == description, "web/openapi.json is old: run this test with UPDATE_GOLDEN=1, then `npm run types` in web");
}
