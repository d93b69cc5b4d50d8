"""Runs two commands alternately and compares them; writes one row of the table.

usage: measure.py [options] NAME -- OURS [ARGUMENT]... [-- OTHER [ARGUMENT]...]

--runs N         number of runs of each command, after one warm-up run (default 5)
--limit R        maximum ratio of our time to the other's (default: only report it)
--ideal S        a time in seconds to compare with, instead of another command
--memory MB      our maximum peak memory (default: only report it)
--status N       the expected exit status of both (default 0)
--server PID     process ID of our command's server; its processor time is added to the name
--within S       seconds after which a run is killed and has failed (default 300)
--rows FILE      the file that the row is appended to

Times are medians of the wall clock and of the processor time of the command itself. The ratio is the median of
the ratios of the pairs, so that a temporary load of the machine slows both sides; the smallest and the largest ratio of
a pair are in parentheses. Memory is the largest resident set
of one more run, from GNU time. Without that program, it is the kernel's value for the timed runs (`getrusage`),
which is never less than the size of this script when it starts them; then the row has a note.
"""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

MEGABYTE = 1_000_000


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--ideal", type=float)
    parser.add_argument("--memory", type=float)
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--server", type=int)
    parser.add_argument("--within", type=float, default=300)
    parser.add_argument("--rows")
    parser.add_argument("name")
    options, commands = sys.argv[1:], []
    if "--" in options:
        at = options.index("--")
        options, words = options[:at], options[at + 1 :]
        commands = [list(part) for part in split_commands(words)]
    return parser.parse_args(options), commands


def split_commands(words):
    while "--" in words:
        at = words.index("--")
        yield words[:at]
        words = words[at + 1 :]
    yield words


def run(command, options):
    """Runs a command; returns its seconds, its seconds of processor time and its megabytes."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    begin = time.perf_counter()
    process = subprocess.Popen(command, start_new_session=True, **streams)
    timer = threading.Timer(options.within, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != options.status:
        sys.exit(f"{command[0]} ended with {process.returncode}:\n{errors.decode(errors='replace')}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MEGABYTE


def measure_memory(command, options):
    """Returns the peak memory of a run in megabytes, or None without GNU time."""
    program = shutil.which("time")
    if program is None:
        return None
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as output:
        run([program, "--quiet", "-f", "%M", "-o", output.name, *command], options)
        return int(output.read()) * 1024 / MEGABYTE


def read_processor_time(server):
    """Returns the seconds of processor time that a process has used so far."""
    with open(f"/proc/{server}/stat", encoding="utf-8") as stat:
        ticks = stat.read().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def run_both(commands, options):
    """Runs each side once; returns their measurements, and the processor time of our server."""
    before = read_processor_time(options.server) if options.server else 0
    ours = run(commands[0], options)
    server_time = read_processor_time(options.server) - before if options.server else None
    return ours, run(commands[1], options) if len(commands) > 1 else (options.ideal, None), server_time


def format_time(seconds):
    return f"{seconds * 1000:.2f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def format_medians(runs):
    """Returns the medians of a side's wall clock and processor time; empty if it has none."""
    columns = [[part[column] for part in runs] for column in (0, 1)]
    return ["" if column[0] is None else format_time(statistics.median(column)) for column in columns]


def main():
    options, commands = read_arguments()
    measurements = [run_both(commands, options) for _ in range(options.runs + 1)][1:]
    pairs = [(ours, other) for ours, other, _ in measurements]
    memory, qualifier = measure_memory(commands[0], options), ""
    if memory is None:
        memory, qualifier = max(ours[2] for ours, _ in pairs), " at most"
    is_missed = options.memory is not None and memory > options.memory
    ours, others = ([pair[side] for pair in pairs] for side in (0, 1))
    name = options.name
    if options.server:
        name += f" (the server: {format_time(statistics.median(server_time for _, _, server_time in measurements))})"
    cells = [name, *format_medians(ours), *format_medians(others), "", "", f"{memory:.0f} MB{qualifier}", ""]
    if others[0][0] is not None:
        ratios = [ours[0] / other[0] for ours, other in pairs]
        ratio = statistics.median(ratios)
        cells[5] = f"{ratio:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        is_missed |= options.limit is not None and ratio > options.limit
    cells[6] = "" if options.limit is None else f"{options.limit:.2f}"
    cells[8] = "" if options.memory is None else f"{options.memory:.0f} MB"
    has_limit = options.limit is not None or options.memory is not None
    row = "\t".join([*cells, ("MISSED" if is_missed else "pass") if has_limit else "-"])
    print(row.replace("\t", " | "), flush=True)
    if options.rows:
        with open(options.rows, "a", encoding="utf-8") as rows:
            rows.write(row + "\n")


if __name__ == "__main__":
    main()
