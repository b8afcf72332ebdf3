use super::{bare, quiet_home};
use reqwest::StatusCode;
use std::collections::BTreeSet;

#[tokio::test]
async fn the_page_of_the_description_has_no_script_or_style_of_its_own_and_needs_nothing_from_elsewhere() {
    let home = quiet_home();
    let server = home.serve().await;
    let html = server.send(bare(&server, "get", "/docs")).await.text().await.unwrap();
    let mut linked = BTreeSet::new();
    for attribute in ["src=\"", "href=\""] {
        linked.extend(html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()));
    }
    assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("<script>"));
    for link in linked {
        assert!(link.starts_with('/') && !link.starts_with("//"), "the page needs {link}");
        let response = server.send(bare(&server, "get", link)).await;
        assert_eq!(response.status(), StatusCode::OK, "the page needs {link}");
        let text = response.text().await.unwrap();
        for way in ["innerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!text.contains(way), "{link} has {way}");
        }
    }
}
