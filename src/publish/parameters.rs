//! Whether the shared pipelines declare the parameters that the shared-pipelines file offers for them.

use super::closure::Input;
use super::{Problem, PublishError, references};
use std::collections::HashSet;

/// The parameters of enabled entries that are no variables of their pipelines. A pipeline that cannot be read is told
/// elsewhere.
pub(super) fn undeclared(input: &Input<'_>) -> Result<Vec<Problem>, PublishError> {
    let mut problems = Vec::new();
    for entry in input
        .shared
        .enabled()
        .filter(|entry| !entry.parameters.is_empty())
    {
        let Some(found) = input
            .listing
            .known()
            .get(&entry.pipeline)
            .filter(|_| input.sent.contains_key(&entry.pipeline))
        else {
            continue;
        };
        let Some(variables) = references::variables(input.contents, &found.content)? else {
            continue;
        };
        let variables: HashSet<String> = variables.into_iter().collect();
        let unknown = entry
            .parameters
            .iter()
            .filter(|(name, _)| !variables.contains(name));
        problems.extend(unknown.map(|(name, position)| {
            let what = format!(
                "the shared pipeline `{}` has the parameter `{name}`, which is no variable of `{}`",
                entry.id, entry.pipeline
            );
            input.shared.problem(*position, what)
        }));
    }
    Ok(problems)
}
