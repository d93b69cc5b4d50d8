//! The names of the gate configuration files.

use super::config_dir::RULES_FILE;

/// The name of the configuration file at the repository root.
pub const CONFIG_FILE: &str = "sluicegate.yaml";

/// The name of the waivers file at the repository root.
pub const WAIVERS_FILE: &str = "sluicegate-waivers.yaml";

/// The default name of the team rules file, which is in the directory of the configuration file.
pub const TEAM_RULES_FILE: &str = "sluicegate-rules.yaml";

/// The names of all gate configuration files. That of the platform's rules is a path in the hidden directory.
pub const GATE_FILES: [&str; 4] = [CONFIG_FILE, WAIVERS_FILE, TEAM_RULES_FILE, RULES_FILE];
