//! A setting of git that replaces the start of a remote's URL.

/// A setting `url.BASE.insteadOf = PREFIX`. The base may contain a token, so it is only kept in memory.
pub(super) struct UrlReplacement {
    pub(super) prefix: String,
    pub(super) base: String,
}
