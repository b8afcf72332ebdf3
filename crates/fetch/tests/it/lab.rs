//! A network in this process: names with the addresses that a test gives them, and one server behind every address.

use async_trait::async_trait;
use planwright_fetch::{Fetched, WebClient, WebNetwork, WebPage, WebUrl};
use planwright_protocol::Problem;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const PUBLIC: &str = "93.184.216.34";

/// What the server does with a request: it gets the host, the path and the whole head.
pub type Route = Arc<dyn Fn(&str, &str, &str) -> Answer + Send + Sync>;

pub enum Answer {
    /// Exactly these bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then the last of them again and again.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, then nothing; the connection stays open.
    Silent(Vec<u8>),
}

pub fn html(body: &str) -> Answer {
    Answer::Bytes(with_head("200 OK", &["Content-Type: text/html; charset=utf-8"], body.as_bytes()))
}

pub fn redirect(to: &str) -> Answer {
    Answer::Bytes(with_head("302 Found", &[&format!("Location: {to}")], b""))
}

pub fn with_head(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let headers = headers.iter().flat_map(|header| [*header, "\r\n"]).collect::<String>();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub struct Lab {
    server: SocketAddr,
    /// The answers for a name, one after the other; the last one stays.
    names: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    pub resolved: Mutex<Vec<String>>,
    pub connected: Mutex<Vec<SocketAddr>>,
    pub heads: Arc<Mutex<Vec<String>>>,
}

impl Lab {
    pub async fn new(route: impl Fn(&str, &str, &str) -> Answer + Send + Sync + 'static) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (server, route, heads) = (listener.local_addr().unwrap(), Arc::new(route) as Route, Arc::<Mutex<Vec<String>>>::default());
        let seen = heads.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, route.clone(), seen.clone()));
            }
        });
        let (names, resolved, connected) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { server, names, resolved, connected, heads })
    }

    pub fn name(&self, name: &str, answers: &[&[&str]]) {
        let answers = answers.iter().map(|addresses| addresses.iter().map(|address| address.parse().unwrap()).collect()).collect();
        self.names.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub fn client(self: &Arc<Self>) -> WebClient {
        WebClient::on(self.clone())
    }

    /// Fetches with the right to follow redirects to these hosts.
    pub async fn fetch(self: &Arc<Self>, url: &str, allowed: &[&str]) -> Result<Fetched, Problem> {
        let allowed: Vec<String> = allowed.iter().map(|host| (*host).to_owned()).collect();
        let url = WebUrl::parse(url)?;
        self.client().fetch(&url, &move |next: &WebUrl| allowed.contains(&next.host())).await
    }

    pub async fn page(self: &Arc<Self>, url: &str) -> Result<WebPage, Problem> {
        match self.fetch(url, &["example.org"]).await? {
            Fetched::Page(page) => Ok(page),
            Fetched::Redirect { to, .. } => panic!("redirected to {to}"),
        }
    }
}

#[async_trait]
impl WebNetwork for Lab {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.trim_end_matches('.');
        self.resolved.lock().unwrap().push(name.to_owned());
        let mut names = self.names.lock().unwrap();
        let Some(answers) = names.get_mut(name) else { return Ok(vec![PUBLIC.parse().unwrap()]) };
        Ok(if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }.unwrap_or_default())
    }

    async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.connected.lock().unwrap().push(address);
        TcpStream::connect(self.server).await
    }

    async fn connect_configured(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.connect(address).await
    }
}

async fn serve(mut stream: TcpStream, route: Route, heads: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            // A client that begins with TLS gets an answer in plain text.
            Ok(count) if count > 0 && request.is_empty() && buffer[0] == 0x16 => {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
                return;
            }
            Ok(count) if count > 0 => request.extend_from_slice(&buffer[..count]),
            Ok(_) | Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
    heads.lock().unwrap().push(head.clone());
    // A client that has enough closes the connection.
    match route(&host, &path, &head) {
        Answer::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Answer::Endless(bytes, more) => {
            let mut sent = stream.write_all(&bytes).await;
            while sent.is_ok() {
                sent = stream.write_all(&more).await;
            }
        }
        Answer::Silent(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.read(&mut buffer).await;
        }
    }
}
