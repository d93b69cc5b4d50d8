//! The root certificates of the machine, read when a server first shows a certificate: plain http, as to a local
//! platform, never needs them. A machine without root certificates uses those that come with the program.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, OnceLock};

/// Creates the operating system's verifier, which also trusts `extra_certificates`. On a machine without any CA file,
/// that verifier cannot be created, so it uses the root certificates that come with this program.
pub(super) fn build_verifier(
    mut extra_certificates: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<Verifier, Error> {
    match Verifier::new(Arc::clone(provider)) {
        Ok(verifier) if extra_certificates.is_empty() => return Ok(verifier),
        Ok(_) => {}
        Err(error) => {
            tracing::info!(
                "found no root certificates on this machine ({error}); using the bundled root certificates"
            );
            extra_certificates.extend_from_slice(webpki_root_certs::TLS_SERVER_ROOT_CERTS);
        }
    }
    Verifier::new_with_extra_roots(extra_certificates, Arc::clone(provider))
}

/// A certificate verifier that delegates to the operating system's verifier, and creates that verifier at the first
/// use.
#[derive(Debug)]
pub(super) struct MachineRoots {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl MachineRoots {
    /// Creates the verifier. The machine's certificates are read when the first connection needs them.
    pub(super) const fn new(provider: Arc<CryptoProvider>) -> Self {
        Self {
            provider,
            verifier: OnceLock::new(),
        }
    }

    /// Returns the verifier with the machine's certificates, which are read only once.
    fn verifier(&self) -> Result<&Verifier, Error> {
        self.verifier
            .get_or_init(|| build_verifier(Vec::new(), &self.provider))
            .as_ref()
            .map_err(Clone::clone)
    }
}

impl ServerCertVerifier for MachineRoots {
    /// Verifies the server's certificate with the machine's root certificates, which are loaded on the first call.
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier()?
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, cert, signed)
    }

    /// Returns the schemes of the crypto provider, so that the machine's root certificates need not be read.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
