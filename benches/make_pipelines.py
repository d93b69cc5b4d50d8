"""Makes a project of pipelines, the same each time.

usage: make_pipelines.py FOLDER COUNT           COUNT orchestrations of about 150 lines that keep all rules
       make_pipelines.py FOLDER --calls COUNT   the same, of which every third calls another
       make_pipelines.py FOLDER --chain SIZE    one orchestration of SIZE components in a chain, with branches back
"""

import os
import sys

CANVAS = """\
    {name}:
      position:
        "x": {x}
        "y": {y}
      tempMetlId: {x}
      size: {{ width: 120, height: 80 }}
"""


def component(name, kind, links, parameters):
    lines = [f"    {name}:", f"      type: {kind}", "      skipped: false", "      parameters:", f"        componentName: {name}"]
    lines += [f"        {key}: {value}" for key, value in parameters]
    if links:
        lines += ["      transitions:"]
        for key, target in links:
            lines += [f"        {key}:", f"        - {target}"]
    return "\n".join(lines) + "\n"


def path(number):
    return f"area{number % 100}/load {number}"


def orchestration(number, called=None):
    steps = 6
    names = ["Start"] + [f"Load step {at} of {number}" for at in range(steps)] + ["Done", "Failed"]
    parts = [component("Start", "start", [("unconditional", names[1])], [])]
    for at in range(steps):
        parameters = [
            ("scriptLocation", "Component"),
            ("sqlScript", f'"insert into t_{number}_{at} select * from s_{at} where day = 1"'),
            ("projectSchema", '"[Environment Default]"'),
            ("retryCount", at),
        ]
        links = [("success", names[at + 2]), ("failure", "Failed")]
        parts.append(component(names[at + 1], "sql-executor", links, parameters))
    if called is not None:
        parts.append(component("Run other", "run-orchestration", [], [("orchestrationJob", path(called))]))
    parts += [component("Done", "end-success", [], []), component("Failed", "end-failure", [], [])]
    canvas = [CANVAS.format(name=name, x=at * 160, y=number % 7 * 90) for at, name in enumerate(names)]
    variables = "    day:\n      metadata:\n        type: TEXT\n        description: the day to load\n        scope: SHARED\n        visibility: PUBLIC\n      defaultValue: today\n"
    return "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n{}  variables:\n{}design:\n  components:\n{}".format(
        "".join(parts), variables, "".join(canvas)
    )


def chain(size):
    parts = [component("Start", "start", [("unconditional", "C0")], [])]
    for at in range(size):
        target = f"C{at + 1}" if at + 1 < size else "Done"
        parts.append(component(f"C{at}", "sql-executor", [("success", target), ("failure", f"C{at // 2}")], []))
    parts.append(component("Done", "end-success", [], []))
    return "type: orchestration\npipeline:\n  components:\n" + "".join(parts)


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def main():
    folder = sys.argv[1]
    if sys.argv[2] == "--chain":
        write(folder, "chain.orch.yaml", chain(int(sys.argv[3])))
        return
    calls = sys.argv[2] == "--calls"
    count = int(sys.argv[3] if calls else sys.argv[2])
    for number in range(count):
        called = (number * 7 + 1) % count if calls and number % 3 == 0 else None
        write(folder, f"{path(number)}.orch.yaml", orchestration(number, called))


if __name__ == "__main__":
    main()
