//! Lists the files of a snapshot that have content, which are all files except submodules, and its hidden directories.

use super::{FileKind, GitError, Snapshot, SnapshotFile};

impl Snapshot<'_> {
    /// Returns the wanted files like [`Self::list_files`], without submodules.
    pub fn list_content_files(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<SnapshotFile>, GitError> {
        let mut files = self.list_files(is_wanted)?;
        files.retain(|file| file.kind != FileKind::Submodule);
        Ok(files)
    }

    /// Returns the wanted files like [`Self::list_base_files`], without submodules.
    pub fn list_base_content_files(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<SnapshotFile>, GitError> {
        let mut files = self.list_base_files(is_wanted)?;
        files.retain(|file| file.kind != FileKind::Submodule);
        Ok(files)
    }

    /// Returns the paths of all regular files, without links and submodules.
    pub fn list_regular_paths(&self) -> Result<Vec<String>, GitError> {
        let mut files = self.list_files(&|_| true)?;
        files.retain(|file| file.kind == FileKind::Regular);
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    /// Returns the names of the hidden directories at the root, like [`Self::list_root_folders`].
    pub fn list_hidden_root_folders(&self) -> Result<Vec<String>, GitError> {
        let mut folders = self.list_root_folders()?;
        folders.retain(|folder| folder.starts_with('.'));
        Ok(folders)
    }
}
