"""Turns what the program writes into pages that a browser can take a picture of.

usage: pages.py terminal COMMAND <output    text with colours
       pages.py summary <summary.md         markdown, as hosts show it
"""

import html
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


def main():
    text = sys.stdin.read()
    if sys.argv[1] == "terminal":
        body = f"<pre style=\"{TERMINAL}\">$ {html.escape(sys.argv[2])}\n{coloured(text)}</pre>"
        style = "body{margin:0;background:#0d1117}"
    else:
        import markdown

        body, style = markdown.markdown(text, extensions=["tables"]), SUMMARY
    print(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{body}')


main()
