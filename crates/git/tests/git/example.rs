//! Runs the example.

#[allow(dead_code, reason = "the test does not call the example's main function")]
#[path = "../../examples/changed_files.rs"]
mod changed_files;

use crate::repo::World;

#[test]
fn example_lists_changes_since_merge_base() {
    let world = World::new();
    world.write("kept", "1");
    world.write("edited", "1");
    world.commit("base");
    world.git(&["switch", "-q", "-c", "feature"]);
    world.write("edited", "2");
    world.write("new", "3");
    world.commit("change");
    world.git(&["switch", "-q", "main"]);
    world.write("kept", "later");
    world.commit("later");
    let lines = changed_files::list_changed_files(&world.work(), "main", "feature").unwrap();
    assert_eq!(lines, ["modified edited", "added new"]);
}
