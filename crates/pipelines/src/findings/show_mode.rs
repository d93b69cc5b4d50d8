//! The number of findings that are listed for people; machine-readable reports contain all of them.

use std::fmt;
use std::str::FromStr;

/// The setting that selects which findings are listed for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowMode {
    /// All findings, including known and waived ones.
    All,
    /// All findings that are neither known nor waived.
    New,
    /// No findings, only the overview.
    None,
    /// All findings that are neither known nor waived, one line each, for other programs.
    Concise,
    /// The most severe findings that are neither known nor waived, up to this number. A page then lists the known and
    /// waived ones, too, unless the number is 0.
    First(usize),
}

impl ShowMode {
    /// Returns whether known and waived findings are listed, too.
    pub const fn includes_excused(self) -> bool {
        matches!(self, Self::All)
    }

    /// Returns the maximum number of findings to list.
    pub const fn max_findings(self) -> usize {
        match self {
            Self::All | Self::New | Self::Concise => usize::MAX,
            Self::None => 0,
            Self::First(max_count) => max_count,
        }
    }
}

impl Default for ShowMode {
    /// Returns the mode that lists the 50 most severe findings.
    fn default() -> Self {
        Self::First(50)
    }
}

impl fmt::Display for ShowMode {
    /// Writes the value of the setting in the form that is parsed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::New => f.write_str("new"),
            Self::None => f.write_str("none"),
            Self::Concise => f.write_str("concise"),
            Self::First(max_count) => write!(f, "{max_count}"),
        }
    }
}

impl FromStr for ShowMode {
    type Err = String;

    /// Parses the value of the setting, in any letter case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let value = text.trim().to_ascii_lowercase();
        match value.as_str() {
            "all" => Ok(Self::All),
            "new" => Ok(Self::New),
            "none" => Ok(Self::None),
            "concise" => Ok(Self::Concise),
            number => number.parse().map(Self::First).map_err(|_| {
                format!("{text:?} is not a valid value: use all, new, none, concise or a number")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn show_mode_is_parsed_back_and_other_text_is_rejected() {
        for show in [
            ShowMode::All,
            ShowMode::New,
            ShowMode::None,
            ShowMode::Concise,
            ShowMode::First(0),
            ShowMode::default(),
        ] {
            assert_eq!(show.to_string().parse(), Ok(show));
        }
        for wrong in ["", "some", "-1", "1.5", "5x"] {
            assert!(wrong.parse::<ShowMode>().is_err(), "{wrong:?}");
        }
    }
}
