//! `sluicegate events`.

use super::EventFormat;
use super::values::output_path_parser;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXPORT: &str = "Examples:
  sluicegate events export --from \"$(date -u -d '7 days ago' +%F)\" \\
      --to \"$(date -u +%FT%TZ)\" -o csv --out week.csv
  sluicegate events export --cursor events.cursor >> events.jsonl

With --cursor, each run continues after the last exported event, so that no event is lost or repeated.
The token needs the role Super Admin.

In jsonl, each line is an event as the platform returned it.";

/// Exports the audit events of the account.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate events export --from \"$(date -u -d yesterday +%F)\" -o csv")]
pub struct EventsArgs {
    #[command(subcommand)]
    pub verb: EventsVerb,
}

/// Subcommands of `sluicegate events`.
#[derive(Debug, Clone, Subcommand)]
pub enum EventsVerb {
    /// Export audit events to standard output, ordered by time
    #[command(after_help = EXPORT)]
    Export(ExportArgs),
}

/// Exports audit events to standard output.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Earliest time to export: a date, or a time with a UTC offset; at most 90 days ago
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Latest time to export: a date, or a time with a UTC offset
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Output format; use jsonl to keep every field, csv for spreadsheets
    #[arg(
        short,
        long,
        visible_alias = "format",
        value_name = "FORMAT",
        default_value = "jsonl"
    )]
    pub output: EventFormat,
    /// Save the end of this export in a file and continue from it in the next run; --from applies only to the first run
    #[arg(long, value_name = "FILE", value_parser = output_path_parser())]
    pub cursor: Option<PathBuf>,
}
