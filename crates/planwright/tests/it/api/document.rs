use super::{bare, description, quiet_home};
use reqwest::StatusCode;
use serde_json::Value;
use std::collections::BTreeSet;

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

#[tokio::test]
async fn the_page_of_the_description_has_no_script_or_style_of_its_own_and_needs_nothing_from_elsewhere() {
    let home = quiet_home();
    let server = home.serve().await;
    let html = bare(&server, "get", "/docs").send().await.unwrap().text().await.unwrap();
    let mut linked = BTreeSet::new();
    for attribute in ["src=\"", "href=\""] {
        linked.extend(html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()));
    }
    assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("<script>"));
    for link in linked {
        assert!(link.starts_with('/') && !link.starts_with("//"), "the page needs {link}");
        let response = bare(&server, "get", link).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "the page needs {link}");
        let text = response.text().await.unwrap();
        for way in ["innerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!text.contains(way), "{link} has {way}");
        }
    }
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
