
"use strict";
(() => {
  const form = document.getElementById("filter");
  if (form === null) return;
  const text = document.getElementById("text");
  const rule = document.getElementById("rule");
  const boxes = Array.from(form.querySelectorAll("input[type=checkbox]"));
  const files = Array.from(document.querySelectorAll("details.file"), (node) => ({
    node,
    path: node.querySelector("summary").textContent.toLowerCase(),
    results: Array.from(node.querySelectorAll("[data-status]"), (result) => ({ node: result, words: null })),
  }));
  const start = "#filter?";
  let waiting = false;
  let changed = false;

  const matches = (file, result, words) => {
    if (result.words === null) result.words = file.path + " " + result.node.textContent.toLowerCase();
    return words.every((word) => result.words.includes(word));
  };

  const checked = () => boxes.filter((box) => box.checked).map((box) => box.value);

  // A link to the page has the filter. Some viewers allow no change of the address; then it stays as it is.
  const remember = () => {
    const query = new URLSearchParams({ text: text.value, rule: rule.value, status: checked().join(" ") });
    try {
      history.replaceState(null, "", start + query);
    } catch {
      changed = false;
    }
  };

  const recall = () => {
    if (!location.hash.startsWith(start)) return;
    const query = new URLSearchParams(location.hash.slice(start.length));
    const wanted = (query.get("status") ?? "").split(" ");
    text.value = query.get("text") ?? "";
    rule.value = query.get("rule") ?? "";
    for (const box of boxes) box.checked = wanted.includes(box.value);
  };

  // A link to a finding opens its file.
  const follow = () => {
    const target = /^#finding-[0-9]+$/.test(location.hash) ? document.querySelector(location.hash) : null;
    if (target === null) return;
    target.closest("details").open = true;
    target.scrollIntoView();
  };

  const apply = () => {
    waiting = false;
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(checked());
    let all = 0;
    let shown = 0;
    for (const file of files) {
      let here = 0;
      for (const result of file.results) {
        const of_rule = rule.value === "" ? true : result.node.dataset.rule === rule.value;
        const fits = wanted.has(result.node.dataset.status) ? of_rule : false;
        const stays = fits ? matches(file, result, words) : false;
        result.node.hidden = !stays;
        here += stays ? 1 : 0;
      }
      file.node.hidden = here === 0;
      shown += here;
      all += file.results.length;
    }
    document.getElementById("shown").textContent = shown + " of " + all + " results shown";
    if (changed) remember();
  };

  const soon = () => {
    changed = true;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(apply);
  };

  form.addEventListener("input", soon);
  form.addEventListener("reset", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", follow);
  form.hidden = false;
  recall();
  apply();
  follow();
})();
