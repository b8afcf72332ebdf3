use super::quiet_home;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn a_body_that_says_it_is_huge_is_refused_before_it_comes() {
    let home = quiet_home();
    let server = home.serve().await;
    let address = server.base.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!("POST /api/v1/auth/login HTTP/1.1\r\nHost: {address}\r\nContent-Length: 99999999999\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}
