//! The kinds of failure of a call.

use reqwest::StatusCode;

/// The kinds of failure that a caller handles differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The settings cannot be used: an unreadable CA file, a broken token source, a value that no header allows.
    Configuration,
    /// A name that cannot be a part of a URL path.
    InvalidName,
    /// 401, or the token URL rejected the client.
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    TooLarge,
    /// 400 or 422.
    BadRequest,
    /// Any other status that is not 2xx.
    OtherStatus(u16),
    /// The connection failed or broke.
    Unreachable,
    /// The server's certificate is not trusted.
    Certificate,
    /// No response, or no progress, within the timeout.
    Timeout,
    /// A response that cannot be used: not the expected JSON, too large, a redirect to another origin.
    BadResponse,
    /// The content of an upload did not have its announced length, or could not be read.
    UploadSource,
}

impl ErrorKind {
    /// Returns whether the platform denied access: the token is unknown, or its role does not allow the request.
    pub const fn is_denied(self) -> bool {
        matches!(self, Self::Unauthorized | Self::Forbidden)
    }

    /// Returns whether any further request of this run would fail in the same way.
    pub const fn is_permanent(self) -> bool {
        self.is_denied() || matches!(self, Self::Configuration | Self::Certificate)
    }

    /// Returns the kind of an error with this status, which is not 2xx.
    pub(super) fn from_status(status: StatusCode) -> Self {
        match status.as_u16() {
            400 | 422 => Self::BadRequest,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            code => Self::OtherStatus(code),
        }
    }

    /// Returns the hint for errors of this kind that have no hint of their own.
    pub(super) const fn general_hint(self) -> &'static str {
        match self {
            Self::Configuration => "correct the setting; `sluicegate doctor` checks the settings",
            Self::InvalidName => {
                "use a name that is not empty, not `.` or `..`, and has no control characters"
            }
            Self::BadRequest => "correct the fields that the platform rejects",
            Self::Conflict => {
                "the request conflicts with an existing resource or a running operation: use another name, or \
             wait until the operation ends"
            }
            Self::UploadSource => "nothing was published: make sure that no file changes during the upload",
            Self::Unauthorized => {
                "check the token: it may have expired, or belong to another account or region than the base URL"
            }
            Self::Forbidden => "the token is valid, but its account role does not allow this request",
            Self::NotFound => "check the base URL and the ids in the request URL",
            Self::TooLarge => "send less data in one request",
            Self::OtherStatus(410) => "the platform has removed or disabled this resource",
            // The error of a request that changes something is `Conflict`.
            Self::OtherStatus(409) => {
                "another operation may prevent this request: try again when it has ended"
            }
            // Only a request for an http URL: for https, the proxy refuses the tunnel, which is another error.
            Self::OtherStatus(407) => {
                "set the proxy credentials in HTTP_PROXY or ALL_PROXY: http://user:password@host"
            }
            Self::OtherStatus(429) => "the platform's rate limit is exceeded: try again later",
            Self::OtherStatus(500..=599) => "try again later: the platform has a problem",
            Self::Unreachable => {
                "check the base URL, the network, and the proxy variables (HTTPS_PROXY, NO_PROXY)"
            }
            Self::Certificate => {
                "if your company's own authority signed the certificate, pass the authority's root certificate with --ca-cert \
             (SLUICEGATE_CA_CERT)"
            }
            Self::Timeout => "set a longer timeout with --request-timeout (SLUICEGATE_TIMEOUT)",
            Self::BadResponse => "check that the base URL is the address of the platform's API",
            Self::OtherStatus(_) => {
                "check the base URL; `sluicegate doctor` checks the connection to the platform"
            }
        }
    }
}
