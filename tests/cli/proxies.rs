//! Proxies from the standard variables.

use crate::world::{Platform, change, each, passed, pipeline};

#[test]
fn a_proxy_of_the_environment_is_used_for_other_hosts_only() {
    let world = change(&[("b.orch.yaml", &pipeline(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(each("PASSED", passed()));
    let away = platform
        .call(&world)
        .variable("SLUICEGATE_BASE_URL", "http://platform.invalid/dpc");
    away.run(&["review"]).expect(3);
    let proxied = away.variable("HTTP_PROXY", platform.server.uri());
    proxied.run(&["review"]).expect(0);
    let sent = &platform.requests()[0];
    assert!(sent.url.path().starts_with("/dpc/v1/projects/"), "{}", sent.url);
    proxied
        .variable("NO_PROXY", "platform.invalid")
        .run(&["review"])
        .expect(3);
    let home = platform
        .call(&world)
        .variable("HTTP_PROXY", "http://127.0.0.1:9")
        .variable("ALL_PROXY", "http://127.0.0.1:9");
    home.run(&["review"]).expect(0);
}
