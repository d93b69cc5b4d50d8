//! What the change does to consumers of shared pipelines, as reports tell it.

/// One thing that changes for consumers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConsumerChange {
    /// `breaking`, `addition`, `note` or `content`.
    pub class: String,
    /// What it is, by its name.
    pub change: String,
    /// The shared pipeline; none where a file is meant.
    pub id: Option<String>,
    /// What changed, in words that follow the id.
    pub words: String,
    /// What consumers must do.
    pub consumers: String,
    /// Where it stands, or should.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// Where it stood at the base.
    pub before: Option<String>,
}

impl ConsumerChange {
    /// Whether consumers must do something.
    pub fn is_breaking(&self) -> bool {
        self.class == "breaking"
    }

    /// The sentence, without its place. Holds text from outside.
    pub fn told(&self) -> String {
        let id = self.id.as_ref().map(|id| format!("`{id}`: ")).unwrap_or_default();
        let before = self.before.as_ref().map(|place| format!(" (before: {place})"));
        format!(
            "{id}{}; consumers: {}{}",
            self.words,
            self.consumers,
            before.unwrap_or_default()
        )
    }
}

/// What the change does to consumers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForConsumers {
    /// The commit that it is compared with.
    pub against: Option<String>,
    /// How much all of it matters; none where that is not known.
    pub class: Option<String>,
    /// Why a break is allowed.
    pub accepted: Option<String>,
    /// A break fails the gate.
    pub refused: bool,
    /// All that changes.
    pub changes: Vec<ConsumerChange>,
}

impl ForConsumers {
    /// What breaks consumers.
    pub fn breaks(&self) -> impl Iterator<Item = &ConsumerChange> {
        self.changes.iter().filter(|change| change.is_breaking())
    }
}
