//! TLS with the meanings of libpq's `sslmode`.

use super::super::DatabaseError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Whether to use TLS, and which servers to trust.
pub(super) struct Trust {
    pub(super) mode: SslMode,
    pub(super) verification: Verification,
    /// A file with certificates of authorities; without one, those that the system trusts.
    pub(super) root: Option<PathBuf>,
}

/// What is verified of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verification {
    /// Nothing: the connection is encrypted, but may be with anybody.
    None,
    /// An authority that is trusted has signed it.
    Chain,
    /// And it is for this host.
    ChainAndHost,
}

/// Makes the TLS side of connections.
pub(super) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, DatabaseError> {
    let provider = Arc::new(ring::default_provider());
    let chain = match trust.verification {
        Verification::None => None,
        _ => Some(verifier(roots(trust.root.as_deref())?, &provider)?),
    };
    let verifier =
        Arc::new(Verifier { chain, verification: trust.verification, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, DatabaseError> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|error| failed(&error.to_string()))
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, DatabaseError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            let shown = path.display();
            let wrong = |reason: String| failed(&format!("sslrootcert '{shown}' {reason}"));
            let certificates = CertificateDer::pem_file_iter(path)
                .map_err(|error| wrong(format!("cannot be read: {error}")))?;
            for certificate in certificates {
                let certificate =
                    certificate.map_err(|error| wrong(format!("is not a PEM file: {error}")))?;
                roots
                    .add(certificate)
                    .map_err(|error| wrong(format!("has a certificate that cannot be used: {error}")))?;
            }
            if roots.is_empty() {
                return Err(wrong(
                    "has no certificate; a PEM file with one begins with BEGIN CERTIFICATE".to_owned(),
                ));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err(failed(
                    "the system has no certificates to verify the server with; name a file with sslrootcert",
                ));
            }
        }
    }
    Ok(roots)
}

fn failed(reason: &str) -> DatabaseError {
    DatabaseError::Config(format!("TLS cannot be set up: {reason}"))
}

/// Verifies as much as was asked for. That the server holds the key of its certificate is always verified.
#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    verification: Verification,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, intermediates, host, ocsp, now) {
            // The name is looked at last: the rest has been verified.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verification == Verification::Chain => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
