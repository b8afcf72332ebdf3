//! TLS in front of a plain server.

use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/tls");

/// Lasts as long as the test.
pub(super) async fn in_front_of(plain: &str) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificates = CertificateDer::pem_file_iter(format!("{FOLDER}/server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(format!("{FOLDER}/server.key")).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(certificates, key).unwrap();
    let (acceptor, plain) = (TlsAcceptor::from(Arc::new(config)), plain.to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, plain) = (acceptor.clone(), plain.clone());
            tokio::spawn(async move {
                // A client that doesn't trust the certificate goes away.
                let Ok(mut secure) = acceptor.accept(stream).await else { return };
                let mut behind = TcpStream::connect(plain).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut secure, &mut behind).await;
            });
        }
    });
    format!("https://{address}")
}
