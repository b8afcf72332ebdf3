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
    for page in ["/", "/docs"] {
        let html = bare(&server, "get", page).send().await.unwrap().text().await.unwrap();
        let mut linked = BTreeSet::new();
        for attribute in ["src=\"", "href=\""] {
            linked.extend(html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()));
        }
        assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("<script>"), "{page}");
        for link in linked {
            assert!(link.starts_with('/') && !link.starts_with("//"), "{page} needs {link}");
            let response = bare(&server, "get", link).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK, "{page} needs {link}");
            let text = response.text().await.unwrap();
            for way in ["innerHTML", "insertAdjacentHTML", "document.write", "eval("] {
                assert!(!text.contains(way), "{link} has {way}");
            }
        }
    }
}
