//! Through which proxies requests go.

use super::base_url::is_loopback;
use reqwest::Url;

pub(super) enum Proxies {
    OfEnvironment,
    /// None: a proxy cannot reach this machine's loopback addresses.
    None,
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
