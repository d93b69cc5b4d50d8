// Opens the reports in a browser and records errors and requests.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

export const open = async (name, { hash = "", ...options } = {}) => {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const faults = [];
  const requests = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`file://${resolve(`${name}.html`)}${hash}`);
  return { page, faults, requests, context };
};

// Returns the findings of a JSON report as the page shows them; an error that prevents reading a file is one of them.
export const findings = (name) => {
  const source = JSON.parse(readFileSync(`${name}.json`, "utf8"));
  const all = source.files.flatMap(({ path, results }) =>
    results.flatMap(({ rule, status, enforcement, violations, lines }) => {
      if (status === "PASSED") return [];
      if (status === "ERROR") return [{ path, rule, level: "broken", line: lines[0] ?? 1 }];
      const level = enforcement === "error" ? "error" : "warning";
      return violations.map((message, at) => ({ path, rule, level, message, line: lines[at] ?? 1 }));
    }),
  );
  return { source, all, of: (level) => all.filter((one) => one.level === level).length };
};
