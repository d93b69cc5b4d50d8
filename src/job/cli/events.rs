//! `sluicegate events`.

use super::EventFormat;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXPORT: &str = "Examples:
  sluicegate events export --from \"$(date -u -d '7 days ago' +%F)\" \\
      --to \"$(date -u +%FT%TZ)\" -o csv --out week.csv
  sluicegate events export --cursor events.cursor >> events.jsonl

With --cursor, each run exports what the last one has not: nothing twice, nothing lost. It needs the role Super Admin.

A line of jsonl is an event as the platform has it.";

/// Audit events.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:\n  sluicegate events export --from \"$(date -u -d yesterday +%F)\" -o csv")]
pub struct EventsArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub verb: EventsVerb,
}

/// What to do with audit events.
#[derive(Debug, Clone, Subcommand)]
pub enum EventsVerb {
    /// Write them to standard output, in the order of time
    #[command(after_help = EXPORT)]
    Export(ExportArgs),
}

/// Write audit events to standard output.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The earliest time, with an offset, or a date; at most 90 days ago
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// The latest time
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Format of the output: jsonl loses nothing, csv is for spreadsheets
    #[arg(
        short,
        long,
        visible_alias = "format",
        value_name = "FORMAT",
        default_value = "jsonl"
    )]
    pub output: EventFormat,
    /// Remember in this file where the export ended, and go on from there; --from counts for the first time only
    #[arg(long, value_name = "FILE")]
    pub cursor: Option<PathBuf>,
}
