//! `--client-cert` and `--client-key`: a gateway that accepts only clients with a certificate.

use crate::support::{Call, World, tls_server::TlsServer};
use std::fs;

fn call_to(server: &TlsServer, world: &World) -> Call {
    Call::with_platform(&world.work(), &server.url())
        .variable(
            "SLUICEGATE_CA_CERT",
            server.root_certificate_path().to_str().unwrap(),
        )
        .variable("SLUICEGATE_RETRIES", "0")
}

#[test]
fn gateway_accepts_client_with_certificate() {
    let world = World::new();
    let server = TlsServer::start_with_client_certificate(&["127.0.0.1"]);
    let [certificate, key] = server.client_certificate_paths();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let call = call_to(&server, &world);
    call.run("projects list").expect(3);
    call.run(("projects list --client-cert", &[certificate, "--client-key", key]))
        .expect(0);
    let by_path = call
        .clone()
        .variable("SLUICEGATE_CLIENT_CERT", certificate)
        .variable("SLUICEGATE_CLIENT_KEY", key);
    by_path.run("projects list").expect(0);
    let text = |path: &str| fs::read_to_string(path).unwrap();
    let by_text = call
        .clone()
        .variable("SLUICEGATE_CLIENT_CERT", text(certificate))
        .variable("SLUICEGATE_CLIENT_KEY", text(key));
    by_text.run("projects list").expect(0);
    // One PEM with both.
    let both = call.variable("SLUICEGATE_CLIENT_CERT", text(certificate) + &text(key));
    both.run("projects list").expect(0);
}

#[test]
fn unusable_client_certificate_is_named_without_its_content() {
    let world = World::new();
    let server = TlsServer::start_with_client_certificate(&["127.0.0.1"]);
    let [certificate, key] = server.client_certificate_paths();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let call = call_to(&server, &world);
    call.run(("projects list --client-key", &[key]))
        .expect(2)
        .saying(&["no client certificate"]);
    call.run(("projects list --client-cert", &[certificate]))
        .expect(2)
        .saying(&["no usable private key"]);
    call.run("projects list --client-cert gone.pem")
        .expect(2)
        .saying(&["gone.pem", "cannot be read"]);
    let key_text = fs::read_to_string(key).unwrap();
    let cut_certificate = format!(
        "{}-----BEGIN CERTIFICATE-----\n",
        fs::read_to_string(certificate).unwrap()
    );
    call.clone()
        .variable("SLUICEGATE_CLIENT_CERT", cut_certificate)
        .run(("projects list --client-key", &[key]))
        .expect(2)
        .saying(&["is not valid PEM"]);
    let output = call
        .variable("SLUICEGATE_CLIENT_CERT", &key_text)
        .run("projects list")
        .expect(2);
    assert!(
        !output.all().contains(key_text.lines().nth(1).unwrap()),
        "{}",
        output.all()
    );
    assert_eq!(server.connection_count(), 0);
}

#[test]
fn server_without_client_certificates_is_reached_as_before() {
    let world = World::new();
    let server = TlsServer::start(&["127.0.0.1"]);
    call_to(&server, &world).run("projects list").expect(0);
}
