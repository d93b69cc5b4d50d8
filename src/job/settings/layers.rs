//! Combines flag, variable and file: the first of them that is set takes precedence.

use super::SettingsError;
use super::file_values::is_forbidden_blank;
use super::setting_format::SettingFormat;
use super::setting_names;
use crate::env::Env;
use crate::job::cli::parse_seconds;
use secrecy::{ExposeSecret as _, SecretString};
use sluicegate_base::unexpanded_value::UnexpandedValue;

/// The source of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSource {
    Flag,
    Variable,
    File,
}

impl SettingSource {
    /// Returns the name of a setting for messages. It depends on this source of the value: the flag, the key in the
    /// configuration file, or the variable.
    pub(super) fn name_setting(self, variable: &str) -> String {
        match (self, setting_names::find_setting_by_variable(variable)) {
            (Self::Flag, Some(setting)) if !setting.flag.is_empty() => setting.flag.to_owned(),
            (Self::File, Some(setting)) => format!("`{}` in the configuration file", setting.key),
            _ => variable.to_owned(),
        }
    }
}

/// Resolves settings from flag, variable and file. An error states the variable that is wrong.
#[derive(Clone, Copy)]
pub(crate) struct Layers<'a> {
    env: &'a Env,
}

impl<'a> Layers<'a> {
    pub(crate) const fn new(env: &'a Env) -> Self {
        Self { env }
    }

    /// Returns the value with the highest precedence. The flag precedes the variable, which precedes the configuration
    /// file.
    pub(crate) fn resolve_setting<T>(
        self,
        flag: Option<T>,
        variable: &str,
        parse: impl Fn(&str) -> Result<T, String>,
        file: Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        if flag.is_some() {
            return Ok(flag);
        }
        Ok(self.parse_variable(variable, parse)?.or(file))
    }

    /// Returns the text with the highest precedence, even if it contains a variable that was not replaced: for a shell
    /// command, for a text whose parser rejects such a variable, and before the configuration file is read.
    pub(crate) fn resolve_text(
        self,
        flag: Option<String>,
        variable: &str,
        file: Option<String>,
    ) -> Option<String> {
        self.resolve_with_source(flag, variable, file)
            .map(|(text, _)| text)
    }

    /// Returns the text or path with the highest precedence, and where it comes from.
    pub(super) fn resolve_with_source<T: for<'v> From<&'v str>>(
        self,
        flag: Option<T>,
        variable: &str,
        file: Option<T>,
    ) -> Option<(T, SettingSource)> {
        if let Some(value) = flag {
            return Some((value, SettingSource::Flag));
        }
        if let Some(value) = self.env.get(variable) {
            return Some((T::from(value), SettingSource::Variable));
        }
        file.map(|value| (value, SettingSource::File))
    }

    /// Resolves a text. Fails if it still contains a variable such as `${NAME}` that the CI host should have replaced,
    /// because the text may become a permanent name, and because a text that matches nothing may turn a check off.
    pub(super) fn resolve_expanded_text(
        self,
        flag: Option<String>,
        variable: &str,
        file: Option<String>,
    ) -> Result<Option<String>, SettingsError> {
        let Some((text, source)) = self.resolve_with_source(flag, variable, file) else {
            return Ok(None);
        };
        reject_unexpanded_value(&text, source, variable)?;
        Ok(Some(text))
    }

