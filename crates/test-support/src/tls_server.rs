//! A server with an untrusted certificate.

use crate::scratch;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tempfile::TempDir;

/// A server that responds to every request with an empty list.
pub struct TlsServer {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    directory: TempDir,
}

/// The year in which certificates expire if a test does not need another one.
const FAR_FUTURE_YEAR: i32 = 4000;

impl TlsServer {
    /// Starts a server with a self-signed certificate for these names.
    pub fn start(names: &[&str]) -> Self {
        Self::start_until(names, FAR_FUTURE_YEAR)
    }

    /// Starts a server whose self-signed certificate is that of a certificate authority.
    pub fn start_with_ca_certificate(names: &[&str]) -> Self {
        let mut params = certificate_params(names);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self::start_with_params(&params)
    }

    /// Starts a server with a self-signed certificate that expires at the beginning of `year`.
    pub fn start_until(names: &[&str], year: i32) -> Self {
        let mut params = certificate_params(names);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        Self::start_with_params(&params)
    }

    /// Starts a server that accepts only clients with the certificate in [`Self::client_certificate_paths`].
    pub fn start_with_client_certificate(names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = certificate_params(&["client.example.com"])
            .self_signed(&key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .unwrap();
        let server = Self::start_with_verifier(&certificate_params(names), Some(verifier));
        std::fs::write(server.directory.path().join("client.pem"), certificate.pem()).unwrap();
        std::fs::write(server.directory.path().join("client.key"), key.serialize_pem()).unwrap();
        server
    }

    /// Returns the paths of the client's certificate and key, which [`Self::start_with_client_certificate`] writes.
    pub fn client_certificate_paths(&self) -> [PathBuf; 2] {
        ["client.pem", "client.key"].map(|name| self.directory.path().join(name))
    }

    /// Starts a server on a free port, with a self-signed certificate that has these parameters.
    fn start_with_params(params: &CertificateParams) -> Self {
        Self::start_with_verifier(params, None)
    }

    /// Starts a server on a free port that accepts only the clients that the verifier accepts; without a verifier, all
    /// clients. Its self-signed certificate is stored in `root.pem`.
    fn start_with_verifier(
        params: &CertificateParams,
        verifier: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let directory = scratch::create_scratch_directory();
        std::fs::write(directory.path().join("root.pem"), certificate.pem()).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.unwrap_or_else(WebPkiClientVerifier::no_client_auth))
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::new(AtomicUsize::new(0)),
            directory,
        };
        let counter = Arc::clone(&server.connections);
        thread::spawn(move || serve(&listener, &Arc::new(config), &counter));
        server
    }

    /// Returns the server's URL.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Returns the server's port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the number of connections that clients have opened so far.
    pub fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the path of the PEM file with the server's certificate.
    pub fn root_certificate_path(&self) -> PathBuf {
        self.directory.path().join("root.pem")
    }
}

/// Returns the parameters of a certificate for these names that is valid until [`FAR_FUTURE_YEAR`].
fn certificate_params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_after = rcgen::date_time_ymd(FAR_FUTURE_YEAR, 1, 1);
    params
}

/// Counts each connection, and responds to its first request with an empty list if the client trusts the certificate.
/// Serves one connection after the other, until the test ends.
fn serve(listener: &TcpListener, config: &Arc<ServerConfig>, counter: &AtomicUsize) {
    for stream in listener.incoming() {
        counter.fetch_add(1, Ordering::SeqCst);
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream.unwrap());
        // For a client that does not trust the certificate, the read fails.
        if stream.read(&mut [0; 4096]).is_ok_and(|size| size > 0) {
            let response = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]";
            stream.write_all(response.as_bytes()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
        }
    }
}
