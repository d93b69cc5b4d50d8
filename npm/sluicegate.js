#!/usr/bin/env node
// Runs the program of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const name = `@sluicegate/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "sluicegate.exe" : "sluicegate";

function fail(reason, hint) {
  console.error(`sluicegate: ${reason}\nhint: ${hint}`);
  process.exit(2);
}

let program;
try {
  program = require.resolve(`${name}/${file}`);
} catch {
  fail(`the package ${name} is not installed`, "install without --omit=optional, or build the program with cargo");
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`could not run ${program}: ${error.message}`, "reinstall the package"));

// A terminal sends SIGINT to both processes. Other signals reach only this process.
const forwarded = ["SIGTERM", "SIGHUP"].concat(process.stdin.isTTY ? [] : ["SIGINT"]);
const handlers = forwarded.map((signal) => [signal, () => child.kill(signal)]);
if (process.stdin.isTTY) handlers.push(["SIGINT", () => {}]);
for (const [signal, handler] of handlers) process.on(signal, handler);

child.on("exit", (code, signal) => {
  for (const [name, handler] of handlers) process.off(name, handler);
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code;
});
