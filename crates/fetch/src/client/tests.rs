//! Encrypted pages, by servers with right and wrong certificates.

use super::*;
use async_trait::async_trait;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls");

/// Every name leads to one server in this process.
struct OneServer(SocketAddr);

#[async_trait]
impl WebNetwork for OneServer {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![[93, 184, 216, 34].into()])
    }

    async fn connect(&self, _: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connect(self.0).await
    }
}

/// A server with this certificate, and how many requests it has read.
async fn server(certificate: &str) -> (SocketAddr, Arc<AtomicUsize>) {
    let certificates = CertificateDer::pem_file_iter(format!("{FOLDER}/{certificate}.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(format!("{FOLDER}/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(builder.with_no_client_auth().with_single_cert(certificates, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, requests) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = requests.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // A client that does not trust the certificate closes the connection.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            if stream.read(&mut [0; 4096]).await.is_ok_and(|length| length > 0) {
                counted.fetch_add(1, Ordering::SeqCst);
                let reply = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nencrypted";
                let _ = stream.write_all(reply).await;
                let _ = stream.shutdown().await;
            }
        }
    });
    (address, requests)
}

/// A client on this server that trusts our test authority alone.
fn client(server: SocketAddr) -> WebClient {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(format!("{FOLDER}/ca.pem")).unwrap()).unwrap();
    let config = tls_versions().unwrap().with_root_certificates(roots).with_no_client_auth();
    WebClient { tls: OnceLock::from(Some(speaking_http(config))), ..WebClient::on(Arc::new(OneServer(server))) }
}

async fn fetch(client: &WebClient) -> Result<Fetched, Problem> {
    client.fetch(&WebUrl::parse("https://example.org/").unwrap(), &|_| true).await
}

#[tokio::test]
async fn a_page_is_fetched_over_tls_and_a_wrong_certificate_gets_no_request() {
    let (address, requests) = server("valid").await;
    let Fetched::Page(page) = fetch(&client(address)).await.unwrap() else { panic!("redirected") };
    assert_eq!((page.text.trim(), requests.load(Ordering::SeqCst)), ("encrypted", 1));
    for certificate in ["other-name", "expired", "unknown-authority"] {
        let (address, requests) = server(certificate).await;
        let problem = fetch(&client(address)).await.unwrap_err();
        assert_eq!(problem.code, ErrorCode::FetchFailed, "{certificate}");
        assert!(problem.message.contains("no secure connection to example.org"), "{certificate}: {}", problem.message);
        assert_eq!(requests.load(Ordering::SeqCst), 0, "{certificate}: nothing was sent");
    }
}

#[tokio::test]
async fn this_machine_does_not_trust_an_authority_of_a_test() {
    let (address, requests) = server("valid").await;
    let problem = fetch(&WebClient::on(Arc::new(OneServer(address)))).await.unwrap_err();
    assert_eq!((problem.code, requests.load(Ordering::SeqCst)), (ErrorCode::FetchFailed, 0), "{}", problem.message);
}
