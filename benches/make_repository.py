"""Makes the repositories that are measured, by `git fast-import`, the same on every machine.

usage: make_repository.py KIND FOLDER NUMBER...

context FILES      pipelines on `main`; on `work` one in a hundred of them has changed, and of those one in ten is
                   renamed, half of them with an edit
known FILES        pipelines with two findings each on `main`; on `work` the canvas of each has changed, and nothing else
changed FILES      pipelines on `main`; on `work` each of them has other statements and another place
small FILES EVERY  small pipelines, three of them shared; each EVERYth calls another
large FILES BYTES  a pipeline that names FILES scripts of BYTES bytes each, which cannot be packed smaller
text FILES BYTES   the same with scripts of text, which can

Every repository has the folder `.platform` with the shared-pipelines file and the quality rules, a remote-tracking
branch for each of its branches, and is checked out and packed, as after a clone.
"""

import random
import subprocess
import sys

CONFIG = ".platform"
WHEN = "Bench <bench@example.org> 1790000000 +0000"

RULES = "".join(
    f"  - id: {rule}\n    enabled: true\n    enforcementLevel: warn\n"
    for rule in ("minimum-components", "unused-components", "start-and-end-components")
)


NAMING = (
    "  - id: component-naming-convention\n    enabled: true\n    enforcementLevel: warn\n"
    "    config:\n      regexMatchPattern: '[A-Z][a-z]*'\n"
)


def component(name, kind, following):
    """A component of an orchestration, with the parameters that such a one has."""
    return (
        f"    {name}:\n      type: {kind}\n      transitions:\n        unconditional:\n          - {following}\n"
        f"      skipped: false\n      parameters:\n        componentName: \"{name}\"\n"
        f"        scriptLocation: \"Component\"\n        sqlScript: |-\n"
        f"          select count(*) as loaded, max(changed_at) as latest\n"
        f"          from warehouse.{name.lower().replace(' ', '_')}\n"
    )


def pipeline(number, extra="", y=32):
    """A small orchestration, different for each number."""
    return (
        'type: "orchestration"\nversion: "1.0"\npipeline:\n  components:\n'
        + component("Start", "start", f"Load {number}")
        + component(f"Load {number}", "sql-executor", f"Check {number}")
        + component(f"Check {number}", "sql-executor", "Done")
        + '    Done:\n      type: "end-success"\n      parameters:\n        componentName: "Done"\n'
        + extra
        + f'design:\n  components:\n    Load {number}:\n      position:\n        "x": {number % 997}\n        "y": {y}\n'
    )


def call(number, called):
    """A component that runs another pipeline."""
    return (
        f"    Run {number}:\n      type: run-orchestration\n      parameters:\n"
        f'        componentName: "Run {number}"\n        orchestrationJob: "{called}"\n'
    )


def shared(paths):
    """The shared-pipelines file."""
    entries = "".join(
        f"  - pipeline: {path}\n    displayName: shared {index}\n    id: shared-{index}\n"
        "    enabled: true\n    parameters: {}\n"
        for index, path in enumerate(paths)
    )
    return f'version: "1.0"\ntype: shared-pipelines-config\npipelines:\n{entries}'


def path_of(number):
    """Two hundred files a folder, in two levels of folders."""
    return f"area-{number // 5000:02}/group-{number // 200:03}/load {number:06}.orch.yaml"


