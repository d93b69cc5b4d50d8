//! The file that a command writes its results to, instead of standard output.

use crate::error::Failure;
use crate::session::Session;
use crate::ui::OutputFile;

impl Session {
    /// Redirects results from standard output to the file of `--out`, if it is given. Fails if the file is an existing
    /// pipeline, script or gate configuration file, or behind a link in the repository, which a change could control.
    pub(crate) fn redirect_results(&mut self) -> Result<(), Failure> {
        let Some(path) = &self.global.out else {
            return Ok(());
        };
        let full_path = self.env.current_dir().join(path);
        let no_inputs = [];
        self.guard_outputs(&no_inputs)
            .reject_protected_output(&full_path)?;
        self.ui = self.ui.with_output_file(OutputFile::new(full_path));
        Ok(())
    }
}
