//! The proxies that requests go through.

use super::base_url::is_loopback;
use reqwest::Url;

pub(super) enum Proxies {
    OfEnvironment,
    /// No proxy, as a proxy cannot reach the loopback addresses of the local machine.
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
