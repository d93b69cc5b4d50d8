"""Turns what the program writes into pages that a browser can take a picture of.

usage: pages.py terminal COMMAND <output    text with colours
       pages.py summary <summary.md         markdown, as hosts show it
       pages.py picture <picture.svg        a picture on the background of GitHub, light and dark
       pages.py large before|after          a pipeline that is too large for a page, not a page
"""

import html
import json
import re
import sys

COLOURS = {
    "1": "font-weight:bold", "2": "opacity:.7", "31": "color:#ff7b72", "32": "color:#7ee787", "33": "color:#e3b341",
    "34": "color:#79c0ff", "35": "color:#d2a8ff", "36": "color:#76e3ea",
    "91": "color:#ff7b72", "92": "color:#7ee787", "93": "color:#e3b341", "94": "color:#79c0ff", "95": "color:#d2a8ff",
    "96": "color:#76e3ea", "97": "color:#fff",
}
TERMINAL = "margin:0;padding:20px;background:#0d1117;color:#e6edf3;font:14px/1.4 'DejaVu Sans Mono',monospace"
SUMMARY = """body{margin:24px;font:15px/1.5 'DejaVu Sans',sans-serif;color:#1f2328;background:#fff}
table{border-collapse:collapse;margin:14px 0}th,td{border:1px solid #d1d9e0;padding:6px 12px}
code{font:13px 'DejaVu Sans Mono',monospace;background:#eff1f3;padding:2px 5px;border-radius:5px}
h2{border-bottom:1px solid #d1d9e0;padding-bottom:6px}"""


def coloured(text):
    """Text with the escapes that select colours, as spans."""
    page, styles = [], []
    for at, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", text)):
        if at % 2 == 0:
            part = html.escape(part)
            page.append(f'<span style="{";".join(styles)}">{part}</span>' if styles else part)
        elif part in ("", "0"):
            styles = []
        else:
            styles += [COLOURS[code] for code in part.split(";") if code in COLOURS]
    return "".join(page)


def large(is_changed):
    """A pipeline of three rows; the change renames, adds and removes a component."""
    rows = ["orders", "customers", "refunds"]
    steps = ["Load", "Clean", "Check", "Join", "Count", "Merge", "Copy", "Grant", "Log", "Archive"]
    components, design = {"Start": {"type": "start", "transitions": {"unconditional": []}}}, {}
    design["Start"] = {"position": {"x": 0, "y": 150}}
    for row, noun in enumerate(rows):
        names = [f"{step} {noun}" for step in steps]
        if is_changed and noun == "customers":
            names[5] = "Merge all customers"
            names.remove("Copy customers")
        components["Start"]["transitions"]["unconditional"].append(names[0])
        for at, name in enumerate(names):
            is_moved = is_changed and name in ("Merge orders", "Merge refunds")
            parameters = {"componentName": name, "schema": "MART" if is_moved else "RAW"}
            after = {"success": names[at + 1:at + 2]} if at + 1 < len(names) else {}
            kind = "sql-executor" if "Copy" not in name else "s3-load"
            components[name] = {"type": kind, "transitions": after, "parameters": parameters}
            column = steps.index(name.split()[0]) + 1
            design[name] = {"position": {"x": 160 * column, "y": 150 * row}}
    pipeline = {"type": "orchestration", "version": "1.0", "pipeline": {"components": components}}
    return json.dumps(pipeline | {"design": {"components": design}}, indent=1)


def main():
    if sys.argv[1] == "large":
        print(large(sys.argv[2] == "after"))
        return
    text = sys.stdin.read()
    if sys.argv[1] == "terminal":
        body = f"<pre style=\"{TERMINAL}\">$ {html.escape(sys.argv[2])}\n{coloured(text)}</pre>"
        style = "body{margin:0;background:#0d1117}"
    elif sys.argv[1] == "picture":
        style = """:root{color-scheme:light dark}body{margin:8px;background:#fff}svg{display:block}
@media (prefers-color-scheme:dark){body{background:#0d1117}}"""
        body = text
    else:
        import markdown

        # Only the hosts draw flowcharts.
        text = re.sub(r"```mermaid\n.*?```\n", "", text, flags=re.DOTALL).replace("<details", '<details markdown="1"')
        # The lists in the program's Markdown are indented by two blanks.
        body, style = markdown.markdown(text, extensions=["tables", "md_in_html"], tab_length=2), SUMMARY
    print(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{body}')


main()
