//! Proxies from the standard variables.

use crate::support::{Platform, answer, change, orchestration_text, passed_results, respond_for_each};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;

#[test]
fn proxy_of_environment_is_used_for_other_hosts_only() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let away = platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "http://platform.invalid/dpc");
    away.run("review").expect(3);
    let proxied = away.variable("HTTP_PROXY", platform.server.uri());
    proxied.run("review").expect(0);
    let sent = &platform.requests()[0];
    assert!(sent.url.path().starts_with("/dpc/v1/projects/"), "{}", sent.url);
    proxied
        .variable("NO_PROXY", "platform.invalid")
        .run("review")
        .expect(3);
    let home = platform
        .call(&world)
        .variable("HTTP_PROXY", "http://127.0.0.1:9")
        .variable("ALL_PROXY", "http://127.0.0.1:9");
    home.run("review").expect(0);
}

#[test]
fn empty_proxy_variable_in_uppercase_does_not_hide_lowercase() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "http://platform.invalid/dpc");
    let proxy = platform.server.uri();
    for (upper, lower) in [("HTTP_PROXY", "http_proxy"), ("ALL_PROXY", "all_proxy")] {
        let proxied = call.clone().variable(upper, "").variable(lower, &proxy);
        proxied.clone().run("review").expect(0);
        // An exception in lowercase is not hidden either.
        let excepted = proxied
            .variable("NO_PROXY", " ")
            .variable("no_proxy", "platform.invalid");
        excepted.run("review").expect(3);
        // A variable in uppercase with a value has priority.
        call.clone()
            .variable(upper, "http://127.0.0.1:9")
            .variable(lower, &proxy)
            .run("review")
            .expect(3)
            .saying(&["cannot connect to the proxy http://127.0.0.1:9"]);
    }
    let address = proxy_with_status("407 Proxy Authentication Required");
    platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "https://platform.invalid/dpc")
        .variable("HTTPS_PROXY", "")
        .variable("https_proxy", format!("http://me:s3cret@{address}"))
        .run("review")
        .expect(3)
        .saying(&[&format!("the proxy http://{address} requires other credentials")]);
}

/// The program reads a hidden variable itself, and must not send the token without a proxy.
#[test]
fn hidden_variable_with_reserved_character_in_password_is_used_only_if_it_is_escaped() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let address = platform.server.address();
    for (password, code) in [("pa#ss", 2), ("pa/ss", 2), ("pa?ss", 2), ("pa%23ss", 0)] {
        platform
            .call(&world)
            .variable("SLUICEGATE_BASE_URL", "http://platform.invalid/dpc")
            .variable("HTTP_PROXY", "")
            .variable("http_proxy", format!("http://me:{password}@{address}"))
            .run("review")
            .expect(code);
    }
}

/// Starts a proxy that responds to every request with this status line.
fn proxy_with_status(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes());
        }
    });
    address
}

#[test]
fn refusal_by_a_proxy_names_proxy_status_and_target() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "https://platform.invalid/dpc")
        .variable("SLUICEGATE_RETRIES", "2");
    for (status, message, hint) in [
        (
            "403 Forbidden",
            "refused the connection to platform.invalid:443: 403 Forbidden",
            "hint: allow platform.invalid in the proxy",
        ),
        (
            "407 Proxy Authentication Required",
            "requires other credentials (407 Proxy Authentication Required)",
            "hint: set the proxy credentials",
        ),
    ] {
        let address = proxy_with_status(status);
        let output = call
            .clone()
            .variable("HTTPS_PROXY", format!("http://me:s3cret@{address}"))
            .run("review")
            .expect(3)
            .saying(&[&format!("the proxy http://{address} {message}"), hint]);
        assert!(!output.all().contains("s3cret"), "{}", output.all());
        assert!(!output.err.contains("retrying in"), "{}", output.all());
    }
}

#[test]
fn hint_for_missing_proxy_credentials_names_the_variable_for_the_scheme() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    let address = proxy_with_status("407 Proxy Authentication Required");
    for (variable, base_url) in [
        ("HTTPS_PROXY", "https://platform.invalid/dpc"),
        ("HTTP_PROXY", "http://platform.invalid/dpc"),
    ] {
        let hint =
            format!("hint: set the proxy credentials in {variable} or ALL_PROXY: http://user:password@host");
        platform
            .call(&world)
            .variable("SLUICEGATE_BASE_URL", base_url)
            .variable(variable, format!("http://{address}"))
            .run("review")
            .expect(3)
            .saying(&[&hint]);
    }
}

#[test]
fn proxy_that_refuses_the_connection_is_named_without_credentials() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    for (variable, base_url) in [
        ("HTTPS_PROXY", "https://platform.invalid/dpc"),
        ("HTTP_PROXY", "http://platform.invalid/dpc"),
        ("ALL_PROXY", "https://platform.invalid/dpc"),
    ] {
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_BASE_URL", base_url)
            .variable(variable, "http://me:s3cret@127.0.0.1:9")
            .run("review")
            .expect(3)
            .saying(&[
                "cannot connect to the proxy http://127.0.0.1:9: ",
                "hint: check the proxy variables",
            ]);
        assert!(!output.all().contains("s3cret"), "{}", output.all());
    }
}