class Import:
    """A running `git fast-import`."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.git("init", "-q", "-b", "main", ".")
        options = ["-c", "core.compression=1", "-c", "fastimport.unpackLimit=0"]
        command = ["git", *options, "fast-import", "--quiet", *arguments]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def write(self, data):
        self.process.stdin.write(data)

    def commit(self, branch, message, parent=None):
        text = f"commit refs/heads/{branch}\ncommitter {WHEN}\ndata {len(message)}\n{message}\n"
        self.write((text + (f"from refs/heads/{parent}\n" if parent else "")).encode())

    def file(self, path, content):
        content = content.encode() if isinstance(content, str) else content
        self.write(f'M 100644 inline "{path}"\ndata {len(content)}\n'.encode() + content + b"\n")

    def configuration(self, shared_paths, rules=RULES):
        self.file(f"{CONFIG}/shared-pipelines.yaml", shared(shared_paths))
        self.file(f"{CONFIG}/config/pipeline_quality_rules.yaml", "rules:\n" + rules)

    def finish(self, branches):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("git fast-import failed")
        self.git("remote", "add", "origin", "https://example.org/bench.git")
        for branch in branches:
            self.git("update-ref", f"refs/remotes/origin/{branch}", f"refs/heads/{branch}")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        self.git("checkout", "-q", "-f", branches[-1])


def context(folder, files):
    repository = Import(folder)
    repository.commit("main", "base")
    repository.configuration([path_of(0)])
    for number in range(files):
        repository.file(path_of(number), pipeline(number))
    repository.commit("work", "change", parent="main")
    for count, number in enumerate(range(0, files, 100)):
        path, edit = path_of(number), f"    Extra {number}:\n      type: sql-executor\n"
        if count % 10 == 0:
            repository.write(f'D "{path}"\n'.encode())
            path = path.replace("load ", "moved ")
            edit = edit if count % 20 == 0 else ""
        repository.file(path, pipeline(number, edit))
    repository.finish(["main", "work"])


def known(folder, files):
    repository = Import(folder)
    repository.commit("main", "base")
    repository.configuration([path_of(0)], NAMING)
    for number in range(files):
        repository.file(path_of(number), pipeline(number))
    repository.commit("work", "layout", parent="main")
    for number in range(files):
        repository.file(path_of(number), pipeline(number, y=64))
    repository.finish(["main", "work"])


def changed(folder, files):
    repository = Import(folder)
    repository.commit("main", "base")
    repository.configuration([path_of(0)])
    for number in range(files):
        repository.file(path_of(number), pipeline(number))
    repository.commit("work", "change", parent="main")
    for number in range(files):
        repository.file(path_of(number), pipeline(number, y=96).replace("from warehouse.", "from archive."))
    repository.finish(["main", "work"])


def small(folder, files, every):
    repository = Import(folder)
    repository.commit("main", "all")
    repository.configuration([path_of(number) for number in range(min(3, files))])
    for number in range(files):
        called = path_of((number + 1) % files).removesuffix(".orch.yaml")
        repository.file(path_of(number), pipeline(number, "" if number % every else call(number, called)))
    repository.finish(["main"])


def large(folder, files, size):
    source = random.Random(1)
    scripts(folder, files, lambda: source.randbytes(size))


def text(folder, files, size):
    source = random.Random(1)

    def lines():
        line = (f"insert into t values ({source.getrandbits(64)}, '{number}');\n" for number in range(size // 48))
        return "".join(line).ljust(size, "-").encode()[:size]

    scripts(folder, files, lines)


def scripts(folder, files, content):
    # Whole, as git stores what is committed; a clone may have some of the text as differences.
    repository = Import(folder, "--depth=0")
    repository.commit("main", "all")
    repository.configuration(["load.orch.yaml"])
    paths = [f"scripts/{number:04}.sql" for number in range(files)]
    calls = "".join(
        f"    Script {number}:\n      type: sql-executor\n      parameters:\n        scriptLocation: \"File\"\n"
        f"        fileName: {path}\n"
        for number, path in enumerate(paths)
    )
    repository.file("load.orch.yaml", pipeline(0, calls))
    for path in paths:
        repository.file(path, content())
    repository.finish(["main"])


def main():
    kind, folder, *numbers = sys.argv[1:]
    kinds = {"changed": changed, "context": context, "known": known, "small": small, "large": large, "text": text}
    kinds[kind](folder, *map(int, numbers))


if __name__ == "__main__":
    main()
