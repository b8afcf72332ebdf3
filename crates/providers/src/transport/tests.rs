use super::*;

#[test]
fn characters_that_come_in_two_pieces_are_whole_and_bytes_that_are_none_are_replaced() {
    let text = "开始执行 🚀".as_bytes();
    for cut in 0..=text.len() {
        let mut rest = Vec::new();
        let mut heard = whole_characters(&mut rest, &text[..cut], false).to_vec();
        heard.extend_from_slice(&whole_characters(&mut rest, &text[cut..], false));
        assert_eq!(heard, text, "cut at {cut}");
        assert!(rest.is_empty());
    }
    let mut rest = Vec::new();
    assert_eq!(whole_characters(&mut rest, b"a\xffb\xe5\xbc", false).as_ref(), "a\u{fffd}b".as_bytes());
    assert_eq!(whole_characters(&mut rest, b"", true).as_ref(), "\u{fffd}".as_bytes());
}

#[test]
fn a_key_in_an_address_becomes_a_header_that_no_log_shows() {
    let request = Request::builder().uri("https://host/v1/x?alt=sse&key=secret").body(Bytes::new()).unwrap();
    let request = without_key(request).unwrap();
    assert_eq!(request.uri().to_string(), "https://host/v1/x?alt=sse");
    assert_eq!(request.headers()["x-goog-api-key"], "secret");
    assert!(!format!("{request:?}").contains("secret"));
}

#[test]
fn this_machine_is_known_by_all_its_names() {
    for url in ["http://localhost:1/v1", "http://127.0.0.1:8080", "http://127.9.9.9", "http://[::1]:1"] {
        assert!(is_loopback(url), "{url}");
    }
    assert!(!is_loopback("https://api.openai.com/v1"));
    assert!(!is_loopback("http://localhost.example.com"));
}
