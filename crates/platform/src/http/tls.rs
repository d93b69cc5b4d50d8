//! TLS: the ring provider and the machine's root certificates, or the bundled ones if it has none.

use super::HttpError;
use super::client_certificate::ClientCertificate;
use super::machine_roots::{MachineRoots, build_verifier};
use super::pem_path::describe_pem_path;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A PEM file with root certificates that are trusted in addition to those of the machine.
#[derive(Debug, Clone)]
pub struct CaFile {
    path: PathBuf,
    /// The setting that names the file, for hints.
    setting: &'static str,
}

impl CaFile {
    /// Describes the file that the flag or its variable names.
    pub fn from_flag(path: impl Into<PathBuf>) -> Self {
        Self::from_setting(path, "--ca-cert (SLUICEGATE_CA_CERT)")
    }

    /// Describes the file that this setting names.
    pub fn from_setting(path: impl Into<PathBuf>, setting: &'static str) -> Self {
        Self {
            path: path.into(),
            setting,
        }
    }

    /// Returns the hint for a server whose certificate no certificate of the file has signed.
    pub(super) fn describe_missing_root(&self) -> String {
        format!(
            "no certificate in {}, which {} names, signed the server's certificate: add the root certificate of the \
             authority that signed it to that file",
            format_path(&self.path),
            self.setting
        )
    }
}

/// Maximum size of a PEM file, in bytes; the bundle of a system has about 200 KB.
const MAX_PEM_SIZE: u64 = 16 * 1024 * 1024;

/// Creates the TLS configuration of the client. It trusts the certificates in `ca_cert` in addition to those of the
/// machine, and presents the client certificate if the server requests one. Without `ca_cert`, the machine's
/// certificates are read only when the first connection needs them.
pub(super) fn build_client_config(
    ca_cert: Option<&CaFile>,
    client_certificate: Option<&ClientCertificate>,
) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match ca_cert {
        None => Arc::new(MachineRoots::new(Arc::clone(&provider))),
        Some(file) => {
            let verifier = build_verifier(read_certificates(file)?, &provider).map_err(|error| {
                HttpError::configuration(format!("the trusted root certificates cannot be used: {error}"))
            })?;
            Arc::new(verifier)
        }
    };
    // Rustls calls every verifier other than its default `dangerous`.
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::configuration(format!("could not set up TLS: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match client_certificate {
        None => builder.with_no_client_auth(),
        Some(certificate) => {
            let (certificates, key) = certificate.load_certificates_and_key()?;
            builder
                .with_client_auth_cert(certificates, key)
                .map_err(|error| certificate.mismatch_error(&error))?
        }
    };
    // Reqwest does not set the protocols of a configuration that it has not built itself.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads the certificates of a PEM file. Rejects a file with a private key, with escaped line breaks, or with an
/// invalid certificate. No error shows a byte of the file, because it may contain a private key.
fn read_certificates(file: &CaFile) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let path = &file.path;
    let bytes = input::read_file(path, MAX_PEM_SIZE).map_err(|error| {
        let hint = format!("correct the path of the file: {}", file.setting);
        ca_file_error(path, &format!("cannot be read: {error}"), &hint)
    })?;
    if contains_bytes(&bytes, PRIVATE_KEY) {
        return Err(ca_file_error(
            path,
            "contains a private key, which does not belong in a file of trusted certificates",
            "remove the private key from the file, and replace the key everywhere it was used",
        ));
    }
    if contains_bytes(&bytes, ESCAPED_LINE_END) {
        return Err(ca_file_error(
            path,
            "is not PEM: its lines end with the two characters `\\n` instead of line breaks",
            "write the certificate with line breaks, for example with `printf '%b'`",
        ));
    }
    let mut certificates = Vec::new();
    for result in CertificateDer::pem_slice_iter(&bytes) {
        let number = certificates.len() + 1;
        let certificate = result.map_err(|error| {
            let reason = describe_pem_error(&error);
            ca_file_error(
                path,
                &format!("is not PEM: certificate {number}: {reason}"),
                CERTIFICATES_HINT,
            )
        })?;
        // The PEM parser does not check the content of the certificate. This empty store does, and the error can name
        // the certificate by its number.
        RootCertStore::empty().add(certificate.clone()).map_err(|error| {
            ca_file_error(
                path,
                &format!("cannot be used: certificate {number}: {error}"),
                "replace this certificate, or remove it from the file",
            )
        })?;
        certificates.push(certificate);
    }
    if certificates.is_empty() {
        return Err(ca_file_error(path, "contains no certificate", CERTIFICATES_HINT));
    }
    Ok(certificates)
}

