//! Directories for tests, in memory if possible. A file system on a disk searches for an inode that was not used
//! recently, and after thousands of deleted repositories this search takes a quarter of the tests' time.

use std::sync::LazyLock;
use tempfile::TempDir;

/// Creates a directory that is deleted when the value is dropped. The directory is in `TMPDIR` if this variable is set,
/// otherwise in memory if memory has room, or else in the system's temporary directory.
#[allow(
    clippy::disallowed_methods,
    reason = "only the program has a module that reads the environment"
)]
pub fn create_scratch_directory() -> TempDir {
    static IN_MEMORY: LazyLock<bool> = LazyLock::new(|| std::env::var_os("TMPDIR").is_none() && has_room());
    if *IN_MEMORY {
        tempfile::tempdir_in(MEMORY).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// The directory whose files Linux keeps in memory: <https://man7.org/linux/man-pages/man7/shm_overview.7.html>.
const MEMORY: &str = "/dev/shm";

/// Returns whether the file system in memory has 512 MiB free, 20 times what the tests use at a time, and may run
/// scripts. In containers it often has less space, or may not run scripts.
#[cfg(target_os = "linux")]
fn has_room() -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(MEMORY).is_ok_and(|system| {
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        free >= 512 << 20 && !system.f_flag.contains(StatVfsMountFlags::NOEXEC)
    })
}

/// Returns false: on other systems, there is no file system in memory.
#[cfg(not(target_os = "linux"))]
fn has_room() -> bool {
    false
}
