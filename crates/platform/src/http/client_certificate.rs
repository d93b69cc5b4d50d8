//! The certificate with which the client identifies itself to a gateway, from PEM files or texts.

use super::HttpError;
use super::pem_path::describe_pem_path;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::{ExposeSecret as _, SecretString};
use sluicegate_base::input;
use std::path::PathBuf;

/// Maximum size of a PEM file, in bytes.
const MAX_PEM_SIZE: u64 = 1024 * 1024;

const READABLE_FILE_HINT: &str = "correct the path of the file: --client-cert (SLUICEGATE_CLIENT_CERT) or --client-key \
    (SLUICEGATE_CLIENT_KEY)";

const HINT: &str = "use PEM: the certificate with its chain, and its key without a passphrase";

/// A client certificate with its key.
#[derive(Debug, Clone)]
pub struct ClientCertificate {
    /// The certificate, followed by the certificates of its chain.
    pub certificate: PemSource,
    /// The key. If it is `None`, the PEM of the certificate also contains the key.
    pub key: Option<PemSource>,
}

/// A PEM text, which may contain a private key, or the file that contains the text.
#[derive(Debug, Clone)]
pub enum PemSource {
    File(PathBuf),
    Text(SecretString),
}

impl ClientCertificate {
    /// Reads the certificates and the key. Without a separate key, the certificate's PEM must also contain the key.
    /// No error shows any of the PEM text.
    pub(super) fn load_certificates_and_key(
        &self,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), HttpError> {
        let pem = self.certificate.load_text()?;
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem.expose_secret().as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| self.certificate.pem_error("is not valid PEM"))?;
        if certificates.is_empty() {
            return Err(self.certificate.pem_error("contains no certificate"));
        }
        let key_source = self.key.as_ref().unwrap_or(&self.certificate);
        let key_pem = key_source.load_text()?;
        let key = PrivateKeyDer::from_pem_slice(key_pem.expose_secret().as_bytes())
            .map_err(|_| key_source.pem_error("contains no usable private key"))?;
        Ok((certificates, key))
    }

    /// Returns the error for a certificate that cannot be used with its key.
    pub(super) fn mismatch_error(&self, error: &rustls::Error) -> HttpError {
        self.certificate.pem_error(&format!("cannot be used: {error}"))
    }
}

impl PemSource {
    /// Returns the PEM text, read from a file if the source is a file.
    fn load_text(&self) -> Result<SecretString, HttpError> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(path) => {
                let bytes = input::read_file(path, MAX_PEM_SIZE).map_err(|error| {
                    self.pem_error(&format!("cannot be read: {error}"))
                        .with_hint(READABLE_FILE_HINT)
                })?;
                let text = String::from_utf8(bytes).map_err(|_| self.pem_error("is not PEM"))?;
                Ok(SecretString::from(text))
            }
        }
    }

    /// Creates the error for PEM that cannot be used. The message names the file or the variable, but shows none of its
    /// text.
    fn pem_error(&self, reason: &str) -> HttpError {
        let name = match self {
            Self::File(path) => format!("file {}", describe_pem_path(path)),
            Self::Text(_) => "in the variable".to_owned(),
        };
        HttpError::configuration(format!("the client certificate {name} {reason}")).with_hint(HINT)
    }
}
