// Checks the HTML reports in Chromium: light and dark, wide and narrow; no errors, no requests, no accessibility barriers.
import axe from "axe-core";
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { browser, findings, open } from "./browser.mjs";

const sizes = [["wide", 1280, 900], ["phone", 390, 800]];

// Content far down is drawn only when it scrolls into view; a screenshot or a check of the complete page needs all of it.
const draw_all = (page) => page.evaluate(() => {
  const [sheet] = document.styleSheets;
  sheet.insertRule(".group, article { content-visibility: visible !important }", sheet.cssRules.length);
});

const barriers = async (page) => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`);
};

// Returns words that are broken although they would fit on the next line, except names without spaces.
const broken = () => Array.from(document.querySelectorAll("h1, h2, .tile, .limit, .tally span, .switch span, .badge, dt, .bar .name"), (node) => {
  const range = document.createRange();
  const words = node.textContent.split(/[\s\-/_.]+/).filter(Boolean);
  return [node, range, words];
}).flatMap(([node, range, words]) => words.filter((word) => {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(word);
    if (at < 0) continue;
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + word.length);
    return new Set(Array.from(range.getClientRects(), (box) => Math.round(box.top))).size > 1;
  }
  return false;
}));

for (const name of ["ordinary", "hostile", "empty"]) {
  const { source } = findings(name);
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, width, height] of sizes) {
      const { page, faults, requests, context } = await open(name, { colorScheme, viewport: { width, height } });
      await draw_all(page);
      assert.match(await page.title(), new RegExp(`^Review ${source.verdict}`));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(overflow <= 0, `${name} ${size}: ${overflow} pixels too wide`);
      if (name === "ordinary") assert.deepEqual(await page.evaluate(broken), [], `${size}: broken words`);
      assert.deepEqual(await barriers(page), [], `${name} ${colorScheme} ${size}`);
      await page.screenshot({ path: `${name}-${colorScheme}-${size}.png`, fullPage: name !== "hostile" });
      if (name === "ordinary") {
        await page.evaluate(() => (location.hash = "#?by=rule&level=error"));
        await page.waitForFunction(() => document.querySelector("#by-file").hidden);
        assert.deepEqual(await barriers(page), [], `${name} ${colorScheme} ${size}, by rule`);
        await page.locator("#by-rule button[popovertarget]:visible").first().click();
        assert.deepEqual(await barriers(page), [], `${name} ${colorScheme} ${size}, a rule explained`);
      }
      assert.deepEqual(faults, [], name);
      assert.equal(requests.length, 1, `requests: ${requests}`);
      await context.close();
    }
  }
}

// Changes: the page of `diff`, which has no script, and a review's page with the pictures of the changes.
for (const [name, title] of [["diff", /^Changes in 5 pipelines/], ["pictures", /^Review failed/]]) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, width, height] of sizes) {
      const shown = `${name} ${colorScheme} ${size}`;
      const { page, faults, requests, context } = await open(name, { colorScheme, viewport: { width, height } });
      await draw_all(page);
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      assert.match(await page.title(), title);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(overflow <= 0, `${shown}: ${overflow} pixels too wide`);
      assert.equal(await page.locator(".canvas svg:visible").count(), 4, `${shown}: pictures`);
      assert.deepEqual(await barriers(page), [], shown);
      await page.screenshot({ path: `${name}-${colorScheme}-${size}.png`, fullPage: true });
      assert.deepEqual(faults, [], shown);
      assert.equal(requests.length, 1, `${shown}: ${requests}`);
      await context.close();
    }
  }
}

// With the keyboard only, from the top: past everything to the findings, and from a rule's name to its description and
// back.
const { page: keys } = await open("ordinary");
await keys.keyboard.press("Tab");
assert.equal(await keys.evaluate(() => document.activeElement.textContent), "Skip to the findings");
await keys.keyboard.press("Enter");
assert.equal(await keys.evaluate(() => document.activeElement.id), "findings");
await keys.keyboard.press("Tab");
assert.equal(await keys.evaluate(() => document.activeElement.id), "text");
await keys.keyboard.press("Tab");
await keys.keyboard.press("ArrowRight");
await keys.waitForFunction(() => document.querySelector("#by-file").hidden);
await keys.locator("#by-rule button").first().focus();
await keys.keyboard.press("Enter");
assert.equal(await keys.locator("[popover]:popover-open").count(), 1);
assert.match(await keys.locator("[popover]:popover-open").textContent(), /Why[^]*How it is checked/);
await keys.keyboard.press("Escape");
assert.equal(await keys.locator("[popover]:popover-open").count(), 0);

// Without scripts, every finding is below its file, and no control is shown that would not work. A file is folded if the
// page shows all its findings further up.
const { page: still } = await open("ordinary", { javaScriptEnabled: false });
const { all } = findings("ordinary");
assert.equal(await still.locator("#by-file > details article").count(), all.length);
assert.equal(await still.locator("#filter:visible, .copy:visible, #by-rule:visible").count(), 0);
assert.equal(await still.locator("button[aria-pressed]:enabled:visible").count(), 0);
await still.locator("button.rule").first().click();
assert.equal(await still.locator("[popover]:popover-open").count(), 1);

// Without style sheet and script, as Jenkins serves a page: the verdict is on the first screen, and pictures have their size.
for (const name of ["ordinary", "pictures", "diff"]) {
  const text = readFileSync(`${name}.html`, "utf8");
  const bare = text.replace(/<style>[^]*?<\/style>/, "").replace(/<script[^]*?<\/script>/, "");
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.setContent(bare);
  const heading = await page.locator("h1").boundingBox();
  assert(heading.y + heading.height < 200, `${name}: the verdict is at ${heading.y}`);
  for (const picture of await page.locator(".pictures svg:visible").all()) {
    const [box, width] = [await picture.boundingBox(), await picture.getAttribute("width")];
    assert.equal(Math.round(box.width), Number(width), name);
  }
  assert.equal(await page.locator("#filter:visible, .copy:visible").count(), 0, name);
  await page.screenshot({ path: `${name}-bare.png` });
  await context.close();
}

await browser.close();
console.log("chromium: the pages are shown; axe finds nothing; no word is broken; one request each, their own");
