//! Describes when settings and waivers that a change relaxes take effect.

use crate::job::ci::Trigger;
use crate::job::context::PolicyRevision;
use crate::workspace::Workspace;
use crate::workspace::gate_files::GateFiles;
use sluicegate_base::text::List;

impl Workspace<'_> {
    /// Describes that settings and waivers that the change relaxes have no effect in CI before the merge.
    /// `relaxed_gate_files` are the files that the change relaxes. Returns `None` without such settings, for a run that
    /// is neither local nor for a change, and if the policy is read from head.
    pub(crate) fn describe_later_effect(
        &self,
        files: &GateFiles,
        relaxed_gate_files: &[String],
    ) -> Option<String> {
        // The platform reads its rules file, which is never a link, from the reviewed commit.
        let relaxed_paths: Vec<&String> = relaxed_gate_files
            .iter()
            .filter(|path| files.may_be_link(path))
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
