//! The behaviors of the simulated agent, as values of a flag.

use crate::job::cli::AgentBehaviorFlag;
use sluicegate_local_platform::AgentBehavior;

/// Converts the flag's value to the local platform's behavior with the same name.
pub(crate) const fn to_agent_behavior(flag: AgentBehaviorFlag) -> AgentBehavior {
    match flag {
        AgentBehaviorFlag::Obedient => AgentBehavior::Obedient,
        AgentBehaviorFlag::EditsOtherFile => AgentBehavior::EditsOtherFile,
        AgentBehaviorFlag::EditsRules => AgentBehavior::EditsRules,
        AgentBehaviorFlag::AddsFinding => AgentBehavior::AddsFinding,
        AgentBehaviorFlag::NeverStops => AgentBehavior::NeverStops,
        AgentBehaviorFlag::Asks => AgentBehavior::Asks,
        AgentBehaviorFlag::RunsPipeline => AgentBehavior::RunsPipeline,
        AgentBehaviorFlag::SkipsPush => AgentBehavior::SkipsPush,
        AgentBehaviorFlag::MovesSourceBranch => AgentBehavior::MovesSourceBranch,
        AgentBehaviorFlag::RewritesHistory => AgentBehavior::RewritesHistory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn every_flag_value_has_the_name_of_its_behavior() {
        for flag in AgentBehaviorFlag::value_variants() {
            let behavior = serde_json::to_value(to_agent_behavior(*flag)).unwrap();
            let value = flag.to_possible_value().unwrap();
            assert_eq!(behavior.as_str(), Some(value.get_name()));
        }
    }
}
