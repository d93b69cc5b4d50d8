//! Through which proxies requests go.

use super::base_url::is_loopback;
use reqwest::Url;

/// Through which proxies requests go.
pub(super) enum Proxies {
    /// Those that the environment names.
    OfEnvironment,
    /// None: a proxy cannot reach this machine's loopback addresses.
    None,
    /// This one alone.
    Only(Box<reqwest::Proxy>),
}

impl Proxies {
    pub(super) fn on_the_way_to(url: &Url) -> Self {
        if is_loopback(url) {
            Self::None
        } else {
            Self::OfEnvironment
        }
    }
}
