//! Describes when settings and waivers that a change relaxes take effect.

use crate::job::ci::Trigger;
use crate::job::context::PolicyRevision;
use crate::workspace::Workspace;
use crate::workspace::gate_files::GateFiles;
use sluicegate_base::text::List;
use sluicegate_pipelines::findings::GateChange;

impl Workspace<'_> {
    /// Describes that settings and waivers that the change relaxes have no effect in CI before the merge. Returns `None`
    /// without such settings, for a run that is neither local nor for a change, and if the policy is read from head.
    pub(crate) fn describe_later_effect(
        &self,
        files: &GateFiles,
        gate_changes: &[GateChange],
    ) -> Option<String> {
        // The platform reads its rules file, which is never a link, from the reviewed commit.
        let relaxed_paths: Vec<&String> = gate_changes
            .iter()
            .filter(|change| files.may_be_link(&change.path))
            .filter(|change| change.descriptions.iter().any(|text| text.ends_with("(relaxed)")))
            .map(|change| &change.path)
            .collect();
        let is_policy_elsewhere = matches!(self.policy_revision, PolicyRevision::Commit { .. });
        if relaxed_paths.is_empty() {
            None
        } else if self.ci.host.is_local() {
            Some(format!(
                "until this change is merged, CI does not use the settings and waivers that it relaxes ({})",
                List::new(&relaxed_paths)
            ))
        } else {
            (is_policy_elsewhere && self.ci.trigger == Trigger::Change).then(|| {
                format!(
                    "the settings and waivers that this change relaxes are in effect after the merge ({})",
                    List::new(&relaxed_paths)
                )
            })
        }
    }
}
