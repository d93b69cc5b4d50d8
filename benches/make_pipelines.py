"""Makes a project of pipelines, the same each time.

usage: make_pipelines.py FOLDER COUNT           COUNT pipelines of a team (see make_repository.py), with their scripts
       make_pipelines.py FOLDER --chain SIZE    one orchestration of SIZE components in a chain, with branches back
"""

import os
import sys

from make_repository import CONFIG, RULES, script_path, team_path, team_pipeline


def component(name, kind, links):
    lines = [f"    {name}:", f"      type: {kind}", "      skipped: false", "      parameters:", f"        componentName: {name}"]
    if links:
        lines += ["      transitions:"]
        for key, target in links:
            lines += [f"        {key}:", f"        - {target}"]
    return "\n".join(lines) + "\n"


def chain(size):
    parts = [component("Start", "start", [("unconditional", "C0")])]
    for at in range(size):
        target = f"C{at + 1}" if at + 1 < size else "Done"
        parts.append(component(f"C{at}", "sql-executor", [("success", target), ("failure", f"C{at // 2}")]))
    parts.append(component("Done", "end-success", []))
    return "type: orchestration\npipeline:\n  components:\n" + "".join(parts)


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def main():
    folder = sys.argv[1]
    write(folder, f"{CONFIG}/config/pipeline_quality_rules.yaml", "rules:\n" + RULES)
    if sys.argv[2] == "--chain":
        write(folder, "chain.orch.yaml", chain(int(sys.argv[3])))
        return
    count = int(sys.argv[2])
    for number in range(count):
        write(folder, team_path(number), team_pipeline(number, count))
    for number in range(0, count, 200):
        write(folder, script_path(number), "print('done')\n")


if __name__ == "__main__":
    main()
