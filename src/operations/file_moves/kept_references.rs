//! References that a move or a repair does not change, so that the summary can list them.

/// A reference that keeps its text, with the reason.
pub(crate) struct KeptReference {
    pub path: String,
    pub line: u32,
    pub target: String,
    pub reason: String,
}

/// A file that was not searched for references.
pub(crate) struct UnreadFile {
    pub path: String,
    pub reason: String,
}
