//! Names the cases of a suite.

use std::collections::{HashMap, HashSet};

/// Creates unique names: GitLab keeps the first case of a name and drops the others.
#[derive(Default)]
pub(super) struct CaseNames {
    used_names: HashSet<String>,
    ordinals: HashMap<String, usize>,
}

impl CaseNames {
    /// Returns the name and records it as used. If it was used before, a number is added, as in `name (2)`.
    pub(super) fn make_unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let ordinal = self.ordinals.entry(name.to_owned()).or_insert(1);
        while !self.used_names.insert(candidate.clone()) {
            *ordinal += 1;
            candidate = format!("{name} ({ordinal})");
        }
        candidate
    }
}
