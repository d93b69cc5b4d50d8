// Opens the HTML reports in Chromium: shown, filtered, clicked through; no error, no request, no barrier.
import { chromium } from "playwright-core";
import axe from "axe-core";
import { readFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { resolve } from "node:path";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const sizes = [["wide", 1280, 900], ["phone", 375, 760]];

const open = async (name, colorScheme, width, height) => {
  const context = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const faults = [];
  const requests = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error}`));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`file://${resolve(`${name}.html`)}`);
  // What is far down is drawn only when it comes into view; a picture and a check of the whole page want all of it.
  await page.evaluate(() => document.styleSheets[0].insertRule("details.file { content-visibility: visible !important }", document.styleSheets[0].cssRules.length));
  return { page, faults, requests, context };
};

for (const name of ["ordinary", "hostile", "empty"]) {
  const source = JSON.parse(readFileSync(`${name}.json`, "utf8"));
  for (const scheme of ["light", "dark"]) {
    for (const [size, width, height] of sizes) {
      const { page, faults, requests, context } = await open(name, scheme, width, height);
      const title = await page.title();
      assert.equal(title, `Review ${source.verdict} - sluicegate`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(overflow <= 0, `${name} ${size}: ${overflow} pixels too wide`);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`), [], `${name} ${scheme} ${size}`);
      await page.screenshot({ path: `${name}-${scheme}-${size}.png`, fullPage: name !== "hostile" });
      assert.deepEqual(faults, [], name);
      assert.equal(requests.length, 1, `requests: ${requests}`);
      await context.close();
    }
  }
}

// The filter, by keyboard and by pointer.
const { page, faults } = await open("ordinary", "light", 1280, 900);
const source = JSON.parse(readFileSync("ordinary.json", "utf8"));
const shown = () => page.locator("article:visible").count();
const words = () => page.locator("#shown").textContent();
const { failed, warnings, errors, passed } = source.counts;
const violations = source.files.flatMap((f) => f.results).flatMap((r) => r.violations).length;
const all = violations + errors + passed;
assert.equal(await words(), `${violations + errors} of ${all} results shown`);
assert.equal(await shown(), violations + errors);
await page.getByLabel(/^Warnings/).uncheck();
await page.getByLabel(/^Not evaluated/).uncheck();
const grave = source.files.flatMap((f) => f.results).filter((r) => r.enforcement === "error" && r.status === "FAILED");
const errorsAlone = grave.flatMap((r) => r.violations).length;
await page.waitForFunction((n) => document.querySelector("#shown").textContent.startsWith(`${n} of`), errorsAlone);
assert.equal(await page.locator("article.warning:visible, article.broken:visible").count(), 0);
assert(failed > warnings && (await page.locator("article.error:visible").count()) === errorsAlone);
await page.getByRole("button", { name: "Reset the filter" }).click();
await page.waitForFunction((n) => document.querySelector("#shown").textContent.startsWith(`${n} of`), violations + errors);
await page.getByLabel("Rule").selectOption({ label: "maximum-components" });
await page.waitForFunction((n) => document.querySelector("#shown").textContent.startsWith(`${n} of`), warnings);
await page.getByLabel("Text").focus();
await page.keyboard.type("FINANCE ledger");
await page.waitForFunction(() => document.querySelectorAll("details.file:not([hidden])").length === 1);
assert.match(await page.locator("details.file:visible h3").textContent(), /^finance\/ledger/);
await page.keyboard.press("Tab");
assert.equal(await page.evaluate(() => document.activeElement.id), "rule");
await page.screenshot({ path: "filtered.png" });
assert.equal(await page.locator("pre .hit:visible").count(), await shown());
await page.locator("details.file:visible summary").click();
assert.equal(await shown(), 0, "a file folds");
assert.deepEqual(faults, []);

// By keyboard alone, from the top: past everything to the findings.
const keys = await open("ordinary", "light", 1280, 900);
await keys.page.keyboard.press("Tab");
assert.equal(await keys.page.evaluate(() => document.activeElement.textContent), "Skip to the findings");
await keys.page.keyboard.press("Enter");
assert.equal(await keys.page.evaluate(() => document.activeElement.id), "findings");

// Without scripts everything is there, and no filter that would do nothing.
const plain = await browser.newContext({ javaScriptEnabled: false });
const still = await plain.newPage();
await still.goto(`file://${resolve("ordinary.html")}`);
assert.equal(await still.locator("article.error:visible, article.warning:visible, article.broken:visible").count(), violations + errors);
assert.equal(await still.locator("#filter:visible").count(), 0);
await browser.close();
console.log("chromium: the pages are shown, filtered, folded; axe finds nothing; one request each, their own");
