// Uses the HTML reports in Chromium: filter, grouping, links, copies, the table, printing, and timing.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { browser, findings, open } from "./browser.mjs";

const { all, of } = findings("ordinary");
const first = await open("ordinary");
const { page } = first;
const shown = (number, on = page) =>
  on.waitForFunction((words) => document.querySelector("#shown").textContent === words, `${number} of ${all.length} findings`);
const visible = (on = page) => on.locator("article").evaluateAll((all) => all.filter((node) => node.checkVisibility()).length);
const asked = () => page.evaluate(() => decodeURIComponent(location.hash.replaceAll("+", " ")));

// Levels and bars set a filter, a second click clears it, and the address contains it.
await shown(all.length);
await page.locator("#levels [value=error]").click();
await shown(of("error"));
assert.equal(await visible(), of("error"));
assert.equal(await page.locator("article.warning, article.broken").count(), 0);
assert.equal(await asked(), "#?level=error");
assert.equal(await page.locator("#levels [value=error]").getAttribute("aria-pressed"), "true");
await page.locator("#levels [value=error]").click();
await shown(all.length);
assert.equal(await asked(), "");
const rule = "maximum-components";
const of_rule = all.filter((one) => one.rule === rule);
await page.locator(`.bar[name=rule][value=${rule}]`).click();
await shown(of_rule.length);
await page.locator(".bar[name=folder][value=finance]").click();
const in_finance = of_rule.filter((one) => one.path.startsWith("finance/"));
await shown(in_finance.length);
await page.getByLabel("Search").fill("LEDGER maximum");
const found = in_finance.filter((one) => one.path.includes("ledger")).length;
await shown(found);
assert.equal(await asked(), `#?text=LEDGER maximum&rule=${rule}&folder=finance`);
await page.screenshot({ path: "filtered.png" });

// Another reader of that address sees the same findings; each mark next to the number removes a part of the filter.
const { page: other } = await open("ordinary", { hash: new URL(page.url()).hash });
await shown(found, other);
assert.equal(await visible(other), found);
assert.equal(await other.getByLabel("Search").inputValue(), "LEDGER maximum");
await other.locator(".chip[name=folder]").click();
await shown(of_rule.filter((one) => one.path.includes("ledger")).length, other);
await other.getByRole("button", { name: "Clear the filter" }).click();
await shown(all.length, other);
await other.evaluate(() => (location.hash = "#?level=nonsense&by=nonsense&rule=%00"));
await shown(0, other);

// The bar stays visible.
await page.getByRole("button", { name: "Clear the filter" }).click();
await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
assert(await page.getByLabel("Search").evaluate((node) => node.getBoundingClientRect().top >= 0));

// Grouping by rule and back: the same findings, each once, in the same order.
const order = () => page.locator("article").evaluateAll((nodes) => nodes.map((node) => node.id));
const before = await order();
assert.equal(new Set(before).size, all.length);
assert(before.every((id) => /^finding-[0-9a-f]{64}$/.test(id)), "fingerprints");
await page.getByLabel("By rule", { exact: true }).check();
assert.equal(await visible(), all.length);
assert.equal(await page.locator("#by-file article").count(), 0);
assert.equal(await asked(), "#?by=rule");
const group = page.locator("#by-rule > details", { hasText: rule }).first();
assert.equal(await group.locator("article").count(), of_rule.length);
const named = group.locator("article .place").first();
await named.scrollIntoViewIfNeeded();
await page.waitForFunction((node) => /^\S+\.orch\.yaml:1$/.test(node.innerText), await named.elementHandle());
await page.screenshot({ path: "by-rule.png" });
await page.getByLabel("By file", { exact: true }).check();
assert.deepEqual(await order(), before);

// Folding, and a link to a finding, which opens its group.
await page.getByRole("button", { name: "Collapse all" }).click();
assert.equal(await visible(), 0);
await page.getByRole("button", { name: "Expand all" }).click();
assert.equal(await visible(), all.length);
await page.getByRole("button", { name: "Collapse all" }).click();
const fifth = `#${before[4]}`;
const { page: long } = await open("three-hundred");
const late = `#${await long.locator("article").nth(249).getAttribute("id")}`;
await page.evaluate((id) => (location.hash = id), fifth);
await page.waitForFunction((id) => document.querySelector(id).checkVisibility(), fifth);
const { page: linked } = await open("three-hundred", { hash: late });
await linked.waitForFunction((id) => document.querySelector(id).getBoundingClientRect().top < innerHeight, late);
assert.equal(await linked.locator(`${late}:visible`).count(), 1);

