//! Certificates: refused at once if unknown, accepted if their root is given.

use crate::support::{platform_with, settings};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sluicegate::http::ErrorKind;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tempfile::TempDir;

struct TlsServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    folder: TempDir,
}

impl TlsServer {
    /// A server whose self-signed certificate is for these names.
    fn start(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("root.pem"), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::new(AtomicUsize::new(0)),
            folder,
        };
        let counter = Arc::clone(&server.connections);
        thread::spawn(move || serve(&listener, &Arc::new(config), &counter));
        server
    }

    fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }
}

fn serve(listener: &TcpListener, config: &Arc<ServerConfig>, counter: &AtomicUsize) {
    for stream in listener.incoming() {
        counter.fetch_add(1, Ordering::SeqCst);
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream.unwrap());
        // A client that does not trust the certificate ends here.
        if stream.read(&mut [0; 4096]).is_ok_and(|size| size > 0) {
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]";
            stream.write_all(answer.as_bytes()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
        }
    }
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_and_not_asked_twice() {
    let server = TlsServer::start(&["127.0.0.1"]);
    let error = platform_with(settings(&server.url()))
        .shared_pipelines()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Certificate);
    assert!(!error.may_have_been_processed());
    let shown = error.to_string().replace(&server.url(), "https://h");
    insta::assert_snapshot!(shown, @"GET https://h/v1/shared-pipelines?page=0&size=100: the server's certificate is refused: invalid peer certificate: UnknownIssuer");
    insta::assert_snapshot!(error.hint().unwrap(), @"if a company's own authority signed the certificate, give it with --ca-cert (SLUICEGATE_CA_CERT)");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn its_root_makes_it_known() {
    let server = TlsServer::start(&["127.0.0.1"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(server.root());
    assert_eq!(platform_with(settings).shared_pipelines().await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let server = TlsServer::start(&["elsewhere.example"]);
    let mut settings = settings(&server.url());
    settings.ca_cert = Some(server.root());
    let error = platform_with(settings).shared_pipelines().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Certificate);
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