    /// Resolves a text as [`Self::resolve_expanded_text`] does, but fails if it is empty.
    pub(super) fn resolve_filled_text(
        self,
        flag: Option<String>,
        variable: &str,
        file: Option<String>,
    ) -> Result<Option<String>, SettingsError> {
        let source = self.find_source(flag.is_some(), variable);
        let text = self.resolve_expanded_text(flag, variable, file)?;
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            let setting = source.name_setting(variable);
            return Err(SettingsError::new(format!("the value of {setting} is empty"))
                .with_hint("set a value, or remove the setting"));
        }
        Ok(text)
    }

    /// Returns the integer with the highest precedence, or the default. Fails if it is outside the bounds in the table
    /// of settings, or if the table has no integer setting with this variable. `name` is used in errors.
    pub(super) fn resolve_integer(
        self,
        flag: Option<u64>,
        variable: &str,
        file: Option<u64>,
        name: &str,
    ) -> Result<u64, SettingsError> {
        let source = self.find_source(flag.is_some(), variable);
        let value = self.resolve_setting(flag, variable, parse_integer, file)?;
        let checked_value =
            match setting_names::find_setting_by_variable(variable).map(|setting| setting.format) {
                Some(SettingFormat::Integer {
                    minimum,
                    maximum,
                    default,
                }) => require_value_in_range(value, default, minimum, maximum, name),
                _ => Err(unsuitable_setting_error(variable, "an integer")),
            };
        checked_value.map_err(|error| error.with_hint(format!("correct {}", source.name_setting(variable))))
    }

    /// Returns the number of seconds with the highest precedence, or the default. Fails if it is outside the bounds in
    /// the table of settings, or if the table has no such setting with this variable. `name` is used in errors.
    pub(super) fn resolve_seconds(
        self,
        flag: Option<f64>,
        variable: &str,
        file: Option<f64>,
        name: &str,
    ) -> Result<f64, SettingsError> {
        let source = self.find_source(flag.is_some(), variable);
        let value = self.resolve_setting(flag, variable, parse_seconds, file)?;
        let checked_value =
            match setting_names::find_setting_by_variable(variable).map(|setting| setting.format) {
                Some(SettingFormat::Seconds {
                    minimum,
                    maximum,
                    default,
                }) => require_value_in_range(value, default, minimum, maximum, name),
                _ => Err(unsuitable_setting_error(variable, "a number of seconds")),
            };
        checked_value.map_err(|error| error.with_hint(format!("correct {}", source.name_setting(variable))))
    }

    /// Resolves a number of items as [`Self::resolve_integer`] does. A number that is too large for `usize` becomes
    /// `usize::MAX`.
    pub(super) fn resolve_size(
        self,
        flag: Option<usize>,
        variable: &str,
        file: Option<u64>,
        name: &str,
    ) -> Result<usize, SettingsError> {
        let number = self.resolve_integer(flag.map(|number| number as u64), variable, file, name)?;
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Resolves a name as [`Self::resolve_expanded_text`] does, or returns the default name in the table of settings.
    /// Fails if the table has no name with this variable.
    pub(super) fn resolve_name(
        self,
        flag: Option<String>,
        variable: &str,
        file: Option<String>,
    ) -> Result<String, SettingsError> {
        if let Some(name) = self.resolve_filled_text(flag, variable, file)? {
            return Ok(name);
        }
        let format = setting_names::find_setting_by_variable(variable).map(|setting| setting.format);
        match format {
            Some(SettingFormat::Name(default)) => Ok(default.to_owned()),
            _ => Err(unsuitable_setting_error(variable, "a name")),
        }
    }

    /// Resolves a list of texts as [`Self::resolve_list`] does. Fails if an entry contains a variable that was not
    /// replaced.
    pub(crate) fn resolve_text_list(
        self,
        flags: &[String],
        variable: &str,
        file: Option<&Vec<String>>,
    ) -> Result<Vec<String>, SettingsError> {
        let source = self.find_list_source(flags, variable);
        let texts = self.resolve_list(
            flags.to_vec(),
            variable,
            |line| Ok(line.to_owned()),
            file.cloned(),
        )?;
        for text in &texts {
            reject_unexpanded_value(text, source, variable)?;
        }
        Ok(texts)
    }

    /// Returns a list of globs of branches or tags like [`Self::resolve_text_list`], but in the variable, blanks also
    /// separate the globs: quoted text in YAML joins its lines by blanks, and no name of a branch or tag contains one.
    pub(crate) fn resolve_ref_globs(
        self,
        flags: &[String],
        variable: &str,
        file: Option<&Vec<String>>,
    ) -> Result<Vec<String>, SettingsError> {
        let globs = self.resolve_text_list(flags, variable, file)?;
        if self.find_list_source(flags, variable) != SettingSource::Variable {
            return Ok(globs);
        }
        let words = globs.iter().flat_map(|line| line.split(is_forbidden_blank));
        Ok(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
    }

    /// Returns a boolean: true if the flag is given, otherwise the value of the variable or the file.
    pub(crate) fn resolve_switch(
        self,
        is_flag_set: bool,
        variable: &str,
        file: Option<bool>,
    ) -> Result<bool, SettingsError> {
        Ok(self
            .resolve_setting(
                is_flag_set.then_some(true),
                variable,
                crate::job::cli::parse_bool,
                file,
            )?
            .unwrap_or(false))
    }

    /// Returns the list with the highest precedence: the flags if any, otherwise the lines of the variable, otherwise
    /// the entries in the configuration file. Lists are not merged.
    pub(crate) fn resolve_list<T>(
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
        value
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| parse(line).map_err(|reason| invalid_variable_error(variable, &reason)))
            .collect()
    }

    /// Returns where a list comes from; the configuration file, if the job does not set the list.
    pub(super) fn find_list_source(self, flags: &[String], variable: &str) -> SettingSource {
        self.find_source(!flags.is_empty(), variable)
    }

    /// Returns where a value comes from; the configuration file, if the job does not set it.
    pub(super) fn find_source(self, has_flag: bool, variable: &str) -> SettingSource {
        if has_flag {
            SettingSource::Flag
        } else if self.env.get(variable).is_some() {
            SettingSource::Variable
        } else {
            SettingSource::File
        }
    }

    /// Returns the parsed value of a variable, or `None` if it is not set. The error names the variable.
    pub(crate) fn parse_variable<T>(
        self,
        variable: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SettingsError> {
        self.env
            .get(variable)
            .map(|value| parse(value).map_err(|reason| invalid_variable_error(variable, &reason)))
            .transpose()
    }
}

/// Fails if the value of this setting is in quotes or contains a variable that was not replaced with its value. The
/// error shows only the variable, because a secret may be next to it.
pub(super) fn reject_unexpanded_value(
    text: &str,
    source: SettingSource,
    variable: &str,
) -> Result<(), SettingsError> {
    match UnexpandedValue::find(text.trim()) {
        Some(unexpanded_value) => Err(unexpanded_value_error(unexpanded_value, source, variable)),
        None => Ok(()),
    }
}

/// Fails if the text of this setting consists only of variables that were not replaced with their values. For a
/// sentence, which may contain a sign that looks like a variable.
pub(super) fn reject_unexpanded_sentence(
    text: &str,
    source: SettingSource,
    variable: &str,
) -> Result<(), SettingsError> {
    match UnexpandedValue::find_without_words(text) {
        Some(unexpanded_value) => Err(unexpanded_value_error(unexpanded_value, source, variable)),
        None => Ok(()),
    }
}

/// Fails if this secret is a variable or an expression that was not replaced with its value. The error does not show
/// it.
pub(super) fn reject_unexpanded_secret(secret: &SecretString, variable: &str) -> Result<(), SettingsError> {
    let kind = match UnexpandedValue::find_as_secret(secret.expose_secret().trim()) {
        Some(UnexpandedValue::Expression(_)) => "an expression",
        Some(_) => "a variable",
        None => return Ok(()),
    };
    Err(SettingsError::new(format!(
        "{variable} is {kind} that was not replaced with its value"
    ))
    .with_hint("define the secret for this job, and pass its value to the job"))
}

/// Returns the error for a value that was not replaced.
fn unexpanded_value_error(
    unexpanded_value: UnexpandedValue<'_>,
    source: SettingSource,
    variable: &str,
) -> SettingsError {
    let setting = source.name_setting(variable);
    let error = SettingsError::new(format!("the value of {setting} {}", unexpanded_value.describe()));
    if unexpanded_value == UnexpandedValue::Quotes {
        return error.with_hint("remove the quotes, which would be part of the value");
    }
    error.with_hint(match source {
        SettingSource::File => "write the value itself: variables in the configuration file are not replaced",
        SettingSource::Flag | SettingSource::Variable => {
            "define the variable in the job, or write the value itself"
        }
    })
}

/// Returns the error for a setting that the table lacks or defines in another format, so that its default and its
/// bounds are unknown. Only a mistake in the program causes it.
fn unsuitable_setting_error(variable: &str, format: &str) -> SettingsError {
    SettingsError::new(format!(
        "the table of settings does not define {variable} as {format}"
    ))
}

/// Returns the error for a variable whose value cannot be parsed.
fn invalid_variable_error(variable: &str, reason: &str) -> SettingsError {
    SettingsError::new(format!("invalid value for the variable {variable}: {reason}"))
}

/// Parses an integer. Surrounding spaces are ignored.
pub(super) fn parse_integer<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{text:?} is not an integer, or is out of range"))
}

/// Returns the value or its default, or an error if it is out of bounds.
pub(super) fn require_value_in_range<T>(
    value: Option<T>,
    default: T,
    minimum: T,
    maximum: T,
    name: &str,
) -> Result<T, SettingsError>
where
    T: Copy + PartialOrd + std::fmt::Display,
{
    let value = value.unwrap_or(default);
    // A range does not contain NaN, so NaN is an error, too.
    if !(minimum..=maximum).contains(&value) {
        return Err(SettingsError::new(format!(
            "the {name} {value} is not in the range {minimum} to {maximum}"
        )));
    }
    Ok(value)
}
