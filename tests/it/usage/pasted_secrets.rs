//! No output shows a secret that was pasted into the wrong setting, or the bytes of a file with one.

use crate::support::{Call, change, orchestration_text};
use std::fs;

/// A token in the forms that platforms issue.
const TOKENS: [&str; 4] = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "glpat-Zx9_secret.01.abcdef",
    "https:Zx9secretZx9",
];

#[test]
fn secret_in_another_setting_is_not_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    for token in TOKENS {
        for (variable, flag) in [
            ("SLUICEGATE_BASE_URL", "--base-url"),
            ("SLUICEGATE_PROJECT_ID", "--project-id"),
            ("SLUICEGATE_TOKEN_FILE", "--token-file"),
        ] {
            let call = || {
                Call::with_platform(&world.work(), "http://127.0.0.1:9")
                    .variable("SLUICEGATE_RETRIES", "0")
                    .variable("SLUICEGATE_TOKEN", "")
            };
            for verbosity in ["-q", "-v", "-vv"] {
                let by_variable = call().variable(variable, token).run(&[verbosity, "review"]);
                let by_flag = call().run(&[verbosity, flag, token, "review"]);
                let doctor = call().variable(variable, token).run(&[verbosity, "doctor"]);
                for ended in [by_variable, by_flag, doctor] {
                    assert_ne!(ended.code, 0, "{variable}");
                    assert!(!ended.all().contains(token), "{variable}: {}", ended.all());
                }
            }
        }
    }
    // An ordinary mistake still gets the next step.
    Call::new(&world.work())
        .variable("SLUICEGATE_BASE_URL", "platform.example.com")
        .run("review")
        .expect(2)
        .saying(&["the base URL has no scheme: write https://"]);
}

#[test]
fn secret_in_url_or_name_of_token_file_is_not_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    for (variable, value) in [
        (
            "SLUICEGATE_TARGET_REPOSITORY",
            "https://git.example/o/r.git?private_token=S3cret",
        ),
        (
            "SLUICEGATE_TARGET_REPOSITORY",
            "https:/user:S3cret@git.example/o/r.git",
        ),
        ("SLUICEGATE_TARGET_REPOSITORY", "user:S3cret@git.example:o/r.git"),
        (
            "SLUICEGATE_TOKEN_URL",
            "https://idp.example/t?client_secret=S3cret",
        ),
        ("SLUICEGATE_TOKEN_URL", "https://idp.example/t#S3cret"),
        ("SLUICEGATE_TOKEN_FILE", "S3cret.abc.def"),
    ] {
        let call = Call::new(&world.work()).variable(variable, value);
        for command in [
            "settings",
            "settings -o json",
            "doctor",
            "context --json",
            "check -vv",
        ] {
            let output = call.run(command);
            assert!(!output.all().contains("S3cret"), "{command}: {}", output.all());
        }
        let hidden = call.run("settings").expect(0).out;
        assert!(hidden.contains("(hidden)"), "{hidden}");
    }
    // Counterparts: values without a secret.
    fs::write(world.work().join("token"), "S3cret").unwrap();
    for (variable, value) in [
        ("SLUICEGATE_TARGET_REPOSITORY", "git@git.example:o/r.git"),
        ("SLUICEGATE_TOKEN_URL", "https://idp.example/t"),
        ("SLUICEGATE_TOKEN_FILE", "token"),
    ] {
        let output = Call::new(&world.work()).variable(variable, value).run("settings");
        let table = output.expect(0).out;
        assert!(
            table.contains(&format!(" {value} ")) && !table.contains("(hidden)"),
            "{table}"
        );
    }
}

#[test]
fn certificate_file_with_a_key_is_not_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let secret = "c2VjcmV0c2VjcmV0";
    let numbers = "99, 50, 86"; // The first bytes, as a list of numbers.
    let file = world.path().join("ca.pem");
    for (text, words) in [
        (
            format!("-----BEGIN CERTIFICATE-----\\n{secret}\\n-----END CERTIFICATE-----\\n"),
            "two characters",
        ),
        (
            format!("-----BEGIN PRIVATE KEY-----\\n{secret}\\n-----END PRIVATE KEY-----\\n"),
            "contains a private key",
        ),
        (
            format!("-----BEGIN EC PRIVATE KEY-----\n{secret}\n-----END EC PRIVATE KEY-----\n"),
            "contains a private key",
        ),
        (format!("-----BEGIN {secret}\n"), "is not PEM"),
        (
            format!("-----BEGIN CERTIFICATE-----\n{secret}\n"),
            "is not PEM: certificate 1: a section has no end",
        ),
    ] {
        fs::write(&file, &text).unwrap();
        let output = Call::with_platform(&world.work(), "http://127.0.0.1:9")
            .variable("SLUICEGATE_CA_CERT", file.display().to_string())
            .run("-vv projects list");
        let output = output.expect(2).saying(&[words]);
        assert!(!output.all().contains(secret), "{}", output.all());
        assert!(!output.all().contains(numbers), "{}", output.all());
    }
}

/// CI variables often contain a file as its base64 on one line.
#[test]
fn key_in_setting_for_the_path_of_a_file_is_not_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    fs::write(world.path().join("client.pem"), "x").unwrap();
    let short_key = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQik/bKp1GQ4dhUhpZ9pX1q";
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{short_key}\n-----END PRIVATE KEY-----\n");
    for key in [
        short_key.to_owned(),
        "TUM0Q0FRQXdCUVlESzJWd0JDSUVJ".repeat(20),
        pem.replace('\n', "\\n"),
        pem,
    ] {
        let secret_part = key.get(30..45).unwrap_or_default();
        for variable in [
            "SLUICEGATE_CA_CERT",
            "SLUICEGATE_CLIENT_KEY",
            "SLUICEGATE_CLIENT_CERT",
        ] {
            for args in ["-vv projects list", "doctor"] {
                let output = Call::with_platform(&world.work(), "http://127.0.0.1:9")
                    .variable("SLUICEGATE_RETRIES", "0")
                    .variable("SLUICEGATE_CLIENT_CERT", "../client.pem")
                    .variable(variable, &key)
                    .run(args);
                assert_ne!(output.code, 0, "{variable}");
                assert!(
                    !output.all().contains(secret_part),
                    "{variable}: {}",
                    output.all()
                );
            }
        }
    }
    // The path of a file that does not exist is shown.
    Call::with_platform(&world.work(), "http://127.0.0.1:9")
        .variable("SLUICEGATE_CA_CERT", "certificates/ca.pem")
        .run("projects list")
        .expect(2)
        .saying(&["certificates/ca.pem cannot be read", "hint: correct the path"]);
}
