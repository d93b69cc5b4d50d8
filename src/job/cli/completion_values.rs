//! The values that completions offer for flags and arguments whose parsers accept more than a fixed set.

use crate::job::ci::Host;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;

/// The starts of `FORMAT=PATH`.
const REPORT_PREFIXES: &[&str] = &[
    "junit=",
    "junit-strict=",
    "json=",
    "sarif=",
    "gitlab=",
    "markdown=",
    "html=",
    "rdjson=",
    "checkstyle=",
    "github=",
];

/// Adds the values to a command and to its subcommands.
pub(super) fn add_completion_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| add_values(arg, &name));
    command.mut_subcommands(add_completion_values)
}

fn add_values(arg: Arg, command: &str) -> Arg {
    let values: Vec<&'static str> = match (command, arg.get_id().as_str()) {
        ("explain", "id") => {
            let check_ids = ProjectCheck::ALL.into_iter().map(ProjectCheck::id);
            rules::rule_ids().chain(check_ids).collect()
        }
        (_, "ci") => Host::ALL.iter().map(|host| host.name()).collect(),
        (_, "report") => REPORT_PREFIXES.to_vec(),
        _ => return arg,
    };
    arg.value_parser(PossibleValuesParser::new(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Format;
    use clap::ValueEnum as _;

    #[test]
    fn every_format_is_offered() {
        let formats = Format::value_variants().iter().map(|format| format!("{format}="));
        assert_eq!(formats.collect::<Vec<_>>(), REPORT_PREFIXES);
    }
}