#[test]
fn missing_socks_proxy_is_named() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let output = Platform::new()
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "https://platform.invalid/dpc")
        .variable("ALL_PROXY", "socks5h://me:s3cret@127.0.0.1:9")
        .run("review")
        .expect(3)
        .saying(&[
            "cannot connect to the proxy socks5h://127.0.0.1:9: no connection",
            "hint: check the proxy variables",
        ]);
    assert!(!output.all().contains("s3cret"), "{}", output.all());
}

#[test]
fn unusable_proxy_variable_exits_with_2_and_is_named() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    let call = |variable: &str, value: &str| {
        platform
            .call(&world)
            .variable("SLUICEGATE_BASE_URL", "https://platform.invalid/dpc")
            .variable(variable, value)
    };
    for (variable, value) in [
        ("HTTPS_PROXY", r"http://domain\me:s3cret@proxy.example.com:3128"),
        ("https_proxy", r"http:\\s3cret.example.com:3128"),
        ("ALL_PROXY", "ftp://s3cret.example.com"),
        ("HTTPS_PROXY", "http://s3cret example.com"),
        ("HTTPS_PROXY", "$(S3CRET_PROXY)"),
        ("HTTPS_PROXY", "http://me:s3cret#x@proxy.example.com:3128"),
        ("https_proxy", "http://me:1/s3cret@proxy.example.com:3128"),
        ("HTTPS_PROXY", "me:1?s3cret@proxy.example.com:3128"),
        ("ALL_PROXY", "http://s3cret.example.com:99999"),
    ] {
        for command in ["review", "doctor", "artifacts list"] {
            let output = call(variable, value).run(command).expect(2);
            let text = output.all();
            assert!(
                text.contains(&format!("the variable {variable} is not the URL of a proxy")),
                "{text}"
            );
            assert!(text.contains("%5C"), "{text}");
            assert!(!text.to_lowercase().contains("s3cret"), "{text}");
        }
    }
    // A variable that no request uses does not matter.
    let unusable = r"http:\\proxy";
    call("HTTPS_PROXY", unusable)
        .variable("NO_PROXY", ".invalid")
        .run("review")
        .expect(3);
    call("HTTP_PROXY", unusable).run("review").expect(3);
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let local = platform.call(&world).variable("HTTP_PROXY", unusable);
    local.run("review").expect(0);
}

#[test]
fn token_url_has_its_own_choice_of_proxy() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.respond_to("POST", "/token$", answer(&json!({ "access_token": "t0ken" })));
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = |base_url: &str, token_url: &str| {
        platform
            .call(&world)
            .without("SLUICEGATE_TOKEN")
            .variable("SLUICEGATE_CLIENT_ID", "me")
            .variable("SLUICEGATE_CLIENT_SECRET", "s3cret")
            .variable("SLUICEGATE_BASE_URL", base_url)
            .variable("SLUICEGATE_TOKEN_URL", token_url)
    };
    let local = platform.server.uri();
    let local_token_url = format!("{local}/token");
    // The proxy forwards to the platform, so a request that uses the proxy arrives.
    let local_token = call("http://platform.invalid", &local_token_url);
    local_token
        .clone()
        .variable("HTTP_PROXY", &local)
        .run("review")
        .expect(0);
    call(&local, "http://login.invalid/token")
        .variable("HTTP_PROXY", &local)
        .run("review")
        .expect(0);
    // The secret for the local machine does not reach a proxy.
    let foreign_proxy = Platform::new();
    let output = local_token
        .variable("HTTP_PROXY", foreign_proxy.server.uri())
        .run("review");
    let hosts: Vec<_> = foreign_proxy
        .requests()
        .iter()
        .map(|request| request.url.path().to_owned())
        .collect();
    assert!(
        !hosts.is_empty() && !hosts.iter().any(|path| path.ends_with("/token")),
        "{hosts:?} {}",
        output.all()
    );
    // A variable that only the token URL needs is checked, too.
    call(&local, "http://login.invalid/token")
        .variable("HTTP_PROXY", "$(PROXY)")
        .run("review")
        .expect(2)
        .saying(&["the variable HTTP_PROXY is not the URL of a proxy"]);
}

#[test]
fn refusal_by_a_proxy_that_keeps_the_connection_open_is_read() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut open_streams = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
            open_streams.push(stream);
        }
    });
    let output = Platform::new()
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "https://platform.invalid/dpc")
        .variable("HTTPS_PROXY", format!("http://{address}"))
        .run("review")
        .expect(3);
    output.saying(&["403 Forbidden", "hint: allow platform.invalid in the proxy"]);
}