// Copies: a path, a path with its line; also without a clipboard.
const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
await page.locator("#by-file .note .copy:visible").first().click();
await page.getByRole("button", { name: "Copied" }).waitFor();
assert.equal(await clipboard(), await page.locator("#by-file > [open] h3").first().textContent());
await page.locator(`${fifth} .copy`).click();
await page.locator(`${fifth} .copy`, { hasText: "Copied" }).waitFor();
assert.match(await clipboard(), /\.orch\.yaml:[0-9]+$/);
await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
await page.locator(`${fifth} .copy`, { hasText: "Copy path" }).click();
await page.locator(`${fifth} .copy`, { hasText: "Copied" }).waitFor();
assert.deepEqual(first.faults, []);

// The table: its content as a spreadsheet reads it, with formulas disabled.
const rows_of = (text) => {
  const rows = [[]];
  for (const [, quoted, end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    rows.at(-1).push(quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
};
const table = async (on) => {
  const [download] = await Promise.all([on.waitForEvent("download"), on.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(download.suggestedFilename(), "findings.csv");
  const text = readFileSync(await download.path(), "utf8");
  assert(text.startsWith("\uFEFF"));
  return rows_of(text.slice(1));
};
await page.evaluate(() => (location.hash = "#?level=error"));
await shown(of("error"));
const [head, ...rows] = await table(page);
assert.deepEqual(head, ["level", "rule", "path", "line", "message", "link"]);
const told = (rows) => rows.map((row) => row.join(" ")).sort();
// The page shows names in backticks as code, without the backticks.
const shown_message = (one) => one.message.replaceAll(/`([^`\n]+)`/g, "$1");
const expected = all.filter((one) => one.level === "error").map((one) => [one.level, one.rule, one.path, one.line, shown_message(one)]);
assert.deepEqual(told(rows.map((row) => row.slice(0, 5))), told(expected));
const hostile = await open("hostile");
const evil = await table(hostile.page);
assert.equal(evil.length, 1 + findings("hostile").all.length);
assert(evil.every((row) => row.length === 6));
assert.deepEqual(evil.flat().filter((cell) => /^\s*[=+\-@\t\r|%]/.test(cell)), []);
assert(evil.flat().includes("'=cmd|' /C calc'!A0"));
assert.deepEqual(hostile.faults, []);

// Printing.
const sheets = async (name, options) => {
  const { page } = await open(name, options);
  const paper = (await page.pdf({ format: "A4", path: `${name}.pdf` })).toString("latin1");
  return paper.match(/\/Type\s*\/Page\b/g).length;
};
const with_script = await sheets("three-hundred", {});
const without = await sheets("three-hundred", { javaScriptEnabled: false });
console.log(`chromium: 300 findings print on ${with_script} sheets, without the script on ${without}`);
assert(with_script < 20 && without < 20 && with_script > 3 && without > 3);

// Timing. The limits are wide because the machine may be busy; the figures are printed.
const huge = await open("huge");
const paint = await huge.page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
await huge.page.waitForFunction(() => document.querySelector("#shown").textContent !== "");
const ready = await huge.page.evaluate(() => performance.now());
const took = (act) => huge.page.evaluate(async (act) => {
  const began = performance.now();
  if (act.value === undefined) document.querySelector(act.press).click();
  else {
    document.querySelector(act.press).value = act.value;
    document.querySelector(act.press).dispatchEvent(new Event("input", { bubbles: true }));
  }
  // The next frame after the change has been drawn.
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}, act);
const times = {
  "first paint": paint,
  ready,
  "a level": await took({ press: "#levels [value=error]" }),
  "and back": await took({ press: "#levels [value=error]" }),
  "a text": await took({ press: "#text", value: "part_3 orders" }),
  "no text": await took({ press: "#text", value: "" }),
  "by rule": await took({ press: "[name=by][value=rule]" }),
  "a folder by rule": await took({ press: ".bar[name=folder]" }),
  "by file": await took({ press: "[name=by][value=file]" }),
};
console.log("chromium: 13,000 findings, in milliseconds:", Object.entries(times).map(([what, time]) => `${what} ${Math.round(time)}`).join(", "));
assert(paint < 1500, "first paint");
for (const what of ["a level", "and back", "a text", "no text", "a folder by rule"]) assert(times[what] < 1000, what);
assert.deepEqual(huge.faults, []);

await browser.close();
console.log("chromium: filter, address, grouping, folding, links, copies, table and paper do what they should");
