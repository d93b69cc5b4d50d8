//! Lays flag, variable and file over one another.

use super::SettingsError;
use crate::env::Env;

/// Reads variables, and says in an error which one was wrong.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    env: &'a Env,
}

impl<'a> Layers<'a> {
    pub(crate) const fn new(env: &'a Env) -> Self {
        Self { env }
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
        Ok(self.variable(variable, parse)?.or(file))
    }

    /// The same for text.
    pub(crate) fn text(self, flag: Option<String>, variable: &str, file: Option<String>) -> Option<String> {
        flag.or_else(|| self.env.get(variable).map(str::to_owned))
            .or(file)
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
            .pick(flag, variable, crate::cli::parse_bool, file)?
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
            return Ok(file.unwrap_or_default());
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
