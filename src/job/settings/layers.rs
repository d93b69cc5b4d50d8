//! Lays flag, variable and file over one another.

use super::SettingsError;
use super::look::Look;
use super::table::{self, SettingKind};
use crate::base::env::Env;

/// Reads variables, and says in an error which one was wrong.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    env: &'a Env,
    /// What counts is not taken from the file.
    facts_only: bool,
}

impl<'a> Layers<'a> {
    /// Flags and variables; the file's values are taken where the file may say them.
    pub(crate) const fn new(env: &'a Env) -> Self {
        Self {
            env,
            facts_only: false,
        }
    }

    /// The same, without what counts from the file: the file is the change's own.
    pub(super) const fn facts_only(env: &'a Env) -> Self {
        Self {
            env,
            facts_only: true,
        }
    }

    /// The file's value of the setting with this variable, if the file may say it.
    fn said<T>(self, variable: &str, value: Option<T>) -> Option<T> {
        let kind = table::by_variable(variable).map(|setting| setting.kind);
        value.filter(|_| match kind {
            Some(SettingKind::Told) => true,
            Some(SettingKind::Counts) => !self.facts_only,
            Some(SettingKind::Trust | SettingKind::Judged) | None => false,
        })
    }

    /// The flag if given, else the variable, else the file's value.
    pub(crate) fn pick<T>(
        self,
        flag: Option<T>,
        variable: &str,
        parse: impl Fn(&str) -> Result<T, String>,
        file: Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        if flag.is_some() {
            return Ok(flag);
        }
        Ok(self.variable(variable, parse)?.or(self.said(variable, file)))
    }

    pub(crate) fn text(self, flag: Option<String>, variable: &str, file: Option<String>) -> Option<String> {
        flag.or_else(|| self.env.get(variable).map(str::to_owned))
            .or_else(|| self.said(variable, file))
    }

    /// A whole number within the bounds of its setting, else its default.
    pub(super) fn whole(
        self,
        flag: Option<u64>,
        variable: &str,
        file: Option<u64>,
        what: &str,
    ) -> Result<u64, SettingsError> {
        let value = self.pick(flag, variable, number, file)?;
        match table::by_variable(variable).map(|setting| setting.look) {
            Some(Look::Whole { least, most, default }) => within(value, default, least, most, what),
            _ => within(value, 0, 0, u64::MAX, what),
        }
    }

    /// A name, else the one that stands for itself.
    pub(super) fn name(self, flag: Option<String>, variable: &str, file: Option<String>) -> String {
        self.text(flag, variable, file).unwrap_or_else(|| {
            match table::by_variable(variable).map(|setting| setting.look) {
                Some(Look::Name(default)) => default.to_owned(),
                _ => String::new(),
            }
        })
    }

    /// A switch: given as a flag, or set by variable or file.
    pub(crate) fn switch(
        self,
        flag: bool,
        variable: &str,
        file: Option<bool>,
    ) -> Result<bool, SettingsError> {
        let flag = flag.then_some(true);
        Ok(self
            .pick(flag, variable, crate::job::cli::parse_bool, file)?
            .unwrap_or(false))
    }

    /// A list: the flags if any, else the variable's lines, else the file's entries.
    pub(crate) fn list<T>(
        self,
        flags: Vec<T>,
        variable: &str,
        parse: impl Fn(&str) -> Result<T, String>,
        file: Option<Vec<T>>,
    ) -> Result<Vec<T>, SettingsError> {
        if !flags.is_empty() {
            return Ok(flags);
        }
        let Some(value) = self.env.get(variable) else {
            return Ok(self.said(variable, file).unwrap_or_default());
        };
        let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| parse(line).map_err(|why| wrong(variable, &why)))
            .collect()
    }

    /// The variable's value, if set.
    pub(crate) fn variable<T>(
        self,
        variable: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SettingsError> {
        self.env
            .get(variable)
            .map(|value| parse(value).map_err(|why| wrong(variable, &why)))
            .transpose()
    }
}

fn wrong(variable: &str, why: &str) -> SettingsError {
    SettingsError::new(format!("the variable {variable} cannot be used: {why}"))
}

/// Reads a whole number.
pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{text:?} is no whole number in range"))
}

/// The value or its default, held to its bounds.
pub(super) fn within<T>(
    value: Option<T>,
    default: T,
    least: T,
    most: T,
    what: &str,
) -> Result<T, SettingsError>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    let value = value.unwrap_or(default);
    // Also false for what is no number at all.
    if !(least..=most).contains(&value) {
        return Err(SettingsError::new(format!(
            "the {what} {value} is not from {least} to {most}"
        )));
    }
    Ok(value)
}
