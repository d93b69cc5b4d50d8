"""A platform that answers after a set time, and takes uploads as fast as they come.

usage: platform.py PORT_FILE [--delay SECONDS] [--twice]

It writes its port to PORT_FILE when it listens. Reviews are answered after the delay, with one result a rule, and with two findings a file
if `--twice` says so; uploads
are read to their end and forgotten. An upload with a commit hash shows its details once, so the same version can be
published and verified again and again; the version `unverified` is never shown. The details name what the shared
pipelines of `make_repository.py` are called. A thread serves each connection, so four at a time do not wait for each other.
"""

import argparse
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = 1024 * 1024
RULES = ("minimum-components", "unused-components", "start-and-end-components")


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    delay = 0.0
    twice = False
    published = None

    def do_POST(self):
        if self.path.endswith("/reviews"):
            request = json.loads(self.rfile.read(self.length()))
            time.sleep(self.delay)
            self.answer(review(request["pipelines"], self.twice))
        else:
            self.discard()
            names = ("sharedPipelineIdPrefix", "versionName", "commitHash", "branch")
            details = {name: self.headers.get(name) for name in names}
            if details["commitHash"] and details["versionName"] != "unverified":
                Answers.published = details
            self.answer({"versionName": self.headers.get("versionName"), "ignoredResources": []})

    def do_GET(self):
        details, Answers.published = Answers.published, None
        if details is None:
            self.answer({"message": "there is no such version"}, 404)
            return
        shared = [{"sharedPipelineId": f"shared-{number}"} for number in range(3)]
        self.answer({"artifactDetails": {**details, "enabled": True}, "sharedPipelines": shared})

    def length(self):
        return int(self.headers.get("Content-Length", 0))

    def discard(self):
        missing, space = self.length(), memoryview(bytearray(PIECE))
        while missing > 0:
            read = self.rfile.readinto1(space[: min(missing, PIECE)])
            if read == 0:
                return
            missing -= read

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def review(paths, twice):
    """Every tenth file has a finding that names a component, so that its line must be found; or each has two."""
    results = {}
    for number, path in enumerate(paths):
        rules = [{"ruleName": rule, "status": "PASSED", "violations": []} for rule in RULES]
        found = ("Done", "Start") if twice else ("Done",) if number % 10 == 0 else ()
        for rule, name in zip(rules, found):
            rule |= {"status": "FAILED", "violations": [f"The component '{name}' is unused"]}
        results[path] = rules
    return {"reviewStatus": "PASSED", "results": results, "excludedFiles": []}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port_file")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--twice", action="store_true")
    options = parser.parse_args()
    Answers.twice = options.twice
    Answers.delay = options.delay
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        unfinished = options.port_file + ".new"
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(str(server.server_address[1]))
        os.rename(unfinished, options.port_file)
        server.serve_forever()


if __name__ == "__main__":
    main()
