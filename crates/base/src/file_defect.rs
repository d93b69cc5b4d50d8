//! Detects files whose content does not match their name: a placeholder of Git LFS, an encrypted or empty file, or a
//! merge that was not finished.

use memchr::memmem;

/// The beginnings of a Git LFS pointer (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const LFS_HEADERS: [&[u8]; 2] = [
    b"version https://git-lfs.github.com/spec/",
    b"version https://hawser.github.com/spec/",
];

/// Maximum size of a Git LFS pointer, in bytes.
pub const MAX_POINTER_SIZE: u64 = 1024;

/// Maximum size of a script whose content is examined, in bytes.
pub const MAX_SCRIPT_SIZE: u64 = 8 << 20;

/// The beginning of a file that git-crypt encrypted (<https://github.com/AGWA/git-crypt>).
const GIT_CRYPT_HEADER: &[u8] = b"\0GITCRYPT\0";

/// The texts with which git begins the lines around a merge conflict, in their order.
const CONFLICT_MARKERS: [&[u8]; 3] = [b"<<<<<<< ", b"=======", b">>>>>>> "];

/// The reason why the content of a file cannot be the intended content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileDefect {
    LfsPointer,
    GitCrypt,
    ConflictMarkers,
    Empty,
}

impl FileDefect {
    /// Returns the defect of a script, if it has one: a defect that any document can have, or [`Self::Empty`].
    pub fn find_in_script(content: &[u8]) -> Option<Self> {
        let is_empty = content.iter().all(u8::is_ascii_whitespace);
        Self::find_in_document(content).or_else(|| is_empty.then_some(Self::Empty))
    }

    /// Returns the defect of a pipeline or of another document, if it has one. An empty document is not a defect here,
    /// because its parser reports it.
    pub fn find_in_document(content: &[u8]) -> Option<Self> {
        let may_be_pointer = content.len() as u64 <= MAX_POINTER_SIZE;
        if may_be_pointer && LFS_HEADERS.iter().any(|header| content.starts_with(header)) {
            return Some(Self::LfsPointer);
        }
        if content.starts_with(GIT_CRYPT_HEADER) {
            return Some(Self::GitCrypt);
        }
        find_conflict_line(content).map(|_| Self::ConflictMarkers)
    }

    /// Returns a clause that says what is wrong with the file; it follows a file name or the word `which` in a
    /// sentence.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::LfsPointer => "is a Git LFS pointer, not the file itself",
            Self::GitCrypt => "is encrypted by git-crypt",
            Self::ConflictMarkers => "contains the conflict markers of a merge",
            Self::Empty => "is empty",
        }
    }

    /// Returns an instruction to fix the defect, so that the real file can be published.
    pub const fn help(self) -> &'static str {
        match self {
            Self::LfsPointer => {
                "run `git lfs pull` and publish with `--from worktree`, which reads the file on disk instead of the pointer in \
                 the commit; or store the file in git without LFS"
            }
            Self::GitCrypt => "store the file unencrypted, or exclude it",
            Self::ConflictMarkers => "resolve the conflict and commit the file",
            Self::Empty => "write the script, or remove its component",
        }
    }
}

/// The size and the content hash in a Git LFS pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LfsPointer {
    /// The SHA-256 of the file, in hex.
    pub sha256: String,
    pub size: u64,
}

impl LfsPointer {
    /// Parses a Git LFS pointer; `None` if the content is not a pointer or lacks its id or size.
    pub fn parse(content: &[u8]) -> Option<Self> {
        if FileDefect::find_in_document(content) != Some(FileDefect::LfsPointer) {
            return None;
        }
        let text = std::str::from_utf8(content).ok()?;
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        Some(Self {
            sha256: value("oid sha256:")?.trim().to_owned(),
            size: value("size ")?.trim().parse().ok()?,
        })
    }
}

/// Returns the index of the line where the first merge conflict begins: its lines begin with the markers of git, in the
/// order in which git writes them.
pub fn find_conflict_line(content: &[u8]) -> Option<usize> {
    // Most files have no separator line, which one search shows.
    memmem::find(content, b"\n=======")?;
    let mut markers = CONFLICT_MARKERS.iter();
    let mut next_marker = markers.next();
    let mut first_line_index = None;
    for (line_index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let Some(marker) = next_marker else {
            break;
        };
        if line.starts_with(marker) {
            first_line_index.get_or_insert(line_index);
            next_marker = markers.next();
        }
    }
    first_line_index.filter(|_| next_marker.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

    #[test]
    fn defects_are_recognized_by_their_content() {
        let conflict = b"select 1;\n<<<<<<< HEAD\nselect 2;\n=======\nselect 3;\n>>>>>>> change\n";
        for (content, defect) in [
            (POINTER, FileDefect::LfsPointer),
            (b"\0GITCRYPT\0abc", FileDefect::GitCrypt),
            (conflict, FileDefect::ConflictMarkers),
            (b"", FileDefect::Empty),
            (b" \r\n\t\n", FileDefect::Empty),
        ] {
            assert_eq!(FileDefect::find_in_script(content), Some(defect));
        }
        let pointer = LfsPointer::parse(POINTER).unwrap();
        assert_eq!((pointer.size, pointer.sha256.len()), (12345, 64));
    }

    #[test]
    fn scripts_that_mention_a_marker_are_accepted() {
        for content in [
            &b"select 1;"[..],
            b"-- see version https://git-lfs.github.com/spec/v1",
            b"# Title\n=======\n",
            b"\n=======\n<<<<<<< \n>>>>>>> \n",
            b"select '<<<<<<< a';\n======= \n",
        ] {
            assert_eq!(FileDefect::find_in_script(content), None);
        }
    }
}
