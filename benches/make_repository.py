"""Creates the repositories for the measurements with `git fast-import`, the same on every machine.

usage: make_repository.py KIND FOLDER NUMBER...

context FILES      pipelines on `main`; on `work` one in a hundred of them has changed, and of those one in ten is
                   renamed, half of them with an edit
known FILES        pipelines with two findings each on `main`; on `work` the canvas of each has changed, but nothing else
changed FILES      pipelines on `main`; on `work` each of them has other statements and another place
grown FILES        both at once: known findings in each, and on `work` other statements and another place; every tenth is
                   shared, and each calls another
small FILES EVERY SHARED  small pipelines, the first SHARED of them shared; each EVERYth calls another
team FILES         pipelines as real teams have them on `main` (see `team_pipeline`); on `work` ten of them have an edit and a
                   new finding
teamwork FILES     the same; on `work` each of them has other statements and another place
scattered FILES EVERY SHARED  the same, packed in commit order, each as a delta of the previous one
history FILES COMMITS  pipelines that COMMITS commits have edited, one in ten of them a merge of a branch; `work` left `main`
                   50 commits ago and has 20 of its own
large FILES BYTES  a pipeline that refers to FILES incompressible scripts of BYTES bytes each
text FILES BYTES   the same with text scripts, which are compressible

Every repository has the folder `.platform` with the shared-pipelines file and the quality rules, a remote-tracking
branch for each of its branches, and is checked out and packed, as after a clone. Pipelines were added in an order
other than that of their names, some were edited three more times, and the pack stores them as deltas. The scripts of
`large` and `text` are packed without deltas.
"""

import collections
import random
import subprocess
import sys

CONFIG = ".platform"
WHO = "Bench <bench@example.org>"
BEGIN = 1_700_000_000
EDITS = 3

UNUSED_AND_ENDS = "".join(
    f"  - id: {rule}\n    enabled: true\n    enforcementLevel: warn\n"
    for rule in ("unused-components", "start-and-end-components")
)


def naming(pattern):
    return (
        "  - id: component-naming-convention\n    enabled: true\n    enforcementLevel: warn\n"
        f"    config:\n      regexMatchPattern: '{pattern}'\n"
    )


RULES = UNUSED_AND_ENDS + naming("[A-Z].*")
# A name with a number breaks it.
STRICT_NAMING = naming("[A-Z][a-z]*")


def component(name, kind, following):
    """Returns a component of an orchestration with its usual parameters."""
    return (
        f"    {name}:\n      type: {kind}\n      transitions:\n        unconditional:\n          - {following}\n"
        f"      skipped: false\n      parameters:\n        componentName: \"{name}\"\n"
        f"        scriptLocation: \"Component\"\n        sqlScript: |-\n"
        f"          select count(*) as loaded, max(changed_at) as latest\n"
        f"          from warehouse.{name.lower().replace(' ', '_')}\n"
    )


def pipeline(number, extra="", y=32):
    """Returns a small orchestration; content and size depend on the number."""
    notes = "".join(f"          -- column {at} of load {number}\n" for at in range(number * 7919 % 13))
    return (
        'type: "orchestration"\nversion: "1.0"\npipeline:\n  components:\n'
        + component("Start", "start", f"Load {number}")
        + component(f"Load {number}", "sql-executor", f"Check {number}")
        + component(f"Check {number}", "sql-executor", "Done")
        + notes
        + '    Done:\n      type: "end-success"\n      parameters:\n        componentName: "Done"\n'
        + extra
        + f'design:\n  components:\n    Load {number}:\n      position:\n        "x": {number % 997}\n        "y": {y}\n'
    )


def call(number, called):
    """Returns a component that runs another pipeline."""
    return (
        f"    Run {number}:\n      type: run-orchestration\n      parameters:\n"
        f'        componentName: "Run {number}"\n        orchestrationJob: "{called}"\n'
    )


