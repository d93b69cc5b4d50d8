
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
  let waiting = false;

  const matches = (file, result, words) => {
    if (result.words === null) result.words = file.path + " " + result.node.textContent.toLowerCase();
    return words.every((word) => result.words.includes(word));
  };

  const apply = () => {
    waiting = false;
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
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
  };

  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(apply);
  };

  form.addEventListener("input", soon);
  form.addEventListener("reset", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
