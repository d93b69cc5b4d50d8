//! `sluicegate mv`.

mod references;
mod team_rules;
mod unsearched_files;

use crate::support::{Arguments, Call, ProgramOutput, World};

fn mv(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("mv", args))
}