/// Returns whether the content contains this sequence of bytes, which must not be empty.
fn contains_bytes(content: &[u8], sequence: &[u8]) -> bool {
    content.windows(sequence.len()).any(|window| window == sequence)
}

/// Creates an error about the file with additional root certificates.
fn ca_file_error(path: &Path, reason: &str, hint: &str) -> HttpError {
    let name = describe_pem_path(path);
    HttpError::configuration(format!("the CA certificate file {name} {reason}")).with_hint(hint)
}

const CERTIFICATES_HINT: &str = "use a file with certificates in PEM format (-----BEGIN CERTIFICATE-----)";

/// The end of the first line of each private key in PEM format.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY-----";

/// The end of a first line whose line break is written as two characters.
const ESCAPED_LINE_END: &[u8] = b"-----\\n";

/// Returns the reason why the file is not valid PEM. The parser's own message is not used because it contains bytes of
/// the file.
const fn describe_pem_error(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "a section has no end",
        pem::Error::IllegalSectionStart { .. } => "a section has a malformed first line",
        pem::Error::Base64Decode(_) => "a section is not base64",
        _ => "it is malformed",
    }
}

#[cfg(test)]
mod tests {
    use super::{CaFile, build_client_config};
    use std::io::Write;

    #[test]
    fn file_without_certificates_is_named() {
        let refused = |content: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(content).unwrap();
            let name = file.path().display().to_string();
            build_client_config(Some(&CaFile::from_flag(file.path())), None)
                .unwrap_err()
                .to_string()
                .replace(&name, "FILE")
        };
        insta::assert_snapshot!(refused(b"hello"), @"the CA certificate file FILE contains no certificate");
        let broken = refused(b"-----BEGIN CERTIFICATE-----\n*\n-----END CERTIFICATE-----\n");
        assert!(
            broken.starts_with("the CA certificate file FILE is not PEM: "),
            "{broken}"
        );
        for secret in ["c2VjcmV0", "s3cret"] {
            for text in [
                format!("-----BEGIN CERTIFICATE-----\\n{secret}\\n-----END CERTIFICATE-----\\n"),
                format!("-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----\n"),
                format!("-----BEGIN RSA PRIVATE KEY-----\\n{secret}\\n-----END RSA PRIVATE KEY-----"),
                format!("-----BEGIN {secret}"),
                format!("-----BEGIN {secret}-----\n{secret}"),
                format!("-----BEGIN CERTIFICATE-----\n{secret}*\n-----END CERTIFICATE-----\n"),
            ] {
                let error = refused(text.as_bytes());
                assert!(!error.contains(secret) && !error.contains("115, 51"), "{error}");
            }
        }
        let good = rcgen::generate_simple_self_signed(["h".to_owned()])
            .unwrap()
            .cert
            .pem();
        let bundle = |bad: &str| {
            format!("{good}{good}-----BEGIN CERTIFICATE-----\n{bad}\n-----END CERTIFICATE-----\n{good}")
        };
        let number = refused(bundle("AAAA").as_bytes());
        insta::assert_snapshot!(number, @"the CA certificate file FILE cannot be used: certificate 3: invalid peer certificate: BadEncoding");
        let number = refused(bundle("*").as_bytes());
        insta::assert_snapshot!(number, @"the CA certificate file FILE is not PEM: certificate 3: a section is not base64");
        let key = refused(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
        assert!(key.contains("contains a private key"), "{key}");
        let missing = build_client_config(Some(&CaFile::from_flag("/nonexistent.pem")), None)
            .unwrap_err()
            .to_string();
        assert!(
            missing.starts_with("the CA certificate file /nonexistent.pem cannot be read: "),
            "{missing}"
        );
    }
}
