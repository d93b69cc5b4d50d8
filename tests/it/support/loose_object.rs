//! Files of objects in a clone, damaged or replaced.

use crate::support::World;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Returns the path of the file of a loose object.
pub fn loose_object_path(world: &World, revision: &str) -> PathBuf {
    let id = world.git(("rev-parse", &[revision]));
    let (folder, name) = id.split_at(2);
    world.work().join(".git/objects").join(folder).join(name)
}

/// Replaces the content of a file that git has made read-only.
pub fn write_read_only_file(path: &Path, content: &[u8]) {
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    fs::write(path, content).unwrap();
}

/// Replaces the content of the loose object `object` with that of the object `other`.
pub fn plant_object(world: &World, object: &str, other: &str) {
    let content = fs::read(loose_object_path(world, other)).unwrap();
    write_read_only_file(&loose_object_path(world, object), &content);
}
