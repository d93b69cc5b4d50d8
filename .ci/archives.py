"""Reads the archives of a release, from which .ci/wheels, .ci/npm and .ci/manifests create everything else.

Nothing is compiled again: every package contains the program of an archive, byte for byte.
"""

import hashlib
import pathlib
import re
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUMMARY = "Reviews data pipelines before a merge, and publishes shared pipelines after it"
LICENSE = "MIT OR Apache-2.0"

# Each target of a release, with its platform tag in a wheel and its name in node: process.platform and process.arch.
TARGETS = {
    "x86_64-unknown-linux-musl": ("linux_x86_64", "linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux_aarch64", "linux", "arm64"),
    "x86_64-apple-darwin": ("macosx_10_12_x86_64", "darwin", "x64"),
    "aarch64-apple-darwin": ("macosx_11_0_arm64", "darwin", "arm64"),
    "x86_64-pc-windows-msvc": ("win_amd64", "win32", "x64"),
}


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, cwd=ROOT, text=True).stdout.strip()


def version():
    return said(".ci/notes", "version")


def repository():
    return said("docs/address")


def commit_time():
    """Returns the time of the commit, which packages contain instead of the current time."""
    return int(said("git", "show", "--no-patch", "--format=%ct", "HEAD"))


class Archive:
    """An archive: its target, its hash, and its files by name."""

    def __init__(self, path, target):
        self.path, self.target = path, target
        self.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        self.program = "sluicegate.exe" if "windows" in target else "sluicegate"
        self.wheel_platform, self.node_platform, self.node_cpu = TARGETS[target]

    def read(self, *names):
        """Returns the contents of these files."""
        with tarfile.open(self.path) as tar:
            folder = self.path.name.removesuffix(".tar.gz")
            return [tar.extractfile(f"{folder}/{name}").read() for name in names]


def archives(folder):
    """Returns the archives in the folder, in the order of TARGETS."""
    pattern = re.compile(rf"sluicegate-{re.escape(version())}-(.+)\.tar\.gz")
    found = {}
    for path in pathlib.Path(folder).glob("sluicegate-*.tar.gz"):
        matched = pattern.fullmatch(path.name)
        if not matched or matched[1] not in TARGETS:
            raise SystemExit(f"{path} is not an archive of this version")
        found[matched[1]] = Archive(path, matched[1])
    if not found:
        raise SystemExit(f"{folder} contains no archive")
    return [found[target] for target in TARGETS if target in found]