# Words of the file names of `team_path`.
VERBS = ("load", "extract", "stage", "merge", "publish", "refresh", "archive")
SUBJECTS = (
    "customer", "customer address", "order", "order line", "invoice", "payment", "product", "product price", "stock level",
    "supplier", "shipment", "return", "campaign", "web session", "store visit", "employee", "cost center", "ledger entry",
    "budget", "exchange rate", "contract", "meter reading", "sensor event", "support ticket", "loyalty point",
)
LAYERS = ("raw", "curated", "mart", "snapshot", "history")


def team_name(number):
    """Returns the file name of a pipeline, without its extension. One in twelve is a name that another folder has, too."""
    if number % 12 == 11 and number >= 600:
        number -= 600
    words = (VERBS[number % 7], SUBJECTS[number // 7 % 25], LAYERS[number // 175 % 5])
    return "_".join(words).replace(" ", "_") + ("" if number < 875 else f"_{number // 875}")


def team_path(number):
    kind = "tran" if number % 4 == 3 else "orch"
    return f"domain-{number // 5000:02}/team-{number // 200:03}/{team_name(number)}.{kind}.yaml"


def script_path(number):
    return f"scripts/team_{number // 200:03}.py"


def team_call(number, files):
    """Returns what a pipeline calls: nearly always a bare file name. One call in six leads nowhere."""
    called = (number * 7 + 4) // 4 * 4 % files
    name = team_name(called)
    if number // 3 % 12 == 5:
        return name[:5] + name[6:]
    if number // 3 % 12 == 11:
        return f"legacy_{name}_{number}"
    if number // 3 % 10 == 4:
        return team_path(called).removesuffix(".orch.yaml")
    return name


def team_pipeline(number, files, statement="raw", y=32):
    """Returns a pipeline of a real team. Every fourth is a transformation. Every third orchestration calls another by its
    bare name, every ninth with an iterator; every fifth runs a script of the repository. One in ten breaks a rule.
    """
    name = team_name(number)
    if number % 4 == 3:
        return team_transformation(name, statement, y)
    steps = [("Start", "start", "")]
    for at in range(1 + number * 7 % 9):
        query = f"{'query' if number % 10 == at else 'Query'} {name} {at}"
        parameters = f'        scriptLocation: "Component"\n        sqlScript: |-\n{sql(name, statement)}'
        steps.append((query, "sql-executor", f'{parameters}        projectSchema: "[Environment Default]"\n'))
    if number % 3 == 0:
        steps.append((f"Run {number}", "run-orchestration", f'        orchestrationJob: "{team_call(number, files)}"\n'))
    if number % 9 == 0:
        iterator = f"      iterationTarget: Run {number}\n"
        steps.append((f"Each {number}", "table-iterator", f"        targetTable: {name}\n"))
    if number % 5 == 0:
        script = f"        scriptLocation: File\n        fileName: {script_path(number)}\n"
        steps.append((f"Script {number}", "python-script", script))
    steps.append(("Done", "end-success", ""))
    parts = []
    for (step, kind, parameters), following in zip(steps, [*steps[1:], None]):
        part = f"    {step}:\n      type: {kind}\n"
        if kind == "table-iterator":
            part += iterator
        if following:
            part += f"      transitions:\n        success:\n          - {following[0]}\n"
        parts.append(f'{part}      skipped: false\n      parameters:\n        componentName: "{step}"\n{parameters}')
    head = 'type: "orchestration"\nversion: "1.0"\npipeline:\n  components:\n'
    return head + "".join(parts) + canvas([step for step, _, _ in steps], y)


def sql(name, statement):
    return f"          select count(*) as loaded, max(changed_at) as latest\n          from {statement}.{name}\n"


def team_transformation(name, statement, y):
    names = ["Input", "Filter", "Output"]
    parts = ""
    for step, kind, source in zip(names, ("table-input", "filter", "rewrite-table"), (None, *names)):
        sources = f"      sources:\n        - {source}\n" if source else ""
        parameters = f"        componentName: {step}\n        table: {statement}_{name}\n"
        parts += f"    {step}:\n      type: {kind}\n{sources}      parameters:\n{parameters}"
    return 'type: "transformation"\nversion: "1.0"\npipeline:\n  components:\n' + parts + canvas(names, y)


def canvas(names, y):
    """Returns the places of components in a row, as the designer writes them."""
    places = "".join(
        f'    {name}:\n      position:\n        "x": {at * 160}\n        "y": {y}\n      tempMetlId: {at}\n'
        "      size: { width: 120, height: 80 }\n"
        for at, name in enumerate(names)
    )
    return f"design:\n  components:\n{places}"


def shared(paths):
    """Returns the shared-pipelines file."""
    if not paths:
        return 'version: "1.0"\ntype: shared-pipelines-config\npipelines: []\n'
    entries = "".join(
        f"  - pipeline: {path}\n    displayName: shared {index}\n    id: shared-{index}\n"
        "    enabled: true\n    parameters: {}\n"
        for index, path in enumerate(paths)
    )
    return f'version: "1.0"\ntype: shared-pipelines-config\npipelines:\n{entries}'


def path_of(number):
    """Returns a path; there are 200 files per folder, in two levels of folders."""
    return f"area-{number // 5000:02}/group-{number // 200:03}/load {number:06}.orch.yaml"


def edited(content, version):
    """Returns another version of a pipeline; the last one is 0."""
    return content.replace(" as latest", f" as latest_{version}") if version else content


class Import:
    """A running `git fast-import`."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.time = BEGIN
        self.git("init", "-q", "-b", "main", ".")
        options = ["-c", "core.compression=1", "-c", "fastimport.unpackLimit=0"]
        command = ["git", *options, "fast-import", "--quiet", *arguments]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def write(self, data):
        self.process.stdin.write(data)

    def commit(self, branch, message, parent=None, merged=None):
        self.time += 600
        text = f"commit refs/heads/{branch}\ncommitter {WHO} {self.time} +0000\ndata {len(message)}\n{message}\n"
        text += f"from refs/heads/{parent}\n" if parent else ""
        text += f"merge refs/heads/{merged}\n" if merged else ""
        self.write(text.encode())

    def branch(self, name, start):
        self.write(f"reset refs/heads/{name}\nfrom refs/heads/{start}\n\n".encode())

    def file(self, path, content):
        content = content.encode() if isinstance(content, str) else content
        self.write(f'M 100644 inline "{path}"\ndata {len(content)}\n'.encode() + content + b"\n")

    def configuration(self, shared_paths, rules=RULES):
        self.file(f"{CONFIG}/shared-pipelines.yaml", shared(shared_paths))
        self.file(f"{CONFIG}/config/pipeline_quality_rules.yaml", "rules:\n" + rules)

    def pipelines(self, files, content, shared_paths, rules=RULES, path=path_of):
        """Writes the history of `main`: all files in a random order, then edits that end with `content`."""
        source = random.Random(1)
        rounds = [source.sample(range(files), files)]
        rounds += [source.sample(range(files), files // 10) for _ in range(EDITS)]
        left = collections.Counter(number for numbers in rounds for number in numbers)
        for at, numbers in enumerate(rounds):
            self.commit("main", f"edit {at}")
            if at == 0:
                self.configuration(shared_paths, rules)
            for number in numbers:
                left[number] -= 1
                self.file(path(number), edited(content(number), left[number]))

    def finish(self, branches, repacked=True):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("git fast-import failed")
        if repacked:
            self.git("repack", "-adfq", "--depth=50", "--window=10")
        self.git("remote", "add", "origin", "https://example.org/bench.git")
        for branch in branches:
            self.git("update-ref", f"refs/remotes/origin/{branch}", f"refs/heads/{branch}")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        self.git("checkout", "-q", "-f", branches[-1])


def context(folder, files):
    repository = Import(folder)
    repository.pipelines(files, pipeline, [path_of(0)])
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
    two_sides(folder, files, pipeline, lambda number: pipeline(number, y=64), [path_of(0)], STRICT_NAMING)


def changed(folder, files):
    two_sides(folder, files, pipeline, moved, [path_of(0)], RULES)


def grown(folder, files):
    def calling(number, make=pipeline):
        return make(number, call(number, called(number, files)))

    paths = [path_of(number) for number in range(0, files, 10)]
    two_sides(folder, files, calling, lambda number: calling(number, moved), paths, STRICT_NAMING)


def moved(number, extra=""):
    """Returns a pipeline with other statements and another layout."""
    return pipeline(number, extra, y=96).replace("from warehouse.", "from archive.")


def two_sides(folder, files, before, after, shared_paths, rules):
    """Writes pipelines from `before` on `main`, and from `after` on `work`."""
    repository = Import(folder)
    repository.pipelines(files, before, shared_paths, rules)
    repository.commit("work", "change", parent="main")
    for number in range(files):
        repository.file(path_of(number), after(number))
    repository.finish(["main", "work"])


def team(folder, files):
    repository = team_main(folder, files)
    repository.commit("work", "change", parent="main")
    for number in range(0, files, max(files // 10, 1)):
        number -= number % 4
        text = team_pipeline(number, files, statement="staging").replace("    Done:", "    unnamed:\n      type: grid\n    Done:")
        repository.file(team_path(number), text)
    repository.finish(["main", "work"])


def teamwork(folder, files):
    repository = team_main(folder, files)
    repository.commit("work", "change", parent="main")
    for number in range(files):
        repository.file(team_path(number), team_pipeline(number, files, statement="archive", y=96))
    repository.finish(["main", "work"])


def team_main(folder, files):
    """Writes the history of `main`. The rules warn of three kinds of problems."""
    repository = Import(folder)
    repository.pipelines(files, lambda number: team_pipeline(number, files), [], RULES, team_path)
    repository.commit("main", "scripts")
    for number in range(0, files, 200):
        repository.file(script_path(number), f"print('team {number}')\n")
    return repository


def small(folder, files, every, shared_files, repacked=True):
    def content(number):
        return pipeline(number, "" if number % every else call(number, called(number, files)))

    repository = Import(folder)
    repository.pipelines(files, content, [path_of(number) for number in range(shared_files)])
    repository.finish(["main"], repacked)


def scattered(folder, files, every, shared_files):
    small(folder, files, every, shared_files, repacked=False)


def called(number, files):
    """Returns the pipeline that this one calls."""
    return path_of((number + 1) % files).removesuffix(".orch.yaml")


def history(folder, files, commits):
    repository = Import(folder)
    repository.pipelines(files, pipeline, [path_of(0)], STRICT_NAMING)
    source = random.Random(2)

    def edit(branch, version, start=None):
        """Commits edits of up to four pipelines in one folder."""
        group = source.randrange(files // 200) * 200
        numbers = source.sample(range(group, group + 200), source.randint(1, 4))
        return commit(branch, version, {number: edited(pipeline(number), version) for number in numbers}, start)

    def commit(branch, version, changes, start=None, merged=None):
        repository.commit(branch, f"change {version}", start, merged)
        for number, content in changes.items():
            repository.file(path_of(number), content)
        return changes

    # Seven commits on `main` next to two of a branch, which the tenth merges.
    for version in range(EDITS + 1, commits - 20, 10):
        if commits - 70 < version <= commits - 60:
            repository.branch("work", "main")
        side = edit("side", version, "main") | edit("side", version + 1)
        for later in range(2, 9):
            edit("main", version + later)
        commit("main", version + 9, side, merged="side")
    for version in range(commits, commits + 20):
        edit("work", version)
    repository.finish(["main", "work"])
    repository.git("branch", "-q", "-D", "side")


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
    # Stored without deltas, as git stores new commits; a clone may have some of the text as deltas.
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
    repository.finish(["main"], repacked=False)


def main():
    kind, folder, *numbers = sys.argv[1:]
    kinds = [changed, context, grown, history, known, large, scattered, small, team, teamwork, text]
    {make.__name__: make for make in kinds}[kind](folder, *map(int, numbers))


if __name__ == "__main__":
    main()
