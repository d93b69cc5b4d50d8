// Compares the annotations with the output of @actions/core for the same messages.
import * as core from "@actions/core";
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";

// As the runner reads a command: https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
const parse = (line) => {
  const [, level, properties, message] = /^::(\w+) ?(.*?)::([^]*)$/.exec(line);
  const pairs = properties.split(",").filter(Boolean).map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  return { level, properties: Object.fromEntries(pairs), message };
};
const data = (text) => text.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%");
const property = (text) => data(text.replaceAll("%3A", ":").replaceAll("%2C", ","));

const spoken = (level, message, properties) => {
  const write = process.stdout.write;
  let said = "";
  process.stdout.write = (text) => ((said += text), true);
  try {
    core[level](message, properties);
  } finally {
    process.stdout.write = write;
  }
  return said.trimEnd();
};

let checked = 0;
for (const name of ["ordinary", "hostile"]) {
  const lines = readFileSync(`${name}.annotations`, "utf8").split("\n");
  const commands = lines.filter((line) => line.trimStart().startsWith("::"));
  assert(commands.length > 1, `${name} has annotations`);
  assert(lines.every((line) => !line.includes("##[") && !line.includes("##vso[")), "no older command");
  for (const line of commands) {
    assert(/^::(error|warning|notice) /.test(line), line);
    const ours = parse(line);
    const { file, line: at, title } = ours.properties;
    const place = file === undefined ? {} : { file: property(file), startLine: Number(at) };
    const theirs = parse(spoken(ours.level, data(ours.message), { title: property(title), ...place }));
    assert.deepEqual(ours, theirs);
    checked += 1;
  }
}
console.log(`@actions/core: ${checked} annotations are what it writes itself`);
