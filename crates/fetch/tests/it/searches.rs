use crate::lab::{Answer, Lab, with_head};
use planwright_fetch::{SearchHit, SearchProvider};
use planwright_protocol::settings::{SearchKind, SearchSettings};
use serde_json::json;

const KEY: &str = "CANARY-KEY-1234";

fn provider(kind: SearchKind, url: Option<&str>) -> Result<Option<SearchProvider>, String> {
    let settings = SearchSettings { kind, url: url.map(str::to_owned), api_key_env: Some("SEARCH_KEY".to_owned()) };
    SearchProvider::new(&settings, |name| (name == "SEARCH_KEY").then(|| KEY.to_owned()))
}

fn json_answer(status: &str, body: &serde_json::Value) -> Answer {
    Answer::Bytes(with_head(status, &["Content-Type: application/json"], body.to_string().as_bytes()))
}

#[tokio::test]
async fn each_provider_is_asked_in_its_own_way_and_answers_alike() {
    let results = |excerpt: &str| {
        json!([
            { "title": "Tokio \u{200b}docs", "url": "https://docs.rs/tokio", excerpt: "An <strong>async</strong>\n runtime" },
            { "title": "Bad", "url": "javascript:alert(1)", excerpt: "no" },
            { "title": "Second", "url": "https://tokio.rs/", excerpt: "" },
            { "title": "Third", "url": "https://third.example/", excerpt: "" },
        ])
    };
    let lab = Lab::new(move |_, path, _| match path.split('?').next().unwrap_or_default() {
        "/res" => json_answer("200 OK", &json!({ "web": { "results": results("description") } })),
        _ => json_answer("200 OK", &json!({ "results": results("content") })),
    })
    .await;
    for (kind, url, head, key) in [
        (
            SearchKind::Searxng,
            "http://127.0.0.1:8888/sx/",
            "get /sx/search?q=tokio+%26+rust&format=json http/1.1",
            "authorization: bearer canary",
        ),
        (SearchKind::Brave, "http://brave.example/res", "get /res?q=tokio+%26+rust&count=2 http/1.1", "x-subscription-token: canary"),
        (SearchKind::Tavily, "http://tavily.example/search", "post /search http/1.1", "authorization: bearer canary"),
    ] {
        let provider = provider(kind, Some(url)).unwrap().unwrap();
        let hits = provider.search(&lab.client(), "tokio & rust", 2).await.unwrap();
        let hit =
            |title: &str, url: &str, excerpt: &str| SearchHit { title: title.to_owned(), url: url.to_owned(), excerpt: excerpt.to_owned() };
        assert_eq!(
            hits,
            [hit("Tokio docs", "https://docs.rs/tokio", "An async runtime"), hit("Second", "https://tokio.rs/", "")],
            "{kind:?}"
        );
        let sent = lab.heads.lock().unwrap().pop().unwrap().to_lowercase();
        assert!(sent.starts_with(head) && sent.contains(key), "{sent}");
    }
    assert!(lab.connected.lock().unwrap().contains(&"127.0.0.1:8888".parse().unwrap()), "what the user configured may be on this machine");
}

#[tokio::test]
async fn a_failing_search_is_told_without_its_key() {
    let lab = Lab::new(|_, path, _| match path.split('?').next().unwrap_or_default() {
        "/denied" => json_answer("401 Unauthorized", &json!({ "error": KEY })),
        "/busy" => json_answer("429 Too Many Requests", &json!({})),
        "/moved" => Answer::Bytes(with_head("302 Found", &["Location: http://thief.example/"], b"")),
        _ => Answer::Bytes(with_head("200 OK", &[], b"<html>")),
    })
    .await;
    for (path, part) in [("denied", "look at the key"), ("busy", "too many searches"), ("moved", "answered 302"), ("html", "JSON")] {
        let provider = provider(SearchKind::Brave, Some(&format!("http://brave.example/{path}"))).unwrap().unwrap();
        let problem = provider.search(&lab.client(), "x", 5).await.unwrap_err();
        assert!(problem.message.contains(part) && !format!("{problem:?} {provider:?}").contains(KEY), "{problem:?}");
    }
    assert_eq!(lab.resolved.lock().unwrap().iter().filter(|name| *name != "brave.example").count(), 0);
}

#[test]
fn a_provider_without_its_key_or_address_is_left_out_or_refused() {
    let settings = |kind, url: Option<&str>| SearchSettings { kind, url: url.map(str::to_owned), api_key_env: None };
    let new = |kind, url| SearchProvider::new(&settings(kind, url), |_| None);
    assert!(new(SearchKind::Brave, None).unwrap().is_none() && new(SearchKind::Tavily, None).unwrap().is_none());
    assert!(new(SearchKind::Searxng, None).unwrap_err().contains("needs `url`"));
    assert!(new(SearchKind::Searxng, Some("http://localhost:8080")).unwrap().is_some());
    for url in ["file:///x", "nonsense", "http://user:pass@host/"] {
        assert!(new(SearchKind::Searxng, Some(url)).is_err(), "{url}");
    }
    assert_eq!(provider(SearchKind::Brave, None).unwrap().unwrap().host(), "api.search.brave.com");
}
