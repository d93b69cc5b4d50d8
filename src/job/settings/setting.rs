//! A row of the table of settings, and a section of rows.

use super::setting_format::SettingFormat;
use super::setting_kind::SettingKind;
use crate::job::policy::Strictness;

#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub variable: &'static str,
    /// The flag with its dashes, or an empty text if the setting has no flag.
    pub flag: &'static str,
    /// The key in the configuration file, with its section first, or an empty text if the setting has no key. If only
    /// the job may set the setting, the file must not contain this key.
    pub key: &'static str,
    pub kind: SettingKind,
    /// The format of the setting's value in the configuration file.
    pub(super) format: SettingFormat,
    /// The order of the setting's values by strictness.
    pub(super) strictness: Strictness,
    pub(super) description: &'static str,
}

impl Setting {
    /// Returns the human-readable description of the setting, without the space that begins a doc comment.
    pub fn description(&self) -> &'static str {
        self.description.trim()
    }
}

/// A section of the configuration file with its settings. The name of the top level is empty.
pub(super) struct SettingSection {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) settings: &'static [Setting],
}
