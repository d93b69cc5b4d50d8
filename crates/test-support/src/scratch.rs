//! Folders for tests, in memory where that is possible. A file system on a disk looks for an inode that was not in use
//! lately, and after thousands of deleted repositories this search is a quarter of the time of the tests.

use std::sync::LazyLock;
use tempfile::TempDir;

/// Creates a folder that is deleted when it is dropped. `TMPDIR` decides where; without it, folders are in memory.
#[allow(
    clippy::disallowed_methods,
    reason = "the room that reads the environment belongs to the program"
)]
pub fn folder() -> TempDir {
    static IN_MEMORY: LazyLock<bool> = LazyLock::new(|| std::env::var_os("TMPDIR").is_none() && has_room());
    if *IN_MEMORY {
        tempfile::tempdir_in(MEMORY).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// Where Linux keeps files in memory: <https://man7.org/linux/man-pages/man7/shm_overview.7.html>.
const MEMORY: &str = "/dev/shm";

/// Returns whether memory has 512 MiB free, 20 times what the tests use at a time, on a file system that may run
/// scripts. Containers often have less, or may not run scripts there.
#[cfg(target_os = "linux")]
fn has_room() -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(MEMORY).is_ok_and(|system| {
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        free >= 512 << 20 && !system.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}

#[cfg(not(target_os = "linux"))]
fn has_room() -> bool {
    false
}
